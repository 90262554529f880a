"""The facts about moved and padded arrays, each from its graph and the module in which the array is first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dialect_utils.history.flat import FlatGraph, opcode_of
from dialect_utils.history.moved import Moved, Side, consumers, find_moved, producer
from dialect_utils.history.removal import Removal, removal
from dialect_utils.history.tracing import Introduced
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Value
from dialect_utils.layout.targets.known import laid_out
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.advice import remedy
from dialect_utils.memory.allocation import Allocation, guess_compiler, padded_dimensions
from dialect_utils.memory.relayouts import Origin
from dialect_utils.memory.rows import PREFETCH, Waste, place
from dialect_utils.text import format_bytes
from relayout.reporting.causes import Cause, Change, End
from relayout.reporting.pass_names import pass_between

_NOT_MOVED = ("padded array", "instruction")
_SAME_LAYOUT = ("copy", "memory space")
_UNKNOWN = "no argument, result or donation removes it"


@dataclass(frozen=True, slots=True)
class Explainer:
    """The facts about one program: its modules, the final one, buffer sizes, the begin of arrays, and its compiler."""

    modules: Sequence[Input]
    final: FlatGraph
    allocation: Allocation
    introduced: dict[Value, Introduced]
    compiler: str | None

    def cause(self, moved: Moved) -> Cause:
        """Returns the cause of one array."""
        found = self.introduced[moved.node]
        is_moved = moved.kind not in _NOT_MOVED
        sides = [producer(found), *consumers(found, moved.result)] if is_moved else []
        # Layouts of a transpose mean something in the final program only.
        at = found if opcode_of(found.node) == "copy" else Introduced(found.number, self.final, moved.node)
        change = removal(at, self.compiler) if is_moved else None
        origin, of = self._origin(moved, found, [*sides[1:], *sides[:1]])
        return Cause(
            name=moved.node.name,
            kind=moved.kind,
            opcode=opcode_of(moved.node),
            fusion=moved.fusion,
            source="" if moved.source is None else str(moved.source),
            result=str(moved.result),
            bytes_moved=moved.bytes_moved,
            trips=moved.trips,
            padding_bytes=moved.padding_bytes,
            padding="; ".join(map(str, padded_dimensions(moved.result))),
            introduced_by=pass_between(self.modules, found.before and found.before[0], found.number),
            introduced_as=found.node.name,
            in_place_of="" if found.replaced is None else f"{found.replaced.name} ({opcode_of(found.replaced)})",
            made_by=End.of(sides[0]) if sides else None,
            read_by=tuple(map(End.of, sides[1:])),
            changes_layout=is_moved and moved.kind not in _SAME_LAYOUT,
            **origin._asdict(),
            source_of=of,
            change=None if change is None else self._change(change),
            advice=self._remedy(moved) if change is None else self._advice(change),
        )

    def _remedy(self, moved: Moved) -> str:
        """Returns the change that avoids the padding of an array that is not moved."""
        padded = padded_dimensions(moved.result)
        return remedy(moved.node, padded[0], self.final.origin) if moved.kind == "padded array" and padded else ""

    def _change(self, change: Removal) -> Change:
        now = then = self.allocation.held(change.shape)
        target = self.allocation.target
        if target is not None and change.shape.layout is not None and change.major_to_minor:
            order = change.major_to_minor[::-1]
            then = self.allocation.held(laid_out(change.shape, order, target))
        return Change(change.action, change.number, change.major_to_minor, now, then)

    def _advice(self, change: Removal) -> str:
        found = self._change(change)
        if found.bytes_then <= found.bytes_now:
            return str(change)
        sizes = f"{format_bytes(found.bytes_then)} in place of {format_bytes(found.bytes_now)}"
        return f"{change}; it then takes {sizes}"

    def _origin(self, moved: Moved, found: Introduced, sides: Sequence[Side]) -> tuple[Origin, str]:
        """Returns the line of Python of an array, and the instruction that has it where the array has none."""
        graph, earlier = found.graph, found.graph if found.before is None else found.before[1]
        nodes = [(moved.node, "", self.final), (found.node, "", graph), (found.replaced, "", earlier)]
        nodes += [(each.node, each.name, graph) for each in sides]
        best = Origin(), ""
        for node, name, its_graph in nodes:
            if node is None or node.operation is None:
                continue
            origin = its_graph.origin(node.operation)
            if origin.source_file:
                return origin, name
            if origin.op_name and not best[0].op_name:
                best = origin, name
        return best


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
