"""Rows of a memory report as plain values, groups of equal rows, and the sentence that a report opens with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.targets.known import parse_target, targets_like
from dialect_utils.memory.usage import MemoryUsage
from dialect_utils.text import format_bytes, format_share

Role = Literal["argument", "output", "temporary"]
MoveKind = Literal["relayout", "copy", "memory space", "transpose", "reshape"]
# Moves that change no layout: to another buffer, and to another memory space.
COPY: MoveKind = "copy"
PREFETCH: MoveKind = "memory space"


@dataclass(frozen=True, slots=True)
class BufferRow:
    """One buffer: its allocated and payload bytes, its lifetime, and its origin in the user's program."""

    name: str
    opcode: str
    function: str
    role: Role
    shape: str
    memory_space: int
    bytes_held: int
    bytes_meant: int
    padding_bytes: int
    padding: str
    start: int
    end: int
    is_at_peak: bool
    op_name: str
    source_file: str
    source_line: int


@dataclass(frozen=True, slots=True)
class RelayoutRow:
    """One operation that moves data to another layout or memory space; `trips` is None where it is unknown."""

    name: str
    opcode: str
    kind: MoveKind
    source: str
    result: str
    bytes_read: int
    bytes_written: int
    depth: int
    trips: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    op_name: str
    source_file: str
    source_line: int

    @property
    def total_bytes(self) -> int:
        """Returns the bytes read and written in all trips; an unknown number of trips counts once."""
        return (self.bytes_read + self.bytes_written) * (self.trips or 1)

    @property
    def changes_layout(self) -> bool:
        """Is true for a move to another layout, false for one to another buffer or memory space."""
        return self.kind not in (COPY, PREFETCH)


@dataclass(frozen=True, slots=True)
class BitcastRow:
    """One pair of shapes of bitcasts, with the verdict and the number of such bitcasts."""

    source: str
    result: str
    verdict: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpNameRow:
    """The allocated and payload bytes of the buffers of one op name."""

    op_name: str
    buffers: int
    bytes_held: int
    bytes_meant: int
    padding_bytes: int


@dataclass(frozen=True, slots=True)
class CostRow:
    """The cost of one operation each time, as HloCostAnalysis counts; `trips` is None where it is unknown."""

    name: str
    opcode: str
    flops: int
    transcendentals: int
    bytes_accessed: int
    trips: int | None
    op_name: str
    source_file: str
    source_line: int


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One collective operation: the bytes that a device sends each time; `trips` is None where it is unknown."""

    name: str
    opcode: str
    kind: str
    operands: tuple[str, ...]
    groups: str
    bytes_sent: int
    trips: int | None
    op_name: str
    source_file: str
    source_line: int

    @property
    def total_bytes(self) -> int:
        """Returns the bytes that a device sends in all trips; an unknown number of trips counts once."""
        return self.bytes_sent * (1 if self.trips is None else self.trips)

    @property
    def operand_text(self) -> str:
        """Returns the operands, equal ones together: `8 of f32[8,4], s32[2]`."""
        counts = Counter(self.operands)
        return ", ".join(f"{count} of {operand}" if count > 1 else operand for operand, count in counts.items())


# The name of the main memory of a device, by XLA's name of its compiler.
# The least share of the peak that is worth a row.
LEAST_SHARE = 0.01
# From this share of the peak on, padding is the first thing to say.
_MUCH_PADDING = 0.1


@dataclass(frozen=True)
class Group:
    """Buffers of one shape, role and origin in the user's program, as one row."""

    rows: tuple[BufferRow, ...]

    @property
    def first(self) -> BufferRow:
        """Returns one of the buffers; the others differ in their names and lifetimes only."""
        return self.rows[0]

    @cached_property
    def bytes_held(self) -> int:
        """Returns the bytes of all buffers of the group."""
        return sum(row.bytes_held for row in self.rows)

    @cached_property
    def padding_bytes(self) -> int:
        """Returns the bytes of padding of all buffers of the group."""
        return sum(row.padding_bytes for row in self.rows)

    @property
    def name(self) -> str:
        """Returns the name of the first buffer and the number of the others: `fusion.22 and 71 more`."""
        more = len(self.rows) - 1
        return f"{self.first.name} and {more} more" if more else self.first.name


def grouped(rows: Iterable[BufferRow]) -> list[Group]:
    """Returns the groups of some rows, in the order of their first rows."""
    found: dict[tuple[str, str, str], list[BufferRow]] = {}
    for row in rows:
        # One line of a program gives its operations several names, such as those of its gradient.
        found.setdefault((row.shape, row.role, place(row) or row.op_name), []).append(row)
    return [Group(tuple(group)) for group in found.values()]


class _Located(Protocol):
    """A value with a location in the user's program."""

    @property
    def op_name(self) -> str: ...
    @property
    def source_file(self) -> str: ...
    @property
    def source_line(self) -> int: ...


def place(row: _Located) -> str:
    """Returns `FILE:LINE` in the user's program, empty where the dump does not state it."""
    return f"{row.source_file}:{row.source_line}" if row.source_file else ""


def origin_text(row: _Located) -> str:
    """Returns the op name and `FILE:LINE`, as far as the dump states them."""
    return f"{row.op_name} {place(row)}".strip()


def fit(usage: MemoryUsage, named: str | None) -> str:
    """Returns one sentence: whether main memory of the named target holds the peak, else of which targets.

    Without a named target these are the targets whose compiler may have written the module; empty where that is
    unknown.
    """
    peak = usage.main_memory_peak_bytes
    needed = f"{format_bytes(peak)} at the peak" + (", a bound: the module has no schedule" if usage.is_bound else "")
    if named is not None:
        target = parse_target(named)
        room, memory = format_bytes(target.memory_bytes), f"{target.space_name(0)} of {target.name}"
        if peak <= target.memory_bytes:
            return f"fits into the {memory}, {room}: {needed}"
        return f"does not fit into the {memory}, {room}: {format_bytes(peak - target.memory_bytes)} too much, {needed}"
    known = targets_like(usage.target, is_gpu=usage.is_gpu)
    if not known:
        return ""
    fitting = [each.name for each in known if peak <= each.memory_bytes]
    others = [each.name for each in known if peak > each.memory_bytes]
    sides = (("fits into the", fitting), ("does not fit into the", others))
    memory = known[0].space_name(0)
    said = ", but ".join(f"{verb} {memory} of {', '.join(names)}" for verb, names in sides if names)
    return f"{said}: {needed}"


def headline(name: str, usage: MemoryUsage, rows: Iterable[BufferRow]) -> str:
    """Returns one sentence about main memory at the peak of a module: the most padding, or else what holds the most."""
    peak = usage.main_memory_peak_bytes
    at_peak = grouped(rows)
    if not at_peak or not peak:
        return f"{name or 'the module'} holds no array in main memory"
    worst = max(at_peak, key=lambda group: group.padding_bytes)
    if worst.padding_bytes >= _MUCH_PADDING * peak:
        share = format_share(worst.padding_bytes, peak)
        return f"{share} at the peak are padding of {_counted(worst)}: {_described(worst)}"
    largest = max(at_peak, key=lambda group: group.bytes_held)
    share = format_share(largest.bytes_held, peak)
    return f"{share} at the peak are {_counted(largest)}: {_described(largest)}; padding takes {_padding(usage)}"


def _padding(usage: MemoryUsage) -> str:
    padding, peak = usage.padding_bytes, usage.main_memory_peak_bytes
    return f"{format_bytes(padding)} ({padding / peak:.1%})" if padding else "nothing"


def _counted(group: Group) -> str:
    """Returns e.g. `one array`, `72 outputs`."""
    count, role = len(group.rows), group.first.role
    if role == "temporary":
        return "one array" if count == 1 else f"{count} arrays"
    return f"one {role}" if count == 1 else f"{count} {role}s"


def _described(group: Group) -> str:
    """Returns the name, the type and dimensions without the layout, and the line of the user's program."""
    shape = parse_array_shape(group.first.shape).with_layout(None)
    origin = place(group.first) or group.first.op_name
    return f"{group.name} {shape}" + (f", from {origin}" if origin else "")
