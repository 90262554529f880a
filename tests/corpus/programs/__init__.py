"""Programs of many kinds, each a JAX function with seeded inputs and the TPU it is compiled for.

Importing this package registers every program in `PROGRAMS`, by name.
"""

from . import (
    control,
    convolutions,
    dense,
    elements,
    indexing,
    linear_algebra,
    movement,
    reductions,
    sharded,
    special,
    training,
)
from .registry import PROGRAMS, Argument, Program

__all__ = [
    "PROGRAMS",
    "Argument",
    "Program",
    "control",
    "convolutions",
    "dense",
    "elements",
    "indexing",
    "linear_algebra",
    "movement",
    "reductions",
    "sharded",
    "special",
    "training",
]
