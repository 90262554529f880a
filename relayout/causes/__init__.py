"""Why a compiled program moves or pads its arrays: the pass, the instructions on both sides, and what removes it."""
