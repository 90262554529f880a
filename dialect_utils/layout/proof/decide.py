"""Decides whether two index maps are equal at every element: by isl, else by enumeration.

Index maps are quasi-affine (sums, products with constants, divisions and remainders by constants), so
isl, the integer set library, decides questions about all elements at once. What takes it
longer than its budget is enumerated instead, block by block; every answer says which it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl
import numpy as np

from dialect_utils.layout.index.places import Coordinate, Places
from dialect_utils.layout.proof.budgets import ELEMENTS_PER_OPERATION
from dialect_utils.layout.proof.enumeration import at, blocks, keeps
from dialect_utils.layout.proof.presburger import Budget, Terms
from dialect_utils.layout.proof.result import Proof

# A function of an index and a unit within the element there.
IndexMap = Callable[[Sequence[Coordinate], Coordinate], Places]


@dataclass(frozen=True, slots=True)
class Question:
    """The question whether two maps put every unit of every element of an array at the same place."""

    dimensions: tuple[int, ...]
    units: int
    first: IndexMap
    second: IndexMap


def decide(question: Question, budget: int) -> Proof:
    """Returns whether both maps are equal; isl may do `budget` operations, more where enumerating takes as long."""
    started = time.perf_counter()
    if 0 in question.dimensions:
        return Proof(True, "structure")
    longest = max(budget, prod(question.dimensions) // ELEMENTS_PER_OPERATION)
    with Budget(longest) as context:
        counterexample = _differs(question, context)
        return Proof(counterexample is None, "isl", counterexample, time.perf_counter() - started)
    counterexample = _differs_by_blocks(question)
    return Proof(counterexample is None, "enumeration", counterexample, time.perf_counter() - started)


def _differs(question: Question, context: isl.Context) -> tuple[int, ...] | None:
    """Returns an element the two maps put at different places, or None."""
    terms = Terms(context, question.dimensions, question.units)
    first, second = question.first(terms.index, terms.unit), question.second(terms.index, terms.unit)
    kept, also_kept = terms.domain(first.conditions), terms.domain(second.conditions)
    if first.conditions != second.conditions:
        apart = kept.subtract(also_kept).union(also_kept.subtract(kept))
        if not apart.is_empty():
            return terms.sample(apart)
    pairs = zip([*first.coordinates, first.unit], [*second.coordinates, second.unit], strict=True)
    for a, b in pairs:
        different = terms.aff(a).ne_set(terms.aff(b)).intersect(kept)
        if not different.is_empty():
            return terms.sample(different)
    return None


def _differs_by_blocks(question: Question) -> tuple[int, ...] | None:
    sizes = (*question.dimensions, question.units)
    for index, unit in blocks(sizes):
        first, second = question.first(index, unit), question.second(index, unit)
        kept, also_kept = keeps(first, unit.shape), keeps(second, unit.shape)
        different = kept != also_kept
        for a, b in zip([*first.coordinates, first.unit], [*second.coordinates, second.unit], strict=True):
            different |= kept & np.not_equal(a, b)
        if different.any():
            return at(index, int(different.argmax()))
    return None
