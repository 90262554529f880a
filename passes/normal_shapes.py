"""Normalized values: arrays whose dimensions stand in physical order, so that their layout is descending."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.ir import Operation, Value
from dialect_utils.layout import ArrayShape, ElementType, Layout, Shape
from passes.chains import array_shape


def normal_shape(value: Value) -> ArrayShape:
    """Returns the shape of a value's normalized value: dimensions in physical order, tiles as they are."""
    return permuted_shape(array_shape(value), order_of(value))


def permuted_shape(shape: ArrayShape, permutation: Sequence[int]) -> ArrayShape:
    """Returns the shape with dimension `permutation[i]` as dimension i, in descending order; all else stays."""
    dimensions = tuple(shape.dimensions[i] for i in permutation)
    layout = shape.layout
    if layout is not None:
        padded = layout.padded_dimensions
        layout = layout.replace(
            minor_to_major=Layout.descending(shape.rank).minor_to_major,
            padded_dimensions=None if padded is None else tuple(padded[i] for i in permutation),
        )
    return ArrayShape(shape.element_type, dimensions, layout)


def order_of(value: Value) -> tuple[int, ...]:
    """Returns a value's dimensions in physical order, most major first."""
    return array_shape(value).effective_layout.major_to_minor


def inverse_order(order: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the permutation that undoes one."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def is_descending(value: Value) -> bool:
    """Is true where a value's minor_to_major is the descending one, whatever its tiles."""
    return array_shape(value).effective_layout.is_descending


def type_of(value: Value) -> tuple[ElementType, tuple[int, ...]]:
    """Returns the element type and dimensions of an array."""
    shape = array_shape(value)
    return shape.element_type, shape.dimensions


def is_same_array(shape: Shape, other: Shape) -> bool:
    """Is true for equal arrays, a layout that is not written being the descending one."""
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return False
    return shape.with_layout(shape.effective_layout) == other.with_layout(other.effective_layout)


def gives_normalized(operation: Operation) -> bool:
    """Is true for a transpose or bitcast that gives the normalized value of its operand."""
    source, result = operation.operands[0], operation.results[0]
    if is_descending(source) or not is_same_array(normal_shape(source), result.shape):
        return False
    return operation.opcode == "bitcast" or operation.ints("dimensions") == order_of(source)


def gives_back(operation: Operation) -> bool:
    """Is true for a transpose or bitcast whose operand is the normalized value of its result."""
    source, result = operation.operands[0], operation.results[0]
    if is_descending(result) or not is_same_array(normal_shape(result), source.shape):
        return False
    return operation.opcode == "bitcast" or operation.ints("dimensions") == inverse_order(order_of(result))
