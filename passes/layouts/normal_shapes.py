"""Normalized values: arrays whose dimensions are in physical order, so that their layout is descending."""

from __future__ import annotations

from functools import lru_cache

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.layout import ArrayShape, Layout, Shape
from dialect_utils.layout.moves.steps import Stage, inverse_permutation


def normal_shape(value: Value) -> ArrayShape:
    """Returns the shape of a value's normalized value: dimensions in physical order, tiles as they are."""
    return permuted_shape(array_shape(value), order_of(value))


@lru_cache(maxsize=1 << 12)
def permuted_shape(shape: ArrayShape, permutation: tuple[int, ...]) -> ArrayShape:
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


def is_descending(value: Value) -> bool:
    """Is true where a value's minor_to_major is the descending one, whatever its tiles."""
    return array_shape(value).effective_layout.is_descending


def type_of(value: Value) -> Stage:
    """Returns the element type and dimensions of an array."""
    return array_shape(value).type_and_dimensions


def is_same_array(shape: Shape, other: Shape) -> bool:
    """Is true for equal arrays, a layout that is not written being the descending one."""
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return False
    return shape.with_effective_layout == other.with_effective_layout


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
    return operation.opcode == "bitcast" or operation.ints("dimensions") == inverse_permutation(order_of(result))
