"""Elementwise operations in normal form: operations that the rules make equal become one term."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.verdict.proof.algebra import lattice, ring
from dialect_utils.verdict.proof.algebra.matching import rewritten
from dialect_utils.verdict.proof.algebra.numbers import is_rounded
from dialect_utils.verdict.proof.algebra.widening import rounded
from dialect_utils.verdict.rules import index
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.comparisons import DIFFERENCES, MIRRORED, SELECT
from dialect_utils.verdict.rules.integers import RING
from dialect_utils.verdict.terms.constants import folded

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# The ring needs integers of at least two bits.
_NARROWEST = 2
_PAIR = 2
_TRUTH_TYPE = ELEMENT_TYPES["pred"]
_EQUAL = ("compare", "EQ", False)


def build(terms: Terms, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns the term of an elementwise operation on arrays of the same dimensions.

    `label` is an opcode, or a tuple of the opcode and attributes, such as (compare, LT, False).
    """
    before = terms.each_as_is(label, element_type, operands)
    for simplified in (_folded, _compared, rewritten, _normal, _ordered):
        found = simplified(terms, before)
        if found is not None:
            return found
    return before


def _folded(terms: Terms, before: Term) -> Term | None:
    """Returns the result of an operation on constants, None for other operands."""
    values = [terms.constant_bits(operand) for operand in before.operands]
    known = tuple(value for value in values if value is not None)
    if len(known) < len(values):
        return None
    label, element_type, kind = before.label, before.array.element_type, before.operands[0].array.element_type
    if any(operand.array.element_type != kind for operand in before.operands):
        return None
    bits = folded(label, element_type, tuple((kind, each) for each in known))
    # A rounded constant is another number over the reals, so constants are rounded only where nothing else helps.
    if bits is None or (is_rounded(label, element_type, kind, (*known, bits)) and not terms.may_choose()):
        return None
    found = terms.literal(element_type, bits, before.array.dimensions)
    terms.step(FOLDED, before, found)
    return found


def _normal(terms: Terms, before: Term) -> Term | None:
    """Returns polynomials, lattices and sums in normal form, None for other operations."""
    label, element_type = before.label, before.array.element_type
    if isinstance(label, tuple):
        return ring.rebuilt(terms, label, before.operands) if label[0] == "ring" else None
    if label == "convert":
        (operand,) = before.operands
        return ring.narrowed(terms, before) if operand.kind == "each" else rounded(terms, element_type, operand)
    if not isinstance(label, str):
        return None
    is_ring = element_type.is_integral and element_type.bits >= _NARROWEST
    found = ring.build(terms, label, element_type, before.operands) if is_ring else None
    return lattice.build(terms, label, element_type, before.operands) if found is None else found


def _ordered(terms: Terms, before: Term) -> Term | None:
    """Returns a commutative operation with the earlier term as first operand, None for other operations."""
    if len(before.operands) != _PAIR or before.operands[0].number <= before.operands[1].number:
        return None
    kind = before.array.element_type
    law = index.commutative_law(before.label, kind.name, before.operands[0].array.element_type.name)
    if law is None:
        return None
    found = terms.each_as_is(before.label, kind, before.operands[::-1])
    terms.step(law, before, found)
    return found


# Integer equality without common terms (x + 1 = y + 1 is x = y), and selects by an earlier complement.


def _compared(terms: Terms, before: Term) -> Term | None:
    """Returns an equality or a select with simpler operands; None for other terms."""
    if before.label == _EQUAL:
        pair = _without_common_terms(terms, *before.operands)
        return None if pair is None else terms.each(_EQUAL, _TRUTH_TYPE, pair)
    return _by_older_predicate(terms, before) if before.label == "select" else None


def _by_older_predicate(terms: Terms, before: Term) -> Term | None:
    """Returns select(not p, b, a) for select(p, a, b) if `not p` was made before `p`."""
    (predicate, first, second), kind = before.operands, before.array.element_type
    opposite = terms.each("not", _TRUTH_TYPE, [predicate])
    if opposite.number >= predicate.number:
        return None
    written = terms.each_as_is("not", _TRUTH_TYPE, [predicate])
    terms.step(SELECT, before, terms.each_as_is("select", kind, (written, second, first)))
    return terms.each("select", kind, (opposite, second, first))


def _equal(terms: Terms, left: Term, right: Term) -> Term:
    return terms.each_as_is(_EQUAL, _TRUTH_TYPE, (left, right))


def _without_common_terms(terms: Terms, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns x and y such that left = right iff x = y, for `x + c = y + c` or `x + c = d`; None for other sums."""
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
        return _of_difference(terms, (left, right), (atoms[0], terms.literal(kind, bits & mask, sizes)), signs[0] == 1)
    if len(atoms) == len(("x", "y")) and not constant and signs[0] != signs[1]:
        return _of_difference(terms, (left, right), (atoms[0], atoms[1]), signs[0] == 1)
    return None


def _of_difference(
    terms: Terms, pair: tuple[Term, Term], found: tuple[Term, Term], in_order: bool
) -> tuple[Term, Term]:
    """Returns `found` and certifies that the pair is equal iff `found` is; their differences are equal or opposite."""
    kind = pair[0].array.element_type
    zero = terms.literal(kind, 0, pair[0].array.dimensions)
    ordered = found if in_order else (found[1], found[0])
    first, second = (terms.each_as_is("subtract", kind, each) for each in (pair, ordered))
    terms.step(DIFFERENCES, _equal(terms, *pair), _equal(terms, first, zero))
    terms.step(RING, first, second)
    terms.step(DIFFERENCES, _equal(terms, *ordered), _equal(terms, second, zero))
    terms.step(MIRRORED, _equal(terms, *ordered), _equal(terms, *found))
    return found
