"""A memory report as a page that fits a terminal, and the tables of reports."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from dialect_utils.layout.targets.known import memory_space_name, parse_target
from dialect_utils.memory.report import MemoryReport
from dialect_utils.memory.rows import (
    LEAST_SHARE,
    BufferRow,
    CollectiveRow,
    CostRow,
    Group,
    Named,
    RelayoutRow,
    grouped,
    of_shape,
    place,
    short_place,
)
from dialect_utils.text import format_bytes, format_count
from dialect_utils.text.html import html_text

if TYPE_CHECKING:
    from relayout.reporting.first_screen import Passes

_ROWS = 10
_LEAST_WIDTH = 60
_NO_TERMINAL = 200
# A cell of digits, with a unit or a sign, and the cell of a figure that did not change.
_FIGURE = re.compile(r"[+-]?[\d.,e]+(?: [KMGTP]?i?B|x)?|same|none|")
_Row = TypeVar("_Row", bound=Named)


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is told once, and printed in a terminal or written in a page; `after` is the line below the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    after: str = ""

    def lines(self, most: int | None = None) -> Iterator[str]:
        """Yields the title and at most so many rows; nothing without rows."""
        if not self.rows:
            return
        yield from (["", self.title] if self.title else [])
        yield from format_table(self.header, self.rows[:most])
        more = f"and {len(self.rows) - most} more" if most and len(self.rows) > most else ""
        yield from (f"  {each}" for each in (more, self.after) if each)

    def html(self) -> str:
        """Returns the title and all rows for a page; a column of figures is aligned to the right."""
        from relayout.reporting.pages import page_table

        numbers = [
            name for name, *cells in zip(self.header, *self.rows, strict=True) if all(map(_FIGURE.fullmatch, cells))
        ]
        title = f"<h2>{html_text(self.title)}</h2>" if self.title else ""
        return (
            title + page_table(self.header, ([*map(_marked, row)] for row in self.rows), numbers) if self.rows else ""
        )


def _marked(cell: str) -> str:
    """Returns a cell as HTML, a signed figure in the colour of more or of less."""
    kind = {"+": "more", "-": "less"}.get(cell[:1]) if _FIGURE.fullmatch(cell) else None
    return f'<span class="{kind}">{cell}</span>' if kind else html_text(cell)


def ranked(
    title: str,
    header: str,
    groups: Sequence[Group[_Row]],
    cells: Callable[[Group[_Row]], Sequence[str]],
    least: float = 0,
) -> Table:
    """Returns the table of the largest groups, of at least so many bytes, which are the first cell of a row.

    `header` has the names of the columns, with commas between them.
    """
    shown = [each for each in groups if each.size >= least][:_ROWS]
    rest = groups[len(shown) :]
    size, count = sum(each.size for each in rest), sum(len(each.rows) for each in rest)
    after = f"and {count} more with {format_bytes(size)}" if rest else ""
    return Table(title, header.split(", "), [(format_bytes(each.size), *cells(each)) for each in shown], after)


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a table: the first column aligned to the right, the others to the left."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, *rows):
        cells = [row[0].rjust(widths[0]), *(cell.ljust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield ("  " + "  ".join(cells)).rstrip()


def _columns(width: int | None) -> int:
    return max(_LEAST_WIDTH, width or shutil.get_terminal_size((_NO_TERMINAL, 24)).columns)


def clip(lines: Iterable[str], width: int | None) -> str:
    """Returns lines as one text, cut to a width: the terminal's, or 200 columns without a terminal."""
    columns = _columns(width)
    return "\n".join(line if len(line) <= columns else line[: columns - 1] + "…" for line in lines) + "\n"


def terminal_page(report: MemoryReport, width: int | None = None, passes: Passes | None = None) -> str:
    """Returns the page: the first screen, totals, then the tables, the one with the most bytes first.

    Of a program that is not compiled it has the arguments and results only.
    """
    if not report.is_compiled:
        return clip(_entry(report), width)
    from relayout.reporting.first_screen import FirstScreen

    first = (part for line in FirstScreen(report, passes).lines() for part in _wrapped(line, _columns(width)))
    tables = (line for table in report_tables(report) for line in table.lines())
    return clip((*first, "", *_totals(report), *tables), width)


def _wrapped(line: str, columns: int) -> list[str]:
    """Returns a line of the first screen as several lines, of which nothing is cut."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, columns, subsequent_indent=indent, break_on_hyphens=False)


def _entry(report: MemoryReport) -> Iterator[str]:
    yield f"{report.module.name or 'module'}: not compiled"
    yield f"  arguments    {format_bytes(report.usage.argument_bytes):>10}"
    yield f"  outputs      {format_bytes(report.usage.output_bytes):>10}"


def _totals(report: MemoryReport) -> Iterator[str]:
    usage = report.usage
    held = sum(buffer.bytes_held for buffer in usage.at_peak)
    yield f"{report.module.name or 'module'}: peak {format_bytes(usage.main_memory_peak_bytes)} in main memory" + (
        ", a bound: the module has no schedule" if usage.is_bound else ""
    )
    yield f"  arguments    {format_bytes(usage.argument_bytes):>10}"
    aliased = f"of which {format_bytes(usage.alias_bytes)} alias arguments"
    yield f"  outputs      {format_bytes(usage.output_bytes):>10}   {aliased}"
    yield f"  temporaries  {format_bytes(usage.temporary_bytes):>10}"
    share = usage.padding_bytes / held if held else 0.0
    yield f"  padding      {format_bytes(usage.padding_bytes):>10}   {share:.1%} of what the peak holds"
    if usage.host_bytes:
        yield f"  on the host  {format_bytes(usage.host_bytes):>10}   arguments and outputs"
    for space, size in usage.peak_by_space.items():
        if space:
            name = memory_space_name(space, usage.target, is_gpu=usage.is_gpu)
            yield f"  {name:12} {format_bytes(size):>10}   temporaries, beside main memory"
    if usage.peak_bytes != usage.main_memory_peak_bytes + usage.host_bytes:
        told = "peak_memory_in_bytes of the compiler, which counts temporaries of the memory space that has the most"
        yield f"  counted      {format_bytes(usage.peak_bytes):>10}   {told}"
    yield from _cost_total(report)


def _cost_total(report: MemoryReport) -> Iterator[str]:
    """Yields the costs of one execution, and for a target that the user named the least time that it takes."""
    cost = report.cost
    if not report.costs:
        return
    counts = f"{format_count(cost.flops)} flops, {format_count(cost.transcendentals)} transcendentals"
    yield f"  cost         {counts}, {format_bytes(cost.bytes_accessed)} accessed"
    if report.named_target and (target := parse_target(report.named_target)).peak_flops:
        computing, moving = cost.flops / target.peak_flops, report.main_memory_traffic / target.peak_bytes
        bound = "computation" if computing > moving else "memory"
        yield (
            f"  at least     {max(computing, moving) * 1e3:.3g} ms on {target.name}, bound by {bound}: "
            f"{computing * 1e3:.3g} ms of bf16 products at {target.peak_flops / 1e12:.4g} Tflop/s, "
            f"{moving * 1e3:.3g} ms of main memory at {target.peak_bytes / 1e9:.4g} GB/s ({target.peak_source})"
        )


def report_tables(report: MemoryReport) -> list[Table]:
    """Returns the tables: of memory and of moves, the one with the most bytes first, then collectives and costs."""
    sides = sorted((_held(report), _padding(report), _moves(report)), key=lambda side: -side[0])
    return [*(table for _, table in sides), _collectives(report), _costs(report)]


def _held(report: MemoryReport) -> tuple[int, Table]:
    """Returns the table of what the peak holds, with the bytes of all rows."""
    usage = report.usage
    groups = grouped(report.rows_of(usage.at_peak), lambda row: row.bytes_held, of_shape)

    def cells(group: Group[BufferRow]) -> Sequence[str]:
        return short_place(group.first), group.first.role, group.name, group.first.shape, group.first.op_name

    title = f"held at the peak: {len(usage.at_peak)} buffers, time {usage.peak_time} of {usage.schedule.length}"
    table = ranked(title, "held, line, role, value, shape, op name", groups, cells, _least(report))
    return sum(group.size for group in groups), table


def _padding(report: MemoryReport) -> tuple[int, Table]:
    """Returns the table of the most padding, also of arrays that the peak does not hold, with the bytes of all rows."""
    # Without scalars, semaphores among them: each takes the smallest allocation of the runtime.
    padded = report.rows_of(each for each in report.usage.buffers if each.shape.rank and each.padding_bytes)
    groups = grouped(padded, lambda row: row.padding_bytes, of_shape)

    def cells(group: Group[BufferRow]) -> Sequence[str]:
        first = group.first
        factor = f"{first.bytes_held / first.bytes_meant if first.bytes_meant else 1.0:.3g}x"
        return short_place(first), factor, group.name, first.shape, first.padding

    table = ranked("most padding", "padding, line, held, value, shape, why", groups, cells, _least(report))
    return sum(group.size for group in groups), table


def _moves(report: MemoryReport) -> tuple[int, Table]:
    """Returns the table of the operations that move arrays, with the bytes of all rows; prefetches are no rows."""
    rows = [row for row in report.relayouts if not row.is_prefetch]
    groups = grouped(rows, lambda row: row.total_bytes, lambda row: (row.source, row.result))

    def cells(group: Group[RelayoutRow]) -> Sequence[str]:
        first = group.first
        return short_place(first), _times(first), group.name, f"{first.source} -> {first.result}", first.op_name

    table = ranked(
        report.titles["relayouts"], "moved, line, times, op, layouts, op name", groups, cells, _least(report)
    )
    return sum(group.size for group in groups), table


def _collectives(report: MemoryReport) -> Table:
    """Returns the table of the collective operations, those that send the most bytes first."""
    groups = grouped(
        report.collectives, lambda row: row.total_bytes, lambda row: (row.kind, row.operands, row.groups, row.trips)
    )

    def cells(group: Group[CollectiveRow]) -> Sequence[str]:
        row = group.first
        return short_place(row), _times(row), row.kind, group.name, row.operand_text, row.groups, row.op_name

    return ranked(
        report.titles["collectives"], "sent, line, times, kind, op, operands, devices, op name", groups, cells
    )


def _costs(report: MemoryReport) -> Table:
    """Returns the table of the operations that access the most memory."""
    groups = grouped(
        report.costs, lambda row: row.total_bytes, lambda row: (row.opcode, place(row) or row.op_name or row.name)
    )

    def cells(group: Group[CostRow]) -> Sequence[str]:
        row, flops = group.first, sum(row.flops * (row.trips or 1) for row in group.rows)
        return short_place(row), format_count(flops), _times(row), group.name, row.op_name

    least = report.cost.bytes_accessed * LEAST_SHARE
    return ranked(report.titles["costs"], "accessed, line, flops, times, op, op name", groups, cells, least)


def _least(report: MemoryReport) -> float:
    return report.usage.main_memory_peak_bytes * LEAST_SHARE


def _times(row: RelayoutRow | CostRow | CollectiveRow) -> str:
    return "in a loop" if row.trips is None else f"{row.trips}x"
