"""Forged steps between elementwise expressions: polynomials that are none, undefined padding, and cases of no truth."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.layout import ELEMENT_TYPES, Pad
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import ReadTerm, Step
from dialect_utils.verdict.terms.graph import UNSPECIFIED
from dialect_utils.verdict.terms.wellformed import NOTHING
from tests.verdict.replay.forging import TRUE, array, constant, each, parameter, step, term, told

SQUARE = ("ring", (1, ((0, 2),)))
X, Y, Z = (parameter(i, "f32") for i in range(3))
NUMBER, OTHER, SMALL = parameter(0, "s32"), parameter(1, "s32"), parameter(2, "s8")


def converted(operand: ReadTerm, kind: str) -> ReadTerm:
    return each("convert", array(kind), operand)


def narrowed(label: Hashable, *operands: ReadTerm) -> tuple[ReadTerm, ReadTerm]:
    """Returns a converted operation on integers, and the operation on converted integers."""
    inner = each(label, array("s32"), *operands)
    return converted(inner, "s8"), each(label, array("s8"), *(converted(operand, "s8") for operand in operands))


def added(first: ReadTerm, second: ReadTerm, kind: str) -> ReadTerm:
    return each("add", array(kind), first, second)


def product(first: ReadTerm, second: ReadTerm) -> ReadTerm:
    return each("multiply", array("s32"), first, second)


def square(operand: ReadTerm) -> ReadTerm:
    return product(operand, operand)


def times(number: int) -> ReadTerm:
    """Returns the product of a small number and a constant, given by its bits."""
    return each("multiply", array("s8"), SMALL, constant(number, "s8"))


def below(operand: ReadTerm) -> ReadTerm:
    """Returns a vector of three numbers and one number that is not defined."""
    plan = Plan(ELEMENT_TYPES["f32"], (3,), (Pad((0,), (1,)),), (True,))
    return term("moved", plan, array("f32", 4), operand, term("leaf", UNSPECIFIED, NOTHING))


ABS = each("abs", array("s32"), NUMBER)
TWICE = each("abs", array("s32"), ABS)
CUBE = product(ABS, product(TWICE, TWICE))
SQUARED, NARROW = narrowed(SQUARE, NUMBER)
UNDEFINED, LINE = below(parameter(0, "f32", 3)), parameter(1, "f32", 4)
SUMS = [each("add", array("f32", 4), *pair) for pair in ((UNDEFINED, LINE), (LINE, UNDEFINED))]
TRUE_STEPS: dict[str, Step] = {
    "a polynomial": step("convert-narrower", SQUARED, NARROW),
    "a sum in another order": step("integer-ring", added(NUMBER, OTHER, "s32"), added(OTHER, NUMBER, "s32")),
    "a polynomial of as many bits": step(
        "convert-narrower",
        converted(SQUARED.operands[0], "u32"),
        each(SQUARE, array("u32"), converted(NUMBER, "u32")),
    ),
    "a difference and what it lacks": step(
        "integer-ring", added(each("subtract", array("s32"), NUMBER, OTHER), OTHER, "s32"), NUMBER
    ),
    "a negation in a sum": step(
        "integer-ring",
        added(each("negate", array("s32"), NUMBER), OTHER, "s32"),
        each("subtract", array("s32"), OTHER, NUMBER),
    ),
    "coefficients whose sum is too large": step("integer-ring", added(times(200), times(100), "s8"), times(300 % 256)),
    "a square as a polynomial": step("integer-ring", each(SQUARE, array("s32"), NUMBER), square(NUMBER)),
    "the third power of an absolute value": step("integer-ring", CUBE, product(ABS, square(NUMBER))),
    "a sum of terms": step(
        "integer-ring",
        each(("sum", "add"), array("s32"), NUMBER, OTHER, NUMBER),
        added(added(NUMBER, NUMBER, "s32"), OTHER, "s32"),
    ),
    "a sum of products": step(
        "integer-ring",
        each(("sum-of-products", ()), array("s32"), NUMBER, OTHER, NUMBER),
        added(added(NUMBER, NUMBER, "s32"), OTHER, "s32"),
    ),
    "a product of factors": step(
        "integer-ring",
        each(("sum", "multiply"), array("s32"), NUMBER, OTHER, NUMBER),
        each("multiply", array("s32"), square(NUMBER), OTHER),
    ),
    "the square of an absolute value": step("integer-ring", square(each("abs", array("s32"), NUMBER)), square(NUMBER)),
}
LONG = [
    each(("sum", "add"), array("s32"), *(parameter(i, "s32") for i in range(first, first + 150))) for first in (10, 200)
]
FORGED: dict[str, Step] = {
    "a product that is too long to expand": step("integer-ring", each("multiply", array("s32"), *LONG), NUMBER),
    "half of the range": step(
        "integer-ring", each("multiply", array("s8"), SMALL, constant(128, "s8")), constant(0, "s8")
    ),
    "the product of an absolute value": step("integer-ring", product(ABS, OTHER), product(NUMBER, OTHER)),
    "the third power of an absolute value as a square": step("integer-ring", CUBE, square(NUMBER)),
    "an absolute value": step("integer-ring", each("abs", array("s32"), NUMBER), NUMBER),
    "an unknown operation with the label of a polynomial": step(
        "convert-narrower", converted(term("op", SQUARE, array("s32"), NUMBER), "s8"), NARROW
    ),
    "a polynomial as an unknown operation": step(
        "convert-narrower", SQUARED, term("op", SQUARE, array("s8"), converted(NUMBER, "s8"))
    ),
    "a sum of floats": step("integer-ring", added(added(X, Y, "f32"), Z, "f32"), added(X, added(Y, Z, "f32"), "f32")),
    "a number of another type": step(
        "integer-ring",
        added(NUMBER, constant(255, "s8"), "s32"),
        added(NUMBER, constant(255, "s32"), "s32"),
    ),
    "the square of a sign": step("integer-ring", square(each("sign", array("s32"), NUMBER)), square(NUMBER)),
    "a polynomial of more bits": step(
        "convert-narrower",
        converted(each(SQUARE, array("s8"), SMALL), "s32"),
        each(SQUARE, array("s32"), converted(SMALL, "s32")),
    ),
    "an absolute value of fewer bits": step("convert-narrower", *narrowed("abs", NUMBER)),
    "a maximum of fewer bits": step("convert-narrower", *narrowed(("sum", "maximum"), NUMBER, OTHER)),
    "a polynomial of another number": step("convert-narrower", SQUARED, narrowed(SQUARE, OTHER)[1]),
    "another polynomial": step("convert-narrower", SQUARED, narrowed(("ring", (2, ((0, 2),))), NUMBER)[1]),
    "a polynomial that is negated": step("convert-narrower", each("negate", array("s8"), SQUARED.operands[0]), NARROW),
    "a polynomial of an absolute value": step(
        "convert-narrower", SQUARED, each(SQUARE, array("s8"), each("abs", array("s8"), NUMBER))
    ),
    "a sum of undefined numbers": step("commuted", *SUMS),
    "cases of a number": step("cases", X, X, NUMBER),
    "cases of undefined numbers": step("cases", SUMS[0], SUMS[0], parameter(2, "pred", 4)),
}


@pytest.mark.parametrize("name", TRUE_STEPS)
def test_the_step_that_is_forged_holds_without_the_forgery(name: str) -> None:
    assert not told((TRUE, TRUE), TRUE_STEPS[name]).refused


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_step_is_refused(name: str) -> None:
    assert told((TRUE, TRUE), FORGED[name]).refused
