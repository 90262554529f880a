"""Propagates layouts to values that have no written layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.targets.propagation import Propagation, agree, is_unconstrained, laid_out_like
from dialect_utils.text import Location
from passes.framework.base import COMPILER_FACTS, Report, keeping, module_pass
from passes.layouts.constraints import (
    CopyPoint,
    Definition,
    Edge,
    EntryPort,
    Node,
    edges,
    fixed_nodes,
    values_in_memory,
)

Direction = Literal["forward", "backward", "both"]


@keeping(*COMPILER_FACTS)
@module_pass
def propagate_layouts(module: Module, report: Report, *, direction: Direction = "both") -> None:
    """Propagates layouts to values that have no layout of their own.

    1. A layout with more than the descending order is fixed, and so is any layout written on a copy. All other arrays
       are unconstrained, including the entry's parameters and results. Memory spaces are not propagated.
    2. Layouts propagate along the flow of data (`direction=forward`), against it (`backward`), or in `both` directions:
       through elementwise ops, copies, slices, pads and concatenates; into and out of tuples, calls, fusions, loops and
       branches; through transposes, reshapes and broadcasts that can keep the physical order. The first layout to
       arrive decides, operands before users.
    3. Tiles propagate between elements of the same width if the tiled dimensions stay together; otherwise only the
       order does, and tiles that arrive later are added.
    4. If two fixed layouts have to agree (operands and result of an elementwise op, both sides of a tuple, call, loop
       or branch), HLO gets a `copy`; StableHLO has no copy, so both stay and a note says so.
    5. Operands and results of bitcasts, custom calls and asynchronous ops keep their layouts, and so do aliased values.

    Terminates: an unconstrained array gets an order once, and tiles once.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4,6]{0,1:T(8,128)} parameter(0)
          q = f32[6,4] parameter(1)
          t = f32[6,4] transpose(p), dimensions={1,0}
          ROOT a = f32[6,4] add(t, q)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[4,6]{0,1:T(8,128)} parameter(0)
          q = f32[6,4]{1,0:T(8,128)} parameter(1)
          t = f32[6,4]{1,0:T(8,128)} transpose(p), dimensions={1,0}
          ROOT a = f32[6,4]{1,0:T(8,128)} add(t, q)
        }
    """
    spread = _Spread(module)
    spread.run(direction)
    spread.write_values()
    conflicting = [edge for edge in spread.edges if edge.copy_point is not None and spread.conflicts(edge)]
    if module.dialect == "hlo":
        insert_copies(module, conflicting, spread.shapes)
    else:
        for edge in conflicting:
            report.note(*_both_stay(edge, spread.shapes))
    # After the values: set_shape of a parameter or result also changes the entry layout.
    spread.write_interface()


@dataclass(slots=True)
class _Spread:
    """The layouts found so far for the arrays of a module, and the propagation along its edges."""

    module: Module
    shapes: dict[Node, ArrayShape] = field(init=False)
    edges: list[Edge] = field(init=False)
    fixed: set[Node] = field(init=False)
    # Nodes with a fixed or propagated layout, as a set because every edge queries it.
    decided: set[Node] = field(init=False)
    # The numbers of the edges that begin or end at a node, once a layout can propagate.
    at: dict[Node, list[int]] = field(default_factory=dict)
    # Nodes that got the order of a tiled layout, but not the tiles.
    without_tiles: set[Node] = field(default_factory=set)
    # The owners of nodes that got a layout.
    changed: set[Value | EntryPort] = field(default_factory=set)

    def __post_init__(self) -> None:
        parameters, results = self.module.entry_layout
        owners: list[tuple[Value | EntryPort, Shape]] = [
            (EntryPort("parameter", i), shape) for i, shape in enumerate(parameters)
        ]
        owners += [(EntryPort("result", i), shape) for i, shape in enumerate(results)]
        owners += [(value, value.shape) for value in values_in_memory(self.module)]
        self.shapes = {
            Node(owner, i): leaf
            for owner, shape in owners
            for i, leaf in enumerate(shape.leaves())
            if isinstance(leaf, ArrayShape) and leaf.is_static
        }
        self.edges = [e for e in edges(self.module) if e.source in self.shapes and e.target in self.shapes]
        self.fixed = fixed_nodes(self.module)
        self.decided = {node for node, shape in self.shapes.items() if not is_unconstrained(shape)}

    def run(self, direction: Direction) -> None:
        """Propagates layouts forward and backward until nothing changes (rule 2).

        The first sweeps visit the edges from decided nodes to others, later ones those at which a node has changed.
        """
        decided, numbered = self.decided, list(enumerate(self.edges))
        forward = {number for number, edge in numbered if edge.source in decided and edge.target not in decided}
        backward = {number for number, edge in numbered if edge.target in decided and edge.source not in decided}
        if forward or backward:
            for number, edge in numbered:
                self.at.setdefault(edge.source, []).append(number)
                self.at.setdefault(edge.target, []).append(number)
        while (forward and direction != "backward") or (backward and direction != "forward"):
            if direction != "backward":
                forward = self._go(sorted(forward), 1, backward)
            if direction != "forward":
                backward = self._go(sorted(backward, reverse=True), -1, forward)

    def _go(self, numbers: list[int], step: int, other: set[int]) -> set[int]:
        """Sweeps over edges in order (step 1) or in reverse (step -1); returns the edges for the next such sweep.

        The edges at a changed node are visited later in this sweep or in the next one, and are added to `other`, the
        sweep in the opposite direction.
        """
        # heapq pops the smallest number first, so the reverse sweep negates the numbers.
        waiting = [number * step for number in numbers]
        known, later = set(numbers), set()
        while waiting:
            number = heappop(waiting) * step
            edge = self.edges[number]
            ends = (edge.source, edge.target) if step > 0 else (edge.target, edge.source)
            if self._propagate(*ends, edge.forward if step > 0 else edge.backward):
                for each in self.at[ends[1]]:
                    other.add(each)
                    if (each - number) * step <= 0:
                        later.add(each)
                    elif each not in known:
                        known.add(each)
                        heappush(waiting, each * step)
        return later

    def _propagate(self, source: Node, target: Node, rule: Propagation) -> bool:
        is_open = target not in self.decided
        if source not in self.decided or target in self.fixed or not (is_open or target in self.without_tiles):
            return False
        given, shape = self.shapes[source], self.shapes[target]
        layout = rule(given, shape)
        # Tiles may follow the order of the same layout.
        is_new = is_open or (layout and layout.tiles and layout.minor_to_major == shape.effective_layout.minor_to_major)
        if layout is None or not is_new:
            return False
        is_partial = not layout.tiles and (bool(given.effective_layout.tiles) or source in self.without_tiles)
        (self.without_tiles.add if is_partial else self.without_tiles.discard)(target)
        space = shape.effective_layout.memory_space
        self.shapes[target] = shape.with_layout(layout.replace(memory_space=space) if space else layout)
        self.decided.add(target)
        self.changed.add(target.owner)
        return True

    def conflicts(self, edge: Edge) -> bool:
        """Is true if both ends have layouts that differ."""
        source, target, shapes = edge.source, edge.target, self.shapes
        if shapes[source] is shapes[target] or not (self._is_decided(source) and self._is_decided(target)):
            return False
        return not agree(shapes[source], shapes[target])

    def _is_decided(self, node: Node) -> bool:
        return node in self.decided or node in self.fixed

    def write_values(self) -> None:
        """Writes the propagated layouts into the values."""
        for value in values_in_memory(self.module):
            if value in self.changed:
                value.set_shape(self._laid_out(value, value.shape))

    def write_interface(self) -> None:
        """Writes the propagated layouts into the entry layout."""
        parameters, results = self.module.entry_layout
        wanted = (
            tuple(self._laid_out(EntryPort("parameter", i), shape) for i, shape in enumerate(parameters)),
            tuple(self._laid_out(EntryPort("result", i), shape) for i, shape in enumerate(results)),
        )
        if (parameters, results) != wanted:
            self.module.set_entry_layout(*wanted)

    def _laid_out(self, owner: Value | EntryPort, shape: Shape) -> Shape:
        nodes = ((i, self.shapes.get(Node(owner, i))) for i, _ in enumerate(shape.leaves()))
        return with_leaves(shape, {i: found for i, found in nodes if found is not None})


def _both_stay(edge: Edge, shapes: Mapping[Node, ArrayShape]) -> tuple[str, Location | None]:
    """Returns the note for two different layouts that only a copy could reconcile, and its location."""
    source, target = edge.source.owner, edge.target.owner
    assert not isinstance(source, EntryPort)
    assert not isinstance(target, EntryPort)  # callers of the entry may see another layout than the value has
    found = f"{source.name} is laid out as {shapes[edge.source]}, but {target.name} as {shapes[edge.target]}"
    return f"{found}: StableHLO has no copy, both stay", target.location


def insert_copies(module: Module, conflicting: Iterable[Edge], shapes: Mapping[Node, ArrayShape]) -> None:
    """Makes the layouts at both ends of every edge equal, by copies in HLO; `shapes` has the shapes of the nodes."""
    wanted: dict[CopyPoint, dict[int, ArrayShape]] = {}
    for edge in conflicting:
        assert edge.copy_point is not None  # checked by the caller
        source, target = shapes[edge.source], shapes[edge.target]
        if isinstance(edge.copy_point, Definition):
            wanted.setdefault(edge.copy_point, {})[edge.target.leaf] = laid_out_like(target, source)
        else:
            wanted.setdefault(edge.copy_point, {})[edge.source.leaf] = laid_out_like(source, target)
    copies = Copies(module)
    # Definitions first: the copies at their uses read the redefined values.
    for copy_point, leaves in sorted(wanted.items(), key=lambda item: not isinstance(item[0], Definition)):
        copies.insert(copy_point, leaves)


def with_leaves(shape: Shape, leaves: Mapping[int, ArrayShape]) -> Shape:
    """Returns a shape with the leaves of the given numbers replaced."""
    numbers = (i for i, leaf in enumerate(shape.leaves()) for _ in leaf.arrays())
    return shape.map_arrays(lambda array: leaves.get(next(numbers), array))


@dataclass(slots=True)
class Copies:
    """The inserted copies, one for each value and layout."""

    module: Module
    made: dict[tuple[Value, Shape], Value] = field(default_factory=dict)

    def insert(self, copy_point: CopyPoint, leaves: Mapping[int, ArrayShape]) -> None:
        """Changes the layouts of a definition, and copies it back for its users, or copies the value at a use."""
        value = copy_point.value
        before, users = value.shape, list(value.users)
        if not isinstance(copy_point, Definition):
            copy_point.replace(self.copy(value, with_leaves(before, leaves)))
            return
        value.set_shape(with_leaves(before, leaves))
        copied = self.copy(value, before)
        value.replace_uses(copied, keep=[user for user in value.users if user not in users])

    def copy(self, value: Value, shape: Shape) -> Value:
        """Returns a copy of a value in the layouts of `shape`."""
        key = (value, shape)
        if key not in self.made:
            self.made[key] = self._made_copy(value, shape)
        return self.made[key]

    def _made_copy(self, value: Value, shape: Shape) -> Value:
        builder = self.module.after(value)
        parts = [
            builder.copy(part, leaf.with_effective_layout, name=f"{part.name}.copy", like=value)
            if isinstance(leaf, ArrayShape) and part.shape != leaf
            else part
            for part, leaf in zip(builder.flatten(value, name=value.name), shape.leaves(), strict=True)
        ]
        return builder.make_tuple(parts, shape, name=f"{value.name}.copy", like=value)
