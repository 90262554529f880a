"""Elements of a bitcast's result that are evidence for a verdict: one that reads padding, one that moved.

isl searches all elements at once within its budget; otherwise blocks of elements are enumerated. The search does not
depend on the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dialect_utils.layout.index.index_map import (
    Coordinate,
    element_slot_bits,
    elements_at,
    final_dimensions,
    physical_index,
)
from dialect_utils.layout.index.positions import Position, follow, linear_position, regroup
from dialect_utils.layout.moves.linear_map import common_sizes
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Reshape
from dialect_utils.layout.proof.decide import Question, Terms, budgets, decide
from dialect_utils.layout.proof.enumeration import ISL_BUDGET, RELATION_BUDGET, at, blocks
from dialect_utils.layout.shape import ArrayShape


def find_padding_read(source: ArrayShape, destination: ArrayShape) -> tuple[int, ...] | None:
    """Returns a destination element with a bit outside every source element, or None."""
    for budget in budgets(RELATION_BUDGET):
        with budget as context:
            theirs, ours = Terms(context, source.dimensions, 1), Terms(context, destination.dimensions, 1)
            width = (element_slot_bits(source), element_slot_bits(destination))
            if width[0] == width[1]:
                sizes = [final_dimensions(s.dimensions, s.effective_layout) for s in (source, destination)]
                common = common_sizes(*sizes) or (prod(sizes[0]),)
                read = ours.relation(Position(regroup(physical_index(destination, ours.index), sizes[1], common), 0))
                held = theirs.relation(
                    Position(regroup(physical_index(source, theirs.index), sizes[0], common), 0)
                ).range()
                missing = read.subtract_range(held).domain()
                return None if missing.is_empty() else ours.sample(missing)
    return _padding_by_blocks(source, destination)


def find_moved_element(source: ArrayShape, destination: ArrayShape) -> tuple[int, ...] | None:
    """Returns a destination element that a dense row-major reshape would fill otherwise, or None."""
    same_width = element_slot_bits(source) == element_slot_bits(destination)
    if same_width and source.element_count == destination.element_count:
        straight = Plan(source.element_type, destination.dimensions, (Reshape(source.dimensions),))
        bits = source.element_type.bits

        def expected(index: Sequence[Coordinate], unit: Coordinate) -> Position:
            moved = follow(straight, index, unit, bits)
            return Position(in_common(source, destination, moved.coordinates, moved.unit, bits), 0)

        def read(index: Sequence[Coordinate], unit: Coordinate) -> Position:
            return Position(in_common(destination, source, index, unit, bits), 0)

        return decide(Question(destination.dimensions, 1, expected, read), ISL_BUDGET).counterexample
    return None


def in_common(
    shape: ArrayShape, other: ArrayShape, index: Sequence[Coordinate], unit: Coordinate, bits: int
) -> list[Coordinate]:
    """Returns the position of a unit in digits that both physical arrays share, or as one number if they share none."""
    position = [*physical_index(shape, index), unit]
    sizes, others = (
        (*final_dimensions(each.dimensions, each.effective_layout), max(1, element_slot_bits(each) // bits))
        for each in (shape, other)
    )
    common = common_sizes(sizes, others) if prod(sizes) == prod(others) else None
    return regroup(position, sizes, common) if common else [linear_position(position, sizes)]


def _padding_by_blocks(source: ArrayShape, destination: ArrayShape) -> tuple[int, ...] | None:
    import numpy as np

    sizes = final_dimensions(destination.dimensions, destination.effective_layout)
    width, slot = element_slot_bits(destination), element_slot_bits(source)
    for index, _ in blocks((*destination.dimensions, 1)):
        first = np.asarray(linear_position(physical_index(destination, index), sizes)) * width
        begin, end = first // slot, -(-(first + width) // slot)
        missing = np.zeros(first.shape, bool)
        for offset in range(int((end - begin).max(initial=0))):
            linear = begin + offset
            missing |= (linear < end) & (elements_at(source, linear) < 0)
        if missing.any():
            return at(index, int(missing.argmax()))
    return None
