"""Results of proofs, their budgets, and the indices of an array in blocks for proofs by enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from dialect_utils.layout.index.positions import Position
from dialect_utils.layout.proof.deadline import check_deadline

Method = Literal["isl", "enumeration", "structure"]


@dataclass(frozen=True, slots=True)
class Proof:
    """The answer whether a claim holds for all elements, and the method that found it.

    `counterexample` is the index of an element for which the claim does not hold.
    """

    holds: bool
    method: Method
    counterexample: tuple[int, ...] | None = None


# isl limits operations. One operation takes 0.1 to 0.3 ms in comparisons of maps, and 3 us in computations with
# relations (measured on chains of pads and transposes by odd sizes, one core of 2024), so both budgets are about two
# seconds. Layouts of real dumps need 1,600 and 6,400 operations.
ISL_BUDGET = 10_000
RELATION_BUDGET = 500_000
ISL_SECONDS = 2.0
SECONDS_PER_OPERATION = ISL_SECONDS / ISL_BUDGET
# Enumeration of this many elements takes as long as one operation of a comparison in isl. An array that takes longer to
# enumerate than isl's budget gives isl that much time.
ELEMENTS_PER_OPERATION = 2_000


# Units enumerated at a time: bounds the memory to tens of megabytes.
_BLOCK = 1 << 18


def blocks(sizes: tuple[int, ...]) -> Iterator[tuple[list[Any], Any]]:
    """Yields index and unit of all elements in row-major order, a block of flat arrays at a time.

    Raises DeadlineError after the deadline.
    """
    import numpy as np

    total = prod(sizes)
    for begin in range(0, total, _BLOCK):
        check_deadline()
        flat = np.arange(begin, min(begin + _BLOCK, total))
        coordinates: list[Any] = []
        for size in reversed(sizes):
            coordinates.insert(0, flat % size)
            flat = flat // size
        yield coordinates[:-1], coordinates[-1]


def keeps(position: Position, shape: tuple[int, ...]) -> Any:
    """Returns for each element of a block whether it meets the conditions, as a flat array of `shape`."""
    import numpy as np

    kept = np.ones(shape, bool)
    for condition in position.conditions:
        kept &= (condition.value >= condition.low) & (condition.value < condition.high)
        kept &= condition.value % condition.stride == 0
    return kept


def at(index: Sequence[Any], position: int) -> tuple[int, ...]:
    """Returns the index at one position of a block."""
    return tuple(int(coordinate[position]) for coordinate in index)
