"""Rows of a memory report as plain values, groups of equal rows, and the sentence that a report opens with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

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

    @property
    def is_prefetch(self) -> bool:
        """Is true for a move to another memory space, which may overlap with computation."""
        return self.kind == PREFETCH


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

    @property
    def total_bytes(self) -> int:
        """Returns the bytes accessed in all trips; an unknown number of trips counts once."""
        return self.bytes_accessed * (self.trips or 1)


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


@dataclass(frozen=True, slots=True)
class Waste:
    """Equal moves or paddings of a line, with all bytes; `array` is the first, `introduced` the pass if it is known."""

    kind: str
    name: str
    count: int
    bytes: int
    array: str
    line: str
    why: str
    change: str
    introduced: str = ""

    @property
    def title(self) -> str:
        """Returns the bytes, the kind and the array, and the number of further ones."""
        more = f" and {self.count - 1} more" if self.count > 1 else ""
        kind = "of padding" if self.kind == "padding" else f"read and written by a {self.kind}"
        return f"{format_bytes(self.bytes)} {kind}: {self.array}{more}"

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """Returns the answers, each with its name."""
        line, by = self.line or "the dump names none", [("pass", self.introduced)] if self.introduced else []
        return [("line", line), *by, ("why", self.why), ("change", self.change)]


# The least share of the peak that is worth a row.
LEAST_SHARE = 0.01
# From this share of the peak on, padding is the first thing to say.
_MUCH_PADDING = 0.1


class Located(Protocol):
    """A value with a location in the user's program."""

    @property
    def op_name(self) -> str:
        """Returns the name of the operation in the program, such as `jit(f)/add`."""

    @property
    def source_file(self) -> str:
        """Returns the file, empty where the dump states none."""

    @property
    def source_line(self) -> int:
        """Returns the number of the line."""


class Named(Located, Protocol):
    """A named value with a location in the user's program."""

    @property
    def name(self) -> str:
        """Returns the name of the instruction."""


_Row = TypeVar("_Row", bound=Named)


@dataclass(frozen=True)
class Group(Generic[_Row]):
    """Rows of one kind and one line of the user's program, as one row, with the bytes of all."""

    rows: tuple[_Row, ...]
    size: int

    @property
    def first(self) -> _Row:
        """Returns one of the rows; the others differ in their names only."""
        return self.rows[0]

    @property
    def name(self) -> str:
        """Returns the name of the first row and the number of the others: `fusion.22 and 71 more`."""
        more = len(self.rows) - 1
        return f"{self.first.name} and {more} more" if more else self.first.name


def grouped(rows: Iterable[_Row], size: Callable[[_Row], int], kind: Callable[[_Row], Hashable]) -> list[Group[_Row]]:
    """Returns the groups of rows of one kind and one line, the most bytes first."""
    found: dict[Hashable, list[_Row]] = {}
    for row in rows:
        # One line of a program gives its operations several names, such as those of its gradient.
        found.setdefault((kind(row), place(row) or row.op_name), []).append(row)
    groups = (Group(tuple(each), sum(map(size, each))) for each in found.values())
    return sorted(groups, key=lambda group: -group.size)


def of_shape(row: BufferRow) -> Hashable:
    """Returns the kind of a buffer in a group."""
    return row.shape, row.role


def place(row: Located) -> str:
    """Returns `FILE:LINE` in the user's program, empty where the dump does not state it."""
    return f"{row.source_file}:{row.source_line}" if row.source_file else ""


def short_place(row: Located) -> str:
    """Returns `FOLDER/FILE:LINE`, the end of `place`, for columns of tables."""
    return "/".join(place(row).split("/")[-2:])


def origin_text(row: Located) -> str:
    """Returns `FILE:LINE` and the op name, as far as the dump states them."""
    return f"{place(row)} {row.op_name}".strip()


def moved_totals(moves: Iterable[tuple[str, int]]) -> dict[str, tuple[int, int]]:
    """Returns the number of moves and their bytes, of (kind, bytes): relayouts, copies and moves between memories."""
    found = {"relayouts": (0, 0), "copies": (0, 0), "between memories": (0, 0)}
    for kind, size in moves:
        name = "copies" if kind == COPY else "between memories" if kind == PREFETCH else "relayouts"
        found[name] = found[name][0] + 1, found[name][1] + size
    return found


def moved_text(totals: Mapping[str, tuple[int, int]]) -> str:
    """Returns the totals of moves in words, without kinds that do not occur: `copies: 1, 2 KiB read and written`."""
    return "; ".join(
        f"{name}: {count}, {format_bytes(size)} read and written" for name, (count, size) in totals.items() if count
    )


def fit(usage: MemoryUsage, named: str | None) -> str:
    """Returns one sentence: whether main memory of the named target holds the peak, else of which targets.

    Without a named target these are the targets whose compiler may have written the module; empty where that is
    unknown.
    """
    peak = usage.main_memory_peak_bytes
    bound = ", a bound: the module has no schedule" if usage.is_bound else ""
    needed = f"{format_bytes(peak)} at the peak"
    if named is not None:
        target = parse_target(named)
        room, memory = format_bytes(target.memory_bytes), f"{target.space_name(0)} of {target.name}"
        if peak <= target.memory_bytes:
            return f"fits into the {memory}, {room}: {needed} ({peak / target.memory_bytes:.1%} of it){bound}"
        excess = format_bytes(peak - target.memory_bytes)
        return f"does not fit into the {memory}, {room}: {excess} too much, {needed}{bound}"
    known = targets_like(usage.target, is_gpu=usage.is_gpu)
    if not known:
        return ""
    rooms = [(peak <= each.memory_bytes, f"{each.name} ({format_bytes(each.memory_bytes)})") for each in known]
    fitting, others = ([name for fits, name in rooms if fits == wanted] for wanted in (True, False))
    sides = (("fits into the", fitting), ("does not fit into the", others))
    memory = known[0].space_name(0)
    said = ", but ".join(f"{verb} {memory} of {', '.join(names)}" for verb, names in sides if names)
    return f"{said}: {needed}{bound}"


def headline(name: str, usage: MemoryUsage, rows: Iterable[BufferRow]) -> str:
    """Returns one sentence about main memory at the peak of a module: the most padding, or else what holds the most."""
    peak = usage.main_memory_peak_bytes
    at_peak = [*rows]
    if not at_peak or not peak:
        return f"{name or 'the module'} holds no array in main memory"
    worst, *_ = grouped(at_peak, lambda row: row.padding_bytes, of_shape)
    if worst.size >= _MUCH_PADDING * peak:
        share = format_share(worst.size, peak)
        return f"{share} at the peak are padding of {_counted(worst)}: {_described(worst)}"
    largest, *_ = grouped(at_peak, lambda row: row.bytes_held, of_shape)
    share = format_share(largest.size, peak)
    return f"{share} at the peak are {_counted(largest)}: {_described(largest)}; padding takes {_padding(usage)}"


def _padding(usage: MemoryUsage) -> str:
    padding, peak = usage.padding_bytes, usage.main_memory_peak_bytes
    return f"{format_bytes(padding)} ({padding / peak:.1%})" if padding else "nothing"


def _counted(group: Group[BufferRow]) -> str:
    """Returns e.g. `one array`, `72 outputs`."""
    count, role = len(group.rows), group.first.role
    if role == "temporary":
        return "one array" if count == 1 else f"{count} arrays"
    return f"one {role}" if count == 1 else f"{count} {role}s"


def _described(group: Group[BufferRow]) -> str:
    """Returns the name, the type and dimensions without the layout, and the line of the user's program."""
    shape = parse_array_shape(group.first.shape).with_layout(None)
    origin = place(group.first) or group.first.op_name
    return f"{group.name} {shape}" + (f", from {origin}" if origin else "")
