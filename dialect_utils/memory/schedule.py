"""The order in which a module's operations run, the bodies of loops, branches and calls included.

A scheduled HLO module (`is_scheduled=true`) runs in the order of its text, as XLA's HloLiveRange flattens it: functions
that an operation calls run before the time of the operation. Other modules get a list schedule.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from math import prod

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops import START, UPDATE, Trait, has

_UPDATE = f"async{UPDATE}"


def list_schedule(function: Function) -> Sequence[Operation]:
    """Returns a function's operations in an order in which operands come first, chosen greedily.

    Of the operations that are ready, the one with the smallest growth of memory (bytes of its results less bytes that
    it frees) runs first; ties run in the order of the text. XLA's ListMemoryScheduler follows the same idea.
    """
    operations = function.operations
    order = _ListSchedule(operations).order()
    return [operations[number] for number in order] if len(order) == len(operations) else operations


class _ListSchedule:
    """A list schedule under construction; operations and values are numbers, operations in the order of the text."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        numbers: dict[Value, int] = {}
        self._results = [_numbered(operation.results, numbers) for operation in operations]
        self._operands = [_numbered(dict.fromkeys(operation.operands), numbers) for operation in operations]
        self._size = [_bytes(value.shape) for value in numbers]
        self._users: list[list[int]] = [[] for _ in numbers]
        for number, operands in enumerate(self._operands):
            for operand in operands:
                self._users[operand].append(number)
        # Uses of each value, and operands of each operation, that are not scheduled yet.
        self._uses = list(map(len, self._users))
        self._missing = [0] * len(operations)
        for user in chain.from_iterable(map(self._users_of, self._results)):
            self._missing[user] += 1

    def order(self) -> list[int]:
        """Returns the operations in the order of the schedule, without those that wait for each other."""
        ready = [(self._growth(number), number) for number, missing in enumerate(self._missing) if not missing]
        heapq.heapify(ready)
        order: list[int] = []
        while ready:
            known, number = heapq.heappop(ready)
            if (now := self._growth(number)) < known:  # an operand has lost a use since the push
                heapq.heappush(ready, (now, number))
                continue
            order.append(number)
            for operand in self._operands[number]:
                self._uses[operand] -= 1
            for user in self._users_of(self._results[number]):
                self._missing[user] -= 1
                if not self._missing[user]:
                    heapq.heappush(ready, (self._growth(user), user))
        return order

    def _users_of(self, values: Iterable[int]) -> Iterator[int]:
        return chain.from_iterable([self._users[value] for value in values])

    def _growth(self, number: int) -> int:
        uses, size = self._uses, self._size
        freed = sum([size[operand] for operand in self._operands[number] if uses[operand] == 1])
        return sum([size[result] for result in self._results[number]]) - freed


def _numbered(values: Iterable[Value], numbers: dict[Value, int]) -> tuple[int, ...]:
    """Returns the numbers of values; a value without one gets the next."""
    return tuple([numbers.setdefault(value, len(numbers)) for value in values])


def _bytes(shape: Shape) -> int:
    if isinstance(shape, ArrayShape):
        return shape.element_count * shape.element_type.storage_bits // 8 if shape.is_static else 0
    arrays = (leaf for leaf in shape.arrays() if leaf.is_static)
    return sum(prod(leaf.dimensions) * leaf.element_type.storage_bits // 8 for leaf in arrays)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A flattened schedule: a time for every operation, and the first and last time of every function that runs.

    `depth` counts the loops around a function. `branches` maps a function to the innermost branch around it (a branch
    to itself), None outside of branches. `is_given` is false for a list schedule.
    """

    times: dict[Operation, int]
    spans: dict[Function, tuple[int, int]]
    depth: dict[Function, int]
    branches: dict[Function, Function | None]
    is_given: bool

    @property
    def length(self) -> int:
        """Returns the number of times; the last time is one less."""
        return max((end for _, end in self.spans.values()), default=0) + 1

    def functions(self) -> Sequence[Function]:
        """Returns the functions that run, callees first."""
        return tuple(self.spans)


def runs_called(operation: Operation) -> bool:
    """Is true for an operation that calls functions with a part in the schedule and with buffers of their own."""
    # The body of a fusion and embedded computations have no buffers of their own.
    return has(operation.opcode, Trait.CONTROL_FLOW) and bool(operation.called)


def _run_at(operation: Operation) -> Sequence[Function]:
    """Returns the functions that run before the time of an operation: of an update, what its operands complete."""
    start, count = operation, 0
    while start.opcode == _UPDATE and (bound := start.operands[0].operation) is not None:
        start, count = bound, count + len(start.operands) - 1
    if not runs_called(start) or (start != operation and not count):
        return ()
    called = start.called
    is_complete = not start.opcode.endswith(START) or len(called[0].parameters) <= len(start.operands) + count
    return called if is_complete else ()


def schedule_module(module: Module) -> Schedule:
    """Returns the flattened schedule of a module from its entry.

    Raises DiagnosticError for a fragment without an entry.
    """
    made = Schedule({}, {}, {}, {}, module.attributes.get("is_scheduled") == "true")
    clock = count()

    def visit(function: Function, depth: int, branch: Function | None) -> None:
        start = next(clock)
        made.depth[function], made.branches[function] = depth, branch
        for operation in function.operations if made.is_given else list_schedule(function):
            inner = depth + (operation.opcode == "while")
            for called in _run_at(operation):
                if called not in made.depth:
                    visit(called, inner, called if operation.opcode == "conditional" else branch)
            made.times[operation] = next(clock)
        made.spans[function] = (start, next(clock))

    visit(module.entry, 0, None)
    return made
