"""Shapes of elementwise operations (ShapeInference::InferUnaryOpShape, InferBinaryOpShape, InferTernaryOpShape)."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo.inference.model import ShapeError, Written, array, arrays, of_type
from dialect_utils.layout import ElementType, Shape, parse_element_type

PRED = parse_element_type("pred")
_PARTS = {"c64": "f32", "c128": "f64"}
_WHOLE = {part: whole for whole, part in _PARTS.items()}


def same(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shape of the first operand, which all others have."""
    first = operands[0]
    for other in operands[1:]:
        if not _agree(first, other):
            raise ShapeError(f"{what.opcode} of {first} and {other}: the shapes differ")
    return first


def _agree(first: Shape, second: Shape) -> bool:
    return first.without_layout == second.without_layout


def predicate(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns truth values for the elements of the operands."""
    return of_type(array(same(what, operands, called), what), PRED)


def magnitude(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the operand's shape; for complex numbers, that of their parts."""
    only = array(operands[0], what)
    return part(what, operands, called) if only.element_type.is_complex else only


def part(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shape of real or imaginary parts; those of real numbers have their own type."""
    only = array(operands[0], what)
    return of_type(only, _named(_PARTS.get(only.element_type.name, only.element_type.name)))


def pair(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the complex numbers of two arrays of parts."""
    only = array(same(what, operands, called), what)
    if only.element_type.name not in _WHOLE:
        raise ShapeError(f"complex of {only.element_type} numbers")
    return of_type(only, _named(_WHOLE[only.element_type.name]))


def clamp(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shape of the value; bounds may be scalars."""
    low, value, high = arrays(operands, what)
    for bound in (low, high):
        if bound.rank and bound.dimensions != value.dimensions:
            raise ShapeError(f"clamp of {value} to {bound}: the dimensions differ")
    return value


def select(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the shape of what is selected; the predicate may be a scalar."""
    condition, first, second = operands
    if not _agree(first, second):
        raise ShapeError(f"select of {first} or {second}: the shapes differ")
    by = array(condition, what)
    if not by.rank:
        return first
    if by.dimensions != array(first, what).dimensions:
        raise ShapeError(f"select of {first} by {condition}: the dimensions differ")
    return of_type(by, array(first, what).element_type)


def _named(name: str) -> ElementType:
    return parse_element_type(name)
