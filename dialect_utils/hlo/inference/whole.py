"""Shapes of tuples, calls, and whatever takes whole values (ShapeInference::InferCallShape, InferWhileShape ...)."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo.inference.model import Rule, ShapeError, Written, array, arrays, element_of, made
from dialect_utils.layout import ArrayShape, Shape, TokenShape, TupleShape, parse_element_type

_S32 = parse_element_type("s32")


def scalar(name: str) -> Rule:
    """Returns the rule of an operation whose result is one number of a type."""
    return lambda what, operands, called: ArrayShape(parse_element_type(name), ())


def token(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns a token."""
    return TokenShape()


def make_tuple(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the tuple of the operands."""
    return TupleShape(tuple(operands))


def one_or_tuple(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the operand, or the tuple of several."""
    if not operands:
        raise ShapeError(f"{what.opcode} needs an array")
    return operands[0] if len(operands) == 1 else TupleShape(tuple(operands))


def get_tuple_element(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the element of a tuple."""
    operand, index = operands[0], what.ints("index")
    if not isinstance(operand, TupleShape):
        raise ShapeError(f"get-tuple-element of {operand}, which is no tuple")
    if index is None or len(index) != 1 or not 0 <= index[0] < len(operand.elements):
        text = what.attribute("index")
        raise ShapeError(f"get-tuple-element takes element {text} of a tuple of {len(operand.elements)}")
    return operand.elements[index[0]]


def called_result(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns what the (first) computation returns that is called."""
    if not called:
        raise ShapeError(f"{what.opcode} calls no computation that is known here")
    return called[0]


def map_elements(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the operands' dimensions with the element type that the computation returns."""
    found = arrays(operands, what)
    if not found or any(each.dimensions != found[0].dimensions for each in found):
        raise ShapeError("map of arrays whose dimensions differ")
    return made(element_of(called, 0, found[0].element_type), found[0].dimensions)


def top_k(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the largest values of the last dimension, and their indices."""
    operand, count = array(operands[0], what), what.ints("k")
    if count is None or not operand.rank:
        raise ShapeError("topk needs an array with a dimension, and k")
    dimensions = (*operand.dimensions[:-1], count[0])
    return TupleShape((made(operand.element_type, dimensions), made(_S32, dimensions)))


def normalization(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the operand, and two arrays with one element for each feature."""
    operand, scale = arrays(operands[:2], what)
    return TupleShape((operand, scale, scale))


def set_dimension_size(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns the operand with one size that is only a bound."""
    operand, dim = array(operands[0], what), what.ints("dimensions")
    if dim is None or len(dim) != 1 or not 0 <= dim[0] < operand.rank:
        raise ShapeError(f"set-dimension-size of {operand} needs one of its dimensions")
    dynamic = [operand.is_dynamic_dimension(each) or each == dim[0] for each in range(operand.rank)]
    return ArrayShape(operand.element_type, operand.dimensions, operand.layout, tuple(dynamic))


def copy_start(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns what is copied twice, and a context."""
    return TupleShape((operands[0], operands[0], ArrayShape(parse_element_type("u32"), ())))


def copy_done(what: Written, operands: Sequence[Shape], called: Sequence[Shape]) -> Shape:
    """Returns what was copied."""
    started = operands[0]
    if not isinstance(started, TupleShape) or not started.elements:
        raise ShapeError(f"copy-done of {started}, which no copy-start gives")
    return started.elements[0]
