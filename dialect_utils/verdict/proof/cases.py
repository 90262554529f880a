"""Proof by cases: two elementwise expressions are equal if they are equal with a predicate true and with it false."""

from __future__ import annotations

from collections.abc import Callable

from dialect_utils.ops import Trait, with_trait
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.rules.comparisons import CASES
from dialect_utils.verdict.terms.primitives import reachable

# Operations that combine truth values into a predicate.
_LOGIC = with_trait(Trait.BITWISE)
# The most predicates to decide in turn, and the most operations in each expression: at most 2^6 small rewrites.
_DEEPEST = 6
_MOST_PARTS = 400
# The most operations that all case splits of a proof rewrite.
_MOST_REBUILT = 20_000


class Cases:
    """Proofs by cases of pairs of expressions, over the predicates of their selects."""

    def __init__(self, terms: Terms, is_same: Callable[[Term, Term], bool]) -> None:
        self.terms = terms
        self._is_same = is_same
        self._left = _MOST_REBUILT

    def same(self, first: Term, second: Term) -> bool:
        """Is true where two expressions are proved equal in all cases."""
        if first.kind != "each" or second.kind != "each" or not (first.is_specified and second.is_specified):
            return False
        if self._same(first, second, _DEEPEST):
            self.terms.note(CASES)
            return True
        return False

    def _same(self, first: Term, second: Term, depth: int) -> bool:
        if first is second:
            return first.is_specified
        predicate = self._predicate(first, second) if depth and self._left > 0 else None
        if predicate is None:
            return depth < _DEEPEST and self._is_same(first, second)
        for value in (1, 0):
            pair = [self._where(term, predicate, value) for term in (first, second)]
            if not self._same(pair[0], pair[1], depth - 1):
                return False
        self.terms.certify(CASES.name, first, second, predicate)
        return True

    def _predicate(self, first: Term, second: Term) -> Term | None:
        """Returns the predicate of a select that was made first; None without a select or for a large expression."""
        found: Term | None = None
        for term in (first, second):
            parts = _parts(term)
            if len(parts) > _MOST_PARTS:
                return None
            for part in parts:
                for atom in _atoms(part.operands[0]) if part.label == "select" else ():
                    if found is None or atom.number < found.number:
                        found = atom
        return found

    def _where(self, term: Term, predicate: Term, value: int) -> Term:
        """Returns an expression with a predicate replaced by the constant `value`."""
        known = self.terms.literal(predicate.array.element_type, value, predicate.array.dimensions)
        found = {predicate: known}
        changed = self.terms.substituted(term, found)
        self._left -= sum(part.kind == "each" for part in found) - (predicate.kind == "each")
        return changed


def _atoms(predicate: Term) -> set[Term]:
    """Returns the truth values that a predicate combines by and, or, xor and not."""
    parts = reachable([predicate], lambda part: part.operands if _is_logic(part) else ())
    return {part for part in parts if not _is_logic(part)}


def _is_logic(part: Term) -> bool:
    return part.kind == "each" and part.label in _LOGIC


def _parts(term: Term) -> set[Term]:
    """Returns the elementwise operations of an expression."""
    found: set[Term] = set()
    pending = [term]
    while pending and len(found) <= _MOST_PARTS:
        part = pending.pop()
        if part.kind == "each" and part not in found:
            found.add(part)
            pending += part.operands
    return found
