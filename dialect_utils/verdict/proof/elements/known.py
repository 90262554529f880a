"""What a proof knows of elements so far, and how many more it may make."""

from __future__ import annotations

from dialect_utils.verdict.proof.elements.arrays import Value
from dialect_utils.verdict.proof.elements.picks import Picks
from dialect_utils.verdict.proof.terms import GaveUpError, Term, Terms

# Scalar terms that a proof makes before it gives up: about two seconds.
_MOST_ELEMENTS = 150_000


class KnownElements:
    """The elements of the terms that were looked at."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.picks = Picks(terms, self.spend)
        self.values: dict[Term, Value] = {}
        self._count = 0

    def of(self, term: Term) -> Value:
        """Returns the elements of a term that was looked at."""
        return self.values[term]

    def spend(self, count: int) -> None:
        """Counts scalar terms that are made; raises GaveUpError where there are too many."""
        self._count += count
        if self._count > _MOST_ELEMENTS:
            raise GaveUpError("the arrays are too large to be compared element by element")
