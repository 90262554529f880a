"""Operands of comparisons, made simpler: conversions and signs on both sides, ends of the range, equal differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.proof.algebra import ring
from dialect_utils.verdict.proof.algebra.lattice import complement
from dialect_utils.verdict.proof.algebra.originals import converted, original
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.comparisons import CONVERTED, DIFFERENCES, ENDS, MIRRORED, NEGATIVES, TRUTH
from dialect_utils.verdict.rules.formats import has, highest_bits, is_lossless, lowest_bits, number_bits
from dialect_utils.verdict.rules.integers import RING

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

TRUTH_TYPE = ELEMENT_TYPES["pred"]

# The label of an order that leaves NaN out.
_BELOW = ("compare", "LT", False)


def simpler(terms: Terms, direction: str, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns two others of which a comparison says the same; None where none are known."""
    if left.kind == right.kind == "each" and left.label == right.label:
        first, second = left.operands[0], right.operands[0]
        kinds = first.array.element_type, second.array.element_type
        if left.label == "negate" and has(left.array.element_type, "opposites"):
            terms.step(NEGATIVES, _compare(terms, direction, left, right), _compare(terms, direction, second, first))
            return second, first
        if left.label == "convert" and kinds[0] == kinds[1] and is_lossless(kinds[0], left.array.element_type):
            terms.step(CONVERTED, _compare(terms, direction, left, right), _compare(terms, direction, first, second))
            return first, second
    narrower = _narrower(terms, direction, left, right)
    if narrower is not None:
        return narrower
    return _of_difference(terms, left, right) if direction == "EQ" else None


def _narrower(terms: Terms, direction: str, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns both operands in a narrower type of which they are conversions; None where there is none."""
    wide = left.array.element_type
    for side in (left, right):
        source = side.operands[0].array.element_type if side.kind == "each" and side.label == "convert" else wide
        pair = original(terms, source, left), original(terms, source, right)
        if pair[0] is not None and pair[1] is not None:
            written = _compare(terms, direction, *(converted(terms, wide, each) for each in (pair[0], pair[1])))
            terms.step(CONVERTED, written, _compare(terms, direction, pair[0], pair[1]))
            return pair[0], pair[1]
    return None


def _compare(terms: Terms, direction: str, left: Term, right: Term) -> Term:
    return terms.each_as_is(("compare", direction, False), TRUTH_TYPE, (left, right))


def _of_difference(terms: Terms, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns x and y where x - y is what two integers differ by, or its opposite; each a constant or no sum."""
    if not left.array.element_type.is_integral or not {left, right} & terms.polynomials.keys():
        return None
    kind, sizes = left.array.element_type, left.array.dimensions
    mask = (1 << kind.bits) - 1
    found = dict(ring.polynomial(terms, left))
    for monomial, coefficient in ring.polynomial(terms, right).items():
        found[monomial] = found.get(monomial, 0) - coefficient
    found = {monomial: coefficient & mask for monomial, coefficient in found.items() if coefficient & mask}
    constant = found.pop((), 0)
    atoms = [monomial[0][0] for monomial in found if len(monomial) == 1 and monomial[0][1] == 1]
    signs = [*found.values()]
    if len(atoms) < len(found) or not {*signs} <= {1, mask}:
        return None
    if len(atoms) == 1:
        # x + c, or -x + c, is 0 where x is -c, or c.
        bits = -constant if signs[0] == 1 else constant
        return _equal(terms, (left, right), (atoms[0], terms.literal(kind, bits & mask, sizes)), signs[0] == 1)
    if len(atoms) == len(("x", "y")) and not constant and signs[0] != signs[1]:
        return _equal(terms, (left, right), (atoms[0], atoms[1]), signs[0] == 1)
    return None


def _equal(terms: Terms, pair: tuple[Term, Term], found: tuple[Term, Term], in_order: bool) -> tuple[Term, Term]:
    """Returns two integers that differ by the same as others, or by its opposite."""
    kind = pair[0].array.element_type
    zero = terms.literal(kind, 0, pair[0].array.dimensions)
    ordered = found if in_order else (found[1], found[0])
    first, second = (terms.each_as_is("subtract", kind, each) for each in (pair, ordered))
    terms.step(DIFFERENCES, _compare(terms, "EQ", *pair), _compare(terms, "EQ", first, zero))
    terms.step(RING, first, second)
    terms.step(DIFFERENCES, _compare(terms, "EQ", *ordered), _compare(terms, "EQ", second, zero))
    terms.step(MIRRORED, _compare(terms, "EQ", *ordered), _compare(terms, "EQ", *found))
    return found


def decided(terms: Terms, direction: str, left: Term, right: Term) -> Term | None:
    """Returns a comparison with an end of the range, or of a truth value, as what it asks; None for others."""
    if direction == "EQ":
        found = _of_truth(terms, left, right)
        return found if found is not None else _with_end(terms, left, right)
    bits, element_type = terms.constant_bits(right), left.array.element_type
    if direction != "LT" or bits is None or not element_type.is_integral or bits != lowest_bits(element_type):
        return None
    found = terms.literal(TRUTH_TYPE, 0, left.array.dimensions)
    terms.step(ENDS, _compare(terms, direction, left, right), found)
    return found


def _with_end(terms: Terms, left: Term, right: Term) -> Term | None:
    """Returns x = lowest as x < lowest + 1, and x = highest as what x < highest is not; None for others."""
    kind, sizes = left.array.element_type, left.array.dimensions
    one = number_bits(kind, 1) if kind.is_integral else None
    if one is None:
        return None
    for value, other in ((left, right), (right, left)):
        bits = terms.constant_bits(other)
        if bits is None or bits not in (lowest_bits(kind), highest_bits(kind)):
            continue
        before = _compare(terms, "EQ", value, other)
        terms.step(MIRRORED, _compare(terms, "EQ", left, right), before)
        if bits == highest_bits(kind):
            written = _compare(terms, "LT", value, other)
            terms.step(ENDS, before, terms.each_as_is("not", TRUTH_TYPE, [written]))
            return terms.each("not", TRUTH_TYPE, [terms.each(_BELOW, TRUTH_TYPE, (value, other))])
        above = terms.literal(kind, (bits + 1) % (1 << kind.bits), sizes)
        following = terms.each_as_is("add", kind, (other, terms.literal(kind, one, sizes)))
        terms.step(FOLDED, following, above)
        terms.step(ENDS, before, _compare(terms, "LT", value, following))
        return terms.each(_BELOW, TRUTH_TYPE, (value, above))
    return None


def _of_truth(terms: Terms, left: Term, right: Term) -> Term | None:
    """Returns a comparison of a converted truth value with 0 or 1 as that value or its opposite; None for others."""
    for value, other in ((left, right), (right, left)):
        bits, kind = terms.constant_bits(other), value.array.element_type
        is_converted = value.kind == "each" and value.label == "convert"
        is_truth = is_converted and value.operands[0].array.element_type == TRUTH_TYPE
        if bits is None or not is_truth or not (kind.is_integral or has(kind, "opposites")):
            continue
        if bits not in (number_bits(kind, 1), number_bits(kind, 0)):
            continue
        (inner,) = value.operands
        before = _compare(terms, "EQ", value, other)
        terms.step(MIRRORED, _compare(terms, "EQ", left, right), before)
        if bits == number_bits(kind, 1):
            terms.step(TRUTH, before, inner)
            return inner
        terms.step(TRUTH, before, terms.each_as_is("not", TRUTH_TYPE, [inner]))
        return complement(terms, inner)
    return None
