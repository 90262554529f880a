"""Finds the shape of an instruction that is written without one.

XLA infers shapes too, from its whole shape inference; the opcodes here are those whose shape
follows from their operands alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.layout import ArrayShape, Shape, TupleShape, parse_element_type

# Elementwise, with the type of the first operand.
_SAME_AS_FIRST_NAMES = (
    "abs add and atan2 cbrt ceil clz copy cosine divide erf exponential exponential-minus-one floor log log-plus-one "
    "logistic maximum minimum multiply negate not opt-barrier optimization-barrier or popcnt power remainder "
    "round-nearest-afz round-nearest-even rsqrt shift-left shift-right-arithmetic shift-right-logical sign sine sqrt "
    "stochastic-convert subtract tan tanh xor"
)
_SAME_AS_FIRST = frozenset(_SAME_AS_FIRST_NAMES.split())


def infer_shape(opcode: str, operands: Sequence[Shape], index: int | None) -> Shape | None:
    """Returns the shape of an instruction, or None where it has to be written.

    `index` is the attribute of get-tuple-element.
    """
    if opcode == "tuple":
        return TupleShape(tuple(operands))
    if not operands:
        return None
    first = operands[0]
    if opcode in _SAME_AS_FIRST:
        return first if all(_same_array(first, shape) for shape in operands) else None
    if opcode == "select" and len(operands) == 3 and _same_array(operands[1], operands[2]):
        return operands[1]
    if opcode == "compare" and isinstance(first, ArrayShape):
        return ArrayShape(parse_element_type("pred"), first.dimensions, first.layout, first.dynamic)
    if opcode == "get-tuple-element" and isinstance(first, TupleShape) and index is not None:
        return first.elements[index] if 0 <= index < len(first.elements) else None
    return None


def _same_array(first: Shape, second: Shape) -> bool:
    if isinstance(first, ArrayShape) and isinstance(second, ArrayShape):
        return first.with_layout(None) == second.with_layout(None)
    return first == second
