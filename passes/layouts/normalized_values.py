"""Values in the order of their dimensions in memory: the normalized values that `normalize-layouts` makes of arrays."""

from __future__ import annotations

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.ir.factors import permuted_shape
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.moves.steps import Stage, inverse_permutation


def normal_shape(value: Value) -> ArrayShape:
    """Returns the shape of the normalized value: dimensions in physical order, with the same tiles."""
    return permuted_shape(array_shape(value), order_of(value))


def order_of(value: Value) -> tuple[int, ...]:
    """Returns a value's dimensions in physical order, most major first."""
    return array_shape(value).effective_layout.major_to_minor


def is_descending(value: Value) -> bool:
    """Is true if a value's minor_to_major is descending, whatever its tiles."""
    return array_shape(value).effective_layout.is_descending


def type_of(value: Value) -> Stage:
    """Returns the element type and dimensions of an array."""
    return array_shape(value).type_and_dimensions


def is_same_array(shape: Shape, other: Shape) -> bool:
    """Is true for equal array shapes, where an unwritten layout equals the descending one."""
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return False
    return shape.with_effective_layout == other.with_effective_layout


def gives_normalized(operation: Operation) -> bool:
    """Is true for a transpose or bitcast whose result is the normalized value of its operand."""
    source, result = operation.operands[0], operation.results[0]
    if is_descending(source) or not is_same_array(normal_shape(source), result.shape):
        return False
    return operation.opcode == "bitcast" or operation.ints("dimensions") == order_of(source)


def gives_back(operation: Operation) -> bool:
    """Is true for a transpose or bitcast whose operand is the normalized value of its result."""
    source, result = operation.operands[0], operation.results[0]
    if is_descending(result) or not is_same_array(normal_shape(result), source.shape):
        return False
    return operation.opcode == "bitcast" or operation.ints("dimensions") == inverse_permutation(order_of(result))
