"""Values that share a buffer: tuples and their elements, bitcasts, control flow, and results written in place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.control_flow import joins_of
from dialect_utils.layout import Shape, TupleShape
from dialect_utils.memory.schedule import Schedule, runs_called
from dialect_utils.ops import DONE, IN_PLACE, START, UPDATE, Trait, with_trait
from dialect_utils.ops.collectives import wraps_operands

# Operations that read and write nothing: a buffer lives until the users of their results are done.
ALIASING = with_trait(Trait.ALIASES)
# `{0}: (1, {})` of output_to_operand_aliasing: result index path, operand number, operand index path.
_ALIAS = re.compile(r"\{([\d, ]*)\}:\s*\((\d+),\s*\{([\d, ]*)\}")
# The TPU compiler's own account of in-place writes: numbers count operands first, then the result's leaves.
_REUSE = re.compile(r'"aliasing_operands":\{"lists":\[((?:\{"indices":\[[^\]]*\]\},?)*)\]\}')
_REUSE_GROUP = re.compile(r'"indices":\[([^\]]*)\]')


class Leaves:
    """Consecutive numbers for the leaves (arrays and tokens) of values, and the sets of leaves that share a buffer."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self._numbers: dict[Value, range] = {}
        self._parent: list[int] = []
        # Representatives of several leaves, and some leaves that were representatives once.
        self.joined: set[int] = set()
        # Representatives of the leaves that hold one value, before values that share a buffer are joined.
        self.values: list[int] = []
        # The first leaf of each element of a tuple.
        self._starts: dict[TupleShape, list[int]] = {}

    def add(self, value: Value) -> None:
        """Numbers the leaves of a value."""
        first, shape = len(self.shapes), value.shape
        self.shapes.extend(shape.leaves())
        self._numbers[value] = numbers = range(first, len(self.shapes))
        self._parent.extend(numbers)

    def of(self, value: Value) -> range:
        """Returns the numbers of a value's leaves."""
        return self._numbers[value]

    def at(self, value: Value, path: Sequence[int]) -> range:
        """Returns the numbers of the leaves at an index path into a value's tuples."""
        first, shape = self._numbers[value].start, value.shape
        for index in path:
            assert isinstance(shape, TupleShape)
            starts = self._starts.get(shape)
            if starts is None:
                starts = self._starts[shape] = [*accumulate((each.leaf_count for each in shape.elements), initial=0)]
            first += starts[index]
            shape = shape.elements[index]
        return range(first, first + shape.leaf_count)

    def share(self, some: Iterable[int], others: Iterable[int]) -> None:
        """Joins the buffers of leaves, pair by pair; surplus leaves of one side stay alone."""
        for a, b in zip(some, others, strict=False):
            self._parent[self.root(a)] = root = self.root(b)
            self.joined.add(root)

    def settle(self) -> None:
        """Finds the representative of each leaf; no leaves are joined afterwards."""
        self._parent = [self.root(leaf) for leaf in self._parent]

    def roots(self, value: Value) -> Sequence[int]:
        """Returns the representatives of a value's leaves, once the leaves are settled."""
        numbers = self._numbers[value]
        return self._parent[numbers.start : numbers.stop]

    def root(self, leaf: int) -> int:
        """Returns the representative of all leaves that share a buffer."""
        parent = self._parent
        while parent[leaf] != leaf:
            parent[leaf] = leaf = parent[parent[leaf]]
        return leaf


def share_buffers(schedule: Schedule) -> Leaves:
    """Returns the leaves of every value that the schedule runs, joined where they share a buffer.

    Sources: xla/service/hlo_dataflow_analysis.cc (GetInPlaceInputOutputPairs), tuple_points_to_analysis.cc, and
    `aliasing_operands` in the TPU compiler's `backend_config`. A module without a schedule precedes copy insertion, so
    nothing in it is written in place.
    """
    leaves = Leaves()
    for function in schedule.spans:
        for value in (*function.parameters, *chain.from_iterable(each.results for each in function.operations)):
            leaves.add(value)
    forwarding = [operation for operation in schedule.times if is_forwarding(operation)]
    for operation in forwarding:
        _share_forwarded(leaves, operation)
        _share_passed(leaves, operation)
    leaves.values = [leaves.root(leaf) for leaf in range(len(leaves.shapes))]
    for operation in forwarding:
        _share_control_flow(leaves, operation)
    for operation in schedule.times if schedule.is_given else ():
        _share_in_place(leaves, operation)
    return leaves


# Forwarded operands


def _share_start(leaves: Leaves, operation: Operation) -> None:
    """Joins the operands of an asynchronous start with the part of its tuple that holds them."""
    result = operation.results[0]
    if not isinstance(result.shape, TupleShape):
        return
    if operation.opcode == "copy-start":
        leaves.share(leaves.of(operation.operands[0]), leaves.at(result, (1,)))
    elif isinstance(result.shape.elements[0], TupleShape):
        for index, operand in enumerate(operation.operands):
            leaves.share(leaves.of(operand), leaves.at(result, (0, index)))
    elif len(result.shape.elements) > 1:
        leaves.share(leaves.of(operation.operands[0]), leaves.at(result, (0,)))


def _share_update(leaves: Leaves, operation: Operation) -> None:
    """Joins the operands that an update adds, after the first, with the part of its tuple that holds them."""
    result = operation.results[0]
    for index, operand in enumerate(operation.operands[1:]):
        leaves.share(leaves.of(operand), leaves.at(result, (0, index)))


def _share_done(leaves: Leaves, operation: Operation) -> None:
    """Joins a done's result with the part of the start's tuple that holds it."""
    started = operation.operands[0]
    if not isinstance(started.shape, TupleShape) or started.shape == operation.results[0].shape:
        leaves.share(leaves.of(operation.results[0]), leaves.of(started))
        return
    index = 0 if operation.opcode == "copy-done" else min(1, len(started.shape.elements) - 1)
    leaves.share(leaves.of(operation.results[0]), leaves.at(started, (index,)))


def is_forwarding(operation: Operation) -> bool:
    """Is true for an operation that passes buffers to its users or to its `-done`, and writes none itself."""
    opcode = operation.opcode
    return opcode in ALIASING or opcode.endswith((START, UPDATE, DONE)) or runs_called(operation)


def _share_forwarded(leaves: Leaves, operation: Operation) -> None:
    opcode = operation.opcode
    if opcode == "tuple":
        for index, operand in enumerate(operation.operands):
            leaves.share(leaves.of(operand), leaves.at(operation.results[0], (index,)))
    elif opcode == "get-tuple-element":
        element = leaves.at(operation.operands[0], (int(operation.attribute("index") or 0),))
        leaves.share(leaves.of(operation.results[0]), element)
    elif opcode in ALIASING or (opcode == "async-update" and len(operation.operands) == 1):
        for operand, result in zip(operation.operands, operation.results, strict=False):
            leaves.share(leaves.of(result), leaves.of(operand))
    elif opcode.endswith(START):
        _share_start(leaves, operation)
    elif opcode.endswith(UPDATE):
        _share_update(leaves, operation)
    elif opcode.endswith(DONE):
        _share_done(leaves, operation)


# Control flow


def _share_passed(leaves: Leaves, operation: Operation) -> None:
    """Joins what control flow passes on unchanged, such as the operands of a call, and what a loop does not change."""
    if not runs_called(operation):
        return
    for join in joins_of(operation):
        count = len(join.targets)
        for each in zip(*map(leaves.of, join.values), strict=False):
            roots = [leaves.root(leaf) for leaf in each]
            if len(set(roots[count:]) - set(roots[:count])) <= 1:
                leaves.share([each[0]] * (len(each) - 1), each[1:])


def _share_control_flow(leaves: Leaves, operation: Operation) -> None:
    """Joins the values that go into functions of the schedule, and those that come out of them."""
    if not runs_called(operation):
        return
    for join in joins_of(operation):
        first, *others = join.values
        for value in others:
            leaves.share(leaves.of(first), leaves.of(value))


# In place


def _share_in_place(leaves: Leaves, operation: Operation) -> None:
    reuse = list(_reused(operation))
    for operand, path in reuse:
        leaves.share(leaves.of(operand), leaves.at(operation.results[0], path))
    if reuse:
        return
    for operand, operand_path, path in written_in_place(operation):
        leaves.share(leaves.at(operand, operand_path), leaves.at(operation.results[0], path))


def _reused(operation: Operation) -> Iterator[tuple[Value, tuple[int, ...]]]:
    """Yields (operand, result path) of each in-place write that the TPU compiler recorded."""
    config = operation.attribute("backend_config")
    found = _REUSE.search(config) if config else None
    if found is None:
        return
    count = len(operation.operands)
    is_tuple = isinstance(operation.results[0].shape, TupleShape)
    for group in _REUSE_GROUP.findall(found[1]):
        numbers = [int(each.strip(' "')) for each in group.split(",") if each.strip(' "')]
        outputs = [number - count for number in numbers if number >= count]
        for number in numbers:
            if number < count:
                yield from ((operation.operands[number], (output,) if is_tuple else ()) for output in outputs)


def written_in_place(operation: Operation) -> Iterator[tuple[Value, tuple[int, ...], tuple[int, ...]]]:
    """Yields (operand, operand path, result path) of each in-place write that the operation implies."""
    if (aliasing := operation.attribute("output_to_operand_aliasing")) is not None:
        operands = _all_operands(operation)
        for output, number, path in _ALIAS.findall(aliasing):
            if int(number) < len(operands):
                yield operands[int(number)], _path(path), _path(output)
    elif operation.opcode == "dynamic-update-slice":
        yield operation.operands[0], (), ()
    elif operation.opcode in ("scatter", "all-reduce-start"):
        count = (len(operation.operands) - 1) // 2 if operation.opcode == "scatter" else len(operation.operands)
        outer = (1,) if wraps_operands(operation.results[0].shape) else ()
        for index in range(count):
            yield operation.operands[index], (), (*outer, index) if count > 1 else outer
    elif operation.opcode == "fusion":
        for path, number in _updated_parameters(operation.called[0]):
            yield operation.operands[number], (), path


def _all_operands(operation: Operation) -> list[Value]:
    """Returns an operation's operands, and those that the updates of an asynchronous start add."""
    operands = list(operation.operands)
    for user in operation.results[0].users:
        if user.opcode == "async-update" and user.operands[0] == operation.results[0]:
            operands += _all_operands(user)[1:]
    return operands


def _updated_parameters(body: Function) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yields (result path, parameter number) where a fusion's root updates a parameter in place."""
    root = body.results[0].operation
    if root is None:
        return
    roots: Sequence[tuple[tuple[int, ...], Value]] = [((), body.results[0])]
    if root.opcode == "tuple":
        roots = [((index,), value) for index, value in enumerate(root.operands)]
    numbers = {parameter: number for number, parameter in enumerate(body.parameters)}
    for path, value in roots:
        updating = behind(value, ("bitcast",)).operation
        if updating is not None and updating.opcode in IN_PLACE:
            updated = behind(updating.operands[0], ("bitcast",))
            if updated in numbers:
                yield path, numbers[updated]


def elements(values: Sequence[Value]) -> Sequence[Value]:
    """Returns the elements of results or of a loop's state: the operands of HLO's tuple, other values unchanged."""
    operation = values[0].operation if len(values) == 1 else None
    return operation.operands if operation is not None and operation.opcode == "tuple" else values


def behind(value: Value, opcodes: Collection[str]) -> Value:
    """Returns the first value of a chain of these opcodes, followed through first operands."""
    while (operation := value.operation) is not None and operation.opcode in opcodes:
        value = operation.operands[0]
    return value


def _path(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(",") if each.strip())
