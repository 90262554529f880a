"""Floats: rules that hold in IEEE arithmetic for every number, both zeros, infinities and NaN.

Sums and products are not reordered, and nothing is rounded another number of times than the program says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.ops import named
from dialect_utils.verdict.proof.algebra.chains import distributed
from dialect_utils.verdict.proof.algebra.ring import build_unsigned
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.floats import (
    COMMUTED,
    MIRRORED_EXTREMES,
    NEGATION,
    NEUTRAL,
    POWERS_OF_TWO,
    REMAINDER,
    WHOLE,
)
from dialect_utils.verdict.rules.formats import exact_log2, float_bits, has, number_bits, sign_bit, value_of
from dialect_utils.verdict.rules.integers import ABS_SQUARED

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

_MIRRORED = {"maximum": "minimum", "minimum": "maximum"}
# Roundings to whole numbers keep whole numbers.
_ROUNDED = named("floor ceil round-nearest-even round-nearest-afz")


def build(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns a float operation in normal form, or None where nothing is known of it."""
    if opcode == "negate":
        return negated(terms, operands[0])
    if opcode == "add":
        return _add(terms, element_type, operands)
    if opcode in ("multiply", "divide"):
        return _scaled(terms, opcode, element_type, operands)
    if opcode == "remainder":
        return _remainder(terms, operands)
    if not has(element_type, "opposites"):
        return None
    before = terms.each_as_is(opcode, element_type, operands)
    if opcode == "subtract":
        opposite = terms.each_as_is("negate", element_type, [operands[1]])
        terms.step(NEGATION, before, terms.each_as_is("add", element_type, (operands[0], opposite)))
        return terms.each("add", element_type, (operands[0], negated(terms, operands[1])))
    if opcode == "abs":
        return _absolute(terms, element_type, operands[0])
    if opcode in _ROUNDED and has(element_type, "nan") and operands[0].kind == "each" and _is_whole(operands[0]):
        terms.step(WHOLE, before, operands[0])
        return operands[0]
    return None


def _is_whole(term: Term) -> bool:
    """Is true for the result of a rounding to whole numbers, and for converted integers."""
    return term.label in _ROUNDED or (term.label == "convert" and term.operands[0].array.element_type.is_integral)


def negated(terms: Terms, term: Term) -> Term:
    """Returns a float with the other sign."""
    array = term.array
    if not has(array.element_type, "opposites"):
        return terms.each_as_is("negate", array.element_type, [term])
    bits, sign = terms.constant_bits(term), sign_bit(array.element_type)
    if term.kind == "splat":
        return terms.each("negate", array.element_type, [term])
    before = terms.each_as_is("negate", array.element_type, [term])
    if bits is not None and sign is not None:
        found = terms.literal(array.element_type, bits ^ sign, array.dimensions)
        terms.step(FOLDED, before, found)
        return found
    if term.kind == "each" and term.label == "negate":
        terms.step(NEGATION, before, term.operands[0])
        return term.operands[0]
    if term.kind == "each" and term.label in _MIRRORED:
        return _negated_extreme(terms, term)
    return before


def _negated_extreme(terms: Terms, term: Term) -> Term:
    """Returns the other extreme of the opposites of all operands of an extreme."""
    kind, opcode, other = term.array.element_type, str(term.label), _MIRRORED[str(term.label)]
    negate = partial(_opposite, terms)
    distributed(terms, MIRRORED_EXTREMES, opcode, other, term.operands, negate)
    return terms.each(other, kind, [negated(terms, operand) for operand in term.operands])


def _opposite(terms: Terms, term: Term) -> Term:
    return terms.each_as_is("negate", term.array.element_type, [term])


def _add(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
    zero = sign_bit(element_type)
    before = terms.each_as_is("add", element_type, operands)
    for i, operand in enumerate(operands):
        if zero is not None and terms.constant_bits(operand) == zero:
            terms.step(COMMUTED, before, terms.each_as_is("add", element_type, (operands[1 - i], operand)))
            terms.step(NEUTRAL, terms.each_as_is("add", element_type, (operands[1 - i], operand)), operands[1 - i])
            return operands[1 - i]
    if operands[0] is operands[1]:
        two = float_bits(element_type, 2.0)
        if two is not None:
            factor = terms.literal(element_type, two, operands[0].array.dimensions)
            return terms.by(POWERS_OF_TWO, before, "multiply", element_type, (operands[0], factor))
    return _commuted(terms, "add", element_type, operands)


def _commuted(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term:
    if operands[0].number <= operands[1].number:
        return terms.each_as_is(opcode, element_type, operands)
    found = terms.each_as_is(opcode, element_type, (operands[1], operands[0]))
    terms.step(COMMUTED, terms.each_as_is(opcode, element_type, operands), found)
    return found


def _scaled(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns a product or quotient: signs outside, powers of two as factors."""
    is_product = opcode == "multiply"
    # Without a NaN 0 / 0 is a number, whose sign is not that of the operands.
    if not has(element_type, "sign") or not (is_product or has(element_type, "nan")):
        return _commuted(terms, opcode, element_type, operands) if is_product else _as_is(terms, element_type, operands)
    (left, first), (right, second) = (_magnitude(terms, operand) for operand in operands)
    if first or second:
        _signs(terms, opcode, operands, (left, right), (first, second))
    found = (_multiplied if is_product else _divided)(terms, element_type, left, right)
    return negated(terms, found) if first != second else found


def _signs(
    terms: Terms, opcode: str, operands: Sequence[Term], sizes: Sequence[Term], are_negative: tuple[bool, bool]
) -> None:
    """Notes that the signs before the operands of a product or quotient are before the result."""
    kind = operands[0].array.element_type
    left, right = (
        _opposite(terms, size) if is_negative else size for size, is_negative in zip(sizes, are_negative, strict=True)
    )
    whole = terms.each_as_is(opcode, kind, (left, right))
    rest = terms.each_as_is(opcode, kind, (sizes[0], right))
    plain = terms.each_as_is(opcode, kind, sizes)
    if are_negative[0]:
        terms.step(NEGATION, whole, _opposite(terms, rest))
    if are_negative[1]:
        terms.step(NEGATION, rest, _opposite(terms, plain))
    if all(are_negative):
        terms.step(NEGATION, _opposite(terms, _opposite(terms, plain)), plain)


def _magnitude(terms: Terms, term: Term) -> tuple[Term, bool]:
    """Returns a term without the sign before it, and whether there was one."""
    if term.kind == "each" and term.label == "negate":
        return term.operands[0], True
    bits, sign = terms.constant_bits(term), sign_bit(term.array.element_type)
    if bits is None or sign is None or not bits & sign or _is_not_finite(term.array.element_type, bits):
        return (term, False) if term.kind != "splat" else _splat_magnitude(terms, term)
    positive = negated(terms, term)
    # Negating the positive number gives the term.
    negated(terms, positive)
    return positive, True


def _splat_magnitude(terms: Terms, term: Term) -> tuple[Term, bool]:
    inner, is_negative = _magnitude(terms, term.operands[0])
    if not is_negative:
        return term, False
    found = terms.splat(inner, term.array.dimensions)
    negated(terms, found)
    return found, True


def _is_not_finite(element_type: ElementType, bits: int) -> bool:
    value = value_of(element_type, bits)
    return isinstance(value, float) and value != 0


def _divided(terms: Terms, element_type: ElementType, left: Term, right: Term) -> Term:
    bits = terms.constant_bits(right)
    power = None if bits is None else exact_log2(element_type, bits)
    inverse = None if power is None else float_bits(element_type, 2.0**-power)
    if inverse is None:
        return _as_is(terms, element_type, (left, right))
    if power == 0:
        terms.step(NEUTRAL, _as_is(terms, element_type, (left, right)), left)
        return left
    sizes = left.array.dimensions
    one, factor = float_bits(element_type, 1.0), terms.literal(element_type, inverse, sizes)
    assert one is not None  # as formats with powers of two have
    quotient = _as_is(terms, element_type, (terms.literal(element_type, one, sizes), right))
    product = terms.each_as_is("multiply", element_type, (left, quotient))
    terms.step(POWERS_OF_TWO, _as_is(terms, element_type, (left, right)), product)
    terms.step(FOLDED, quotient, factor)
    return _multiplied(terms, element_type, left, factor)


def _as_is(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
    return terms.each_as_is("divide", element_type, operands)


def _multiplied(terms: Terms, element_type: ElementType, left: Term, right: Term) -> Term:
    first, second = terms.constant_bits(left), terms.constant_bits(right)
    before = terms.each_as_is("multiply", element_type, (left, right))
    if first is not None and (second is None or exact_log2(element_type, first) is not None):
        left, right = right, left
        terms.step(COMMUTED, before, terms.each_as_is("multiply", element_type, (left, right)))
        before = terms.each_as_is("multiply", element_type, (left, right))
    bits = terms.constant_bits(right)
    power = None if bits is None else exact_log2(element_type, bits)
    if power == 0:
        terms.step(NEUTRAL, before, left)
        return left
    if power is not None and power > 0:
        left, right = _doubled(terms, left, right, power)
    if left is right and left.kind == "each" and left.label == "abs":
        inner = left.operands[0]
        terms.step(ABS_SQUARED, before, terms.each_as_is("multiply", element_type, (inner, inner)))
        left = right = inner
    return _commuted(terms, "multiply", element_type, (left, right))


def _doubled(terms: Terms, term: Term, right: Term, power: int) -> tuple[Term, Term]:
    """Returns x and 2^(k + j) for (x * 2^j) * 2^k with positive j and k: neither product rounds."""
    kind = term.array.element_type
    if term.kind != "each" or term.label != "multiply":
        return term, right
    for factor, rest in (term.operands, reversed(term.operands)):
        bits = terms.constant_bits(factor)
        found = None if bits is None else exact_log2(kind, bits)
        if found is None or found <= 0 or not _fits(kind, found + power):
            continue
        # (rest * factor) * right is rest * (factor * right).
        ordered = terms.each_as_is("multiply", kind, (rest, factor))
        terms.step(COMMUTED, term, ordered)
        joined = terms.each_as_is("multiply", kind, (factor, right))
        whole = terms.each_as_is("multiply", kind, (ordered, right))
        terms.step(POWERS_OF_TWO, whole, terms.each_as_is("multiply", kind, (rest, joined)))
        scale = float_bits(kind, 2.0 ** (found + power))
        assert scale is not None  # it fits
        product = terms.literal(kind, scale, term.array.dimensions)
        terms.step(FOLDED, joined, product)
        return rest, product
    return term, right


def _fits(element_type: ElementType, power: int) -> bool:
    bits = float_bits(element_type, 2.0**power) if power < 1000 else None  # far beyond any use
    return bits is not None and exact_log2(element_type, bits) == power


def _absolute(terms: Terms, element_type: ElementType, term: Term) -> Term | None:
    if term.kind == "each" and term.label in ("negate", "abs"):
        before = terms.each_as_is("abs", element_type, [term])
        return terms.by(NEGATION, before, "abs", element_type, [term.operands[0]])
    return None


def _remainder(terms: Terms, operands: Sequence[Term]) -> Term | None:
    """Returns the remainder of a remainder by the same divisor as that remainder; of integers, too."""
    left, right = operands
    if left.kind == "each" and left.label == "remainder" and left.operands[1] is right:
        terms.step(REMAINDER, terms.each_as_is("remainder", right.array.element_type, operands), left)
        return left
    return None


def build_integer(terms: Terms, opcode: str, operands: Sequence[Term]) -> Term | None:
    """Returns an integer division or remainder in normal form, or None where nothing is known of it."""
    kind = operands[0].array.element_type
    one = number_bits(kind, 1)
    if opcode == "divide" and one is not None and terms.constant_bits(operands[1]) == one:
        terms.step(NEUTRAL, terms.each_as_is(opcode, kind, operands), operands[0])
        return operands[0]
    found = build_unsigned(terms, opcode, operands)
    if found is not None:
        return found
    if opcode == "abs" and kind.is_signed:
        return _absolute(terms, kind, operands[0])
    return _remainder(terms, operands) if opcode == "remainder" else None
