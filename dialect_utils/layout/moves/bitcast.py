"""The effect of reading the bytes of one shape as another: relabel, reorder, a read of padding, or a size mismatch.

XLA's verifier compares byte sizes only, XLA's bitcast functions read minor_to_major only, and XLA's
evaluator copies densely (docs/layouts.md, section "Bitcasts"). Here the positions of elements decide: both physical
arrays are split into the same units of bits, and the movement between them is brought to its
normal form.

A bitcast *relabels* where it equals a transpose of the source's dimensions, a reshape and a transpose
into the destination's dimensions (each at most once), with a slice where the result is smaller:
`f32[2,3] -> f32[6]`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Literal

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType
from dialect_utils.layout.index.index_map import (
    byte_size,
    element_slot_bits,
    linear_index,
    logical_index,
    physical_element_count,
)
from dialect_utils.layout.index.positions import follow, unit_bits
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.pad_slice import Pad, Slice
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.relabel import try_relabel
from dialect_utils.layout.moves.steps import BitcastConvert, Reshape, Step
from dialect_utils.layout.shape import ArrayShape

Verdict = Literal["relabel", "reorder", "reads-padding", "size-mismatch"]

# The padding value of the source: undefined, but distinct from every element.
_PADDING = "padding of the source"
_MOST_CORNERS = 4096
# Up to this many elements are compared one by one, which takes a tenth of a second.
_SMALL = 2048


@dataclass(frozen=True, slots=True)
class BitcastWitness:
    """One element of the destination and the source element that the bitcast reads for it.

    `source_index` is None where the bitcast reads padding. `expected_index` is the source element that a
    reshape in row-major order would read (None where the source has no such element).
    """

    destination_index: tuple[int, ...]
    source_index: tuple[int, ...] | None
    expected_index: tuple[int, ...] | None = None

    def __str__(self) -> str:
        source = "padding" if self.source_index is None else _format_index(self.source_index)
        return f"{_format_index(self.destination_index)} reads {source}"


@dataclass(frozen=True, slots=True)
class Bitcast:
    """The verdict on reading the bytes of `source` as `destination`.

    `decomposition` starts at the source's dimensions and ends at the destination's: for `relabel` equivalent
    logical steps, for `reorder` explicit data movement; None for the other verdicts.
    It treats a pred that becomes another type as u8.
    """

    source: ArrayShape
    destination: ArrayShape
    verdict: Verdict
    decomposition: Plan | None = None
    counterexample: BitcastWitness | None = None


@lru_cache(maxsize=4096)
def classify_bitcast(source: ArrayShape, destination: ArrayShape) -> Bitcast:
    """Returns the exact verdict on reading `source` as `destination`; raises ValueError for dynamic dimensions."""
    for shape in (source, destination):
        if not shape.is_static:
            raise ValueError(f"{shape} has dynamic dimensions, so a bitcast of it has no fixed meaning")
    if byte_size(source) != byte_size(destination):
        return Bitcast(source, destination, "size-mismatch")
    through = _through_physical(*without_pred(source, destination))
    if through is None:
        return _hidden_bits(source, destination)
    steps = normal_form(through.with_padding(_PADDING))
    if steps.adds_elements:
        element = try_padding_read(source, destination)
        if element is not None:
            return Bitcast(source, destination, "reads-padding", counterexample=BitcastWitness(element, None))
        steps = normal_form(through)
    relabelled = try_relabel(steps)
    if relabelled is not None:
        return Bitcast(source, destination, "relabel", relabelled)
    return Bitcast(source, destination, "reorder", steps, _moved_element(source, destination))


@lru_cache(maxsize=4096)
def byte_movement(source: ArrayShape, plan: Plan, destination: ArrayShape) -> Plan:
    """Returns the movement of elements in memory by a plan from `source` to `destination`, for layouts without tiles.

    The result starts and ends with all elements in the order of memory, so that operations on different shapes of the
    same bytes are equal: `copy` from f32[3,5]{1,0} to {0,1}, and `transpose` from {1,0} to f32[5,3]{1,0}.
    """
    back, there, flat = physical_plan(source).inverse(), physical_plan(destination), (source.element_count,)
    whole = Plan(source.element_type, flat, (Reshape(back.dimensions),))
    return normal_form(whole.followed_by(back).followed_by(plan).followed_by(there).append(Reshape(flat)))


def is_bitcast(source: ArrayShape, plan: Plan, destination: ArrayShape) -> bool:
    """Is true where a plan from `source` to `destination` moves no byte of any element.

    The plan then has the normal form of the bitcast. Where padding is cut out of split dimensions the normal forms
    may differ, so small arrays are compared element by element. Memory spaces are ignored.
    """
    if not source.is_static or not destination.is_static:
        return False
    return _equals_bitcast(source.in_default_memory, plan, destination.in_default_memory)


@lru_cache(maxsize=4096)
def _equals_bitcast(source: ArrayShape, plan: Plan, destination: ArrayShape) -> bool:
    if plan.start != source.type_and_dimensions or plan.result != destination.type_and_dimensions:
        return False
    try:
        read = classify_bitcast(source, destination).decomposition
    except ValueError:  # a layout without a physical array: E(n) that is not the width of the type
        return False
    # The decomposition treats a pred that becomes another type as u8, so it equals no plan here.
    return read is not None and (normal_form(plan) == normal_form(read) or _keeps_positions(source, plan, destination))


def _keeps_positions(source: ArrayShape, plan: Plan, destination: ArrayShape) -> bool:
    """Is true where a plan only permutes the elements of a small array and leaves each at its bit."""
    if prod(source.dimensions) > _SMALL or plan.adds_elements or plan.drops_elements or plan.regroups_bits:
        return False
    widths = element_slot_bits(source), element_slot_bits(destination)
    for index in product(*map(range, source.dimensions)):
        moved = tuple(follow(plan, index, 0, unit_bits(plan)).coordinates)
        if linear_index(source, index) * widths[0] != linear_index(destination, moved) * widths[1]:
            return False
    return True


def source_index(source: ArrayShape, destination: ArrayShape, index: tuple[int, ...]) -> tuple[int, ...] | None:
    """Returns the source element with the first bit of a destination element, None for padding; raises IndexError."""
    linear = linear_index(destination, index) * element_slot_bits(destination) // element_slot_bits(source)
    return logical_index(source, linear) if linear < physical_element_count(source) else None


def try_padding_read(source: ArrayShape, destination: ArrayShape) -> tuple[int, ...] | None:
    """Returns a destination element that reads the source's padding, or None where no element does.

    Corners of the destination decide nearly always; otherwise a proof does.
    """
    for corner in _corners(destination.dimensions):
        if reads_padding(source, destination, corner):
            return corner
    from dialect_utils.layout.proof.witnesses import find_padding_read

    return find_padding_read(source, destination)


def reads_padding(source: ArrayShape, destination: ArrayShape, index: tuple[int, ...]) -> bool:
    """Is true where some bit of a destination element is not part of a source element; raises IndexError."""
    if _through_physical(*without_pred(source, destination)) is None:
        return True
    width, step = element_slot_bits(destination), element_slot_bits(source)
    begin = linear_index(destination, index) * width
    count = physical_element_count(source)
    slots = range(begin // step, -(-(begin + width) // step))
    return any(slot >= count or logical_index(source, slot) is None for slot in slots)


def _through_physical(source: ArrayShape, destination: ArrayShape) -> Plan | None:
    """Returns the data movement through both physical arrays, in units of the narrower element's bits.

    Returns None where slots are wider than elements, because another type would read the extra bits.
    """
    unit = min(source.element_type.bits, destination.element_type.bits)
    same_type = source.element_type == destination.element_type
    whole = all(s.element_type.bits == element_slot_bits(s) for s in (source, destination))
    if not (whole or (same_type and element_slot_bits(source) == element_slot_bits(destination))):
        return None
    narrow = min((source, destination), key=lambda s: s.element_type.bits).element_type
    wide = max(source.element_type.bits, destination.element_type.bits)
    if wide % unit:
        return None
    there = _unit_plan(source, narrow, wide // unit if source.element_type.bits == wide else 1)
    back = _unit_plan(destination, narrow, wide // unit if destination.element_type.bits == wide else 1).inverse()
    units, wanted = prod(there.result[1]), prod(back.dimensions)
    steps = [*_converted(source, narrow, narrow), *there.steps, Reshape((units,))]
    # A tail of bits that fills no byte is padded or cut off.
    if units < wanted:
        steps.append(Pad((0,), (wanted - units,)))
    elif units > wanted:
        steps.append(Slice((0,), (wanted,)))
    steps += [Reshape(back.dimensions), *back.steps, *_converted(destination, narrow, destination.element_type)]
    return Plan(source.element_type, source.dimensions, tuple(steps))


def without_pred(source: ArrayShape, destination: ArrayShape) -> tuple[ArrayShape, ArrayShape]:
    """Returns both shapes, a pred as u8 where the types differ: memory holds a pred as a whole byte."""
    if source.element_type == destination.element_type:
        return source, destination
    byte = ELEMENT_TYPES["u8"]
    pair = (replace(s, element_type=byte) if s.element_type.name == "pred" else s for s in (source, destination))
    return next(pair), next(pair)


def _unit_plan(shape: ArrayShape, unit: ElementType, count: int) -> Plan:
    """Returns the physical plan of a shape whose elements are `count` units each, the units most minor."""
    plan = physical_plan(ArrayShape(unit, shape.dimensions, shape.effective_layout.replace(element_size_in_bits=0)))
    if count == 1:
        return plan
    return Plan(unit, (*shape.dimensions, count), tuple(step.with_minor_dimension(count) for step in plan.steps))


def _converted(shape: ArrayShape, unit: ElementType, to: ElementType) -> tuple[Step, ...]:
    return () if shape.element_type == unit else (BitcastConvert(to),)


def _hidden_bits(source: ArrayShape, destination: ArrayShape) -> Bitcast:
    """Returns the verdict where the slot of an element is wider than the element."""
    if destination.element_count == 0:
        empty = Plan(source.element_type, source.dimensions)
        return Bitcast(source, destination, "relabel", empty if empty.result[1] == destination.dimensions else None)
    return Bitcast(source, destination, "reads-padding", counterexample=BitcastWitness((0,) * destination.rank, None))


def _moved_element(source: ArrayShape, destination: ArrayShape) -> BitcastWitness | None:
    """Returns a destination element that a dense row-major reshape would read from another source element."""
    for index in _corners(destination.dimensions):
        found, expected = source_index(source, destination, index), _row_major(source, destination, index)
        if found != expected:
            return BitcastWitness(index, found, expected)
    from dialect_utils.layout.proof.witnesses import find_moved_element

    index_found = find_moved_element(source, destination)
    if index_found is None:
        return None
    return BitcastWitness(
        index_found, source_index(source, destination, index_found), _row_major(source, destination, index_found)
    )


def _row_major(source: ArrayShape, destination: ArrayShape, index: tuple[int, ...]) -> tuple[int, ...] | None:
    """Returns the source element whose first bit a dense row-major reshape moves to the index, or None."""
    position = linear_index(destination.without_layout, index) * element_slot_bits(destination)
    slot = position // element_slot_bits(source)
    return logical_index(source.without_layout, slot) if slot < source.element_count else None


def _corners(dimensions: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Returns the indices at which differences are most likely: ends, starts and powers of two."""
    if 0 in dimensions:
        return []
    ends = product(*({0, size - 1} for size in dimensions[:10]))
    found = [(*corner, *(0,) * (len(dimensions) - 10)) for corner in ends] if len(dimensions) > 10 else list(ends)
    for dim, size in enumerate(dimensions):
        step = 1
        while step < size:
            for base in ((0,) * len(dimensions), tuple(s - 1 for s in dimensions)):
                found.append((*base[:dim], step, *base[dim + 1 :]))
            step *= 2
    return sorted(set(found))[:_MOST_CORNERS]


def _format_index(index: tuple[int, ...]) -> str:
    return "(" + ",".join(map(str, index)) + ")"
