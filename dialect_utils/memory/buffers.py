"""Buffers: arrays of a module that share memory, their sizes and their lifetimes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.allocation import Allocation
from dialect_utils.memory.schedule import Schedule, runs_called
from dialect_utils.memory.sharing import ALIASING, Leaves, is_forwarding

# Custom calls that read no bytes. AllocateBuffer only allocates: the operation that writes the buffer names it.
# ConcatBitcast reads consecutive arrays as one; the buffer of its result begins to live when theirs end.
_ALLOCATES, _JOINS = "AllocateBuffer", "ConcatBitcast"
_CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Buffer:
    """One piece of memory that one or more values share, one after another.

    `value`, of shape `shape`, defines it. `bytes_held` are allocated bytes, `bytes_meant` payload bytes. `spans`
    are its lifetimes in the schedule, first and last time included: several where several branches make the buffer.
    `memory_spaces` are named by the layouts of its values: 0 is the device's main memory (HBM on a TPU). It counts for
    `memory_space`: main memory if any of its values is there. `is_constant` is set for a constant in main memory, which
    is loaded with the program. At each time in `overwritten` an operation reads one of its values and writes the next
    value over it.
    """

    value: Value
    shape: ArrayShape
    bytes_held: int
    bytes_meant: int
    memory_spaces: frozenset[int]
    memory_space: int
    spans: tuple[tuple[int, int], ...]
    is_argument: bool
    is_output: bool
    is_constant: bool = False
    overwritten: tuple[int, ...] = ()

    @property
    def start(self) -> int:
        """Returns the first time of its lifetime."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Returns the last time of its lifetime."""
        return self.spans[-1][1]

    def lives_at(self, time: int) -> bool:
        """Is true where it holds memory at a time of the schedule."""
        return any(start <= time <= end for start, end in self.spans)

    @property
    def padding_bytes(self) -> int:
        """Returns the allocated bytes that hold no element."""
        return self.bytes_held - self.bytes_meant

    @property
    def is_temporary(self) -> bool:
        """Is true for a buffer that is neither an argument nor an output."""
        return not (self.is_argument or self.is_output)


@dataclass(slots=True)
class _Collected:
    """A buffer under construction: `spans` maps each branch to the first and last time in it."""

    held: int
    leaf: int
    value: Value
    start: int
    spaces: set[int]
    spans: dict[Function | None, list[int]]
    overwritten: set[int] = field(default_factory=set)


class _Collection:
    """The buffers of a schedule, collected value by value."""

    def __init__(self, leaves: Leaves, allocation: Allocation) -> None:
        self.leaves = leaves
        self.found: dict[int, _Collected] = {}
        self._allocation = allocation

    def run(self, function: Function, schedule: Schedule) -> None:
        """Records the times at which the operations of a function write and read their values."""
        (start, end), branch = schedule.spans[function], schedule.branches[function]
        for parameter in function.parameters:
            self.define(parameter, start, branch)
        for operation in function.operations:
            now = schedule.times[operation]
            for result in operation.results:
                self.define(result, now, branch)
            if operation.opcode not in ALIASING and not _calls(operation, _JOINS):
                self.use(operation.operands, now, branch)
                if not is_forwarding(operation):
                    self.overwrite(operation, now)
        self.use(function.results, end, branch)

    def define(self, value: Value, now: int, branch: Function | None) -> None:
        """Starts the lifetime of a value's buffers, or extends it."""
        leaves = self.leaves
        for leaf, root in zip(leaves.of(value), leaves.roots(value), strict=True):
            shape = leaves.shapes[leaf]
            if not isinstance(shape, ArrayShape):
                continue
            size, space = self._allocation.held(shape), shape.layout.memory_space if shape.layout else 0
            found = self.found.get(root)
            if found is None:
                self.found[root] = _Collected(size, leaf, value, now, {space}, {branch: [now, now]})
                continue
            if size > found.held or (
                size == found.held and (_is_alias(value), now) < (_is_alias(found.value), found.start)
            ):
                found.held, found.leaf, found.value, found.start = size, leaf, value, now
            found.spaces.add(space)
            _widen(found, now, branch)

    def use(self, values: Iterable[Value], now: int, branch: Function | None) -> None:
        """Extends the lifetimes of the buffers of values to now."""
        for value in values:
            for root in self.leaves.roots(value):
                if (found := self.found.get(root)) is not None:
                    _widen(found, now, branch)

    def overwrite(self, operation: Operation, now: int) -> None:
        """Records the buffers that an operation both reads and writes; one that is only allocated is not read."""
        written = self.roots(operation.results) & self.leaves.joined
        if not written:
            return
        read = [value for value in operation.operands if not (value.operation and _calls(value.operation, _ALLOCATES))]
        for root in written & self.roots(read):
            if (found := self.found.get(root)) is not None:
                found.overwritten.add(now)

    def roots(self, values: Sequence[Value]) -> set[int]:
        """Returns the buffers of values."""
        return {root for value in values for root in self.leaves.roots(value)}


def assign_buffers(module: Module, schedule: Schedule, allocation: Allocation, leaves: Leaves) -> tuple[Buffer, ...]:
    """Returns the buffers of everything that the schedule runs, in the order in which they begin to live.

    A value lives from its definition to its last use, an argument and a constant in main memory throughout, and an
    output to the end. The state of a loop, and the operands and results of a branch or call, share the buffers of the
    values that are passed.
    """
    leaves.settle()
    collection = _Collection(leaves, allocation)
    for function in schedule.spans:
        collection.run(function, schedule)
    arguments, outputs = collection.roots(module.entry.parameters), collection.roots(module.entry.results)
    constants = {root for root, each in collection.found.items() if _is_constant(each)}
    if constants:
        constants -= outputs | collection.roots(list(_computed(schedule)))
    last = schedule.spans[module.entry][1]
    made = []
    for root, each in collection.found.items():
        shape = collection.leaves.shapes[each.leaf]
        assert isinstance(shape, ArrayShape)
        spans = _merged(each.spans.values())
        is_constant = root in constants
        if root in arguments or is_constant:
            spans = ((0, last),)
        elif root in outputs:
            spans = (*spans[:-1], (spans[-1][0], last))
        laid_out, payload = allocation.laid_out(shape), allocation.payload(shape)
        spaces, roles = frozenset(each.spaces), (root in arguments, root in outputs)
        overwritten = tuple(sorted(each.overwritten)) if each.overwritten else ()
        made.append(
            Buffer(
                each.value, laid_out, each.held, payload, spaces, min(spaces), spans, *roles, is_constant, overwritten
            )
        )
    made += _embedded_constants(schedule, allocation, last)
    return tuple(sorted(made, key=lambda buffer: buffer.start))


def _embedded_constants(schedule: Schedule, allocation: Allocation, last: int) -> Iterator[Buffer]:
    """Yields the constants in main memory of functions that are applied to elements, such as the comparator of a sort.

    The constants in a fusion have no buffers.
    """
    operations = (each for function in schedule.spans for each in function.operations)
    applied = (each.called for each in operations if each.opcode != "fusion" and not runs_called(each))
    for function in dict.fromkeys(chain.from_iterable(applied)):
        for operation in function.operations:
            value, shape = operation.results[0], operation.results[0].shape
            if operation.opcode != _CONSTANT or not isinstance(shape, ArrayShape):
                continue
            if shape.effective_layout.memory_space:
                continue
            laid_out, held, payload = allocation.laid_out(shape), allocation.held(shape), allocation.payload(shape)
            yield Buffer(value, laid_out, held, payload, frozenset({0}), 0, ((0, last),), False, False, True)


def _calls(operation: Operation, *targets: str) -> bool:
    """Is true for a custom call of one of the targets."""
    return operation.opcode.startswith("custom-call") and operation.callee in targets


def _is_constant(each: _Collected) -> bool:
    """Is true for a buffer in main memory that a constant defines."""
    made = each.value.operation
    return made is not None and made.opcode == _CONSTANT and min(each.spaces) == 0


def _computed(schedule: Schedule) -> Iterator[Value]:
    """Yields the entry's parameters and the results of operations, without constants and forwarding operations."""
    for function in schedule.spans:
        yield from function.parameters if function.is_entry else ()
        for operation in function.operations:
            if operation.opcode != _CONSTANT and not is_forwarding(operation):
                yield from operation.results


def _widen(found: _Collected, now: int, branch: Function | None) -> None:
    span = found.spans.setdefault(branch, [now, now])
    if now < span[0]:
        span[0] = now
    elif now > span[1]:
        span[1] = now


def _merged(spans: Collection[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """Returns spans in order, overlapping spans merged."""
    if len(spans) == 1:
        [(start, end)] = spans
        return ((start, end),)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(map(tuple, spans)):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _is_alias(value: Value) -> bool:
    """Is true for a value that forwards the buffer of another value, which names the buffer."""
    operation = value.operation
    if operation is None:
        return not value.function.is_entry
    if operation.opcode in ALIASING or operation.opcode.endswith("-done") or runs_called(operation):
        return True
    return _calls(operation, _ALLOCATES, _JOINS)
