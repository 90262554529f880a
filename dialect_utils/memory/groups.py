"""Rows of a report that say the same of several buffers, as one row, and the sentence that a report opens with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dialect_utils.layout import parse_array_shape
from dialect_utils.memory.allocation import memory_space_name
from dialect_utils.memory.rows import BufferRow, CostRow, RelayoutRow
from dialect_utils.memory.usage import MemoryUsage
from dialect_utils.text import format_bytes, format_share

# Below this share of the peak nothing is worth a row.
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


def place(row: BufferRow | RelayoutRow | CostRow) -> str:
    """Returns `FILE:LINE` in the user's program, empty where the dump does not state it."""
    return f"{row.source_file}:{row.source_line}" if row.source_file else ""


def headline(name: str, usage: MemoryUsage, rows: Iterable[BufferRow]) -> str:
    """Returns one sentence about the rows at the peak of a module: the most padding, or else what holds the most."""
    peak = usage.peak_bytes
    at_peak = grouped(rows)
    if not at_peak or not peak:
        return f"{name or 'the module'} holds no array"
    worst = max(at_peak, key=lambda group: group.padding_bytes)
    if worst.padding_bytes >= _MUCH_PADDING * peak:
        share = format_share(worst.padding_bytes, peak)
        return f"{share} at the peak are padding of {_counted(worst)}: {_described(worst)}"
    inner = max(usage.counted_by_space, key=lambda space: usage.counted_by_space[space])
    if inner and usage.counted_by_space[inner] > peak - usage.counted_by_space[inner]:
        share = format_share(usage.counted_by_space[inner], peak)
        return f"{share} at the peak are temporaries in {memory_space_name(inner)}; padding takes {_padding(usage)}"
    largest = max(at_peak, key=lambda group: group.bytes_held)
    share = format_share(largest.bytes_held, peak)
    return f"{share} at the peak are {_counted(largest)}: {_described(largest)}; padding takes {_padding(usage)}"


def _padding(usage: MemoryUsage) -> str:
    padding, peak = usage.padding_bytes, usage.peak_bytes
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
