"""The differences between the memory reports of two dumps of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dialect_utils.memory import MemoryReport
from dialect_utils.memory.rows import BufferRow, RelayoutRow, origin_text
from dialect_utils.text import Diagnostic, DiagnosticError, format_bytes
from dialect_utils.text.html import html_text
from relayout.reporting.pages import page_table, plain_page
from relayout.reporting.terminal import clip, format_table

_TOTALS = (
    "main_memory_peak_bytes",
    "argument_bytes",
    "output_bytes",
    "alias_bytes",
    "temporary_bytes",
    "padding_bytes",
)
_SHOWN = 10


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
        raise DiagnosticError(Diagnostic(message, hint="relayout report says what one program holds"))
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


def comparison_page(comparison: Comparison, width: int | None = None) -> str:
    """Returns a comparison as a page for a terminal."""
    return clip(_lines(comparison), width)


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
    totals = (
        (_title(name), *map(format_bytes, pair), _marked(pair[1] - pair[0])) for name, pair in comparison.totals.items()
    )
    parts = [
        f'<p class="sentence">{html_text(comparison_sentence(comparison))}</p>',
        f"<p>{html_text(f'old: {old}')}<br>{html_text(f'new: {new}')}</p>",
        page_table(("figure", "old", "new", "change"), totals, numbers=("old", "new", "change")),
        *_html_changes(comparison.changes),
    ]
    if comparison.collectives:
        parts.append(page_table(("change", "sent in", "old", "new"), _kinds(comparison, _marked), numbers=("change",)))
    for title, rows in (("added", comparison.added), ("gone", comparison.gone)):
        parts += _html_relayouts(title, [row for row in rows if row.changes_layout])
    return plain_page(f"memory of {new} against {old}", "\n".join(parts))


def _html_changes(changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield f"<h2>{len(changes)} groups of buffers changed</h2>"
    yield "<p class='hint'>Buffers of one op name and one shape are a group; the layout may differ.</p>"
    rows = (
        (
            _marked(each.new_bytes - each.old_bytes),
            format_bytes(each.old_bytes),
            format_bytes(each.new_bytes),
            f"{each.old_count} -&gt; {each.new_count}",
            html_text(each.shape),
            html_text(each.op_name),
        )
        for each in changes
    )
    yield page_table(("change", "old", "new", "buffers", "type", "op name"), rows, numbers=("change", "old", "new"))


def _kinds(comparison: Comparison, signed: Callable[[int], str]) -> Iterator[tuple[str, str, str, str]]:
    """Yields the change of bytes, the kind, and the collectives before and after, of each kind."""
    for kind, pair in comparison.collectives.items():
        old, new = (f"{count} with {format_bytes(size)}" if count else "none" for count, size in pair)
        yield signed(pair[1][1] - pair[0][1]), kind, old, new


def _html_relayouts(title: str, rows: Sequence[RelayoutRow]) -> Iterator[str]:
    if not rows:
        return
    yield f"<h2>{len(rows)} relayouts {title}</h2>"
    cells = (
        (
            format_bytes(row.bytes_read + row.bytes_written),
            html_text(row.name),
            html_text(row.source),
            html_text(row.result),
            html_text(origin_text(row)),
        )
        for row in rows
    )
    yield page_table(("moved", "op", "before", "after", "from"), cells, numbers=("moved",))


def _title(name: str) -> str:
    return name.removesuffix("_bytes").replace("_", " ")


def _marked(change: int) -> str:
    """Returns a change as HTML, in the colour of more or of less."""
    kind = "less" if change < 0 else "more"
    return f'<span class="{kind}">{_signed(change)}</span>' if change else "same"


def _lines(comparison: Comparison) -> Iterator[str]:
    yield f"{comparison_sentence(comparison)}\n"
    rows = [
        (_title(name), format_bytes(old), format_bytes(new), _signed(new - old))
        for name, (old, new) in comparison.totals.items()
    ]
    yield from format_table(("", "old", "new", "change"), rows)
    if comparison.collectives:
        yield "\nsent by a device in collectives"
        yield from format_table(("sent", "kind", "old", "new"), [*_kinds(comparison, _signed)])
    if comparison.changes:
        yield f"\n{len(comparison.changes)} groups of buffers changed"
        shown = [
            (
                _signed(each.new_bytes - each.old_bytes),
                f"{each.old_count} -> {each.new_count}",
                each.shape,
                each.op_name,
            )
            for each in comparison.changes[:_SHOWN]
        ]
        yield from format_table(("bytes", "buffers", "type", "op name"), shown)
    for title, moves in (("added", comparison.added), ("gone", comparison.gone)):
        relayouts = [row for row in moves if row.changes_layout]
        if relayouts:
            yield f"\n{len(relayouts)} relayouts {title}"
            shown = [
                (
                    format_bytes(row.bytes_read + row.bytes_written),
                    row.name,
                    f"{row.source} -> {row.result}",
                    row.op_name,
                )
                for row in relayouts[:_SHOWN]
            ]
            yield from format_table(("moved", "op", "layouts", "op name"), shown)


def _signed(count: int) -> str:
    return f"{'-' if count < 0 else '+'}{format_bytes(abs(count))}" if count else "same"
