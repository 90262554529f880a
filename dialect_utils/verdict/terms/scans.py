"""Scans as loops: the iterations of a `scan`, by the primitives of its definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from dialect_utils.ir import Function, Operation
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.ops import Trait, has, named
from dialect_utils.ops.domain import UndefinedError, only_function, required_ints, reshaped, static_array
from dialect_utils.verdict.terms.maker import Maker
from dialect_utils.verdict.terms.primitives import V

_COUNTER = ELEMENT_TYPES["s64"]
# Operations of floats that no order of a scan rounds otherwise.
_UNROUNDED = named("maximum minimum select constant and or not")


class Scan(Generic[V]):
    """A scan as a loop whose state is a counter, the carries, the inputs and the outputs.

    The loop writes each slice of the outputs once, so these may hold anything before: they hold zeros. `call` returns
    the results of a function.
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
        self.is_in_any_order = is_promised and _rounds(self.function)
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


def _rounds(function: Function) -> bool:
    """Is true for a function that may compute floats which another order of the scan rounds otherwise."""
    return any(
        any(value.shape.is_inexact for value in each.results)
        and not has(each.opcode, Trait.MOVES_DATA)
        and not has(each.opcode, Trait.TUPLES)
        and each.opcode not in _UNROUNDED
        for each in function.operations
    )
