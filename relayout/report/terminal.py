"""A memory report as a page that fits a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest

from dialect_utils.memory.report import BufferRow, MemoryReport, RelayoutRow
from dialect_utils.text import format_bytes

_WORST = 10
_RELAYOUTS = 8
_ADVICE = 5
_SPACES = {0: "main memory", 5: "host"}
_LEAST_WIDTH = 60
_NO_TERMINAL = 200


def terminal_page(report: MemoryReport, width: int | None = None) -> str:
    """Returns the page: totals, the ten buffers with the most padding, the relayouts, the peak, and advice."""
    parts = (_totals, _padding, _relayouts, _peak, _advice)
    return clip((line for part in parts for line in part(report)), width)


def clip(lines: Iterable[str], width: int | None) -> str:
    """Returns lines as one text, cut to a width: the terminal's, or 200 columns without a terminal."""
    width = max(_LEAST_WIDTH, width or shutil.get_terminal_size((_NO_TERMINAL, 24)).columns)
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in lines) + "\n"


def _totals(report: MemoryReport) -> Iterator[str]:
    usage = report.usage
    held = sum(buffer.bytes_held for buffer in usage.at_peak)
    yield f"{report.module.name or 'module'}: peak {format_bytes(usage.peak_bytes)}" + (
        ", a bound: the module has no schedule" if usage.is_bound else ""
    )
    yield f"  arguments    {format_bytes(usage.argument_bytes):>10}"
    aliased = f"of which {format_bytes(usage.alias_bytes)} alias arguments"
    yield f"  outputs      {format_bytes(usage.output_bytes):>10}   {aliased}"
    if usage.host_bytes:
        yield f"  on the host  {format_bytes(usage.host_bytes):>10}   arguments and outputs"
    for space, size in usage.peak_by_space.items():
        yield f"  temporaries  {format_bytes(size):>10}   {_SPACES.get(space, f'S({space})')}"
    share = usage.padding_bytes / held if held else 0.0
    yield f"  padding      {format_bytes(usage.padding_bytes):>10}   {share:.1%} of what the peak holds in main memory"


def _padding(report: MemoryReport) -> Iterator[str]:
    # Without scalars, semaphores among them: each takes the smallest allocation of the runtime.
    arrays = (buffer for buffer in report.usage.buffers if buffer.shape.rank)
    most = nlargest(_WORST, arrays, key=lambda buffer: buffer.padding_bytes)
    worst = report.rows_of(buffer for buffer in most if buffer.padding_bytes)
    if not worst:
        return
    yield "\nmost padding"
    rows = [(format_bytes(r.padding_bytes), _factor(r), r.name, r.shape, r.padding, _origin(r)) for r in worst]
    yield from format_table(("padding", "held", "value", "shape", "why", "from"), rows)


def _factor(row: BufferRow) -> str:
    return f"{row.bytes_held / row.bytes_meant if row.bytes_meant else 1.0:.3g}x"


def _relayouts(report: MemoryReport) -> Iterator[str]:
    rows = [row for row in report.relayouts if row.kind == "relayout"]
    moves = len(report.relayouts) - len(rows)
    total = format_bytes(sum(map(_cost, rows)))
    yield f"\nrelayouts: {len(rows)}, {total} read and written; {moves} more copies between memory spaces"
    if rows:
        shown = [
            (format_bytes(_cost(r)), _times(r), r.name, f"{r.source} -> {r.result}", _origin(r))
            for r in rows[:_RELAYOUTS]
        ]
        yield from format_table(("moved", "times", "op", "layouts", "from"), shown)


def _cost(row: RelayoutRow) -> int:
    return (row.bytes_read + row.bytes_written) * (row.trips or 1)


def _times(row: RelayoutRow) -> str:
    return "in a loop" if row.trips is None else f"{row.trips}x"


def _peak(report: MemoryReport) -> Iterator[str]:
    usage = report.usage
    live = usage.at_peak
    yield f"\nheld at the peak: {len(live)} buffers, time {usage.peak_time} of {usage.schedule.length}"
    worst = report.rows_of(live[:_WORST])
    rows = [(format_bytes(row.bytes_held), row.role, row.name, row.shape, _origin(row)) for row in worst]
    yield from format_table(("held", "role", "value", "shape", "from"), rows)


def _advice(report: MemoryReport) -> Iterator[str]:
    if report.advice:
        yield "\nworth a try"
        rows = [(format_bytes(each.bytes_saved), each.kind, each.subject, each.text) for each in report.advice]
        yield from format_table(("saves", "what", "value", "how"), rows[:_ADVICE])


def _origin(row: BufferRow | RelayoutRow) -> str:
    line = f"{row.source_file}:{row.source_line}" if row.source_file else ""
    return f"{row.op_name} {line}".strip()


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a table: the first column aligned to the right, the others to the left."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, *rows):
        cells = [row[0].rjust(widths[0]), *(cell.ljust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield ("  " + "  ".join(cells)).rstrip()
