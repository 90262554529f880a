"""Integer equality without common terms (x + 1 = y + 1 is x = y), and selects by an earlier complement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.proof.algebra import ring
from dialect_utils.verdict.rules.comparisons import DIFFERENCES, MIRRORED, SELECT
from dialect_utils.verdict.rules.integers import RING

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

_TRUTH_TYPE = ELEMENT_TYPES["pred"]
_EQUAL = ("compare", "EQ", False)


def build(terms: Terms, before: Term) -> Term | None:
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
