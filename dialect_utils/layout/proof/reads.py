"""Whether two plans have the same elements everywhere, by reading both backwards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from dialect_utils.layout.index.places import Condition, Places, unit_bits
from dialect_utils.layout.moves.plan import PaddingValue, Plan
from dialect_utils.layout.proof.backwards import Read, read_back
from dialect_utils.layout.proof.budgets import RELATION_BUDGET
from dialect_utils.layout.proof.enumeration import at, blocks, keeps
from dialect_utils.layout.proof.result import Proof

# Up to so many units numpy is faster than isl, and beyond the second number it takes longer than seconds.
_SMALL = 1 << 14
_LARGE = 1 << 24


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an element of a result: the source's element at `index`, or (None) what a pad writes."""

    index: tuple[int, ...] | None
    padding: PaddingValue = None

    def __str__(self) -> str:
        return "padding" if self.index is None else f"[{','.join(map(str, self.index))}]"


def origin_of(plan: Plan, index: Sequence[int]) -> Origin:
    """Returns where the element at an index of the result comes from (its lowest bits, where bits regroup)."""
    read = read_back(plan, index, 0, unit_bits(plan))
    for stop in read.stops:
        if not all(_holds(condition) for condition in stop.conditions):
            return Origin(None, stop.padding)
    return Origin(tuple(map(int, read.place.coordinates)))


def _holds(condition: Condition) -> bool:
    return bool(condition.low <= condition.value < condition.high and condition.value % condition.stride == 0)


@lru_cache(maxsize=4096)
def try_prove_same_reads(
    first: Plan, second: Plan, *, budget: int = RELATION_BUDGET, small: int = _SMALL
) -> Proof | None:
    """Decides whether two plans of one array have the same elements, and the same padding values, everywhere.

    What `first` leaves unspecified may be anything in `second`. A counterexample is an index of the result.
    Results of up to `small` units are enumerated, larger ones left to isl within its `budget`.
    Returns None where the answer takes too long; raises ValueError where the arrays are not the same.
    """
    if (first.start, first.result) != (second.start, second.result):
        raise ValueError(f"plans of different arrays cannot be equal: {first} and {second}")
    started = time.perf_counter()
    bits = unit_bits(first, second)
    element_type, dimensions = first.result
    sizes = (*dimensions, element_type.bits // bits)
    if first == second or 0 in dimensions:
        return Proof(True, "structure")
    if prod(sizes) > small:
        # Imported here: the proofs of small modules need no isl, and loading it takes as long as they do.
        from dialect_utils.layout.proof.presburger import Budget, Terms
        from dialect_utils.layout.proof.reads_by_isl import first_difference

        with Budget(budget) as context:
            terms = Terms(context, dimensions, sizes[-1])
            both = [read_back(plan, terms.index, terms.unit, bits) for plan in (first, second)]
            found = first_difference(terms, *both)
            return Proof(found is None, "isl", found, time.perf_counter() - started)
    if prod(sizes) > _LARGE:
        return None
    found = _differs_by_blocks(first, second, sizes, bits)
    return Proof(found is None, "enumeration", found, time.perf_counter() - started)


def _differs_by_blocks(first: Plan, second: Plan, sizes: tuple[int, ...], bits: int) -> tuple[int, ...] | None:
    numbers: dict[PaddingValue, int] = {}
    for index, unit in blocks(sizes):
        a, b = (_codes(read_back(plan, index, unit, bits), unit.shape, numbers) for plan in (first, second))
        different = np.zeros(unit.shape, bool)
        for x, y in zip(a, b, strict=True):
            different |= np.not_equal(x, y)
        if None in numbers:
            different &= a[0] != numbers[None]
        if different.any():
            return at(index, int(different.argmax()))
    return None


def _codes(read: Read, shape: tuple[int, ...], numbers: dict[PaddingValue, int]) -> list[Any]:
    """Returns the number of the padding value (0: an element), the unit, and the coordinates (0 in paddings)."""
    found = np.zeros(shape, np.int64)
    unit = np.broadcast_to(read.place.unit, shape).copy()
    for stop in read.stops:
        number = numbers.setdefault(stop.padding, len(numbers) + 1)
        stopped = (found == 0) & ~keeps(Places([], 0, stop.conditions), shape)
        found[stopped] = number
        unit[stopped] = np.broadcast_to(stop.unit, shape)[stopped]
    return [found, unit, *(np.where(found == 0, c, 0) for c in read.place.coordinates)]
