"""The behavior of the installed jaxlib, for tests of behavior in which its versions differ."""

from importlib.metadata import version

VERSION = tuple(int(part) for part in version("jaxlib").split(".")[:2])
# Folding an integer division of constants by 0 ends XLA's process (SIGFPE); 0.12 folds it to -1.
DIES_OF_DIVISION_BY_ZERO = VERSION < (0, 12)
