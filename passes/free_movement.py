"""Whether data movement moves anything under the layouts at its ends."""

from __future__ import annotations

from functools import lru_cache

from dialect_utils.layout import ArrayShape, classify_bitcast
from dialect_utils.layout.movement import Movement, normal_form


def moves_no_byte(source: ArrayShape, movement: Movement, destination: ArrayShape) -> bool:
    """Is true where a movement from `source` to `destination` leaves every element's bytes where they are.

    A bitcast then does the same: what it does (`dialect_utils.layout.bitcast`) has the same normal form.
    Memory spaces are not compared.
    """
    if not source.is_static or not destination.is_static:
        return False
    return _equals_bitcast(_anywhere(source), movement, _anywhere(destination))


def _anywhere(shape: ArrayShape) -> ArrayShape:
    return shape.with_layout(shape.effective_layout.replace(memory_space=0))


@lru_cache(maxsize=4096)
def _equals_bitcast(source: ArrayShape, movement: Movement, destination: ArrayShape) -> bool:
    plan = movement.plan
    if (plan.element_type, plan.dimensions) != (source.element_type, source.dimensions):
        return False
    if plan.result != (destination.element_type, destination.dimensions):
        return False
    try:
        read = classify_bitcast(source, destination).decomposition
    except ValueError:  # a layout without a physical array: E(n) that is not the width of the type
        return False
    # A pred that another type meets counts as u8 in what a bitcast does, so it equals no movement here.
    return read is not None and normal_form(movement) == normal_form(Movement(read))
