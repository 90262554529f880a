"""Selects by a constant mask that is true for a part of an array: this part, padded with the other branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dialect_utils.layout import Pad, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.constants import ConstantArrays, keeps_exactly, positions_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

MASKED = Rule("masked", "A select whose constant mask is true for a part of an array only is that part, padded.")
# The most parts of an expression in whose dimensions the mask is read.
_MOST_PARTS = 32


@dataclass(slots=True)
class Masks:
    """The values of masks, and `sliced`, which returns a slice of a term in normal form."""

    sliced: Callable[[Term, Slice], Term]
    constants: ConstantArrays = field(default_factory=ConstantArrays)

    def try_part(self, terms: Terms, operands: Sequence[Term]) -> Term | None:
        """Returns select(mask, x, c) as a part of x, padded with c; None where the mask is true for no such part."""
        predicate, *branches = operands
        if predicate.kind == "splat" or not any(each.kind == "splat" and each.is_specified for each in branches):
            return None
        mask = self.constants.value(predicate)
        if mask is None or not mask.ndim:
            return None
        for kept, other, keeps in ((*branches, mask), (*branches[::-1], ~mask)):
            if other.kind != "splat" or not other.is_specified or (kept.kind == "splat" and kept.is_specified):
                continue
            for turned in _orders(kept):
                back = turned.inverse()
                box = _box(_after(keeps, back))
                if box is None:
                    continue
                step = Slice(*box)
                inner = Plan(*turned.start, (step,))
                high = tuple(size - end for size, end in zip(turned.dimensions, box[1], strict=True))
                padded = Plan(*inner.result, (Pad(box[0], high),), (other.operands[0],)).then(turned)
                if keeps_exactly(keeps, back.then(inner), padded.with_padding(True)):
                    return self._part(terms, operands, kept, back, step, padded)
        return None

    def _part(self, terms: Terms, operands: Sequence[Term], kept: Term, back: Plan, step: Slice, padded: Plan) -> Term:
        inner = Plan(*back.result, (step,))
        before = terms.each_as_is("select", kept.array.element_type, operands)
        plain = terms.moved_as_is(kept, back.then(inner))
        terms.step(MASKED, before, terms.moved_as_is(plain, padded))
        part = _moved(terms, kept, back)
        terms.certify("moved", plain, terms.moved_as_is(terms.moved_as_is(kept, back), inner))
        part = self.sliced(part, step)
        return terms.term(terms.chain(part).then(padded))


def _orders(kept: Term) -> Iterator[Plan]:
    """Yields movements that keep all elements, from the dimensions of a source of an expression to its own."""
    yield Plan(kept.array.element_type, kept.array.dimensions)
    pending, kind = [kept], kept.array.element_type
    for _ in range(_MOST_PARTS):
        if not pending:
            return
        part = pending.pop()
        if part.kind == "each":
            pending += part.operands
        elif part.kind == "moved" and isinstance(part.label, Plan):
            plan = part.label
            if not (plan.adds_elements or plan.drops_elements or plan.regroups_bits):
                yield plan.retyped(kind)
            elif plan.adds_elements and not plan.drops_elements and plan.steps[0].adds_elements:
                # The padded array has the dimensions in which the mask is a box.
                yield Plan(kind, plan.stages[1][1], plan.steps[1:], plan.paddings[1:])


def _after(mask: Any, plan: Plan) -> Any:
    places = positions_of(plan)
    return None if places is None else mask.reshape(-1)[places]


def _box(mask: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Returns the first index and the limit of the part for which a mask is true; None where that is no box."""
    places: Any = () if mask is None else mask.nonzero()
    if not len(places) or not len(places[0]):
        return None
    start = tuple(int(each.min()) for each in places)
    limit = tuple(int(each.max()) + 1 for each in places)
    count = 1
    for first, end in zip(start, limit, strict=True):
        count *= end - first
    return (start, limit) if count == len(places[0]) else None


def _moved(terms: Terms, term: Term, plan: Plan) -> Term:
    """Returns an array after movement, also through elementwise operations on undefined padding."""
    own = plan.retyped(term.array.element_type)
    if term.kind != "each" or term.is_specified or not plan.steps:
        return terms.term(terms.chain(term).then(own))
    before = terms.moved_as_is(term, own)
    plain = [terms.moved_as_is(each, plan.retyped(each.array.element_type)) for each in term.operands]
    terms.certify("through", before, terms.make("each", term.label, before.shape, plain))
    return terms.each(term.label, before.array.element_type, [_moved(terms, each, plan) for each in term.operands])
