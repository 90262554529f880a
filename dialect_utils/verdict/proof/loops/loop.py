"""Loops: their bodies as functions of variables.

What a loop does not change is not part of its state, nor what neither its condition nor a result that is used
depends on; the rest is told in an order of its own (`state.py`). Where a loop carries physical arrays and a
loop of the other module their logical values, the state is told in logical values: the body, with
its variables put into physical arrays of unspecified padding and its results read back, must not
read that padding. By induction over the rounds the loop then computes the physical arrays of those values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING

from dialect_utils.ir import Function, Operation
from dialect_utils.ir.control_flow import BODY, CONDITION
from dialect_utils.layout import Shape, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.proof.algebra import Rule
from dialect_utils.verdict.proof.loops.state import State, used_results
from dialect_utils.verdict.proof.terms import Array, Term
from dialect_utils.verdict.proof.trees import Tree, tree_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation

# Ways to read a loop's state that are tried; few loops have more than one.
_MOST_READINGS = 8

# Loops of so many rounds whose bodies have so many operations are unrolled.
_MOST_ITERATIONS = 8
_LONGEST_BODY = 40

UNROLLED = Rule("unrolled", "A loop whose condition is known before every round is its rounds one after the other.")
STATE = Rule("loop-state", "A loop's state may be in any order, and without what no result that is used depends on.")

# For each array of the state the plan from its logical value, or None where it is that itself.
_Reading = tuple[Plan | None, ...]


def loop(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Returns what a `while` yields."""
    initial = [term for value in operation.operands for term in evaluation.flat(evaluation.values[value])]
    unrolled = _unrolled(evaluation, operation, initial)
    if unrolled is not None:
        return unrolled
    shapes = tuple(term.shape for term in initial)
    evaluation.loops.append(shapes)
    found = (_Loop(evaluation, operation, reading).run(initial) for reading in _readings(evaluation, shapes))
    # The last reading is the plain one, which always gives a result.
    leaves = iter(next(results for results in found if results is not None))
    return [tree_of(value.shape, leaves) for value in operation.results]


def _unrolled(evaluation: Evaluation, operation: Operation, initial: Sequence[Term]) -> Sequence[Tree] | None:
    """Returns what a loop of a few known rounds yields, or None for others and those that do more than compute."""
    condition, body = (operation.called_as(role) for role in (CONDITION, BODY))
    if len(body.operations) > _LONGEST_BODY:
        return None
    state: Sequence[Array] = initial
    effects = len(evaluation.effects)
    for _ in range(_MOST_ITERATIONS + 1):
        tested = _ran(evaluation, condition, state)
        bits = evaluation.terms.constant_bits(tested[0])
        if bits is None or len(evaluation.effects) > effects:
            break
        if not bits:
            evaluation.terms.note(UNROLLED)
            leaves = iter(state)
            return [tree_of(value.shape, leaves) for value in operation.results]
        state = _ran(evaluation, body, state)
    # What was tried has done nothing.
    del evaluation.effects[effects:]
    return None


def _ran(evaluation: Evaluation, function: Function, state: Sequence[Array]) -> list[Term]:
    leaves = iter(state)
    arguments = [tree_of(parameter.shape, leaves) for parameter in function.parameters]
    # A region uses values from outside, too: it is evaluated anew each time.
    return [term for tree in evaluation.run(function, arguments) for term in evaluation.flat(tree)]


def _readings(evaluation: Evaluation, shapes: tuple[Shape, ...]) -> Iterator[_Reading]:
    """Yields the ways to read a state as the other module's, the plain one last."""
    if shapes not in evaluation.earlier_loops:
        for other in dict.fromkeys(evaluation.earlier_loops):
            if len(other) == len(shapes):
                plans = [
                    [None] if a == b else evaluation.plans.get((a, b), ()) for a, b in zip(other, shapes, strict=True)
                ]
                yield from islice(product(*plans), _MOST_READINGS)
    yield (None,) * len(shapes)


@dataclass(frozen=True, slots=True)
class _Round:
    """What one round of a loop computes from its state: the condition, the next state, both bodies' effects."""

    tested: list[Term]
    ends: list[Term]
    effects: tuple[list[Term], list[Term]]

    @property
    def is_specified(self) -> bool:
        """Is true where no padding of a physical array is read."""
        return all(term.is_specified for part in (self.tested, self.ends, *self.effects) for term in part)


@dataclass(frozen=True, slots=True)
class _Loop:
    evaluation: Evaluation
    operation: Operation
    reading: _Reading

    def run(self, initial: Sequence[Term]) -> list[Array] | None:
        """Returns the final state, or None where the body reads the padding of a physical array."""
        start = [self._logical(term, plan) for term, plan in zip(initial, self.reading, strict=True)]
        variables = self.evaluation.variables([term.shape for term in start])
        plain = self._round(variables)
        changed = [i for i, variable in enumerate(variables) if plain.ends[i] is not variable]
        order = self._order(start, plain, changed)
        round_ = self._reordered(start, changed, order)
        if round_ is None:
            order = changed
            round_ = self._reordered(start, changed, changed)
            assert round_ is not None  # nothing is left out
        if any(self.reading) and not round_.is_specified:
            return None
        final = list(start)
        for i, out in zip(order, self._outs(start, order, round_), strict=True):
            final[i] = out
        if len(order) < len(changed):
            every = self._outs(start, range(len(start)), plain)
            for i in {*changed} - {*order}:
                final[i] = every[i]
        return [self._physical(term, plan) for term, plan in zip(final, self.reading, strict=True)]

    def _order(self, start: Sequence[Term], plain: _Round, changed: Sequence[int]) -> Sequence[int]:
        """Returns the elements of the state that count, in an order that does not depend on how they are written."""
        if any(plain.effects):
            return changed
        order = State(self.evaluation.level, start, plain.ends, plain.tested).order(
            changed, used_results(self.operation)
        )
        if order != changed:
            self.evaluation.terms.note(STATE)
        return order

    def _reordered(self, start: Sequence[Term], changed: Sequence[int], order: Sequence[int]) -> _Round | None:
        """Returns a round whose first variables are those of `order`; None where these depend on others, too."""
        numbered = [*order, *(i for i in changed if i not in order)]
        state = list(start)
        for i, variable in zip(numbered, self.evaluation.variables([start[i].shape for i in numbered]), strict=True):
            state[i] = variable
        round_ = self._round(state)
        if len(order) == len(changed):
            return round_
        kept = [round_.ends[i] for i in order]
        masks, tested = State(self.evaluation.level, start, kept, round_.tested).reached()
        is_closed = not any(mask >> len(order) for mask in (*masks, tested))
        return round_ if is_closed and not any(round_.effects) else None

    def _round(self, state: Sequence[Term]) -> _Round:
        arrays = [self._physical(term, plan) for term, plan in zip(state, self.reading, strict=True)]
        condition, body = (self.operation.called_as(role) for role in (CONDITION, BODY))
        tested, test_effects = self._body(0, condition, arrays)
        ends, effects = self._body(1, body, arrays)
        logical = [self._logical(end, plan) for end, plan in zip(ends, self.reading, strict=True)]
        return _Round(tested, logical, (test_effects, effects))

    def _body(self, part: int, body: Function, arrays: Sequence[Array]) -> tuple[list[Term], list[Term]]:
        leaves = iter(arrays)
        arguments: list[Tree] = [tree_of(parameter.shape, leaves) for parameter in body.parameters]
        return self.evaluation.within(part, partial(self.evaluation.run, body, arguments))

    def _outs(self, start: Sequence[Term], changed: Sequence[int], round_: _Round) -> list[Term]:
        """Returns the final values of what a loop changes."""
        evaluation = self.evaluation
        number = (*evaluation.scope, len(evaluation.effects)) if any(round_.effects) else None
        parts = [[start[i] for i in changed], [round_.ends[i] for i in changed], round_.tested, *round_.effects]
        label = ("while", evaluation.level, tuple(map(len, parts)), number)
        shapes = [start[i].shape for i in changed]
        made = evaluation.terms.make("op", label, TupleShape(tuple(shapes)), [term for part in parts for term in part])
        if number is not None:
            evaluation.effects.append(made)
        return evaluation.outs(made, shapes)

    def _logical(self, term: Term, plan: Plan | None) -> Term:
        terms = self.evaluation.terms
        return term if plan is None else terms.term(terms.chain(term).then(plan.inverse()))

    def _physical(self, term: Term, plan: Plan | None) -> Array:
        terms = self.evaluation.terms
        return term if plan is None else terms.chain(term).then(plan.with_padding(terms.unspecified))
