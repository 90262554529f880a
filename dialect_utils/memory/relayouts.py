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
from typing import NamedTuple

from dialect_utils.hlo.text.attributes import op_name_in
from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.memory.allocation import Allocation
from dialect_utils.memory.rows import COPY, PREFETCH, MoveKind, RelayoutRow
from dialect_utils.memory.schedule import Schedule
from dialect_utils.memory.trips import trip_counts
from dialect_utils.ops import DONE, UPDATE, Trait, has, opcode_of, split_asynchronous, with_trait
from dialect_utils.text import Diagnostic

_SOURCE = re.compile(r'\bsource_file="((?:[^"\\]++|\\.)*+)"(?:.*?\bsource_line=(\d+))?')
_FRAME_ID = re.compile(r"\bstack_frame_id=(\d+)")
_FILE_NAME = re.compile(r'^(\d+) "(.*)"$', re.MULTILINE)
_FILE_LOCATION = re.compile(r"^(\d+) \{file_name_id=(\d+)(?: function_name_id=\d+)?(?: line=(\d+))?", re.MULTILINE)
_FRAME = re.compile(r"^(\d+) \{file_location_id=(\d+)", re.MULTILINE)
# Data movement at positions that the text fixes; also a fusion whose body holds nothing else.
_MOVES = frozenset(name for name in with_trait(Trait.MOVES_DATA) if opcode_of(name).indices is None)
# Operations that change layouts, alone or as the root of a fusion.
_SLICE = "slice"
_LAYOUT_CHANGES = with_trait(Trait.MAY_BE_BITCAST | Trait.MOVES_DATA) | {_SLICE}
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
    """One operation that writes an array under another layout, to another buffer, or into another memory space.

    `node` is the result of the operation that moves, in the body of `operation` where that is a fusion; `is_alone` is
    false where the fusion computes something else, too. `row` has the same as plain values.
    """

    operation: Operation
    node: Value
    source: ArrayShape
    result: ArrayShape
    row: RelayoutRow
    is_alone: bool


def rank(kind: str, size: int, *, is_alone: bool) -> tuple[bool, bool, int]:
    """Returns the sort key: a fusion that also computes reads and writes in any case, and prefetches overlap."""
    return not is_alone, kind == PREFETCH, -size


def find_relayouts(
    schedule: Schedule, allocation: Allocation, origin: Callable[[Operation], Origin]
) -> tuple[Relayout, ...]:
    """Returns the moves in a schedule, those that move the most bytes first, the ones to other memory spaces last."""
    trips = trip_counts(schedule)
    found = []
    for function in schedule.spans:
        for operation in function.operations:
            for each, is_alone in _moving(operation):
                if (moved := _moved(each)) is None:
                    continue
                source, result, kind = moved
                read, written = allocation.held(source), allocation.held(result)
                row = RelayoutRow(
                    operation.results[0].name,
                    operation.opcode,
                    kind,
                    str(source),
                    str(result),
                    min(read, written) if each.opcode.startswith(_SLICE) else read,
                    written,
                    schedule.depth[function],
                    trips[function],
                    tuple(_names(operation, origin, operations_before)),
                    tuple(_names(operation, origin, operations_after)),
                    *origin(operation),
                )
                found.append(Relayout(operation, each.results[0], source, result, row, is_alone))
    return tuple(sorted(found, key=lambda each: rank(each.row.kind, each.row.total_bytes, is_alone=each.is_alone)))


def _moving(operation: Operation) -> Iterator[tuple[Operation, bool]]:
    """Yields the operations that may move an array, in a fusion each one, and whether the fusion computes nothing."""
    body = list(_fused(operation))
    is_alone = body == [operation] or all(each.opcode in _MOVES or each.opcode in _FORWARDING for each in body)
    for each in body:
        base, phase = split_asynchronous(each.opcode)
        # A fusion that computes reads a part of its operand in any case.
        if base in _LAYOUT_CHANGES and phase not in (UPDATE, DONE) and (is_alone or base != _SLICE):
            yield each, is_alone


def _fused(operation: Operation) -> Iterator[Operation]:
    """Yields the operations of a fusion and of the fusions in it, of any other operation itself."""
    if operation.opcode != "fusion":
        yield operation
        return
    for each in operation.called[0].operations:
        yield from _fused(each)


def _moved(operation: Operation) -> tuple[ArrayShape, ArrayShape, MoveKind] | None:
    """Returns (source, result, kind) of an operation that moves an array, None for one that leaves each byte."""
    done = (user for user in operation.results[0].users if user.opcode.endswith(DONE))
    source, result = operation.operands[0].shape, next(next(done, operation).results[0].shape.arrays(), None)
    if not isinstance(source, ArrayShape) or result is None:
        return None
    if not operation.opcode.startswith(_SLICE):
        kind = kind_of_move(operation)
        return None if kind is None else (source, result, kind)
    # A slice copies its part in any case, and the tiles of a part may be smaller.
    kind = _change(*(each.with_layout(each.layout and each.layout.replace(tiles=())) for each in (source, result)))
    return None if kind == COPY else (source, result, kind)


def kind_of_move(operation: Operation) -> MoveKind | None:
    """Returns the kind of a move, None for an operation that leaves every byte where it is or that is not a move."""
    source, result = operation.operands[0].shape, next(operation.results[0].shape.arrays(), None)
    if not isinstance(source, ArrayShape) or result is None or operation.opcode in _FORWARDING:
        return None
    if not has(operation.opcode, Trait.IS_STEP):
        return _change(source, result)
    from dialect_utils.layout.moves.bitcast import is_bitcast
    from dialect_utils.layout.moves.plan import Plan

    step = operation.step
    is_still = step is not None and is_bitcast(source, Plan(*source.type_and_dimensions, (step,)), result)
    return None if is_still else "transpose" if operation.opcode == "transpose" else "reshape"


def _change(source: ArrayShape, result: ArrayShape) -> MoveKind:
    one, other = source.layout, result.layout
    if one is None or other is None or (one.minor_to_major, one.tiles) == (other.minor_to_major, other.tiles):
        spaces = (each.memory_space if each is not None else 0 for each in (one, other))
        return PREFETCH if len(set(spaces)) > 1 else COPY
    return "relayout"


def orders_without(move: Relayout) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Returns the minor_to_major of its source, and that of its result, with which a move is needless; None if unknown.

    A transpose of arrays in descending order moves the source to its `dimensions`: XLA:GPU writes copies into other
    layouts so. Tiles tell about the moves of TPUs.
    """
    source, result, moving = move.source, move.result, move.node.operation
    if source.layout is None or result.layout is None:
        return None
    if move.row.kind == "relayout":
        is_same = source.dimensions == result.dimensions
        return (result.layout.minor_to_major, source.layout.minor_to_major) if is_same else None
    outer = (each.shape for each in (move.operation.operands[0], move.operation.results[0]))
    step = None if moving is None else moving.step
    if step is None or step.order is None or source.layout.tiles or (source, result) != tuple(outer):
        return None
    is_whole = source.layout.is_descending and result.layout.is_descending
    return (step.order[::-1], inverse_permutation(step.order)[::-1]) if is_whole else None


def operations_before(operation: Operation) -> Iterator[Operation]:
    """Returns the operations that make the operands."""
    return (operand.operation for operand in operation.operands if operand.operation is not None)


def operations_after(operation: Operation) -> Iterator[Operation]:
    """Returns the operations that use the results, one after another."""
    return chain.from_iterable(result.users for result in operation.results)


def _names(
    operation: Operation, origin: Callable[[Operation], Origin], neighbours: Callable[[Operation], Iterator[Operation]]
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
