"""Floats: rules that hold in IEEE arithmetic for every number, both zeros, infinities and NaN.

Sums and products are not reordered, and nothing is rounded another number of times than the program says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.ops import named
from dialect_utils.verdict.proof.algebra.numbers import exact_log2, float_bits, sign_bit, value_of
from dialect_utils.verdict.proof.algebra.ring import ABS_SQUARED, build_unsigned
from dialect_utils.verdict.proof.algebra.rule import FLOATS, Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

COMMUTED = Rule(
    "commuted",
    "A float sum or product rounds one exact number, which does not depend on the order of its two operands.",
    ("add(x, y) = add(y, x)", "multiply(x, y) = multiply(y, x)"),
    ("add(add(x, y), z) = add(x, add(y, z))", "divide(x, y) = divide(y, x)"),
    FLOATS,
)
NEUTRAL = Rule(
    "neutral",
    "x * 1, x / 1 and x + (-0.0) are x, for both zeros too (x + 0.0 is not: -0.0 + 0.0 is 0.0).",
    (
        "multiply(x, 1) = x",
        "divide(x, 1) = x",
        "add(x, -0.0) = x",
        "subtract(x, 0.0) = x",
        "multiply(1, highest) = highest",
        "multiply(highest, 1) = highest",
    ),
    ("add(x, 0.0) = x", "subtract(x, -0.0) = x"),
    FLOATS,
)
NEGATION = Rule(
    "negation",
    "A sign is no part of rounding: it passes through products and quotients, and twice it cancels.",
    (
        "negate(negate(x)) = x",
        "subtract(x, y) = add(x, negate(y))",
        "multiply(negate(x), y) = negate(multiply(x, y))",
        "multiply(negate(x), negate(y)) = multiply(x, y)",
        "divide(x, negate(y)) = negate(divide(x, y))",
        "multiply(x, -1) = negate(x)",
        "multiply(x, -3) = negate(multiply(x, 3))",
        "abs(negate(x)) = abs(x)",
        "abs(abs(x)) = abs(x)",
        "subtract(x, -3) = add(x, 3)",
    ),
    (
        "negate(add(x, y)) = add(negate(x), negate(y))",
        "subtract(x, y) = negate(subtract(y, x))",
        "multiply(0, -3) = 0",
    ),
    FLOATS,
)
POWERS_OF_TWO = Rule(
    "powers-of-two",
    "Multiplying by a power of two only moves the exponent: dividing by 2^k is multiplying by 2^-k, doubling is x + x.",
    ("divide(x, 4) = multiply(x, 0.25)", "add(x, x) = multiply(x, 2)", "multiply(multiply(x, 2), 4) = multiply(x, 8)"),
    ("divide(x, 3) = multiply(x, 0.3333333)", "multiply(multiply(x, 2), 0.5) = x"),
    FLOATS,
)
REMAINDER = Rule(
    "remainder-twice",
    "A remainder is smaller than the divisor, so its remainder is itself.",
    ("remainder(remainder(x, 7), 7) = remainder(x, 7)",),
    ("remainder(remainder(x, 5), 7) = remainder(x, 7)",),
    ("s32", "u32", "f32", "f64"),
)
WHOLE = Rule(
    "whole-numbers",
    "Rounding to whole numbers changes nothing a second time.",
    ("floor(floor(x)) = floor(x)", "ceil(floor(x)) = floor(x)", "floor(ceil(x)) = ceil(x)"),
    ("floor(ceil(x)) = floor(x)",),
    FLOATS,
)
PARTS = Rule(
    "complex-parts",
    "A complex number is its real and its imaginary part.",
)

MIRRORED_EXTREMES = Rule(
    "negated-extremes",
    "A change of sign turns the order of floats around, both zeros and infinities included; NaN stays NaN.",
    ("negate(maximum(x, y)) = minimum(negate(x), negate(y))", "negate(minimum(negate(x), y)) = maximum(x, negate(y))"),
    ("negate(maximum(x, y)) = maximum(negate(x), negate(y))",),
    FLOATS,
)

_MIRRORED = {"maximum": "minimum", "minimum": "maximum"}
# Roundings to whole numbers keep whole numbers.
_ROUNDED = named("floor ceil round-nearest-even round-nearest-afz")


def build(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns a float operation in normal form, or None where nothing is known of it."""
    if opcode == "subtract":
        terms.note(NEGATION)
        return terms.each("add", element_type, (operands[0], negated(terms, operands[1])))
    if opcode == "negate":
        return negated(terms, operands[0])
    if opcode == "add":
        return _add(terms, element_type, operands)
    if opcode in ("multiply", "divide"):
        return _scaled(terms, opcode, element_type, operands)
    if opcode == "abs":
        return _absolute(terms, element_type, operands[0])
    if opcode == "remainder":
        return _remainder(terms, operands)
    if opcode in _ROUNDED and operands[0].kind == "each" and _is_whole(operands[0]):
        terms.note(WHOLE)
        return operands[0]
    return None


def _is_whole(term: Term) -> bool:
    """Is true for the result of a rounding to whole numbers, and for converted integers."""
    return term.label in _ROUNDED or (term.label == "convert" and term.operands[0].array.element_type.is_integral)


def negated(terms: Terms, term: Term) -> Term:
    """Returns a float with the other sign."""
    array = term.array
    bits, sign = terms.constant_bits(term), sign_bit(array.element_type)
    if bits is not None and sign is not None:
        return terms.literal(array.element_type, bits ^ sign, array.dimensions)
    if term.kind == "each" and term.label == "negate":
        terms.note(NEGATION)
        return term.operands[0]
    if term.kind == "splat":
        return terms.splat(negated(terms, term.operands[0]), array.dimensions)
    if term.kind == "each" and term.label in _MIRRORED and sign is not None:
        terms.note(MIRRORED_EXTREMES)
        parts = [negated(terms, operand) for operand in term.operands]
        return terms.each(_MIRRORED[str(term.label)], array.element_type, parts)
    return terms.each_as_is("negate", array.element_type, [term])


def _add(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
    zero = sign_bit(element_type)
    for i, operand in enumerate(operands):
        if zero is not None and terms.constant_bits(operand) == zero:
            terms.note(NEUTRAL)
            return operands[1 - i]
    if operands[0] is operands[1]:
        two = float_bits(element_type, 2.0)
        if two is not None:
            terms.note(POWERS_OF_TWO)
            factor = terms.literal(element_type, two, operands[0].array.dimensions)
            return terms.each("multiply", element_type, (operands[0], factor))
    return _commuted(terms, "add", element_type, operands)


def _commuted(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term:
    if operands[0].number > operands[1].number:
        terms.note(COMMUTED)
        operands = (operands[1], operands[0])
    return terms.each_as_is(opcode, element_type, operands)


def _scaled(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns a product or quotient: signs outside, powers of two as factors."""
    if sign_bit(element_type) is None:
        is_product = opcode == "multiply"
        return _commuted(terms, opcode, element_type, operands) if is_product else _as_is(terms, element_type, operands)
    left, right = operands
    (left, first), (right, second) = _magnitude(terms, left), _magnitude(terms, right)
    if first or second:
        terms.note(NEGATION)
    if opcode == "divide":
        found = _divided(terms, element_type, left, right)
    else:
        found = _multiplied(terms, element_type, left, right)
    return negated(terms, found) if first != second else found


def _magnitude(terms: Terms, term: Term) -> tuple[Term, bool]:
    """Returns a term without the sign before it, and whether there was one."""
    if term.kind == "each" and term.label == "negate":
        return term.operands[0], True
    bits, sign = terms.constant_bits(term), sign_bit(term.array.element_type)
    if bits is None or sign is None or not bits & sign or _is_not_finite(term.array.element_type, bits):
        return (term, False) if term.kind != "splat" else _splat_magnitude(terms, term)
    return negated(terms, term), True


def _splat_magnitude(terms: Terms, term: Term) -> tuple[Term, bool]:
    inner, is_negative = _magnitude(terms, term.operands[0])
    return (terms.splat(inner, term.array.dimensions), True) if is_negative else (term, False)


def _is_not_finite(element_type: ElementType, bits: int) -> bool:
    value = value_of(element_type, bits)
    return isinstance(value, float) and value != 0


def _divided(terms: Terms, element_type: ElementType, left: Term, right: Term) -> Term:
    bits = terms.constant_bits(right)
    power = None if bits is None else exact_log2(element_type, bits)
    if power is None:
        return _as_is(terms, element_type, (left, right))
    inverse = float_bits(element_type, 2.0**-power)
    if inverse is None:
        return _as_is(terms, element_type, (left, right))
    terms.note(POWERS_OF_TWO)
    return _multiplied(terms, element_type, left, terms.literal(element_type, inverse, left.array.dimensions))


def _as_is(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
    return terms.each_as_is("divide", element_type, operands)


def _multiplied(terms: Terms, element_type: ElementType, left: Term, right: Term) -> Term:
    first, second = terms.constant_bits(left), terms.constant_bits(right)
    if first is not None and (second is None or exact_log2(element_type, first) is not None):
        left, right = right, left
    bits = terms.constant_bits(right)
    if bits is not None:
        power = exact_log2(element_type, bits)
        if power == 0:
            terms.note(NEUTRAL)
            return left
        if power is not None and power > 0:
            left, power = _doubled(terms, left, power)
            factor = float_bits(element_type, 2.0**power)
            assert factor is not None  # both powers are far from the end of the range
            right = terms.literal(element_type, factor, left.array.dimensions)
    if left is right and left.kind == "each" and left.label == "abs":
        terms.note(ABS_SQUARED)
        left = right = left.operands[0]
    return _commuted(terms, "multiply", element_type, (left, right))


def _doubled(terms: Terms, term: Term, power: int) -> tuple[Term, int]:
    """Returns x and k + j for (x * 2^j) * 2^k with positive j and k: neither product rounds."""
    if term.kind == "each" and term.label == "multiply":
        for factor, rest in (term.operands, reversed(term.operands)):
            bits = terms.constant_bits(factor)
            found = None if bits is None else exact_log2(term.array.element_type, bits)
            if found is not None and found > 0 and _fits(term.array.element_type, found + power):
                terms.note(POWERS_OF_TWO)
                return rest, found + power
    return term, power


def _fits(element_type: ElementType, power: int) -> bool:
    bits = float_bits(element_type, 2.0**power) if power < 1000 else None  # far beyond any use
    return bits is not None and exact_log2(element_type, bits) == power


def _absolute(terms: Terms, element_type: ElementType, term: Term) -> Term | None:
    if term.kind == "each" and term.label in ("negate", "abs"):
        terms.note(NEGATION)
        return terms.each("abs", element_type, [term.operands[0]])
    return None


def _remainder(terms: Terms, operands: Sequence[Term]) -> Term | None:
    """Returns the remainder of a remainder by the same divisor as that remainder; of integers, too."""
    left, right = operands
    if left.kind == "each" and left.label == "remainder" and left.operands[1] is right:
        terms.note(REMAINDER)
        return left
    return None


def build_integer(terms: Terms, opcode: str, operands: Sequence[Term]) -> Term | None:
    """Returns an integer division or remainder in normal form, or None where nothing is known of it."""
    if opcode == "divide" and terms.constant_bits(operands[1]) == 1:
        terms.note(NEUTRAL)
        return operands[0]
    found = build_unsigned(terms, opcode, operands)
    if found is not None:
        return found
    if opcode == "abs" and operands[0].array.element_type.is_signed:
        return _absolute(terms, operands[0].array.element_type, operands[0])
    return _remainder(terms, operands) if opcode == "remainder" else None
