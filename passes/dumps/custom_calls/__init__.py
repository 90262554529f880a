"""Custom calls of the TPU and GPU compilers as HLO, one file per family."""
