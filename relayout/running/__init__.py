"""The parts of `relayout run`: programs made ready, outputs compared, and the place where two programs part."""
