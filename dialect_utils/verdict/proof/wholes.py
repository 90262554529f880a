"""Concatenations of parts that were computed one by one, as the whole that the other program computes.

A program may compute the rows of an array in two parts. Each part is the cut of a term of the first program: a cut of a
dot is a dot of a cut operand, and so on.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.proof.symbols import Symbols
from dialect_utils.verdict.proof.terms import MOVED, THROUGH, Array, Moved, Term, Terms
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.cuts import Cut, before_plan, operand_cuts

PART = Rule(
    "part", "A part of a dot, a reduction or a broadcast is the dot, reduction or broadcast of a part of its operands."
)
# Slices that are joined again are the array.
JOINED = "joined-slices"

# A concatenation is compared with at most so many terms, and a proof makes about so many cuts.
_MOST_WHOLES = 8
_MOST_CUTS = 20_000
_Key = tuple[Term, Cut]


class Wholes(Symbols):
    """The primitives on terms, where a concatenation may be a term of the first program."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._cuts: dict[_Key, Term] = {}
        self._shaped: dict[tuple[ElementType, tuple[int, ...]], list[Array]] = {}

    def concatenate(self, arrays: Sequence[Array], dimension: int) -> Term:
        """Returns a concatenation, or the term of the first program whose parts it joins."""
        if self.terms.side and not self.terms.keeps_bits and len(self._cuts) < _MOST_CUTS:
            joined = self.written.concatenate([*map(self.terms.term, arrays)], dimension)
            for whole in self._candidates(joined) if joined.is_specified else ():
                if self._is_whole(whole, joined, dimension):
                    return whole
        return super().concatenate(arrays, dimension)

    def _candidates(self, joined: Term) -> list[Term]:
        """Returns terms of the first program that may be a concatenation: the same operation, of its shape."""
        if not self._shaped:
            for array in self.terms.computed:
                if isinstance(array, Moved) or isinstance(array.shape, ArrayShape):
                    self._shaped.setdefault((self.element_type(array), self.dimensions(array)), []).append(array)
        shaped = self._shaped.get(joined.array.type_and_dimensions, ())
        head = _head(joined.operands[0])
        found = [term for term in dict.fromkeys(map(self.terms.term, shaped)) if _head(term) == head]
        return found[:_MOST_WHOLES]

    def _is_whole(self, whole: Term, joined: Term, dimension: int) -> bool:
        """Is true for a term whose cuts are the parts of a concatenation."""
        size, start, cuts = joined.array.dimensions[dimension], 0, []
        for part in joined.operands:
            limit = start + part.array.dimensions[dimension]
            cuts.append(Cut(dimension, 1, size, start, limit))
            if self._cut(whole, cuts[-1]) is not part:
                return False
            start = limit
        plain = [self.terms.moved_as_is(whole, cut.plan(whole.array)) for cut in cuts]
        self.terms.certify(JOINED, self.written.concatenate(plain, dimension), whole)
        self.terms.note(PART)
        return True

    def _cut(self, term: Term, cut: Cut) -> Term:
        """Returns the cut of a term, in normal form."""
        pending = [(term, cut)]
        while pending:
            key = pending[-1]
            missing = [each for each in self._needed(*key) if each not in self._cuts]
            if key in self._cuts:
                pending.pop()
            elif missing:
                pending += missing
            else:
                self._cuts[key] = self._made_cut(*key)
        return self._cuts[term, cut]

    def _needed(self, term: Term, cut: Cut) -> list[_Key]:
        """Returns the cuts of operands of which the cut of a term is made."""
        if term.kind == "each":
            return [(operand, cut) for operand in term.operands]
        if term.kind == "moved":
            found = self._before(term, cut)
            return [] if found is None else [(term.operands[0], found[0])]
        cuts = operand_cuts(term.kind, term.label, cut) or ()
        return [(operand, own) for operand, own in zip(term.operands, cuts, strict=False) if own is not None]

    def _before(self, term: Term, cut: Cut) -> tuple[Cut, Plan] | None:
        chain = self.terms.chain(term)
        is_known = chain.base.kind == "each" or operand_cuts(chain.base.kind, chain.base.label, cut) is not None
        return before_plan(chain.plan, cut) if is_known else None

    def _made_cut(self, term: Term, cut: Cut) -> Term:
        terms, plan = self.terms, cut.plan(term.array)
        before = terms.moved_as_is(term, plan)
        shape = ArrayShape(term.array.element_type, cut.resized(term.array.dimensions))
        if term.kind == "each":
            plain = [terms.moved_as_is(each, plan.retyped(each.array.element_type)) for each in term.operands]
            terms.certify(THROUGH, before, terms.make("each", term.label, shape, plain))
            return terms.each(term.label, shape.element_type, [self._cuts[each, cut] for each in term.operands])
        if term.kind == "moved" and (found := self._before(term, cut)) is not None:
            base = term.operands[0]
            inner = terms.moved_as_is(base, found[0].plan(base.array))
            terms.certify(MOVED, before, terms.moved_as_is(inner, found[1]))
            return terms.term(terms.chain(self._cuts[base, found[0]]).then(found[1]))
        cuts = operand_cuts(term.kind, term.label, cut)
        if cuts is None:
            return terms.term(terms.chain(term).then(plan))
        operands, plain = [], []
        for operand, own in zip(term.operands, cuts, strict=True):
            operands.append(operand if own is None else self._cuts[operand, own])
            plain.append(operand if own is None else terms.moved_as_is(operand, own.plan(operand.array)))
        terms.certify(PART.name, before, terms.make("op", term.label, shape, plain))
        return self._remade(terms.make("op", term.label, shape, operands))

    def _remade(self, term: Term) -> Term:
        """Returns the normal form of a dot, reduction or broadcast."""
        assert isinstance(term.label, tuple)  # so operations are made
        name, value = term.label
        if name == "dot":
            return self.terms.term(self.contracted(term))
        if name == "reduce":
            return self.combine(value, *term.operands)
        return self.broadcast(term.operands[0], value, term.array.dimensions)


def _head(term: Term) -> tuple[str, Hashable]:
    """Returns the operation that a term is, without movement."""
    while term.kind == "moved":
        term = term.operands[0]
    return term.kind, term.label if term.kind in ("each", "op") else None
