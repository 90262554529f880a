"""A report of a module's memory as values: rows for every buffer, relayout, bitcast and op name, advice, a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.memory.advice import Advice, find_advice
from dialect_utils.memory.allocation import padded_dimensions
from dialect_utils.memory.buffers import Buffer
from dialect_utils.memory.collectives import find_collectives
from dialect_utils.memory.cost import Cost, CostModel, total
from dialect_utils.memory.relayouts import Origin, Relayout, find_origins, find_relayouts
from dialect_utils.memory.rows import (
    BitcastRow,
    BufferRow,
    CollectiveRow,
    CostRow,
    OpNameRow,
    RelayoutRow,
    fit,
    headline,
    moved_text,
    moved_totals,
)
from dialect_utils.memory.schedule import runs_called
from dialect_utils.memory.trips import trip_counts
from dialect_utils.memory.usage import MemoryUsage, measure_memory
from dialect_utils.text import format_bytes, format_count
from dialect_utils.text.html import html_table, html_text

_WIDTH, _HEIGHT, _TITLE, _MARGIN = 600, 120, 22, 8


def timeline_svg(usage: MemoryUsage) -> str:
    """Returns the bytes that main memory holds at each time, as SVG; a line marks the peak."""
    levels = memory_levels(usage)
    most = max(1, *levels)
    columns = min(_WIDTH, len(levels))
    bounds = [len(levels) * column // columns for column in range(columns + 1)]
    # Several times share a column where the schedule is long: the column shows their maximum.
    heights = [_HEIGHT * max(levels[a:b]) // most for a, b in pairwise(bounds)]
    width = _WIDTH / columns
    corners = [f"{x * width:.1f},{_TITLE + _HEIGHT - high}" for i, high in enumerate(heights) for x in (i, i + 1)]
    bottom = _TITLE + _HEIGHT
    peak = (usage.peak_time + 0.5) * _WIDTH / len(levels)
    title = f"main memory over time: at most {format_bytes(usage.main_memory_peak_bytes)}, at {usage.peak_time}"
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom + _MARGIN}" '
            f'viewBox="0 0 {_WIDTH} {bottom + _MARGIN}" font-family="monospace" font-size="13">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'<text x="4" y="15">{html_text(title)} of {len(levels)}</text>',
            f'<polygon points="0,{bottom} {" ".join(corners)} {_WIDTH},{bottom}" fill="#BBCCEE" stroke="#222"/>',
            f'<line x1="{peak:.1f}" y1="{_TITLE}" x2="{peak:.1f}" y2="{bottom}" stroke="#AA0000"/>',
            "</svg>",
        ]
    )


def memory_levels(usage: MemoryUsage) -> list[int]:
    """Returns the bytes that main memory holds at each time of the schedule, arguments and outputs included."""
    change: Counter[int] = Counter()
    for buffer in usage.buffers:
        if buffer.is_temporary and buffer.memory_space == 0:
            for start, end in buffer.spans:
                change[start] += buffer.bytes_held
                change[end + 1] -= buffer.bytes_held
    length = max(1, usage.schedule.length)
    base = usage.main_memory_peak_bytes - usage.temporary_bytes
    return [base + held for held in accumulate(change[time] for time in range(length))]


_NOTEBOOK_ROWS = 20
_TABLES = ("buffers", "relayouts", "collectives", "bitcasts", "op_names", "costs", "advice")


class MemoryReport:
    """A report of one module: totals, and rows that are made on first use.

    `usage` has the figures. Every row is a plain value, and `as_json` returns all of them. `named_target` is the target
    that the user named; `usage.target` may be a guess from the tiles.
    """

    def __init__(self, module: Module, target: str | None = None) -> None:
        """Measures a module; raises DiagnosticError for an unknown target and for one without an entry."""
        self.module = module
        self.named_target = target
        self.usage: MemoryUsage = measure_memory(module, target)
        self._allocation = self.usage.allocation
        self.origin: Callable[[Operation], Origin] = find_origins(module)

    def __repr__(self) -> str:
        return f"<MemoryReport {self.module.name}: peak {format_bytes(self.usage.main_memory_peak_bytes)}>"

    def _repr_html_(self) -> str:
        """Returns the first sentence, the advice, a picture, the totals, and the largest buffers, for a notebook."""
        figures = {name: size for name, size in self.totals().items() if name.endswith("_bytes") and size is not None}
        totals = [(name.removesuffix("_bytes").replace("_", " "), format_bytes(size)) for name, size in figures.items()]
        rows = self.rows_of(self.usage.at_peak[:_NOTEBOOK_ROWS])
        largest = [
            (row.name, row.shape, format_bytes(row.bytes_held), format_bytes(row.padding_bytes), row.op_name)
            for row in rows
        ]
        header = ("held at the peak", "shape", "size", "padding", "op name")
        advice = [(each.subject, each.text, format_bytes(each.bytes_saved)) for each in self.advice]
        return "".join(
            [
                f"<p><b>{html_text(self.headline)}</b></p><p>{html_text(self.fit)}</p>",
                html_table(("advice for", "what to do", "saves up to"), advice) if advice else "",
                timeline_svg(self.usage),
                html_table(("", "size"), totals),
                html_table(header, largest),
            ]
        )

    @property
    def is_compiled(self) -> bool:
        """Is true for HLO: a compiler reads StableHLO, and writes none."""
        return self.module.dialect == "hlo"

    @cached_property
    def fit(self) -> str:
        """Returns one sentence: whether main memory of the named target, or of which targets, holds the peak."""
        return fit(self.usage, self.named_target) if self.is_compiled else ""

    @cached_property
    def headline(self) -> str:
        """Returns one sentence: the array with the most padding at the peak, or else the one that holds the most."""
        return headline(self.module.name, self.usage, self.rows_of(self.usage.at_peak))

    @cached_property
    def buffers(self) -> tuple[BufferRow, ...]:
        """Returns a row for every buffer, ordered by the start of their lifetimes."""
        return self.rows_of(self.usage.buffers)

    def rows_of(self, buffers: Iterable[Buffer]) -> tuple[BufferRow, ...]:
        """Returns rows of some buffers of `usage`."""
        return tuple(self._buffer_row(buffer, id(buffer) in self._at_peak) for buffer in buffers)

    @cached_property
    def _at_peak(self) -> frozenset[int]:
        return frozenset(map(id, self.usage.at_peak))

    @cached_property
    def moves(self) -> tuple[Relayout, ...]:
        """Returns the moves of data, those to another layout or buffer first, and of these the most bytes first."""
        found = find_relayouts(self.usage.schedule, self._allocation, self.origin)
        return tuple(each for each in found if each.is_alone)

    @cached_property
    def relayouts(self) -> tuple[RelayoutRow, ...]:
        """Returns a row for everything in `moves`."""
        return tuple(each.row for each in self.moves)

    @cached_property
    def collectives(self) -> tuple[CollectiveRow, ...]:
        """Returns a row for every collective operation, those that send the most bytes first."""
        return tuple(row for _, row in find_collectives(self.module, self._allocation, self.origin))

    @cached_property
    def collective_kinds(self) -> dict[str, tuple[int, int]]:
        """Returns the number of collectives of each kind, and the bytes that a device sends in them in all trips."""
        found: dict[str, tuple[int, int]] = {}
        for row in self.collectives:
            count, size = found.get(row.kind, (0, 0))
            found[row.kind] = count + 1, size + row.total_bytes
        return found

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """Returns the advice, the largest saving first."""
        return find_advice(self.module, self.usage, self.moves, self._allocation, self.origin)

    @cached_property
    def costs(self) -> tuple[CostRow, ...]:
        """Returns a row for every operation, the one that accesses the most memory first; none for StableHLO."""
        if self.module.dialect != "hlo":
            return ()
        model = CostModel(self._allocation.held)
        rows = (
            CostRow(each.results[0].name, each.opcode, *model.of_operation(each), trips, *self.origin(each))
            for each, trips in self._executed()
        )
        return tuple(sorted(rows, key=lambda row: -row.total_bytes))

    def _executed(self) -> Iterator[tuple[Operation, int | None]]:
        """Yields the operations that compute or access memory, each with its trips."""
        schedule = self.usage.schedule
        trips = trip_counts(schedule)
        for function in schedule.spans:
            yield from ((each, trips[function]) for each in function.operations if not runs_called(each))

    @cached_property
    def cost(self) -> Cost:
        """Returns the sums of `costs`, each times its trips; an unknown number of trips counts once."""
        costs = (Cost(row.flops, row.transcendentals, row.bytes_accessed).times(row.trips or 1) for row in self.costs)
        return total(costs)

    @cached_property
    def main_memory_traffic(self) -> int:
        """Returns the bytes of `cost` that are in main memory: no array in VMEM, which a layout's `S(1)` names."""
        if self.module.dialect != "hlo":
            return 0
        model = CostModel(self._held_in_main_memory)
        return sum(model.bytes_accessed(each) * (trips or 1) for each, trips in self._executed())

    def _held_in_main_memory(self, shape: ArrayShape) -> int:
        is_elsewhere = shape.layout is not None and shape.layout.memory_space
        return 0 if is_elsewhere else self._allocation.held(shape)

    @cached_property
    def moved(self) -> dict[str, tuple[int, int]]:
        """Returns the number and the bytes of relayouts, of copies, and of moves between memories, in all trips."""
        return moved_totals((row.kind, row.total_bytes) for row in self.relayouts)

    @cached_property
    def titles(self) -> dict[str, str]:
        """Returns the totals of tables in words, by the names of the tables."""
        kinds = ", ".join(
            f"{count} {kind} {format_bytes(size)}" for kind, (count, size) in self.collective_kinds.items()
        )
        total = format_bytes(sum(row.total_bytes for row in self.collectives))
        cost = f"{format_bytes(self.cost.bytes_accessed)}, {format_count(self.cost.flops)} flops"
        return {
            "relayouts": moved_text(self.moved),
            "collectives": f"collectives: {len(self.collectives)}, {total} sent by a device: {kinds}",
            "costs": f"most memory accessed, of {cost} in all iterations of loops",
        }

    @cached_property
    def bitcasts(self) -> tuple[BitcastRow, ...]:
        """Returns a row, with a verdict, for every pair of shapes that bitcasts have."""
        pairs: dict[tuple[ArrayShape, ArrayShape], list[str]] = {}
        for function in self.usage.schedule.spans:
            for operation in function.operations:
                if operation.opcode != "bitcast":
                    continue
                source, result = operation.operands[0].shape, operation.results[0].shape
                if isinstance(source, ArrayShape) and isinstance(result, ArrayShape):
                    pairs.setdefault((source, result), []).append(operation.results[0].name)
        if not pairs:
            return ()
        from dialect_utils.layout.moves.bitcast import classify_bitcast

        return tuple(
            BitcastRow(str(a), str(b), str(classify_bitcast(a, b).verdict), len(names), tuple(names))
            for (a, b), names in pairs.items()
        )

    @cached_property
    def op_names(self) -> tuple[OpNameRow, ...]:
        """Returns a row for every op name, those with the most padding first."""
        groups: dict[str, list[BufferRow]] = {}
        for row in self.buffers:
            groups.setdefault(row.op_name, []).append(row)
        rows = [
            OpNameRow(
                name,
                len(group),
                sum(row.bytes_held for row in group),
                sum(row.bytes_meant for row in group),
                sum(row.padding_bytes for row in group),
            )
            for name, group in groups.items()
        ]
        return tuple(sorted(rows, key=lambda row: -row.padding_bytes))

    def totals(self) -> dict[str, Any]:
        """Returns the figures of the whole module: bytes of memory, and numbers of operations."""
        usage = self.usage
        capacity = None if self.named_target is None else parse_target(self.named_target).memory_bytes
        return {
            "argument_bytes": usage.argument_bytes,
            "output_bytes": usage.output_bytes,
            "alias_bytes": usage.alias_bytes,
            "temporary_bytes": usage.temporary_bytes,
            "peak_bytes": usage.peak_bytes,
            "padding_bytes": usage.padding_bytes,
            "main_memory_peak_bytes": usage.main_memory_peak_bytes,
            "capacity_bytes": capacity,
            "host_bytes": usage.host_bytes,
            "flops": self.cost.flops,
            "transcendentals": self.cost.transcendentals,
            "bytes_accessed": self.cost.bytes_accessed,
            "peak_is_bound": usage.is_bound,
            "temporary_bytes_by_memory_space": {str(space): size for space, size in usage.peak_by_space.items()},
        }

    def as_json(self) -> dict[str, Any]:
        """Returns the whole report as plain values."""
        return {
            "module": self.module.name,
            "target": self.usage.target,
            **self.totals(),
            "collective_kinds": {
                kind: {"count": count, "bytes_sent": size} for kind, (count, size) in self.collective_kinds.items()
            },
            "moved": {kind: {"count": count, "bytes": size} for kind, (count, size) in self.moved.items()},
            **{name: [asdict(row) for row in getattr(self, name)] for name in _TABLES},
        }

    def _buffer_row(self, buffer: Buffer, is_at_peak: bool) -> BufferRow:
        operation = buffer.value.operation
        origin = self.origin(operation) if operation is not None else Origin()
        return BufferRow(
            buffer.value.name,
            operation.opcode if operation is not None else "parameter",
            buffer.value.function.name,
            "argument" if buffer.is_argument else "output" if buffer.is_output else "temporary",
            str(buffer.shape),
            buffer.memory_space,
            buffer.bytes_held,
            buffer.bytes_meant,
            buffer.padding_bytes,
            "; ".join(map(str, padded_dimensions(buffer.shape))),
            buffer.start,
            buffer.end,
            is_at_peak,
            *origin,
        )
