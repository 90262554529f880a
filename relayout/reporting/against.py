"""The differences between the memory reports of two dumps of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dialect_utils.memory import MemoryReport
from dialect_utils.memory.rows import BufferRow, RelayoutRow, short_place
from dialect_utils.text import DiagnosticError, format_bytes
from dialect_utils.text.html import html_text
from relayout.reporting.pages import plain_page
from relayout.reporting.terminal import Table, clip

_TOTALS = (
    "main_memory_peak_bytes",
    "argument_bytes",
    "output_bytes",
    "alias_bytes",
    "temporary_bytes",
    "padding_bytes",
)
_SHOWN = 10
_SIDES = ("old", "new", "change")


@dataclass(frozen=True, slots=True)
class Change:
    """Buffers of one op name and type whose bytes changed: their number and bytes, before and after."""

    op_name: str
    shape: str
    old_count: int
    new_count: int
    old_bytes: int
    new_bytes: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The totals of two reports, the changed buffers, and the added and removed relayouts.

    `collectives` has the number and the bytes of each kind, before and after.
    """

    totals: dict[str, tuple[int, int]]
    changes: tuple[Change, ...]
    added: tuple[RelayoutRow, ...]
    gone: tuple[RelayoutRow, ...]
    collectives: dict[str, tuple[tuple[int, int], tuple[int, int]]]

    def as_json(self) -> dict[str, Any]:
        """Returns the comparison as plain values; each total is [old, new]."""
        return {
            **{name: list(pair) for name, pair in self.totals.items()},
            "changes": [asdict(change) for change in self.changes],
            "relayouts_added": [asdict(row) for row in self.added],
            "relayouts_gone": [asdict(row) for row in self.gone],
            "collective_kinds": {
                kind: {"count": [old[0], new[0]], "bytes_sent": [old[1], new[1]]}
                for kind, (old, new) in self.collectives.items()
            },
        }


def compare_reports(old: MemoryReport, new: MemoryReport) -> Comparison:
    """Compares two dumps: buffers match by op name and shape without layout, relayouts by source and result.

    Raises DiagnosticError for programs of different names that have no buffer in common.
    """
    before, after = old.totals(), new.totals()
    totals = {name: (before[name], after[name]) for name in _TOTALS}
    sides = [_grouped(report.buffers) for report in (old, new)]
    names = [report.module.name or "the module" for report in (old, new)]
    if all(sides) and names[0] != names[1] and not sides[0].keys() & sides[1].keys():
        message = f"{names[1]} has no array of {names[0]}, so these are no two forms of one program"
        raise DiagnosticError(message, hint="relayout report says what one program holds")
    changes = [
        Change(*key, len(a := sides[0].get(key, [])), len(b := sides[1].get(key, [])), sum(a), sum(b))
        for key in dict.fromkeys((*sides[0], *sides[1]))
    ]
    changes = [each for each in changes if each.old_bytes != each.new_bytes]
    changes.sort(key=lambda each: -abs(each.new_bytes - each.old_bytes))
    left = _left(new.relayouts, old.relayouts), _left(old.relayouts, new.relayouts)
    kinds = [report.collective_kinds for report in (old, new)]
    collectives = {kind: (kinds[0].get(kind, (0, 0)), kinds[1].get(kind, (0, 0))) for kind in kinds[0] | kinds[1]}
    return Comparison(totals, tuple(changes), *left, collectives)


def _grouped(rows: Sequence[BufferRow]) -> dict[tuple[str, str], list[int]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        groups.setdefault((row.op_name, row.shape.partition("{")[0]), []).append(row.bytes_held)
    return groups


def _left(some: Sequence[RelayoutRow], others: Sequence[RelayoutRow]) -> tuple[RelayoutRow, ...]:
    """Returns the relayouts of the first side without those of the second; equal ones are counted."""

    def key(row: RelayoutRow) -> tuple[str, ...]:
        return row.kind, row.source, row.result, row.op_name

    counts = Counter(map(key, others))
    left = []
    for row in some:
        if counts[key(row)]:
            counts[key(row)] -= 1
        else:
            left.append(row)
    return tuple(left)


def comparison_sentence(comparison: Comparison) -> str:
    """Returns the old and the new peak, and the group of buffers that changed most."""
    old, new = comparison.totals["main_memory_peak_bytes"]
    helped = {-1: "the change helps", 0: "the change is without effect on the peak", 1: "the change costs memory"}
    peaks = f"{helped[(new > old) - (new < old)]}: the peak is {format_bytes(new)}, and was {format_bytes(old)}"
    if not comparison.changes:
        return peaks
    most = comparison.changes[0]
    sizes = f"{format_bytes(most.old_bytes)} -> {format_bytes(most.new_bytes)}"
    origin = f" of {most.op_name}" if most.op_name else ""
    return f"{peaks}; the largest change is {most.shape}{origin}, {sizes}"


def comparison_html(comparison: Comparison, old: str, new: str) -> str:
    """Returns a comparison as a page; `old` and `new` are the names of the two dumps."""
    head = f'<p class="sentence">{html_text(comparison_sentence(comparison))}</p>'
    names = f"<p>{html_text(f'old: {old}')}<br>{html_text(f'new: {new}')}</p>"
    tables = (table.html() for table in _tables(comparison))
    return plain_page(f"memory of {new} against {old}", "\n".join((head, names, *filter(None, tables))))


def comparison_page(comparison: Comparison, width: int | None = None) -> str:
    """Returns a comparison as a page for a terminal."""
    tables = (line for table in _tables(comparison) for line in table.lines(_SHOWN))
    return clip((comparison_sentence(comparison), "", *tables), width)


def _tables(comparison: Comparison) -> Iterator[Table]:
    """Yields the totals, then the collectives, buffers and relayouts that changed."""
    totals = [(_title(name), *_changed(*pair)) for name, pair in comparison.totals.items()]
    yield Table("", ("figure", *_SIDES), totals)
    sent = comparison.collectives.items()
    kinds = [(kind, *map(_counted, pair), _signed(pair[1][1] - pair[0][1])) for kind, pair in sent]
    yield Table("sent by a device in collectives", ("kind", *_SIDES), kinds)
    changes = [
        (*_changed(each.old_bytes, each.new_bytes), f"{each.old_count} -> {each.new_count}", each.shape, each.op_name)
        for each in comparison.changes
    ]
    title = f"{len(changes)} groups of buffers of one op name and type changed"
    yield Table(title, (*_SIDES, "buffers", "type", "op name"), changes)
    for name, moves in (("added", comparison.added), ("gone", comparison.gone)):
        rows = [
            (format_bytes(row.total_bytes), short_place(row), row.name, f"{row.source} -> {row.result}", row.op_name)
            for row in moves
            if row.changes_layout
        ]
        yield Table(f"{len(rows)} relayouts {name}", ("moved", "line", "op", "layouts", "op name"), rows)


def _changed(old: int, new: int) -> tuple[str, str, str]:
    return format_bytes(old), format_bytes(new), _signed(new - old)


def _counted(side: tuple[int, int]) -> str:
    count, size = side
    return f"{count} with {format_bytes(size)}" if count else "none"


def _title(name: str) -> str:
    return name.removesuffix("_bytes").replace("_", " ")


def _signed(count: int) -> str:
    return f"{'-' if count < 0 else '+'}{format_bytes(abs(count))}" if count else "same"
