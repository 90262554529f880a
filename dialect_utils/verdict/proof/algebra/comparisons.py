"""Comparisons and selects: one direction for each comparison, and results that hold for all data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra import comparands
from dialect_utils.verdict.proof.algebra.comparands import TRUTH_TYPE
from dialect_utils.verdict.proof.algebra.lattice import complement
from dialect_utils.verdict.proof.algebra.numbers import compared, highest_bits
from dialect_utils.verdict.proof.algebra.rule import ANY, INTEGERS, NUMBERS, PREDICATE, Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

MIRRORED = Rule(
    "compare-mirrored",
    "x < y and y > x are one question; of numbers that are never NaN x >= y is what x < y is not.",
    ("compare[GT](x, y) = compare[LT](y, x)", "compare[GE](x, y) = compare[LE](y, x)"),
    ("compare[GT](x, y) = compare[LT](x, y)", "compare[LE](x, y) = compare[LT](x, y)"),
    NUMBERS,
)
NEGATED = Rule(
    "compare-negated",
    "Equal and not equal are opposites for all numbers, below and not below for those that are never NaN.",
    ("not(compare[EQ](x, y)) = compare[NE](x, y)", "not(compare[LT](x, y)) = compare[GE](x, y)"),
    ("not(compare[LT](x, y)) = compare[GT](x, y)",),
    INTEGERS,
)
ITSELF = Rule(
    "compare-itself",
    "Nothing is below itself; an integer equals itself (a NaN does not).",
    ("compare[LT](x, x) = false", "compare[GT](x, x) = false"),
    ("compare[LE](x, x) = false",),
    NUMBERS,
)
ITSELF_INTEGER = Rule(
    "compare-itself-integer",
    "An integer equals itself.",
    ("compare[EQ](x, x) = true", "compare[LE](x, x) = true", "compare[GE](x, x) = true", "compare[NE](x, x) = false"),
    ("compare[EQ](x, x) = false",),
    INTEGERS,
)
NEXT = Rule(
    "compare-with-next",
    "Of integers x > c is x >= c + 1, where c is not the largest one.",
    ("compare[GT](x, 2) = compare[GE](x, 3)", "compare[LE](x, 2) = compare[LT](x, 3)"),
    ("compare[GT](x, 2) = compare[GE](x, 2)",),
    INTEGERS,
)
EXTREME = Rule(
    "compare-extreme",
    "x is below a minimum where it is below each part, below a maximum of itself and others where it is below these.",
    (
        "and(compare[LT](x, 3), compare[GT](1, x)) = compare[LT](x, minimum(3, 1))",
        "compare[LT](x, minimum(y, z)) = and(compare[LT](x, y), compare[LT](x, z))",
        "compare[LT](maximum(y, z), x) = and(compare[LT](y, x), compare[LT](z, x))",
        "compare[GT](maximum(x, y), y) = compare[GT](x, y)",
        "compare[GT](maximum(x, y), x) = compare[GT](y, x)",
        "compare[LT](minimum(x, y), y) = compare[LT](x, y)",
    ),
    ("compare[GE](maximum(x, y), y) = compare[GE](x, y)", "compare[LT](x, minimum(y, z)) = compare[LT](x, y)"),
    NUMBERS,
)
SELECT = Rule(
    "select",
    "A select takes its first or second array whole, whatever they hold.",
    (
        "select(p, x, x) = x",
        "select(not(p), x, y) = select(p, y, x)",
        "select(true, x, y) = x",
        "select(false, x, y) = y",
        "select(p, select(p, x, y), z) = select(p, x, z)",
        "select(p, x, select(p, y, z)) = select(p, x, z)",
    ),
    ("select(p, x, y) = select(p, y, x)", "select(p, select(q, x, y), z) = select(p, x, z)"),
    ANY,
)
SELECT_EXTREME = Rule(
    "select-extreme",
    "The larger of two integers is their maximum, the smaller one their minimum (floats may be NaN, or zeros).",
    (
        "select(compare[LT](x, y), y, x) = maximum(x, y)",
        "select(compare[GE](x, y), y, x) = minimum(x, y)",
        "select(compare[GE](x, 0), x, 0) = maximum(x, 0)",
    ),
    ("select(compare[LT](x, y), y, z) = maximum(x, y)", "select(compare[LT](x, y), x, y) = maximum(x, y)"),
    INTEGERS,
)
SELECT_PREDICATE = Rule(
    "select-predicate",
    "A select of a constant truth value is an and or an or.",
    (
        "select(p, q, false) = and(p, q)",
        "select(p, true, q) = or(p, q)",
        "select(p, true, false) = p",
        "select(p, false, true) = not(p)",
        "select(p, false, q) = and(not(p), q)",
        "select(p, q, true) = or(not(p), q)",
    ),
    ("select(p, q, true) = or(p, q)",),
    PREDICATE,
)

_MIRROR = {"GT": "LT", "GE": "LE", "LT": "GT", "LE": "GE", "EQ": "EQ", "NE": "NE"}


def build_compare(terms: Terms, direction: str, is_total: bool, operands: Sequence[Term]) -> Term:
    """Returns a comparison in normal form: of integers only EQ and LT, of floats LE too."""
    left, right = operands
    element_type = left.array.element_type
    if direction in ("GT", "GE"):
        terms.note(MIRRORED)
        left, right, direction = right, left, _MIRROR[direction]
    if direction == "NE":
        terms.note(NEGATED)
        return complement(terms, build_compare(terms, "EQ", is_total, (left, right)))
    never_nan = is_total or element_type.is_integral or element_type.name == "pred"
    if direction == "LE" and never_nan:
        terms.note(NEGATED)
        return complement(terms, build_compare(terms, "LT", is_total, (right, left)))
    decided = _decided(terms, direction, is_total, left, right, never_nan)
    if decided is not None:
        return terms.literal(TRUTH_TYPE, decided, left.array.dimensions)
    found = _rewritten(terms, direction, left, right) if not is_total else None
    if found is not None:
        return found
    if direction == "EQ":
        left, right = sorted((left, right), key=lambda term: term.number)
    return terms.each_as_is(("compare", direction, is_total and element_type.is_floating), TRUTH_TYPE, (left, right))


def _rewritten(terms: Terms, direction: str, left: Term, right: Term) -> Term | None:
    """Returns a comparison as another one, or as what it is made of; None where nothing is known of it."""
    pair = comparands.simpler(terms, direction, left, right)
    if pair is not None:
        return build_compare(terms, direction, False, pair)
    found = comparands.decided(terms, direction, left, right)
    if found is None and left.array.element_type.name == "pred" and direction == "EQ":
        found = complement(terms, terms.each("xor", TRUTH_TYPE, (left, right)))
    if found is None:
        found = _taken_apart(terms, direction, left, right)
    if found is None and direction == "LT" and left.array.element_type.is_integral:
        found = _with_next(terms, left, right)
    return found


def _decided(terms: Terms, direction: str, is_total: bool, left: Term, right: Term, never_nan: bool) -> int | None:
    """Returns the result of a comparison that is the same for all data, or None."""
    if left is right and not left.array.element_type.is_complex:
        if direction == "LT":
            terms.note(ITSELF)
            return 0
        if never_nan:
            terms.note(ITSELF_INTEGER)
            return 1
    first, second = terms.constant_bits(left), terms.constant_bits(right)
    if first is None or second is None or (is_total and left.array.element_type.is_floating):
        return None
    return compared(direction, left.array.element_type, first, second)


def _with_next(terms: Terms, left: Term, right: Term) -> Term | None:
    """Returns c < x of integers as the opposite of x < c + 1."""
    bound = terms.constant_bits(left)
    element_type = left.array.element_type
    if bound is None:
        return None
    terms.note(NEXT)
    if bound == highest_bits(element_type):
        return terms.literal(TRUTH_TYPE, 0, left.array.dimensions)
    following = (bound + 1) % (1 << element_type.bits)
    above = terms.literal(element_type, following, left.array.dimensions)
    return complement(terms, build_compare(terms, "LT", False, (right, above)))


def _taken_apart(terms: Terms, direction: str, left: Term, right: Term) -> Term | None:
    """Returns x < minimum(y, z) and maximum(y, z) < x as two comparisons, or None."""
    if direction == "EQ" or left.array.element_type.is_complex:
        return None
    if right.kind == "each" and right.label == "minimum":
        pairs = [(left, part) for part in right.operands]
    elif left.kind == "each" and left.label == "maximum":
        pairs = [(part, right) for part in left.operands]
    elif direction == "LT":
        return _without_itself(terms, left, right)
    else:
        return None
    terms.note(EXTREME)
    parts = [build_compare(terms, direction, False, pair) for pair in pairs]
    return terms.each("and", TRUTH_TYPE, parts)


def _without_itself(terms: Terms, left: Term, right: Term) -> Term | None:
    """Returns x < maximum(x, y) as x < y, and minimum(x, y) < x as y < x; None for others."""
    for whole, part, is_right in ((right, left, True), (left, right, False)):
        opcode = "maximum" if is_right else "minimum"
        if whole.kind == "each" and whole.label == opcode and part in whole.operands:
            terms.note(EXTREME)
            others = [operand for operand in whole.operands if operand is not part]
            rest = terms.each(opcode, part.array.element_type, others) if len(others) > 1 else others[0]
            return build_compare(terms, "LT", False, (left, rest) if is_right else (rest, right))
    return None


def build_select(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns a select in normal form."""
    predicate, first, second = operands
    bits = terms.constant_bits(predicate)
    if bits is not None:
        terms.note(SELECT)
        return first if bits else second
    opposite = complement(terms, predicate)
    if opposite.number < predicate.number:
        terms.note(SELECT)
        predicate, opposite, first, second = opposite, predicate, second, first
    first = _taken(terms, predicate, opposite, first)
    second = _taken(terms, opposite, predicate, second)
    if first is second:
        terms.note(SELECT)
        return first
    if element_type.is_integral and predicate.label == ("compare", "LT", False):
        left, right = predicate.operands
        if {left, right} == {first, second}:
            terms.note(SELECT_EXTREME)
            return terms.each("maximum" if first is right else "minimum", element_type, (first, second))
    if element_type.name == "pred":
        found = _as_logic(terms, predicate, opposite, first, second)
        if found is not None:
            return found
    return terms.each_as_is("select", element_type, (predicate, first, second))


def _taken(terms: Terms, predicate: Term, opposite: Term, value: Term) -> Term:
    """Returns a value in the case that a predicate is true."""
    while value.kind == "each" and value.label == "select" and value.operands[0] in (predicate, opposite):
        terms.note(SELECT)
        value = value.operands[1] if value.operands[0] is predicate else value.operands[2]
    return value


def _as_logic(terms: Terms, predicate: Term, opposite: Term, first: Term, second: Term) -> Term | None:
    """Returns a select between truth values of which one is a constant as and, or or."""
    element_type = first.array.element_type
    for bits, is_first in ((terms.constant_bits(first), True), (terms.constant_bits(second), False)):
        if bits is None:
            continue
        terms.note(SELECT_PREDICATE)
        other = second if is_first else first
        if is_first:
            return terms.each("or" if bits else "and", element_type, (predicate if bits else opposite, other))
        return terms.each("or" if bits else "and", element_type, (opposite if bits else predicate, other))
    return None
