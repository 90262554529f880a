"""Loops: unrolled if short, else functions of their state. A scan is a loop over the slices of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from dialect_utils.ir import Function, Operation
from dialect_utils.ir.control_flow import is_unrolled
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.domain import UndefinedError, only_function, required_ints, reshaped, static_array
from dialect_utils.verdict.certificate import Reading
from dialect_utils.verdict.rules import Definition
from dialect_utils.verdict.terms.orders import rounds
from dialect_utils.verdict.terms.primitives import V

if TYPE_CHECKING:
    from dialect_utils.verdict.terms.maker import Maker
    from dialect_utils.verdict.terms.walker import Walker

UNROLLED = Definition(
    "unrolled", "A loop whose condition is known before every iteration is the sequence of its iterations."
)
Plans = Sequence[Plan | None]
_COUNTER = ELEMENT_TYPES["s64"]


@dataclass(frozen=True, slots=True)
class Iteration(Generic[V]):
    """One iteration of a loop as a function of its state: condition, next state, effects of condition and body."""

    tested: list[V]
    ends: list[V]
    effects: tuple[list[V], list[V]]

    @property
    def nodes(self) -> list[V]:
        """Returns all nodes of the iteration."""
        return [*self.tested, *self.ends, *self.effects[0], *self.effects[1]]


@dataclass(frozen=True, slots=True)
class Loop(Generic[V]):
    """A loop: the condition and the next state as functions of the state, tuples flattened.

    `body` is the function whose length decides about unrolling. `results` are the positions of the operation's results
    in the state.
    """

    walker: Walker[V]
    operation: Operation
    test: Callable[[Sequence[V]], list[V]]
    step: Callable[[Sequence[V]], list[V]]
    body: Function
    results: Sequence[int]

    def run(self, start: Sequence[V]) -> list[V]:
        """Returns the results of the unrolled loop if the iterations are few and known, else of a `while` node."""
        unrolled = self._unrolled(start)
        final = self.walker.maker.final(self, start) if unrolled is None else unrolled
        return [final[i] for i in self.results]

    def _unrolled(self, start: Sequence[V]) -> Sequence[V] | None:
        """Returns the final state of a loop of a few known iterations without effects, else None."""
        walker, state = self.walker, start
        if not is_unrolled(self.body):
            return None
        count = len(walker.effects)
        for _ in range(walker.iterations + 1):
            bits = walker.maker.constant_bits(self.test(state)[0])
            if bits is None or len(walker.effects) > count:
                break
            if not bits:
                walker.maker.note(UNROLLED)
                return state
            state = self.step(state)
        # Discard the side effects of the failed attempt.
        del walker.effects[count:]
        return None

    def iteration(self, state: Sequence[V], plans: Plans) -> Iteration[V]:
        """Returns one iteration on a state of logical values; the loop's own state is `plans` of these values."""
        arrays = self._physical(state, plans)
        tested, test_effects = self.walker.within(0, lambda: self.test(arrays))
        ends, effects = self.walker.within(1, lambda: self.step(arrays))
        return Iteration(tested, self.logical(ends, plans), (test_effects, effects))

    def variables(self, start: Sequence[V], order: Sequence[int]) -> list[V]:
        """Returns a state in which the elements of `order` are variables, numbered in this order."""
        state, shape = list(start), self.walker.maker.shape
        for i, variable in zip(order, self.walker.variables([shape(start[i]) for i in order]), strict=True):
            state[i] = variable
        return state

    def final(self, start: Sequence[V], reading: Reading, plain: Iteration[V], short: Iteration[V]) -> list[V]:
        """Returns the final state of a loop.

        `plain` is an iteration of the whole state, `short` one whose first elements are the live ones.
        """
        final = list(start)
        for i, out in zip(reading.order, self._outs(start, reading.order, short), strict=True):
            final[i] = out
        dropped = {*reading.changed} - {*reading.order}
        outs = self._outs(start, range(len(start)), plain) if dropped else final
        for i in dropped:
            final[i] = outs[i]
        return self._physical(final, reading.plans)

    def _outs(self, start: Sequence[V], order: Sequence[int], iteration: Iteration[V]) -> list[V]:
        """Returns the final values of some elements of the state."""
        walker, maker = self.walker, self.walker.maker
        number = (*walker.scope, len(walker.effects)) if any(iteration.effects) else None
        parts = [[start[i] for i in order], [iteration.ends[i] for i in order], iteration.tested, *iteration.effects]
        shapes = [maker.shape(start[i]) for i in order]
        label = ("while", walker.level, tuple(map(len, parts)), number)
        made = maker.make("op", label, TupleShape(tuple(shapes)), [node for part in parts for node in part])
        if number is not None:
            walker.effects.append(made)
        return maker.outs(made, shapes)

    def logical(self, state: Sequence[V], plans: Plans) -> list[V]:
        """Returns the logical values of a state."""
        maker = self.walker.maker
        pairs = zip(state, plans, strict=True)
        return [node if plan is None else maker.term(maker.after(node, plan.inverse())) for node, plan in pairs]

    def _physical(self, state: Sequence[V], plans: Plans) -> list[V]:
        maker = self.walker.maker
        return [node if plan is None else maker.after(node, plan) for node, plan in zip(state, plans, strict=True)]


class Scan(Generic[V]):
    """A scan as a loop whose state is a counter, the carries, the inputs and the outputs.

    The loop writes each slice of the outputs once, so their initial values do not matter: they are zeros. `call`
    returns the results of a function.
    """

    def __init__(
        self, maker: Maker[V], operation: Operation, call: Callable[[Function, Sequence[V]], Sequence[V]]
    ) -> None:
        self.maker, self.call = maker, call
        self.function = only_function(operation)
        (self.dimension,), (self.carried,) = (required_ints(operation, name) for name in ("dimensions", "num_carries"))
        self.results = [static_array(leaf) for value in operation.results for leaf in value.shape.leaves()]
        self.inputs = len(operation.operands) - self.carried
        self.is_reverse = operation.attribute("is_reverse") == "true"
        is_promised = operation.attribute("is_associative") == "true" and any(each.is_inexact for each in self.results)
        self.is_in_any_order = is_promised and rounds(self.function)
        if not self.inputs or not static_array(operation.operands[0].shape).dimensions[self.dimension]:
            raise UndefinedError("a scan has no slices")
        self.count = static_array(operation.operands[0].shape).dimensions[self.dimension]

    @property
    def outputs(self) -> Sequence[ArrayShape]:
        """Returns the shapes of the outputs."""
        return self.results[: len(self.results) - self.carried]

    def start(self, operands: Sequence[V]) -> list[V]:
        """Returns the state before the first iteration."""
        zeros = [self.maker.literal(each.element_type, 0, each.dimensions) for each in self.outputs]
        inputs, carries = operands[: self.inputs], operands[self.inputs :]
        return [self._number(0), *carries, *inputs, *zeros]

    def tested(self, state: Sequence[V]) -> list[V]:
        """Returns whether another iteration follows."""
        return [self.maker.compare("LT", state[0], self._number(self.count), is_total=False)]

    def ends(self, state: Sequence[V]) -> list[V]:
        """Returns the state after an iteration: slice by slice from the first one on, or from the last one on."""
        counter, carries, inputs, outputs = state[0], *self._parts(state)
        index = counter
        if self.is_reverse:
            index = self.maker.each("subtract", _COUNTER, [self._number(self.count - 1), counter])
        found = self.call(self.function, [*(self._slice(each, index) for each in inputs), *carries])
        after = self.maker.each("add", _COUNTER, [counter, self._number(1)])
        rows = zip(outputs, found[: len(outputs)], strict=True)
        return [after, *found[len(outputs) :], *inputs, *(self._updated(*row, index) for row in rows)]

    def positions(self) -> list[int]:
        """Returns the position in the state of each result of the scan."""
        first = 1 + self.carried + self.inputs
        return [*range(first, first + len(self.outputs)), *range(1, 1 + self.carried)]

    def _parts(self, state: Sequence[V]) -> tuple[Sequence[V], Sequence[V], Sequence[V]]:
        first, second = 1 + self.carried, 1 + self.carried + self.inputs
        return state[1:first], state[first:second], state[second:]

    def _number(self, value: int) -> V:
        return self.maker.literal(_COUNTER, value, ())

    def _starts(self, array: V, index: V) -> tuple[list[V], tuple[int, ...]]:
        """Returns the start indices of a slice, and its sizes."""
        sizes = list(self.maker.dimensions(array))
        starts = [self._number(0) for _ in sizes]
        sizes[self.dimension], starts[self.dimension] = 1, index
        return starts, tuple(sizes)

    def _slice(self, array: V, index: V) -> V:
        starts, sizes = self._starts(array, index)
        cut = self.maker.slice_at(array, starts, sizes)
        return reshaped(self.maker, cut, (*sizes[: self.dimension], *sizes[self.dimension + 1 :]))

    def _updated(self, array: V, row: V, index: V) -> V:
        starts, sizes = self._starts(array, index)
        return self.maker.update_at(array, reshaped(self.maker, row, sizes), starts)
