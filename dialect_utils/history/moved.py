"""The arrays of a final program that are moved or padded, with the bytes of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dialect_utils.history.flat import FORWARDING, FlatGraph
from dialect_utils.ir import Function, Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.bitcast import is_bitcast
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.memory import MemoryUsage
from dialect_utils.memory.trips import trip_counts
from dialect_utils.ops import DONE, Trait, has

Kind = Literal["relayout", "copy", "memory space", "transpose", "reshape", "padded array", "instruction"]


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
    found = {each.node: each for node in graph.nodes if (each := _moved(graph, node, usage, trips)) is not None}
    for buffer in usage.buffers:
        node = graph.source(buffer.value)
        shape = buffer.shape
        if buffer.padding_bytes and shape.rank and _is_made_there(node) and node not in found:
            times = trips.get(_function(graph, node), 1)
            found[node] = Moved(node, "padded array", None, shape, 0, buffer.padding_bytes, times)
    # A fusion that computes something else reads and writes its arrays in any case.
    return sorted(found.values(), key=lambda each: (each.is_alone, each.cost), reverse=True)


def describe(graph: FlatGraph, node: Value, usage: MemoryUsage) -> Moved | None:
    """Returns any node as a value without a move; None for one that is not an array."""
    shape = node.shape
    if not isinstance(shape, ArrayShape):
        return None
    padding = usage.allocation.held(shape) - usage.allocation.payload(shape)
    return Moved(node, "instruction", None, shape, 0, padding, trip_counts(usage.schedule).get(_function(graph, node)))


def _is_made_there(node: Value) -> bool:
    return node.operation is None or node.operation.opcode not in FORWARDING


def _moved(graph: FlatGraph, node: Value, usage: MemoryUsage, trips: dict[Function, int | None]) -> Moved | None:
    operation = node.operation
    if operation is None or not has(operation.opcode, Trait.MAY_BE_BITCAST):
        return None
    # A bitcast moves nothing, and the start of a copy moves what the done returns.
    if operation.opcode in FORWARDING or operation.opcode.endswith(DONE):
        return None
    kind = kind_of_move(operation)
    if kind is None:
        return None
    source, result = operation.operands[0].shape, next(node.shape.arrays())
    assert isinstance(source, ArrayShape)
    held = usage.allocation.held
    fusion = _name_of_caller(graph, node) if graph.is_fused(node) else ""
    is_alone = not fusion or _only_moves(node.function)
    padding = held(result) - usage.allocation.payload(result)
    times = trips.get(_function(graph, node), 1)
    return Moved(node, kind, source, result, held(source) + held(result), padding, times, fusion, is_alone)


def kind_of_move(operation: Operation) -> Kind | None:
    """Returns the kind of a move, None for an operation that leaves every byte where it is or that is not a move."""
    source, result = operation.operands[0].shape, next(operation.results[0].shape.arrays(), None)
    if not isinstance(source, ArrayShape) or result is None:
        return None
    if has(operation.opcode, Trait.IS_STEP):
        step = operation.step
        is_still = step is not None and is_bitcast(source, Plan(*source.type_and_dimensions, (step,)), result)
        return None if is_still else "transpose" if operation.opcode == "transpose" else "reshape"
    one, other = source.layout, result.layout
    if one is None or other is None or (one.minor_to_major, one.tiles) == (other.minor_to_major, other.tiles):
        spaces = (each.memory_space if each is not None else 0 for each in (one, other))
        return "memory space" if len(set(spaces)) > 1 else "copy"
    return "relayout"


def _only_moves(body: Function) -> bool:
    return all(has(each.opcode, Trait.MAY_BE_BITCAST) or each.opcode in FORWARDING for each in body.operations)


def _name_of_caller(graph: FlatGraph, node: Value) -> str:
    caller = graph.caller(node.function)
    return "" if caller is None else caller.results[0].name


def _function(graph: FlatGraph, node: Value) -> Function:
    """Returns the function that runs a node: for the body of a fusion the one around the fusion."""
    function = node.function
    while graph.is_inlined(function) and (caller := graph.caller(function)) is not None:
        function = caller.function
    return function
