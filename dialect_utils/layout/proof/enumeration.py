"""Results of proofs, their budgets, and the indices of an array in blocks for proofs by enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from dialect_utils.layout.index.places import Places

Method = Literal["isl", "enumeration", "structure"]


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a claim holds for all elements, and how that is known.

    `counterexample` is the start index of an element for which it does not.
    """

    holds: bool
    method: Method
    counterexample: tuple[int, ...] | None = None
    seconds: float = 0.0


# isl cannot be timed, only its operations counted, and those differ: comparing two maps takes it 0.1 to 0.3 ms an
# operation, computing with relations 3 us (measured on chains of pads and transposes by odd sizes, one core of 2024).
# Both budgets are about two seconds at most. Layouts of real dumps need 1,600 and 6,400 operations.
ISL_BUDGET = 10_000
RELATION_BUDGET = 500_000
# Blocks enumerate about as many elements while isl does one operation of a comparison. An array that takes blocks
# longer than isl's budget gives isl as long as they would take.
ELEMENTS_PER_OPERATION = 2_000


# Units enumerated at a time: bounds the memory at some tens of megabytes whatever the array.
_BLOCK = 1 << 18


def blocks(sizes: tuple[int, ...]) -> Iterator[tuple[list[Any], Any]]:
    """Yields index and unit of all elements in row-major order, a block of flat arrays at a time."""
    total = prod(sizes)
    for begin in range(0, total, _BLOCK):
        flat = np.arange(begin, min(begin + _BLOCK, total))
        coordinates: list[Any] = []
        for size in reversed(sizes):
            coordinates.insert(0, flat % size)
            flat = flat // size
        yield coordinates[:-1], coordinates[-1]


def keeps(places: Places, shape: tuple[int, ...]) -> Any:
    """Returns which elements of a block keep the conditions, as a flat array of `shape`."""
    kept = np.ones(shape, bool)
    for condition in places.conditions:
        kept &= (condition.value >= condition.low) & (condition.value < condition.high)
        kept &= condition.value % condition.stride == 0
    return kept


def at(index: Sequence[Any], position: int) -> tuple[int, ...]:
    """Returns the index at one position of a block."""
    return tuple(int(coordinate[position]) for coordinate in index)
