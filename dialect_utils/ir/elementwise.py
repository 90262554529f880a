"""Whether one operation is elementwise, given its shapes, and which of its operands are scalars for all indices."""

from __future__ import annotations

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, by_opcode, has

# Operands that may be scalars beside arrays of any size: the predicate of select, the bounds of clamp.
_SCALAR_OPERANDS = by_opcode({"select": (0,), "clamp": (0, 2)})


def is_elementwise(operation: Operation) -> bool:
    """Is true where the result's element at an index depends on the operands' elements at that index only.

    A bitcast-convert between types of one width is elementwise too. Operands of other
    dimensions are allowed where the op takes a scalar for all indices.
    """
    if operation.opcode == "bitcast-convert":
        return _keeps_width(operation)
    if not has(operation.opcode, Trait.ELEMENTWISE) or len(operation.results) != 1:
        return False
    result = operation.results[0].shape
    if not isinstance(result, ArrayShape) or not result.is_static:
        return False
    dimensions, scalar = result.dimensions, _SCALAR_OPERANDS.get(operation.opcode, ())
    for index, operand in enumerate(operation.operands):
        shape = operand.shape
        if not isinstance(shape, ArrayShape) or shape.dynamic:
            return False
        if shape.dimensions != dimensions and (shape.dimensions or index not in scalar):
            return False
    return True


def scalar_operands(operation: Operation) -> tuple[int, ...]:
    """Returns the operands that are scalars used at every index."""
    allowed = _SCALAR_OPERANDS.get(operation.opcode, ())
    if not allowed:
        return ()
    result = operation.results[0].shape
    if isinstance(result, ArrayShape) and result.rank == 0:
        return ()
    shapes = ((index, operation.operands[index].shape) for index in allowed)
    return tuple(index for index, shape in shapes if isinstance(shape, ArrayShape) and not shape.dimensions)


def _keeps_width(operation: Operation) -> bool:
    source, result = operation.operands[0].shape, operation.results[0].shape
    if not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape):
        return False
    return source.element_type.bits == result.element_type.bits and result.is_static
