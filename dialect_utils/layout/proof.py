"""Proofs about index maps that do not grow with the array.

Index maps are quasi-affine (sums, products with constants, divisions and remainders by constants), so
isl, the integer set library, decides questions about all elements at once. What takes it
longer than its budget is enumerated instead, block by block; every answer says which it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import islpy as isl
import numpy as np

from dialect_utils.layout.bitcast import classify_bitcast, reads_padding
from dialect_utils.layout.index_map import element_slot_bits, elements_at, final_dimensions, physical_index
from dialect_utils.layout.linear_map import common_sizes
from dialect_utils.layout.places import Coordinate, Places, follow, regroup, unit_bits
from dialect_utils.layout.plan import Plan
from dialect_utils.layout.presburger import (
    ELEMENTS_PER_OPERATION,
    ISL_BUDGET,
    RELATION_BUDGET,
    Budget,
    Terms,
    at,
    blocks,
    keeps,
)
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.steps import Reshape

Method = Literal["isl", "enumeration", "structure"]


@dataclass(frozen=True, slots=True)
class Proof:
    """Is whether a claim holds for all elements, and how that is known.

    `counterexample` is the start index of an element for which it does not.
    """

    holds: bool
    method: Method
    counterexample: tuple[int, ...] | None = None
    seconds: float = 0.0


# Both maps of a comparison, as functions of an index and a unit within the element there.
_Map = Callable[[Sequence[Coordinate], Coordinate], Places]


@dataclass(frozen=True, slots=True)
class _Question:
    """Asks whether two maps put every unit of every element of an array at the same place."""

    dimensions: tuple[int, ...]
    units: int
    first: _Map
    second: _Map


def prove_equal(a: Plan, b: Plan, *, budget: int = ISL_BUDGET) -> Proof:
    """Decides whether two plans put every element at the same place; padding contents do not count.

    Raises ValueError where the plans do not start and end with the same arrays.
    """
    if (a.element_type, a.dimensions) != (b.element_type, b.dimensions) or a.result != b.result:
        raise ValueError(f"plans of different arrays cannot be equal: {a} and {b}")
    bits = unit_bits(a, b)
    return _decide(
        _Question(
            a.dimensions,
            a.element_type.bits // bits,
            lambda index, unit: follow(a, index, unit, bits),
            lambda index, unit: follow(b, index, unit, bits),
        ),
        budget,
    )


def prove_layout(plan: Plan, shape: ArrayShape, *, budget: int = ISL_BUDGET) -> Proof:
    """Decides whether a plan puts every element where the layout of `shape` says, by the definition of tiles.

    Raises ValueError where the plan starts with another array, or the slots of the layout
    hold no whole elements.
    """
    if (plan.element_type, plan.dimensions) != (shape.element_type, shape.dimensions):
        raise ValueError(f"a plan for {plan.element_type}{list(plan.dimensions)} says nothing about {shape}")
    result_type, dims = plan.result
    bits = unit_bits(plan)
    sizes = final_dimensions(shape.dimensions, shape.effective_layout)
    units = shape.element_type.bits // bits
    if result_type == shape.element_type:
        if dims != sizes:
            return Proof(False, "structure")
        return _decide(
            _Question(
                plan.dimensions,
                units,
                lambda index, unit: follow(plan, index, unit, bits),
                lambda index, unit: Places(physical_index(shape, index), unit),
            ),
            budget,
        )
    if element_slot_bits(shape) != shape.element_type.bits:
        raise ValueError(f"the slots of {shape} are wider than its elements, so {plan} cannot fill them")
    return _decide(
        _Question(
            plan.dimensions,
            units,
            lambda index, unit: _flattened(follow(plan, index, unit, bits), dims, result_type.bits // bits),
            lambda index, unit: _flattened(Places(physical_index(shape, index), unit), sizes, units),
        ),
        budget,
    )


def prove_injective(shape: ArrayShape, *, budget: int = RELATION_BUDGET) -> Proof:
    """Decides whether no two elements of a shape lie at the same place; a counterexample shares its place."""
    started = time.perf_counter()
    with Budget(budget) as context:
        terms = Terms(context, shape.dimensions, 1)
        places = Places(physical_index(shape, terms.index), terms.unit)
        relation = terms.relation(places)
        if relation.is_injective():
            return Proof(True, "isl", seconds=time.perf_counter() - started)
        shared = relation.apply_range(relation.reverse())
        other = shared.subtract(isl.Map.identity(shared.get_space()))
        return Proof(False, "isl", terms.sample(other.domain()), time.perf_counter() - started)
    return Proof(*_injective_by_blocks(shape), seconds=time.perf_counter() - started)


def prove_bitcast(source: ArrayShape, destination: ArrayShape, *, budget: int = ISL_BUDGET) -> Proof:
    """Decides whether `classify_bitcast` is right about every element.

    `relabel` and `reorder`: every element of the destination reads the bits its decomposition says. The other
    verdicts hold by their counterexample, or by the sizes. Raises ValueError for dynamic dimensions.
    """
    found = classify_bitcast(source, destination)
    if found.decomposition is None:
        counter = found.counterexample
        holds = counter is None or reads_padding(source, destination, counter.destination_index)
        return Proof(holds, "structure", None if holds or counter is None else counter.destination_index)
    steps = found.decomposition
    bits = unit_bits(steps)

    def read(index: Sequence[Coordinate], unit: Coordinate) -> Places:
        moved = follow(steps, index, unit, bits)
        there = _physical_units(destination, moved.coordinates, moved.unit, bits)
        return Places(_in_common(there, destination, source, bits), 0, moved.conditions)

    def lie(index: Sequence[Coordinate], unit: Coordinate) -> Places:
        moved = follow(steps, index, unit, bits)
        here = _physical_units(source, index, unit, bits)
        return Places(_in_common(here, source, destination, bits), 0, moved.conditions)

    question = _Question(source.dimensions, source.element_type.bits // bits, read, lie)
    return _decide(question, budget)


def find_padding_read(source: ArrayShape, destination: ArrayShape) -> tuple[int, ...] | None:
    """Returns a destination element of which some bit is in no element of the source, or None."""
    with Budget(RELATION_BUDGET) as context:
        theirs, ours = Terms(context, source.dimensions, 1), Terms(context, destination.dimensions, 1)
        width = (element_slot_bits(source), element_slot_bits(destination))
        if width[0] == width[1]:
            sizes = [final_dimensions(s.dimensions, s.effective_layout) for s in (source, destination)]
            common = common_sizes(*sizes) or (prod(sizes[0]),)
            read = ours.relation(Places(regroup(physical_index(destination, ours.index), sizes[1], common), 0))
            held = theirs.relation(Places(regroup(physical_index(source, theirs.index), sizes[0], common), 0)).range()
            missing = read.subtract_range(held).domain()
            return None if missing.is_empty() else ours.sample(missing)
    return _padding_by_blocks(source, destination)


def find_moved_element(source: ArrayShape, destination: ArrayShape) -> tuple[int, ...] | None:
    """Returns a destination element that a dense row-major reshape would fill otherwise, or None."""
    same_width = element_slot_bits(source) == element_slot_bits(destination)
    if same_width and source.element_count == destination.element_count:
        straight = Plan(source.element_type, destination.dimensions, (Reshape(source.dimensions),))
        bits = source.element_type.bits

        def expected(index: Sequence[Coordinate], unit: Coordinate) -> Places:
            moved = follow(straight, index, unit, bits)
            here = _physical_units(source, moved.coordinates, moved.unit, bits)
            return Places(_in_common(here, source, destination, bits), 0)

        def read(index: Sequence[Coordinate], unit: Coordinate) -> Places:
            there = _physical_units(destination, index, unit, bits)
            return Places(_in_common(there, destination, source, bits), 0)

        return _decide(_Question(destination.dimensions, 1, expected, read), ISL_BUDGET).counterexample
    return None


def _physical_units(
    shape: ArrayShape, index: Sequence[Coordinate], unit: Coordinate, bits: int
) -> tuple[list[Coordinate], tuple[int, ...]]:
    """Returns the place of a unit in the physical array, and the dimensions of that array in units."""
    sizes = final_dimensions(shape.dimensions, shape.effective_layout)
    slot = max(1, element_slot_bits(shape) // bits)
    return [*physical_index(shape, index), unit], (*sizes, slot)


def _in_common(
    place: tuple[list[Coordinate], tuple[int, ...]], shape: ArrayShape, other: ArrayShape, bits: int
) -> list[Coordinate]:
    """Returns a place in digits that both physical arrays have, or as one number where they have none."""
    _, sizes = _physical_units(other, [0] * other.rank, 0, bits)
    common = common_sizes(place[1], sizes) if prod(place[1]) == prod(sizes) else None
    return regroup(place[0], place[1], common) if common else [_linear(*place)]


def _linear(coordinates: Sequence[Coordinate], sizes: Sequence[int]) -> Coordinate:
    total: Coordinate = 0
    for coordinate, size in zip(coordinates, sizes, strict=True):
        total = coordinate + total * size
    return total


def _flattened(places: Places, sizes: Sequence[int], units: int) -> Places:
    linear = _linear([*places.coordinates, places.unit], [*sizes, units])
    return Places([linear], 0, places.conditions)


# Deciding: isl first, then blocks.


def _decide(question: _Question, budget: int) -> Proof:
    started = time.perf_counter()
    if 0 in question.dimensions:
        return Proof(True, "structure")
    longest = max(budget, prod(question.dimensions) // ELEMENTS_PER_OPERATION)
    with Budget(longest) as context:
        counterexample = _differs(question, context)
        return Proof(counterexample is None, "isl", counterexample, time.perf_counter() - started)
    counterexample = _differs_by_blocks(question)
    return Proof(counterexample is None, "enumeration", counterexample, time.perf_counter() - started)


def _differs(question: _Question, context: isl.Context) -> tuple[int, ...] | None:
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


def _differs_by_blocks(question: _Question) -> tuple[int, ...] | None:
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


def _injective_by_blocks(shape: ArrayShape) -> tuple[bool, Method, tuple[int, ...] | None]:
    """Reads every element back from its place; needs no memory beyond a block."""
    sizes = final_dimensions(shape.dimensions, shape.effective_layout)
    for index, _ in blocks((*shape.dimensions, 1)):
        linear = np.asarray(_linear(physical_index(shape, index), sizes))
        back = elements_at(shape, linear)
        wrong = back != _linear(index, shape.dimensions)
        if wrong.any():
            return False, "enumeration", at(index, int(wrong.argmax()))
    return True, "enumeration", None


def _padding_by_blocks(source: ArrayShape, destination: ArrayShape) -> tuple[int, ...] | None:
    sizes = final_dimensions(destination.dimensions, destination.effective_layout)
    width, slot = element_slot_bits(destination), element_slot_bits(source)
    for index, _ in blocks((*destination.dimensions, 1)):
        first = np.asarray(_linear(physical_index(destination, index), sizes)) * width
        begin, end = first // slot, -(-(first + width) // slot)
        missing = np.zeros(first.shape, bool)
        for offset in range(int((end - begin).max(initial=0))):
            linear = begin + offset
            missing |= (linear < end) & (elements_at(source, linear) < 0)
        if missing.any():
            return at(index, int(missing.argmax()))
    return None
