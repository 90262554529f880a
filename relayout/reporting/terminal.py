"""A memory report as a page that fits a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence

from dialect_utils.layout.targets.known import memory_space_name, parse_target
from dialect_utils.memory.report import MemoryReport
from dialect_utils.memory.rows import (
    LEAST_SHARE,
    CollectiveRow,
    CostRow,
    Group,
    RelayoutRow,
    grouped,
    origin_text,
    place,
)
from dialect_utils.text import format_bytes, format_count

_ROWS = 10
_ADVICE = 3
_LEAST_WIDTH = 60
_NO_TERMINAL = 200


def terminal_page(report: MemoryReport, width: int | None = None) -> str:
    """Returns the page: one sentence, advice, totals, then the tables, the one with the most bytes first.

    Of a program that is not compiled it has the arguments and results only.
    """
    if not report.is_compiled:
        return clip(_entry(report), width)
    tables = sorted((_held(report), _padding(report), _relayouts(report)), key=lambda table: -table[0])
    parts = (_answer(report), _totals(report), *(lines for _, lines in tables), _collectives(report), _costs(report))
    return clip((line for part in parts for line in part), width)


def _entry(report: MemoryReport) -> Iterator[str]:
    yield f"{report.module.name or 'module'}: not compiled"
    yield f"  arguments    {format_bytes(report.usage.argument_bytes):>10}"
    yield f"  outputs      {format_bytes(report.usage.output_bytes):>10}"


def _answer(report: MemoryReport) -> Iterator[str]:
    yield from filter(None, (report.fit, report.headline))
    for each in report.advice[:_ADVICE]:
        yield f"  {each.subject}: {each.text} (saves up to {format_bytes(each.bytes_saved)})"
    yield ""


def clip(lines: Iterable[str], width: int | None) -> str:
    """Returns lines as one text, cut to a width: the terminal's, or 200 columns without a terminal."""
    width = max(_LEAST_WIDTH, width or shutil.get_terminal_size((_NO_TERMINAL, 24)).columns)
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in lines) + "\n"


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


def _costs(report: MemoryReport) -> Iterator[str]:
    """Yields the operations that access the most memory, by all their trips."""
    total = report.cost.bytes_accessed
    groups: dict[tuple[str, str], list[CostRow]] = {}
    for row in report.costs:
        groups.setdefault((row.opcode, place(row) or row.op_name or row.name), []).append(row)
    ranked = sorted(groups.values(), key=lambda rows: -sum(map(_accessed, rows)))
    if total:
        header = ("accessed", "flops", "times", "op", "from")
        rows = [(sum(map(_accessed, rows)), len(rows), _cost_cells(rows)) for rows in ranked]
        yield from _table(total * LEAST_SHARE, "most memory accessed", header, rows)


def _collectives(report: MemoryReport) -> Iterator[str]:
    """Yields the collective operations, those that send the most bytes first, and the totals of their kinds."""
    groups: dict[tuple[object, ...], list[CollectiveRow]] = {}
    for row in report.collectives:
        key = row.kind, row.operands, row.groups, row.trips, place(row) or row.op_name or row.name
        groups.setdefault(key, []).append(row)
    ranked = sorted(
        ((sum(row.total_bytes for row in rows), rows) for rows in groups.values()), key=lambda each: -each[0]
    )
    total = format_bytes(sum(size for size, _ in ranked))
    kinds = ", ".join(f"{count} {kind} {format_bytes(size)}" for kind, (count, size) in report.collective_kinds.items())
    header = ("sent", "times", "kind", "op", "operands", "devices", "from")
    rows = [(size, len(rows), _collective_cells(size, rows)) for size, rows in ranked]
    yield from _table(0, f"collectives: {len(report.collectives)}, {total} sent by a device: {kinds}", header, rows)


def _collective_cells(size: int, rows: Sequence[CollectiveRow]) -> Sequence[str]:
    first = rows[0]
    told = first.kind, _name(rows), first.operand_text, first.groups
    return format_bytes(size), _times(first), *told, origin_text(first)


def _name(rows: Sequence[RelayoutRow | CostRow | CollectiveRow]) -> str:
    return f"{rows[0].name} and {len(rows) - 1} more" if len(rows) > 1 else rows[0].name


def _cost_cells(rows: Sequence[CostRow]) -> Sequence[str]:
    first, name = rows[0], _name(rows)
    flops = sum(row.flops * (row.trips or 1) for row in rows)
    return format_bytes(sum(map(_accessed, rows))), format_count(flops), _times(first), name, origin_text(first)


def _accessed(row: CostRow) -> int:
    return row.bytes_accessed * (row.trips or 1)


# A table: the bytes that decide its place, and its lines.
_Table = tuple[int, Iterator[str]]


def _held(report: MemoryReport) -> _Table:
    """Returns the table of what the peak holds."""
    usage = report.usage
    groups = grouped(report.rows_of(usage.at_peak))
    groups.sort(key=lambda group: -group.bytes_held)
    title = f"held at the peak: {len(usage.at_peak)} buffers, time {usage.peak_time} of {usage.schedule.length}"
    header = ("held", "role", "value", "shape", "from")
    rows = [(group.bytes_held, len(group.rows), _held_row(group)) for group in groups]
    return sum(group.bytes_held for group in groups), _table(
        report.usage.main_memory_peak_bytes * LEAST_SHARE, title, header, rows
    )


def _held_row(group: Group) -> Sequence[str]:
    return format_bytes(group.bytes_held), group.first.role, group.name, group.first.shape, origin_text(group.first)


def _padding(report: MemoryReport) -> _Table:
    """Returns the table of the most padding, also of arrays that the peak does not hold."""
    # Without scalars, semaphores among them: each takes the smallest allocation of the runtime.
    arrays = (buffer for buffer in report.usage.buffers if buffer.shape.rank and buffer.padding_bytes)
    groups = grouped(report.rows_of(arrays))
    groups.sort(key=lambda group: -group.padding_bytes)
    header = ("padding", "held", "value", "shape", "why", "from")
    rows = [(group.padding_bytes, len(group.rows), _padding_row(group)) for group in groups]
    return sum(group.padding_bytes for group in groups), _table(
        report.usage.main_memory_peak_bytes * LEAST_SHARE, "most padding", header, rows
    )


def _padding_row(group: Group) -> Sequence[str]:
    first = group.first
    factor = f"{first.bytes_held / first.bytes_meant if first.bytes_meant else 1.0:.3g}x"
    return format_bytes(group.padding_bytes), factor, group.name, first.shape, first.padding, origin_text(first)


def _relayouts(report: MemoryReport) -> _Table:
    """Returns the table of the operations that change layouts, by the bytes that they move."""
    groups: dict[tuple[str, str, str], list[RelayoutRow]] = {}
    for row in report.relayouts:
        if row.changes_layout:
            groups.setdefault((row.source, row.result, place(row) or row.op_name), []).append(row)
    moved = sorted(groups.values(), key=lambda rows: -sum(row.total_bytes for row in rows))
    count, total = sum(map(len, moved)), sum(row.total_bytes for rows in moved for row in rows)
    others = len(report.relayouts) - count
    title = f"relayouts: {count}, {format_bytes(total)} read and written; {others} more copies"
    header = ("moved", "times", "op", "layouts", "from")
    return total, _table(
        report.usage.main_memory_peak_bytes * LEAST_SHARE,
        title,
        header,
        [(sum(row.total_bytes for row in rows), len(rows), _move(rows)) for rows in moved],
    )


def _move(rows: Sequence[RelayoutRow]) -> Sequence[str]:
    first, name = rows[0], _name(rows)
    return (
        format_bytes(sum(row.total_bytes for row in rows)),
        _times(first),
        name,
        f"{first.source} -> {first.result}",
        origin_text(first),
    )


def _times(row: RelayoutRow | CostRow | CollectiveRow) -> str:
    return "in a loop" if row.trips is None else f"{row.trips}x"


def _table(
    least: float, title: str, header: Sequence[str], rows: Sequence[tuple[int, int, Sequence[str]]]
) -> Iterator[str]:
    """Yields a table of (bytes, number of buffers or operations, cells): rows of at least so many bytes."""
    shown = [each for each in rows if each[0] >= least][:_ROWS]
    if not shown:
        return
    yield f"\n{title}"
    yield from format_table(header, [cells for _, _, cells in shown])
    if hidden := rows[len(shown) :]:
        size, count = sum(size for size, _, _ in hidden), sum(number for _, number, _ in hidden)
        yield f"  and {count} more with {format_bytes(size)}"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a table: the first column aligned to the right, the others to the left."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, *rows):
        cells = [row[0].rjust(widths[0]), *(cell.ljust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield ("  " + "  ".join(cells)).rstrip()
