"""Comparisons and selects: one direction for each comparison, and results that hold for all data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra import comparands, total_order
from dialect_utils.verdict.proof.algebra.chains import REGROUPED, distributed
from dialect_utils.verdict.proof.algebra.comparands import TRUTH_TYPE
from dialect_utils.verdict.proof.algebra.lattice import complement
from dialect_utils.verdict.proof.algebra.numbers import compared
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.comparisons import (
    EXTREME,
    ITSELF,
    ITSELF_INTEGER,
    MIRRORED,
    NEGATED,
    NEXT,
    SELECT,
    SELECT_EXTREME,
    SELECT_PREDICATE,
)
from dialect_utils.verdict.rules.extremes import BOOLEAN
from dialect_utils.verdict.rules.formats import has, highest_bits, number_bits

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

_MIRROR = {"GT": "LT", "GE": "LE", "LT": "GT", "LE": "GE", "EQ": "EQ", "NE": "NE"}


def _compare(terms: Terms, direction: str, is_total: bool, operands: Sequence[Term]) -> Term:
    return terms.each_as_is(("compare", direction, is_total), TRUTH_TYPE, operands)


def build_compare(terms: Terms, direction: str, is_total: bool, operands: Sequence[Term]) -> Term:
    """Returns a comparison in normal form: of integers only EQ and LT, of floats LE too."""
    left, right = operands
    before = _compare(terms, direction, is_total, operands)
    if direction in ("GT", "GE"):
        mirrored = _MIRROR[direction]
        terms.step(MIRRORED, before, _compare(terms, mirrored, is_total, (right, left)))
        return build_compare(terms, mirrored, is_total, (right, left))
    opposite = _negated(terms, direction, is_total, left, right)
    if opposite is not None:
        return opposite
    decided = _decided(terms, direction, is_total, left, right)
    if decided is not None:
        return decided
    find = total_order.of_bits if is_total else total_order.of_floats
    pair = find(terms, direction, left, right)
    if pair is not None:
        return build_compare(terms, direction, not is_total, pair)
    found = _rewritten(terms, direction, left, right) if not is_total else None
    if found is not None:
        return found
    if direction == "EQ":
        ordered = sorted((left, right), key=lambda term: term.number)
        found = _compare(terms, direction, is_total, ordered)
        terms.step(MIRRORED, before, found)
        return found
    return before


def _negated(terms: Terms, direction: str, is_total: bool, left: Term, right: Term) -> Term | None:
    """Returns a comparison as the opposite of another one; None for those that have a normal form of their own."""
    never_nan = is_total or not has(left.array.element_type, "nan")
    if direction != "NE" and not (direction == "LE" and never_nan):
        return None
    other, operands = ("EQ", (left, right)) if direction == "NE" else ("LT", (right, left))
    written = terms.each_as_is("not", TRUTH_TYPE, [_compare(terms, other, is_total, operands)])
    terms.step(NEGATED, _compare(terms, direction, is_total, (left, right)), written)
    return complement(terms, build_compare(terms, other, is_total, operands))


def _rewritten(terms: Terms, direction: str, left: Term, right: Term) -> Term | None:
    """Returns a comparison as another one, or as what it is made of; None where nothing is known of it."""
    pair = comparands.simpler(terms, direction, left, right)
    if pair is not None:
        return build_compare(terms, direction, False, pair)
    found = comparands.decided(terms, direction, left, right)
    if found is None and left.array.element_type.name == "pred" and direction == "EQ":
        written = terms.each_as_is("not", TRUTH_TYPE, [terms.each_as_is("xor", TRUTH_TYPE, (left, right))])
        terms.step(BOOLEAN, _compare(terms, direction, False, (left, right)), written)
        found = complement(terms, terms.each("xor", TRUTH_TYPE, (left, right)))
    if found is None:
        found = _taken_apart(terms, direction, left, right)
    if found is None and direction == "LT" and left.array.element_type.is_integral:
        found = _with_next(terms, left, right)
    return found


def _decided(terms: Terms, direction: str, is_total: bool, left: Term, right: Term) -> Term | None:
    """Returns the result of a comparison that is the same for all data, or None."""
    kind = left.array.element_type
    before = _compare(terms, direction, is_total, (left, right))
    if left is right and not kind.is_complex and (direction == "LT" or is_total or not has(kind, "nan")):
        found = terms.literal(TRUTH_TYPE, int(direction != "LT"), left.array.dimensions)
        terms.step(ITSELF if direction == "LT" else ITSELF_INTEGER, before, found)
        return found
    first, second = terms.constant_bits(left), terms.constant_bits(right)
    if first is None or second is None or is_total:
        return None
    answer = compared(direction, kind, first, second)
    if answer is None:
        return None
    found = terms.literal(TRUTH_TYPE, answer, left.array.dimensions)
    terms.step(FOLDED, before, found)
    return found


def _with_next(terms: Terms, left: Term, right: Term) -> Term | None:
    """Returns c < x of integers as the opposite of x < c + 1."""
    kind, sizes = left.array.element_type, left.array.dimensions
    bound, one = terms.constant_bits(left), number_bits(kind, 1)
    if bound is None or one is None:
        return None
    before = _compare(terms, "LT", False, (left, right))
    if bound == highest_bits(kind):
        found = terms.literal(TRUTH_TYPE, 0, sizes)
        terms.step(NEXT, before, found)
        return found
    following = terms.each_as_is("add", kind, (left, terms.literal(kind, one, sizes)))
    above = terms.literal(kind, (bound + 1) % (1 << kind.bits), sizes)
    terms.step(FOLDED, following, above)
    terms.step(NEXT, before, terms.each_as_is("not", TRUTH_TYPE, [_compare(terms, "LT", False, (right, following))]))
    return complement(terms, build_compare(terms, "LT", False, (right, above)))


def _taken_apart(terms: Terms, direction: str, left: Term, right: Term) -> Term | None:
    """Returns x < minimum(y, z) and maximum(y, z) < x as two comparisons, or None."""
    if direction == "EQ" or left.array.element_type.is_complex:
        return None
    if right.kind == "each" and right.label == "minimum":
        whole, pairs = right, [(left, part) for part in right.operands]
        distributed(
            terms,
            EXTREME,
            "minimum",
            "and",
            whole.operands,
            lambda part: _compare(terms, direction, False, (left, part)),
        )
    elif left.kind == "each" and left.label == "maximum":
        whole, pairs = left, [(part, right) for part in left.operands]
        distributed(
            terms,
            EXTREME,
            "maximum",
            "and",
            whole.operands,
            lambda part: _compare(terms, direction, False, (part, right)),
        )
    else:
        return _without_itself(terms, left, right) if direction == "LT" else None
    parts = [build_compare(terms, direction, False, pair) for pair in pairs]
    return terms.each("and", TRUTH_TYPE, parts)


def _without_itself(terms: Terms, left: Term, right: Term) -> Term | None:
    """Returns x < maximum(x, y) as x < y, and minimum(x, y) < x as y < x; None for others."""
    for whole, part, is_right in ((right, left, True), (left, right, False)):
        opcode = "maximum" if is_right else "minimum"
        if whole.kind != "each" or whole.label != opcode or part not in whole.operands:
            continue
        kind = part.array.element_type
        others = [operand for operand in whole.operands if operand is not part]
        written = terms.each_as_is(opcode, kind, others) if len(others) > 1 else others[0]
        grouped = terms.each_as_is(opcode, kind, (part, written))
        terms.step(REGROUPED[opcode], whole, grouped)
        pair, shorter = ((left, grouped), (left, written)) if is_right else ((grouped, right), (written, right))
        terms.step(EXTREME, _compare(terms, "LT", False, pair), _compare(terms, "LT", False, shorter))
        rest = terms.each(opcode, kind, others) if len(others) > 1 else others[0]
        return build_compare(terms, "LT", False, (left, rest) if is_right else (rest, right))
    return None


def build_select(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns a select in normal form."""
    predicate, first, second = operands
    bits = terms.constant_bits(predicate)
    if bits is not None:
        terms.step(SELECT, terms.each_as_is("select", element_type, operands), first if bits else second)
        return first if bits else second
    opposite = complement(terms, predicate)
    if opposite.number < predicate.number:
        _turned(terms, predicate, first, second)
        predicate, opposite, first, second = opposite, predicate, second, first
    first, second = _taken(terms, predicate, opposite, first, second)
    before = terms.each_as_is("select", element_type, (predicate, first, second))
    if first is second:
        terms.step(SELECT, before, first)
        return first
    if element_type.is_integral and predicate.label == ("compare", "LT", False):
        left, right = predicate.operands
        if {left, right} == {first, second}:
            opcode = "maximum" if first is right else "minimum"
            terms.step(SELECT_EXTREME, before, terms.each_as_is(opcode, element_type, (left, right)))
            return terms.each(opcode, element_type, (left, right))
    if element_type.name == "pred":
        found = _as_logic(terms, predicate, opposite, first, second)
        if found is not None:
            return found
    return total_order.plain_key(terms, before) if element_type.is_signed else before


def _turned(terms: Terms, predicate: Term, first: Term, second: Term) -> None:
    """Notes that a select by a predicate is one by the opposite of the predicate."""
    kind, opposite = first.array.element_type, terms.each_as_is("not", TRUTH_TYPE, [predicate])
    found = terms.each_as_is("select", kind, (opposite, second, first))
    terms.step(SELECT, terms.each_as_is("select", kind, (predicate, first, second)), found)
    # Both values are looked at in the case of the opposite, and the predicate is the opposite of that.
    terms.step(BOOLEAN, terms.each_as_is("not", TRUTH_TYPE, [opposite]), predicate)


def _taken(terms: Terms, predicate: Term, opposite: Term, first: Term, second: Term) -> tuple[Term, Term]:
    """Returns both values of a select in the case in which it takes them."""
    kind = first.array.element_type
    while first.kind == "each" and first.label == "select" and first.operands[0] in (predicate, opposite):
        inner, found = _by(terms, predicate, first)
        written = terms.each_as_is("select", kind, (predicate, inner, second))
        terms.step(SELECT, written, terms.each_as_is("select", kind, (predicate, found[0], second)))
        first = found[0]
    while second.kind == "each" and second.label == "select" and second.operands[0] in (predicate, opposite):
        inner, found = _by(terms, predicate, second)
        written = terms.each_as_is("select", kind, (predicate, first, inner))
        terms.step(SELECT, written, terms.each_as_is("select", kind, (predicate, first, found[1])))
        second = found[1]
    return first, second


def _by(terms: Terms, predicate: Term, inner: Term) -> tuple[Term, tuple[Term, Term]]:
    """Returns a select by a predicate or by its opposite as one by the predicate, and the values of both cases."""
    condition, first, second = inner.operands
    if condition is predicate:
        return inner, (first, second)
    opposite = terms.each_as_is("not", TRUTH_TYPE, [predicate])
    by_opposite = terms.each_as_is("select", first.array.element_type, (opposite, first, second))
    found = terms.each_as_is("select", first.array.element_type, (predicate, second, first))
    terms.step(SELECT, by_opposite, found)
    return found, (second, first)


def _as_logic(terms: Terms, predicate: Term, opposite: Term, first: Term, second: Term) -> Term | None:
    """Returns a select between truth values of which one is a constant as and, or or."""
    kind = first.array.element_type
    before = terms.each_as_is("select", kind, (predicate, first, second))
    for bits, is_first in ((terms.constant_bits(first), True), (terms.constant_bits(second), False)):
        if bits is None:
            continue
        other = second if is_first else first
        opcode = "or" if bits else "and"
        is_turned = bool(bits) != is_first
        written = terms.each_as_is("not", kind, [predicate]) if is_turned else predicate
        terms.step(SELECT_PREDICATE, before, terms.each_as_is(opcode, kind, (written, other)))
        return terms.each(opcode, kind, (opposite if is_turned else predicate, other))
    return None
