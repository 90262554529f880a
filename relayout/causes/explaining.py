"""Explains one array: the pass before it, both sides of its move, its line of Python, and what removes the move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.moved import Moved, Side, consumers, opcode_of, producer
from dialect_utils.history.removal import Removal, removal
from dialect_utils.history.tracing import Introduced
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Value
from dialect_utils.layout.targets.tpu import laid_out
from dialect_utils.memory.advice import known_remedy
from dialect_utils.memory.allocation import Allocation, padded_dimensions
from dialect_utils.memory.relayouts import Origin
from dialect_utils.text import format_bytes
from relayout.causes.result import Cause, Change, End
from relayout.causes.stages import pass_between

_NOT_MOVED = ("padded array", "instruction")
_SAME_LAYOUT = ("copy", "memory space")


@dataclass(frozen=True, slots=True)
class Explainer:
    """The facts about one program: its modules, the final one, sizes of buffers, and the begin of each array."""

    modules: Sequence[Input]
    final: FlatGraph
    allocation: Allocation
    introduced: dict[Value, Introduced]

    def cause(self, moved: Moved) -> Cause:
        """Returns the cause of one array."""
        found = self.introduced[moved.node]
        is_moved = moved.kind not in _NOT_MOVED
        sides = [producer(found), *consumers(found)] if is_moved else []
        change = removal(found) if is_moved else None
        place, of = self._place(moved, found, [*sides[1:], *sides[:1]])
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
            made_by=_end(sides[0]) if sides else None,
            read_by=tuple(map(_end, sides[1:])),
            changes_layout=is_moved and moved.kind not in _SAME_LAYOUT,
            op_name=place.op_name,
            source_file=place.source_file,
            source_line=place.source_line,
            source_of=of,
            change=None if change is None else self._change(change),
            advice=self._remedy(moved) if change is None else self._advice(change),
        )

    def _remedy(self, moved: Moved) -> str:
        """Returns another way to write the operation that asks for a padded array, empty where none is known."""
        padded = padded_dimensions(moved.result)
        if moved.kind != "padded array" or not padded:
            return ""
        return known_remedy(moved.node, padded[0], self.final.origin) or ""

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

    def _place(self, moved: Moved, found: Introduced, sides: Sequence[Side]) -> tuple[Origin, str]:
        """Returns the line of Python of an array, and the instruction that has it where the array has none."""
        graph, earlier = found.graph, found.graph if found.before is None else found.before[1]
        nodes = [(moved.node, "", self.final), (found.node, "", graph), (found.replaced, "", earlier)]
        nodes += [(each.node, each.name, graph) for each in sides]
        best = Origin(), ""
        for node, name, its_graph in nodes:
            if node is None or node.operation is None:
                continue
            place = its_graph.origin(node.operation)
            if place.source_file:
                return place, name
            if place.op_name and not best[0].op_name:
                best = place, name
        return best


def _end(side: Side) -> End:
    return End(side.role, side.name, side.opcode, side.shape, side.number, str(side))
