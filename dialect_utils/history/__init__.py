"""The history of a compiled program: the pass that introduced an instruction, found in the modules of all passes."""
