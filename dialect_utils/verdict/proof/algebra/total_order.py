"""Comparisons of floats in total order, and comparisons of signed integers that order the bits of floats the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.comparisons import TOTAL_ORDER
from dialect_utils.verdict.rules.conversions import REREAD
from dialect_utils.verdict.rules.extremes import BITWISE
from dialect_utils.verdict.rules.formats import highest_bits, number_bits
from dialect_utils.verdict.rules.integers import RING

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

_TRUTH_TYPE = ELEMENT_TYPES["pred"]
_BELOW = ("compare", "LT", False)


def of_floats(terms: Terms, direction: str, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns the floats of whose total order an integer comparison asks, or None.

    The key of a float with the bits x is `select(x < 0, x ^ highest, x)`.
    """
    first, second = _bits_of_key(terms, left), _bits_of_key(terms, right)
    if first is None or second is None or not (_is_reread(first) and _is_reread(second)):
        return None
    bits, floats = (first, second), (first.operands[0], second.operands[0])
    kind = floats[0].array.element_type
    if not kind.is_floating or kind != floats[1].array.element_type:
        return None
    reread = [terms.each_as_is(("bitcast-convert", kind), kind, [each]) for each in bits]
    for before, after in zip(reread, floats, strict=True):
        terms.step(REREAD, before, terms.each_as_is(("bitcast-convert", kind), kind, [after]))
        terms.step(REREAD, terms.each_as_is(("bitcast-convert", kind), kind, [after]), after)
    _order(terms, direction, [_written_key(terms, each) for each in bits], reread)
    return floats


def of_bits(terms: Terms, direction: str, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns the integers that order floats as the total order does, where one is constant or both are given by bits.

    Returns None for other floats: of these the comparison in total order is the normal form.
    """
    kind = left.array.element_type
    integer = ELEMENT_TYPES.get(f"s{kind.bits}")
    is_constant = {terms.constant_bits(left), terms.constant_bits(right)} != {None}
    if integer is None or not kind.is_floating or not (is_constant or (_is_reread(left) and _is_reread(right))):
        return None
    bits = [terms.reread(term, integer) for term in (left, right)]
    back = [terms.each_as_is(("bitcast-convert", kind), kind, [each]) for each in bits]
    for term, each in zip((left, right), back, strict=True):
        _same_bits(terms, each, term)
    _order(terms, direction, [_written_key(terms, each) for each in bits], back)
    return _key(terms, bits[0]), _key(terms, bits[1])


def plain_key(terms: Terms, select: Term) -> Term:
    """Returns `select(x < 0, highest - x, x)` with an exclusive or; any other select as it is."""
    condition, flipped, bits = select.operands
    if not _is_sign_of(terms, condition, bits):
        return select
    kind, _, highest = _parts_of_key(terms, bits)
    if terms.polynomials.get(flipped) != {((bits, 1),): (1 << kind.bits) - 1, (): highest_bits(kind)}:
        return select
    difference = terms.each_as_is("subtract", kind, (highest, bits))
    terms.step(RING, flipped, difference)
    terms.step(TOTAL_ORDER, terms.each_as_is("select", kind, (condition, difference, bits)), _written_key(terms, bits))
    return _key(terms, bits)


def _same_bits(terms: Terms, reread: Term, term: Term) -> None:
    """Notes that the bits of a float, read as an integer and back, are the float."""
    constant, (bits,) = terms.constant_bits(term), reread.operands
    kind, integer = term.array.element_type, bits.array.element_type
    if constant is not None:
        terms.step(FOLDED, reread, term)
        return
    there = terms.each_as_is(("bitcast-convert", integer), integer, [term])
    back = terms.each_as_is(("bitcast-convert", kind), kind, [there])
    once = terms.each_as_is(("bitcast-convert", kind), kind, [term])
    terms.step(REREAD, back, once)
    terms.step(REREAD, once, term)


def _order(terms: Terms, direction: str, keys: Sequence[Term], floats: Sequence[Term]) -> None:
    """Notes that a comparison of keys is that of the floats in total order."""
    compared = terms.each_as_is(("compare", direction, False), _TRUTH_TYPE, keys)
    terms.step(TOTAL_ORDER, compared, terms.each_as_is(("compare", direction, True), _TRUTH_TYPE, floats))


def _is_reread(term: Term) -> bool:
    """Is true for the bits of one type that are read as another one."""
    return term.kind == "each" and isinstance(term.label, tuple) and term.label[0] == "bitcast-convert"


def _is_sign_of(terms: Terms, condition: Term, bits: Term) -> bool:
    """Is true for the question whether an integer is negative."""
    is_below = condition.kind == "each" and condition.label == _BELOW and condition.operands[0] is bits
    return is_below and terms.constant_bits(condition.operands[1]) == 0


def _bits_of_key(terms: Terms, term: Term) -> Term | None:
    """Returns x where a term is the key of the float with the bits x, None for other terms."""
    if term.kind != "each" or term.label != "select" or not term.array.element_type.is_signed:
        return None
    condition, flipped, bits = term.operands
    if not _is_sign_of(terms, condition, bits) or flipped.kind != "each" or flipped.label != "xor":
        return None
    kind, _, highest = _parts_of_key(terms, bits)
    if {*flipped.operands} != {bits, highest}:
        return None
    terms.step(BITWISE, flipped, terms.each_as_is("xor", kind, (bits, highest)))
    return bits


def _parts_of_key(terms: Terms, bits: Term) -> tuple[ElementType, Term, Term]:
    """Returns the type of the key of a float with these bits, 0, and the highest number."""
    kind, sizes = bits.array.element_type, bits.array.dimensions
    zero = terms.literal(kind, number_bits(kind, 0) or 0, sizes)
    return kind, zero, terms.literal(kind, highest_bits(kind) or 0, sizes)


def _written_key(terms: Terms, bits: Term) -> Term:
    kind, zero, highest = _parts_of_key(terms, bits)
    is_negative = terms.each_as_is(_BELOW, _TRUTH_TYPE, (bits, zero))
    return terms.each_as_is("select", kind, (is_negative, terms.each_as_is("xor", kind, (bits, highest)), bits))


def _key(terms: Terms, bits: Term) -> Term:
    """Returns the key of the float with these bits in normal form."""
    kind, zero, highest = _parts_of_key(terms, bits)
    is_negative = terms.each(_BELOW, _TRUTH_TYPE, (bits, zero))
    return terms.each("select", kind, (is_negative, terms.each("xor", kind, (bits, highest)), bits))
