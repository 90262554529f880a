"""Arrays piece by piece: two programs may join, pad and update arrays in other ways at the same seams.

A seam is an index along a dimension at which a concatenation, a padding or an update begins or ends. Between seams
every movement reads one array, so that the pieces of both results are compared as whole arrays of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from dialect_utils.layout import Pad, Reshape, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Step
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.terms.primitives import bottom_up

JOINED = "joined-slices"
# The most pieces of all results of a proof, and the most seams along one dimension.
_MOST_PIECES, _MOST_SEAMS = 200, 16
# For each dimension the indices at which the elements come from another array.
Seams = tuple[frozenset[int], ...]


@dataclass(slots=True)
class Pieces:
    """Compares two results by pieces; `sliced` returns a slice in normal form, `is_same` compares whole arrays."""

    terms: Terms
    sliced: Callable[[Term, Slice], Term]
    is_same: Callable[[Term, Term], bool]
    _left: int = _MOST_PIECES
    _seams: dict[Term, Seams] = field(default_factory=dict)

    def same(self, first: Term, second: Term) -> bool:
        """Is true where all pieces of two results of one shape are the same."""
        if self.is_same(first, second):
            return True
        seams = [a | b for a, b in zip(self._of(first), self._of(second), strict=True)]
        found = [(len(each), dimension) for dimension, each in enumerate(seams) if each]
        if not found or min(found)[0] > _MOST_SEAMS or self._left <= 0:
            return False
        dimension = min(found)[1]
        sizes = first.array.dimensions
        ends = [*pairwise([0, *sorted(seams[dimension]), sizes[dimension]])]
        self._left -= len(ends)
        nothing = (0,) * len(sizes)
        boxes = [Slice(_with(nothing, dimension, low), _with(sizes, dimension, high)) for low, high in ends]
        if not all(self.same(self.sliced(first, box), self.sliced(second, box)) for box in boxes):
            return False
        for term in (first, second):
            parts = [self.terms.moved_as_is(term, Plan(*term.array.type_and_dimensions, (box,))) for box in boxes]
            joined = self.terms.make("op", ("concatenate", dimension), term.shape, parts)
            self.terms.certify(JOINED, joined, term)
        return True

    def _of(self, term: Term) -> Seams:
        """Returns the seams of an array, those of parts first."""
        for part in bottom_up(term, self._seams, _arrays):
            self._seams[part] = self._made(part)
        return self._seams[term]

    def _made(self, term: Term) -> Seams:
        sizes, own = term.array.dimensions, [self._seams[each] for each in _arrays(term)]
        label = term.label if isinstance(term.label, tuple) else (term.label,)
        if term.kind in ("each", "choice"):
            return _joined(sizes, *own)
        if term.kind == "moved" and isinstance(term.label, Plan) and not term.label.regroups_bits:
            return _after(term.label, own[0])
        if label[0] == "concatenate":
            low, found = 0, []
            for part, seams in zip(term.operands, own, strict=True):
                found.append(_shifted(seams, _with((0,) * len(sizes), label[1], low), part.array.dimensions))
                low += part.array.dimensions[label[1]]
            return _joined(sizes, *found)
        if label[0] == "dynamic-update-slice":
            starts = [self.terms.constant_bits(each) for each in term.operands[2:]]
            known = tuple(each for each in starts if each is not None)
            update = term.operands[1].array.dimensions
            return own[0] if len(known) < len(starts) else _joined(sizes, own[0], _shifted(own[1], known, update))
        if label[0] == "broadcast":
            to = dict(zip(label[1], own[0], strict=True))
            return tuple(to.get(i, frozenset()) if size > 1 else frozenset() for i, size in enumerate(sizes))
        return (frozenset(),) * len(sizes)


def _arrays(term: Term) -> Sequence[Term]:
    """Returns the operands whose elements are at the indices of a term, or are moved to them."""
    label = term.label if isinstance(term.label, tuple) else (term.label,)
    match term.kind, label[0]:
        case "each", _:
            return term.operands
        case "choice", _:
            return term.operands[1:]
        case ("moved", _) | ("op", "broadcast"):
            return term.operands[:1]
        case "op", "concatenate":
            return term.operands
        case "op", "dynamic-update-slice":
            return term.operands[:2]
    return ()


def _joined(sizes: Sequence[int], *parts: Seams) -> Seams:
    """Returns the seams of several arrays of one shape that are inside."""
    return tuple(
        frozenset(i for part in parts for i in part[dimension] if 0 < i < size) for dimension, size in enumerate(sizes)
    )


def _shifted(seams: Seams, low: Sequence[int], sizes: Sequence[int]) -> Seams:
    """Returns the seams of an array of some sizes that begins at `low`, its ends among them."""
    return tuple(
        frozenset(start + i for i in (0, *own, size)) for own, start, size in zip(seams, low, sizes, strict=True)
    )


def _after(plan: Plan, seams: Seams) -> Seams:
    for step, (_, before), (_, after) in zip(plan.steps, plan.stages, plan.stages[1:], strict=False):
        seams = _joined(
            after, _moved(step, before, after, seams) if 0 not in (*before, *after) else (frozenset(),) * len(after)
        )
    return seams


def _moved(step: Step, before: Sequence[int], after: Sequence[int], seams: Seams) -> Seams:
    """Returns the seams after one step; those of a dimension that a reshape splits unevenly are left out."""
    if step.order is not None:
        return tuple(seams[i] for i in step.order)
    if isinstance(step, Slice):
        pairs = zip(seams, step.start, step.strides, strict=True)
        return tuple(frozenset(-((start - i) // stride) for i in own) for own, start, stride in pairs)
    if isinstance(step, Pad):
        spans = [max(0, (size - 1) * (gap + 1) + 1) for size, gap in zip(before, step.gaps, strict=True)]
        plain = tuple(frozenset() if any(step.gaps) else own for own in seams)
        return _shifted(plain, step.low, spans)
    if not isinstance(step, Reshape):
        return (frozenset(),) * len(after)
    found: list[frozenset[int]] = [frozenset() for _ in after]
    for dimension, own in enumerate(seams):
        # Row-major positions of the seams in one block of the dimensions from this one on.
        inner, outer = prod(before[dimension + 1 :]), prod(before[:dimension])
        for to in (i for i, size in enumerate(after) if size > 1 and prod(after[:i]) == outer):
            unit = prod(after[to + 1 :])
            found[to] |= {i * inner // unit for i in own if i * inner % unit == 0}
    return tuple(found)


def _with(sizes: Sequence[int], dimension: int, value: int) -> tuple[int, ...]:
    return (*sizes[:dimension], value, *sizes[dimension + 1 :])
