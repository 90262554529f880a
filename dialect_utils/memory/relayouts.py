"""Operations that move data from one layout to another: their cost, and their source lines in the user's program.

Dumps name files in `metadata={... source_file="..." source_line=N}` or, newer ones, by `stack_frame_id` into the tables
FileNames, FileLocations and StackFrames between the header and the first computation (xla/hlo.proto, StackFrameIndex).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from dialect_utils.hlo.text.attributes import op_name_in
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.allocation import Allocation
from dialect_utils.memory.schedule import Schedule
from dialect_utils.memory.sharing import behind
from dialect_utils.memory.trips import trip_counts
from dialect_utils.ops import Trait, opcode_of, with_trait
from dialect_utils.text import Diagnostic

_SOURCE = re.compile(r'\bsource_file="((?:[^"\\]++|\\.)*+)"(?:.*?\bsource_line=(\d+))?')
_FRAME_ID = re.compile(r"\bstack_frame_id=(\d+)")
_FILE_NAME = re.compile(r'^(\d+) "(.*)"$', re.MULTILINE)
_FILE_LOCATION = re.compile(r"^(\d+) \{file_name_id=(\d+)(?: function_name_id=\d+)?(?: line=(\d+))?", re.MULTILINE)
_FRAME = re.compile(r"^(\d+) \{file_location_id=(\d+)", re.MULTILINE)
Kind = Literal["relayout", "memory space"]
# Data movement at positions that the text fixes; also a fusion whose body holds nothing else.
_MOVES = frozenset(name for name in with_trait(Trait.MOVES_DATA) if opcode_of(name).indices is None)
# Operations that change layouts, alone or as the root of a fusion.
_LAYOUT_CHANGES = with_trait(Trait.MAY_BE_BITCAST | Trait.MOVES_DATA) | {"slice"}
# Operations that move no bytes: their results are the bytes of an earlier operation.
_FORWARDING = with_trait(Trait.ALIASES) | {"copy-done", "slice-done"}
# The search for named neighbours passes at most this many operations that move no bytes.
_NEIGHBOURS = 3


# The file of an operation whose StableHLO had no location: MLIR's name of the text that the compiler was given.
_NO_FILE = "-"


def notes_of_lines(text: str) -> list[Diagnostic]:
    """Returns a note that says how a program of JAX keeps its lines, where its compiled text has none."""
    files = {file for file, _ in (*_SOURCE.findall(text), *_frames(text).values())} - {""}
    if files != {_NO_FILE}:
        return []
    message = "the program has no lines of Python, so no array is traced to one"
    return [Diagnostic(message, severity="note", hint="jax.jit(f).lower(...).as_text(debug_info=True) writes them")]


class Origin(NamedTuple):
    """One location in the user's program; fields that a dump lacks are empty, or line 0."""

    op_name: str = ""
    source_file: str = ""
    source_line: int = 0


def find_origins(module: Module) -> Callable[[Operation], Origin]:
    """Returns the function from a module's operations to their locations in the user's program."""
    frames = _frames(module.text()) if module.dialect == "hlo" else {}

    # Buffers, costs and relayouts ask for the origins of the same operations.
    @lru_cache(maxsize=1 << 14)
    def stated(metadata: str | None) -> Origin:
        if metadata is None:
            return Origin()
        op_name = op_name_in(metadata)
        if (source := _SOURCE.search(metadata)) is not None:
            found = source[1], int(source[2] or 0)
        else:
            frame = _FRAME_ID.search(metadata)
            found = frames.get(int(frame[1]) if frame else 0, ("", 0))
        return Origin(op_name, *(("", 0) if found[0] == _NO_FILE else found))

    return lambda operation: stated(operation.attribute("metadata"))


def _frames(text: str) -> dict[int, tuple[str, int]]:
    """Returns (file, line) of each stack frame of a dump's tables."""
    end = text.find("\nENTRY") if "StackFrames" in text else 0
    first = text.find("\n%", 0, end)
    tables = text[: first if first >= 0 else end]
    parts = re.split(r"^(FileNames|FunctionNames|FileLocations|StackFrames)$", tables, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    files = dict(_FILE_NAME.findall(found.get("FileNames", "")))
    locations = {
        number: (files.get(file, ""), int(line or 0))
        for number, file, line in _FILE_LOCATION.findall(found.get("FileLocations", ""))
    }
    return {int(number): locations.get(each, ("", 0)) for number, each in _FRAME.findall(found.get("StackFrames", ""))}


@dataclass(frozen=True, slots=True)
class Relayout:
    """One operation that writes an array under another layout, or into another memory space.

    `trips` counts its executions by the loops around it, None where the text does not say a count.
    """

    operation: Operation
    kind: Kind
    source: ArrayShape
    result: ArrayShape
    bytes_read: int
    bytes_written: int
    origin: Origin
    before: tuple[str, ...]
    after: tuple[str, ...]
    depth: int
    trips: int | None

    @property
    def total_bytes(self) -> int:
        """Returns the bytes read and written, times the trips where they are known."""
        return (self.bytes_read + self.bytes_written) * (self.trips or 1)


def find_relayouts(
    schedule: Schedule, allocation: Allocation, origin: Callable[[Operation], Origin]
) -> tuple[Relayout, ...]:
    """Returns the relayouts in a schedule, those that move the most bytes first."""
    trips = trip_counts(schedule)
    found = []
    for function in schedule.spans:
        for operation in function.operations:
            moved = _moved(operation)
            if moved is None:
                continue
            source, result, kind = moved
            read, written = allocation.held(source), allocation.held(result)
            if operation.opcode.startswith("slice"):
                read = min(read, written)
            before, after = (tuple(_names(operation, origin, near)) for near in (operations_before, operations_after))
            location, loops = origin(operation), (schedule.depth[function], trips[function])
            found.append(Relayout(operation, kind, source, result, read, written, location, before, after, *loops))
    return tuple(sorted(found, key=lambda each: -each.total_bytes))


def _moved(operation: Operation) -> tuple[ArrayShape, ArrayShape, Kind] | None:
    """Returns (source, result, kind) of an operation that only changes layout or memory space, else None."""
    if operation.opcode in ("copy-done", "slice-done"):
        started = operation.operands[0].operation
        return _move(started.operands[0], operation.results[0]) if started is not None else None
    if operation.opcode in _LAYOUT_CHANGES:
        return _move(operation.operands[0], operation.results[0], moving_transpose(operation))
    if operation.opcode == "fusion":
        number = _only_moves(operation.called[0])
        if number is not None:
            return _move(operation.operands[number], operation.results[0], moving_transpose(operation))
    return None


def moving_transpose(operation: Operation) -> Operation | None:
    """Returns a transpose that moves elements: the operation itself, or one in a fusion; None where there is none.

    XLA:GPU writes copies into other layouts so. Tiles tell about the moves of TPUs.
    """
    moves = operation.called[0].operations if operation.opcode == "fusion" else (operation,)
    for each in moves:
        source, result = each.operands[0].shape if each.operands else None, each.results[0].shape
        step = each.step if each.opcode == "transpose" else None
        if step is None or not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape):
            continue
        # Imported here: most modules have no such transposes.
        from dialect_utils.layout.moves.bitcast import is_bitcast
        from dialect_utils.layout.moves.plan import Plan

        is_tiled = source.layout is None or bool(source.layout.tiles)
        if not is_tiled and not is_bitcast(source, Plan(*source.type_and_dimensions, (step,)), result):
            return each
    return None


def orders_without(move: Relayout) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Returns the minor_to_major of its source, and that of its result, with which a move is needless; None if unknown.

    A transpose of arrays in descending order moves the source to its `dimensions`.
    """
    source, result = move.source, move.result
    if move.kind != "relayout" or source.layout is None or result.layout is None:
        return None
    if (transpose := moving_transpose(move.operation)) is None:
        is_same = source.dimensions == result.dimensions
        return (result.layout.minor_to_major, source.layout.minor_to_major) if is_same else None
    order = transpose.ints("dimensions") or ()
    is_whole = transpose.operands[0].shape == source and source.layout.is_descending and result.layout.is_descending
    return (order[::-1], tuple(order.index(i) for i in range(len(order)))[::-1]) if is_whole else None


def _move(
    source: Value, result: Value, transpose: Operation | None = None
) -> tuple[ArrayShape, ArrayShape, Kind] | None:
    before, after = source.shape, result.shape
    if not isinstance(before, ArrayShape) or not isinstance(after, ArrayShape):
        return None
    one, other = before.layout, after.layout
    if one is None or other is None:
        return None
    if transpose is not None or (one.minor_to_major, one.tiles) != (other.minor_to_major, other.tiles):
        return before, after, "relayout"
    return (before, after, "memory space") if one.memory_space != other.memory_space else None


def _only_moves(body: Function) -> int | None:
    """Returns the number of the parameter that a fusion only moves, or None for other fusions."""
    root = behind(body.results[0], ("bitcast",)).operation
    if root is None or root.opcode not in _LAYOUT_CHANGES:
        return None
    if any(each.opcode not in _MOVES and each.opcode not in _FORWARDING for each in body.operations):
        return None
    value: Value = root.operands[0]
    while (operation := value.operation) is not None and operation.operands:
        value = operation.operands[0]
    parameters = list(body.parameters)
    return parameters.index(value) if value in parameters else None


def operations_before(operation: Operation) -> Iterator[Operation]:
    """Returns the operations that make the operands."""
    return (operand.operation for operand in operation.operands if operand.operation is not None)


def operations_after(operation: Operation) -> Iterator[Operation]:
    """Returns the operations that use the results, one after another."""
    return chain.from_iterable(result.users for result in operation.results)


def _names(
    operation: Operation,
    origin: Callable[[Operation], Origin],
    neighbours: Callable[[Operation], Iterator[Operation]],
) -> Iterator[str]:
    """Yields the op names of neighbours, or of the operations beyond neighbours that move no bytes."""
    seen: set[str] = set()
    for each in neighbours(operation):
        for _ in range(_NEIGHBOURS):
            if each.opcode not in _FORWARDING:
                break
            each = next(neighbours(each), each)
        name = origin(each).op_name
        if name and name not in seen:
            seen.add(name)
            yield name
