"""Loops: short ones unrolled; others as functions of their state.

An element of the state counts where a result that is used, or the condition, depends on it. The elements are ordered by
their initial values, then by their next values and by the elements that depend on them, so the order does not depend on
how the program lists them. Any order describes the same loop: this file only has to find one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations, product
from typing import TYPE_CHECKING, Any, TypeVar

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.control_flow import BODY, CONDITION, is_unrolled
from dialect_utils.layout import ArrayShape, Shape, Transpose, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, with_trait
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.certificate import Reading
from dialect_utils.verdict.proof.terms import Array, Term, Tree
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.loops import Program
from dialect_utils.verdict.terms.primitives import ANY_ORDER, tree_of
from dialect_utils.verdict.terms.scans import Scan

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation


# Ways to read a loop's state that are tried; few loops have more than one.
_MOST_READINGS = 8
# Transposes between the shapes of one array of both states that are tried; other than one where sizes are equal.
_MOST_TRANSPOSES = 2

UNROLLED = Rule("unrolled", "A loop whose condition is known before every iteration is the sequence of its iterations.")
STATE = Rule(
    "loop-state",
    "The elements of a loop's state may be in any order, and those that no used result depends on may be left out.",
)
SCAN = Rule("scan", "A scan is the loop over the slices of its inputs that calls its function on each.")
ORDER = Rule(
    ANY_ORDER, "The engine chooses the order in which a scan calls a function that the program calls associative."
)


# For each array of the state the plan from its logical value, or None where the array is the logical value.
_Reading = tuple[Plan | None, ...]


def loop(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Returns the results of a `while`."""
    initial = [term for value in operation.operands for term in evaluation.flat(evaluation.values[value])]
    condition, body = (operation.called_as(role) for role in (CONDITION, BODY))
    program: Program[Array] = Program(partial(_ran, evaluation, condition), partial(_ran, evaluation, body), body)
    return evaluation.trees(operation, _final(evaluation, operation, program, initial, used_results(operation)))


def scan(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Returns the results of a `scan`, as those of a loop."""
    terms = evaluation.terms
    try:
        found = Scan(evaluation.primitives, operation, terms.literal, partial(_ran, evaluation))
    except UndefinedError:
        return evaluation.opaque(operation)
    operands = [term for value in operation.operands for term in evaluation.flat(evaluation.values[value])]
    start = [terms.term(each) for each in found.start(operands)]
    used = frozenset(found.positions()[i] for i in used_results(operation))
    final = _final(evaluation, operation, Program(found.tested, found.ends, found.function), start, used)
    results = [terms.term(final[i]) for i in found.positions()]
    terms.note(SCAN)
    for result in results if found.is_in_any_order else ():
        terms.step(ORDER, terms.make("op", (ANY_ORDER,), result.shape, [result]), result)
    return evaluation.trees(operation, results)


def _final(
    evaluation: Evaluation,
    operation: Operation,
    program: Program[Array],
    initial: Sequence[Term],
    used: frozenset[int],
) -> Sequence[Array]:
    """Returns the final state of a loop some of whose results are used."""
    unrolled = _unrolled(evaluation, program, initial)
    if unrolled is not None:
        return unrolled
    shapes = tuple(term.shape for term in initial)
    evaluation.loops.append(shapes)
    readings = _readings(evaluation, shapes)
    found = (_Loop(evaluation, operation, program, used, reading).run(initial) for reading in readings)
    # The last reading is the plain one, which always gives a result.
    return next(results for results in found if results is not None)


def _unrolled(evaluation: Evaluation, program: Program[Array], initial: Sequence[Term]) -> Sequence[Array] | None:
    """Returns the final state of a loop of a few known iterations; None for others and those with effects."""
    if not is_unrolled(program.body):
        return None
    state: Sequence[Array] = initial
    effects = len(evaluation.effects)
    for _ in range(evaluation.iterations + 1):
        tested = evaluation.terms.term(program.tested(state)[0])
        bits = evaluation.terms.constant_bits(tested)
        if bits is None or len(evaluation.effects) > effects:
            break
        if not bits:
            evaluation.terms.note(UNROLLED)
            return state
        state = program.ends(state)
    # The attempt leaves no effects.
    del evaluation.effects[effects:]
    return None


def _ran(evaluation: Evaluation, function: Function, state: Sequence[Array]) -> list[Array]:
    leaves = iter(state)
    arguments = [tree_of(parameter.shape, leaves) for parameter in function.parameters]
    # A region uses values from outside, too, so it is evaluated again each time.
    return [term for tree in evaluation.run(function, arguments) for term in evaluation.flat(tree)]


def _readings(evaluation: Evaluation, shapes: tuple[Shape, ...]) -> Iterator[_Reading]:
    """Yields the ways to read a state as the other module's, the plain one last."""
    if shapes not in evaluation.earlier_loops:
        for other in dict.fromkeys(evaluation.earlier_loops):
            if len(other) == len(shapes):
                plans = [
                    [None] if a == b else evaluation.plans.get((a, b)) or [*islice(_transposes(a, b), _MOST_TRANSPOSES)]
                    for a, b in zip(other, shapes, strict=True)
                ]
                yield from islice(product(*plans), _MOST_READINGS)
    yield (None,) * len(shapes)


def _transposes(shape: Shape, other: Shape) -> Iterator[Plan]:
    """Yields the transposes from one shape to another."""
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return
    sizes = shape.dimensions
    if shape.element_type == other.element_type and sorted(sizes) == sorted(other.dimensions):
        for order in permutations(range(shape.rank)):
            if tuple(sizes[i] for i in order) == other.dimensions:
                yield Plan(shape.element_type, sizes, (Transpose(order),))


@dataclass(frozen=True, slots=True)
class _Iteration:
    """One iteration of a loop as a function of its state: condition, next state, effects of condition and body."""

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
    program: Program[Array]
    used: frozenset[int]
    reading: _Reading

    def run(self, initial: Sequence[Term]) -> list[Array] | None:
        """Returns the final state, or None where the body reads the padding of a physical array."""
        start = [self._logical(term, plan) for term, plan in zip(initial, self.reading, strict=True)]
        variables = self.evaluation.variables([term.shape for term in start])
        plain = self._round(variables)
        changed = [i for i, variable in enumerate(variables) if plain.ends[i] is not variable]
        order = self._order(start, plain, changed)
        iteration = self._reordered(start, changed, order)
        if iteration is None:
            order = changed
            iteration = self._reordered(start, changed, changed)
            assert iteration is not None  # nothing is left out
        if any(self.reading) and not iteration.is_specified:
            return None
        terms = self.evaluation.terms
        terms.readings[terms.side][self.operation] = Reading(tuple(order), tuple(changed), self.reading)
        final = list(start)
        for i, out in zip(order, self._outs(start, order, iteration), strict=True):
            final[i] = out
        if len(order) < len(changed):
            every = self._outs(start, range(len(start)), plain)
            for i in {*changed} - {*order}:
                final[i] = every[i]
        return [self._physical(term, plan) for term, plan in zip(final, self.reading, strict=True)]

    def _order(self, start: Sequence[Term], plain: _Iteration, changed: Sequence[int]) -> Sequence[int]:
        """Returns the elements of the state that count, in an order that does not depend on how they are written."""
        if any(plain.effects):
            return changed
        order = State(self.evaluation.level, start, plain.ends, plain.tested).order(changed, self.used)
        if order != changed:
            self.evaluation.terms.note(STATE)
        return order

    def _reordered(self, start: Sequence[Term], changed: Sequence[int], order: Sequence[int]) -> _Iteration | None:
        """Returns an iteration whose first variables are those of `order`; None where they depend on others, too."""
        numbered = [*order, *(i for i in changed if i not in order)]
        state = list(start)
        for i, variable in zip(numbered, self.evaluation.variables([start[i].shape for i in numbered]), strict=True):
            state[i] = variable
        iteration = self._round(state)
        if len(order) == len(changed):
            return iteration
        kept = [iteration.ends[i] for i in order]
        masks, tested = State(self.evaluation.level, start, kept, iteration.tested).reached()
        is_closed = not any(mask >> len(order) for mask in (*masks, tested))
        return iteration if is_closed and not any(iteration.effects) else None

    def _round(self, state: Sequence[Term]) -> _Iteration:
        arrays = [self._physical(term, plan) for term, plan in zip(state, self.reading, strict=True)]
        tested, test_effects = self.evaluation.within(0, lambda: [*self.program.tested(arrays)])
        ends, effects = self.evaluation.within(1, lambda: [*self.program.ends(arrays)])
        logical = [self._logical(end, plan) for end, plan in zip(ends, self.reading, strict=True)]
        return _Iteration(tested, logical, (test_effects, effects))

    def _outs(self, start: Sequence[Term], changed: Sequence[int], iteration: _Iteration) -> list[Term]:
        """Returns the final values of what a loop changes."""
        evaluation = self.evaluation
        number = (*evaluation.scope, len(evaluation.effects)) if any(iteration.effects) else None
        parts = [
            [start[i] for i in changed],
            [iteration.ends[i] for i in changed],
            iteration.tested,
            *iteration.effects,
        ]
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


# The order of their operands does not distinguish two states.
_UNORDERED = with_trait(Trait.COMMUTATIVE)
_UNORDERED_KINDS = frozenset(["ring", "dot", "sum", "sum-of-products"])
_Found = TypeVar("_Found")


def used_results(operation: Operation) -> frozenset[int]:
    """Returns the numbers of a loop's results, tuples taken apart, that anything depends on."""
    found: set[int] = set()
    first = 0
    for value in operation.results:
        found.update(first + i for i in _used(value))
        first += value.shape.leaf_count
    return frozenset(found)


def _used(value: Value) -> Iterable[int]:
    """Returns the leaves of a value that are used: of a tuple the elements that are taken out, else all."""
    is_whole = value in value.function.results or any(user.opcode != "get-tuple-element" for user in value.users)
    if is_whole or not isinstance(value.shape, TupleShape):
        return range(value.shape.leaf_count) if is_whole or value.users else ()
    sizes = [element.leaf_count for element in value.shape.elements]
    found: list[int] = []
    for user in value.users:
        (index,) = user.ints("index") or (0,)
        found += [sum(sizes[:index]) + i for i in _used(user.results[0])]
    return found


@dataclass(frozen=True, slots=True)
class State:
    """The initial and next values of a loop's elements, and its condition; variable i of `level` is element i."""

    level: int
    start: Sequence[Term]
    ends: Sequence[Term]
    tested: Sequence[Term]

    def reached(self) -> tuple[list[int], int]:
        """Returns the variables that each element's next value depends on, and the condition, as bits."""
        masks = self._bottom_up(lambda number: 1 << number, lambda _, operands: _joined(operands), 0)
        return [masks[end] for end in self.ends], _joined([masks[term] for term in self.tested])

    def order(self, changed: Sequence[int], used: frozenset[int]) -> list[int]:
        """Returns the elements that count, of those that change."""
        ends, tested = self.reached()
        live = tested | sum(1 << i for i in used)
        while True:
            grown = live | _joined([ends[i] for i in changed if live >> i & 1])
            if grown == live:
                break
            live = grown
        kept = [i for i in changed if live >> i & 1]
        colors = self._colors(kept, ends, tested)
        return sorted(kept, key=colors.__getitem__)

    def _colors(self, kept: Sequence[int], ends: Sequence[int], tested: int) -> dict[int, tuple[int, ...]]:
        """Returns keys that distinguish the elements, whatever their order; some may stay equal."""
        colors: dict[int, tuple[int, ...]] = {i: (self.start[i].number, tested >> i & 1) for i in kept}
        count = 0
        while count < len({*colors.values()}) < len(kept):
            count = len({*colors.values()})
            colors = self._refined(kept, ends, colors)
        return colors

    def _refined(
        self, kept: Sequence[int], ends: Sequence[int], colors: dict[int, tuple[int, ...]]
    ) -> dict[int, tuple[int, ...]]:
        seen = self._bottom_up(lambda number: hash(colors.get(number)), _structure, 0)
        return {
            i: (*colors[i], seen[self.ends[i]], hash(tuple(sorted(colors[j] for j in kept if ends[j] >> i & 1))))
            for i in kept
        }

    def _bottom_up(
        self, variable: Callable[[int], _Found], join: Callable[[Term, list[_Found]], _Found], closed: _Found
    ) -> dict[Term, _Found]:
        """Returns the results of a function for all parts of the next state and the condition, operands first."""
        found: dict[Term, _Found] = {}
        parts: set[Term] = set()
        pending = [*self.ends, *self.tested]
        while pending:
            part = pending.pop()
            if part not in parts:
                parts.add(part)
                pending += () if self._is_closed(part) else part.operands
        for part in sorted(parts, key=lambda part: part.number):
            label: Any = part.label
            if part.kind == "leaf" and isinstance(label, tuple) and label[:2] == ("bound", self.level):
                found[part] = variable(label[2])
            elif self._is_closed(part):
                found[part] = closed
            else:
                found[part] = join(part, [found[operand] for operand in part.operands])
        return found

    def _is_closed(self, part: Term) -> bool:
        """Is true for a loop or function from outside: its variables have the same names and are others."""
        label = part.label
        is_scope = isinstance(label, tuple) and label[:1] in (("while",), ("function",)) and part.kind == "op"
        return is_scope and isinstance(label, tuple) and label[1] <= self.level


def _joined(masks: Sequence[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _structure(term: Term, operands: list[int]) -> int:
    """Returns a hash of an operation that does not depend on the order in which its terms were made."""
    name: Hashable = term.label[0] if isinstance(term.label, tuple) and term.label else term.label
    if name in _UNORDERED or name in _UNORDERED_KINDS:
        return hash((name, tuple(sorted(operands))))
    if term.kind == "moved":
        # A dot swaps its operands together with their movement.
        return operands[0]
    return hash((term.kind, term.label, tuple(operands)))
