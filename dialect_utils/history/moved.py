"""The arrays of a final program that are moved or padded, with the bytes of each, and both sides of a move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dialect_utils.history.flat import FORWARDING, FlatGraph, firmness, opcode_of
from dialect_utils.history.tracing import Introduced
from dialect_utils.ir import Function, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.memory import MemoryUsage
from dialect_utils.memory.relayouts import Relayout, find_relayouts, kind_of_move, rank
from dialect_utils.memory.rows import MoveKind
from dialect_utils.memory.trips import trip_counts
from dialect_utils.ops import Trait, has, named

Kind = MoveKind | Literal["padded array", "instruction"]


@dataclass(frozen=True, slots=True)
class Moved:
    """An array that is moved, or whose buffer has padding; `source` is the array before the move.

    `trips` counts the moves by the loops around it, None where the text does not say a count. `fusion` is the fusion
    around the move, and `is_alone` is false where the fusion computes something else, too.
    """

    node: Value
    kind: Kind
    source: ArrayShape | None
    result: ArrayShape
    bytes_moved: int
    padding_bytes: int
    trips: int | None = 1
    fusion: str = ""
    is_alone: bool = True

    @property
    def cost(self) -> int:
        """Returns the bytes that are moved in all trips; of an array that is not moved, the bytes of padding."""
        return self.bytes_moved * (self.trips or 1) or self.padding_bytes


def find_moved(graph: FlatGraph, usage: MemoryUsage) -> list[Moved]:
    """Returns the moved arrays and the padded arrays of a program, the most expensive first."""
    trips = trip_counts(usage.schedule)
    moves = find_relayouts(usage.schedule, usage.allocation, graph.origin)
    found = {each.node: _moved(each, usage) for each in moves}
    for buffer in usage.buffers:
        node = graph.source(buffer.value)
        shape = buffer.shape
        is_made_there = node.operation is None or node.operation.opcode not in FORWARDING
        if buffer.padding_bytes and shape.rank and is_made_there and node not in found:
            times = trips.get(_function(graph, node), 1)
            around = _fusion(graph, node)
            found[node] = Moved(node, "padded array", None, shape, 0, buffer.padding_bytes, times, around)
    return sorted(found.values(), key=lambda each: rank(each.kind, each.cost, is_alone=each.is_alone))


def _moved(move: Relayout, usage: MemoryUsage) -> Moved:
    fusion = "" if move.node is move.operation.results[0] else move.row.name
    padding = usage.allocation.held(move.result) - usage.allocation.payload(move.result)
    row, size = move.row, move.row.bytes_read + move.row.bytes_written
    return Moved(move.node, row.kind, move.source, move.result, size, padding, row.trips, fusion, move.is_alone)


def describe(graph: FlatGraph, node: Value, usage: MemoryUsage) -> Moved | None:
    """Returns an array that is not moved, with its padding, as `Moved`; None for a node without an array."""
    shape = node.shape
    if not isinstance(shape, ArrayShape):
        return None
    padding = usage.allocation.held(shape) - usage.allocation.payload(shape)
    return Moved(node, "instruction", None, shape, 0, padding, trip_counts(usage.schedule).get(_function(graph, node)))


def _function(graph: FlatGraph, node: Value) -> Function:
    """Returns the function that runs a node; the body of a fusion runs in the function that contains the fusion."""
    function = node.function
    while graph.is_inlined(function) and (caller := graph.caller(function)) is not None:
        function = caller.function
    return function


# Operations that take the layout that their readers ask for.
_ASKING_NOTHING = named("convert pad")
Role = Literal["argument", "result", "loop state", "instruction"]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a move: an instruction or an end of the program, and the layout in which it has the array.

    `number` is that of an argument or result of the entry, or of an element of a loop's state. `callee` is the target
    of a custom call, and `fusion` the fusion around the instruction, whose name reports have.
    """

    role: Role
    name: str
    opcode: str
    shape: str
    node: Value | None
    number: int | None = None
    callee: str = ""
    fusion: str = ""

    def __str__(self) -> str:
        """Returns e.g. `argument 0 (x.1)`, `result 0`, `dot.3 (dot)` and `call.2 (custom-call to __cublas$gemm)`."""
        if self.role == "instruction":
            kind = f"{self.opcode}{f' to {self.callee}' if self.callee else ''}"
            return f"{self.fusion} ({self.name}, {kind})" if self.fusion else f"{self.name} ({kind})"
        name = f" ({self.name})" if self.name else ""
        return f"{self.role} {self.number}{name}"


def producer(found: Introduced) -> Side:
    """Returns the side that makes the array; operations that leave its bytes where they are are passed over."""
    graph = found.graph
    node = through_same_bytes(graph, graph.operands(found.node)[0])
    role, number = _role_of_value(graph, node)
    made = graph.operands(node)[0] if role == "instruction" and opcode_of(node) == "get-tuple-element" else node
    return Side(role, made.name, opcode_of(made), str(node.shape), node, number, _callee(made), _fusion(graph, made))


def consumers(found: Introduced, final: ArrayShape | None = None) -> list[Side]:
    """Returns the sides that read the moved array, the one that most firmly asks for its layout first.

    `final` is the array in the final program. A transpose that moves nothing in its own module is there before layouts
    are assigned: those of this module mean nothing.
    """
    graph, node = found.graph, found.node
    is_settled = node.operation is None or kind_of_move(node.operation) is not None
    result = next(node.shape.arrays())
    is_final = final is not None and final.dimensions == result.dimensions
    shape = str(result if is_settled else final if is_final else result.without_layout)
    sides = [Side("result", "", "", shape, None, number) for number in _results(graph, node, is_settled)]
    for user, number in reading(graph, node, is_settled):
        role: Role = "instruction" if number is None else "loop state"
        around = _fusion(graph, user)
        sides.append(Side(role, user.name, opcode_of(user), shape, user, number, _callee(user), around))
    return sorted(dict.fromkeys(sides), key=_firmness)


def _results(graph: FlatGraph, node: Value, is_settled: bool) -> list[int]:
    if is_settled:
        return result_numbers(graph, node)
    return [number for number, each in enumerate(graph.results) if node in graph.moves_to(each)]


def _fusion(graph: FlatGraph, node: Value) -> str:
    """Returns the name of the outermost fusion around a node, empty for other nodes."""
    name = ""
    while graph.is_fused(node) and (caller := graph.caller(node.function)) is not None:
        node = caller.results[0]
        name = node.name
    return name


def _callee(node: Value) -> str:
    return (node.operation and node.operation.callee) or ""


def _firmness(side: Side) -> int:
    if side.role != "instruction":
        return 0 if side.role == "result" else 1
    return 2 + firmness(side.opcode)


def through_same_bytes(graph: FlatGraph, node: Value, end: Value | None = None) -> Value:
    """Returns the node whose bytes a node has, at most as far as `end`: bitcasts and prefetches are passed over."""
    while node is not end and keeps_bytes(node):
        node = graph.operands(node)[0]
    return node


def keeps_bytes(node: Value) -> bool:
    """Is true for a bitcast, a prefetch, and a transpose or reshape that leaves every byte where it is."""
    operation = node.operation
    if operation is None or not has(operation.opcode, Trait.MAY_BE_BITCAST):
        return False
    return kind_of_move(operation) is None if has(operation.opcode, Trait.IS_STEP) else operation.opcode != "copy"


def result_numbers(graph: FlatGraph, node: Value) -> list[int]:
    """Returns the numbers of the entry's results that have the bytes of a node."""
    return [number for number, each in enumerate(graph.results) if through_same_bytes(graph, each, node) is node]


def _is_passed(user: Value, is_settled: bool) -> bool:
    """Is true for a reader that asks for no layout: it hands the array on, in the order in which it has it."""
    operation = user.operation
    if operation is None or not has(operation.opcode, Trait.MAY_BE_BITCAST):
        return operation is not None and operation.opcode in _ASKING_NOTHING
    return not is_settled or keeps_bytes(user) or kind_of_move(operation) == "copy"


def reading(graph: FlatGraph, node: Value, is_settled: bool = True) -> Iterator[tuple[Value, int | None]]:
    """Yields the nodes that read the bytes of a node, a loop together with the number of the state's element."""
    yield from graph.carried(node)
    for user in graph.users(node):
        opcode = opcode_of(user)
        if _is_passed(user, is_settled):
            yield from reading(graph, user, is_settled)
        elif opcode == "tuple":
            yield from graph.carried_by(user, node)
        elif opcode != "while":
            yield user, None


def _role_of_value(graph: FlatGraph, node: Value) -> tuple[Role, int | None]:
    if node.operation is None:
        number = list(node.function.parameters).index(node)
        return ("argument" if node.function.is_entry else "loop state"), number
    if node.operation.opcode == "get-tuple-element":
        made = graph.source(node.operation.operands[0])
        if made.operation is None or made.operation.opcode == "while":
            return "loop state", int(node.operation.attribute("index") or 0)
    return "instruction", None
