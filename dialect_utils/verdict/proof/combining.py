"""Replaces combinations of the same elements, such as sums in another order, by one term."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.combinations import opcode_of_combination, try_combination
from dialect_utils.verdict.terms.relations import try_prove_same_combination

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

REGROUPED = Rule(
    "regrouped",
    "Two combinations of the same elements by one operation are equal: exactly, or up to the order of one sum.",
)
# The most pairs that one proof compares.
_MOST_PAIRS = 300


@dataclass(slots=True)
class Combining:
    """The combinations of a proof by operation, shape and parts, each before and after normalization."""

    terms: Terms
    _left: int = _MOST_PAIRS
    # With each term and its normal form whether it has reductions.
    _known: dict[Hashable, list[tuple[Term, Term, bool]]] = field(default_factory=dict)

    def replaced(self, written: Term, normal: Term) -> Term:
        """Returns the normal form of a term, or of an earlier term that combines the same elements."""
        opcode = opcode_of_combination(written)
        structure = None if opcode is None else try_combination(written, opcode)
        if opcode is None or structure is None or not (structure.reductions or structure.operations > 1):
            return normal
        known = self._known.setdefault((opcode, written.shape, structure.bases), [])
        for other, normal_other, is_reduced in known:
            if other is written:
                return normal_other
            if not (is_reduced or structure.reductions):
                continue
            self._left -= 1
            if self._left >= 0 and try_prove_same_combination(written, other, opcode):
                self.terms.step(REGROUPED, written, other)
                return normal_other
        known.append((written, normal, bool(structure.reductions)))
        return normal

    def same(self, first: Term, second: Term) -> bool:
        """Is true where two terms combine the same elements, one of them by a reduction that may be moved."""
        for before, after in ((first, second), (second, first)):
            opcode = opcode_of_combination(before)
            found = [] if opcode is None else [try_combination(each, opcode) for each in (before, after)]
            if opcode is None or None in found or len({each.bases for each in found if each is not None}) != 1:
                continue
            self._left -= 1
            if self._left >= 0 and try_prove_same_combination(before, after, opcode):
                self.terms.step(REGROUPED, before, after)
                return True
        return False
