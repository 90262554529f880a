"""The movement of an array's elements in memory by copies, transposes and reshapes, to compare them by."""

from __future__ import annotations

from dialect_utils.history.flat import opcode_of
from dialect_utils.ir import Value
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.bitcast import byte_movement
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, has


def order_of(shape: ArrayShape) -> tuple[int, ...] | None:
    """Returns the order of dimensions from minor to major, None for an array without a layout."""
    return None if shape.layout is None else shape.layout.minor_to_major


def is_same_move(one: Value, other: Value) -> bool:
    """Is true for two copies into one order, and for two transposes of the same dimensions."""
    if one.operation is None or other.operation is None or opcode_of(one) != opcode_of(other):
        return False
    if opcode_of(one) == "transpose":
        return one.operation.step == other.operation.step
    first, second = (next(each.shape.arrays(), None) for each in (one, other))
    if opcode_of(one) != "copy" or first is None or second is None:
        return False
    return order_of(first) == order_of(second)


def movement(node: Value) -> Plan | None:
    """Returns the movement of elements in memory by a copy, transpose or reshape; None for layouts with tiles."""
    operation = node.operation
    if operation is None or not (operation.opcode == "copy" or has(operation.opcode, Trait.IS_STEP)):
        return None
    source, result = operation.operands[0].shape, node.shape
    if not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape) or not source.is_static:
        return None
    if any(each.layout is None or each.layout.tiles or each.layout.element_size_in_bits for each in (source, result)):
        return None
    steps = () if operation.step is None else (operation.step,)
    movement = byte_movement(source, Plan(*source.type_and_dimensions, steps), result)
    return movement if movement.steps else None


def is_settled(node: Value) -> bool:
    """Is true where the layouts of a move mean something: before layout assignment only default layouts do."""
    assert node.operation is not None
    layouts = [each.layout for shape in (node.operation.operands[0].shape, node.shape) for each in shape.arrays()]
    return node.operation.opcode == "copy" or all(each is not None and each.is_descending for each in layouts)
