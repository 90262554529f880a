"""The arrays that a program moves, for the first screen of a report: why each is moved, and what removes the move."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.moved import Moved, find_moved
from dialect_utils.history.tracing import Introduced
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.allocation import guess_compiler
from dialect_utils.memory.rows import PREFETCH, Waste, place
from relayout.reporting.explainer import Explainer

_UNKNOWN = "no argument, result or donation removes it"


def moved_waste(report: MemoryReport, most: int) -> Iterator[Waste]:
    """Yields the moves of the most bytes, those of one kind and line as one.

    Prefetches to faster memory are none, nor is what a fusion reads and writes in any case.
    """
    graph, usage = FlatGraph(report.module), report.usage
    groups: dict[tuple[object, ...], list[Moved]] = {}
    for each in find_moved(graph, usage):
        if each.is_alone and each.kind != PREFETCH and each.bytes_moved and each.node.operation is not None:
            line = place(graph.origin(each.node.operation))
            groups.setdefault((each.kind, each.source, each.result, line), []).append(each)
    for group in sorted(groups.values(), key=lambda group: -sum(each.cost for each in group))[:most]:
        first = group[0]
        begun = {first.node: Introduced(0, graph, first.node)}
        explainer = Explainer((), graph, usage.allocation, begun, guess_compiler(report.module))
        cause = explainer.cause(first)
        array = cause.source.partition("{")[0]
        layouts = f"{cause.source} -> {cause.result.removeprefix(array)}" if cause.changes_layout else cause.result
        size, name, text = sum(each.cost for each in group), cause.fusion or cause.name, f"{cause.title}, {layouts}"
        yield Waste(cause.kind, name, len(group), size, text, cause.line, cause.reason, cause.advice or _UNKNOWN)
