"""Spreads layouts to values that have none of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Layout, Shape, TupleShape
from dialect_utils.layout.targets.propagation import Propagation, agree, is_unconstrained, laid_out_like
from dialect_utils.text import Location
from passes.framework.base import Report, module_pass
from passes.layouts.constraints import CopyPoint, Definition, Edge, EntryPlace, Node, edges, fixed_nodes

Direction = Literal["forward", "backward", "both"]


@module_pass
def propagate_layouts(module: Module, report: Report, *, direction: Direction = "both") -> None:
    """Spreads layouts to values that have none of their own.

    1. A layout that says more than the descending order is a choice and stays, and so does any that
       is written on a copy. All other values are unconstrained, the entry's parameters and results too.
       Memory spaces are not spread.
    2. Layouts pass along the flow of data (`direction=forward`), against it (`backward`), or `both`
       ways: through elementwise ops, copies, slices, pads, concatenates and the like; into and out of tuples,
       calls, fusions, loops and branches; through transposes, reshapes and broadcasts where the
       physical order can stay. The first layout to arrive decides, operands before users.
    3. Tiles go along to elements of the same width, where the tiled dimensions stay together;
       otherwise the order goes alone, and tiles that arrive later may join it.
    4. Where two choices meet that have to agree (operands and result of an elementwise op, both sides of a
       tuple, call, loop or branch), HLO gets a `copy`; in StableHLO, which has none, both stay and a note says so.
    5. What bitcasts, custom calls and asynchronous ops touch keeps its layout, and so does what
       is aliased.

    Ends: an unconstrained array is decided once, and gets tiles once.

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
    # Last: the entry's layout has followed the values so far.
    spread.write_interface()


@dataclass(slots=True)
class _Spread:
    """The layouts found so far for the arrays of a module."""

    module: Module
    shapes: dict[Node, ArrayShape] = field(init=False)
    edges: list[Edge] = field(init=False)
    fixed: set[Node] = field(init=False)
    # Nodes that have a layout, of their own or found: they are asked about at every edge.
    decided: set[Node] = field(init=False)
    # The numbers of the edges that begin or end at a node.
    at: dict[Node, list[int]] = field(init=False)
    # Nodes whose order came without the tiles that went with it.
    without_tiles: set[Node] = field(default_factory=set)
    # What holds nodes whose layout was found.
    changed: set[Value | EntryPlace] = field(default_factory=set)

    def __post_init__(self) -> None:
        parameters, results = self.module.entry_layout
        owners: list[tuple[Value | EntryPlace, Shape]] = [
            (EntryPlace("parameter", i), shape) for i, shape in enumerate(parameters)
        ]
        owners += [(EntryPlace("result", i), shape) for i, shape in enumerate(results)]
        owners += [(value, value.shape) for value in _values(self.module)]
        self.shapes = {
            Node(owner, i): leaf
            for owner, shape in owners
            for i, leaf in enumerate(shape.leaves())
            if isinstance(leaf, ArrayShape) and leaf.is_static
        }
        self.edges = [e for e in edges(self.module) if e.source in self.shapes and e.target in self.shapes]
        self.fixed = fixed_nodes(self.module)
        self.decided = {node for node, shape in self.shapes.items() if not is_unconstrained(shape)}
        self.at = {}
        for number, edge in enumerate(self.edges):
            self.at.setdefault(edge.source, []).append(number)
            self.at.setdefault(edge.target, []).append(number)

    def run(self, direction: Direction) -> None:
        """Takes layouts along the edges, to and fro, until nothing changes (rule 2).

        Only edges at whose ends something has changed are looked at again.
        """
        forward = {number for node in self.decided for number in self.at.get(node, ())}
        backward = set(forward)
        while (forward and direction != "backward") or (backward and direction != "forward"):
            if direction != "backward":
                forward = self._go(sorted(forward), 1, backward)
            if direction != "forward":
                backward = self._go(sorted(backward, reverse=True), -1, forward)

    def _go(self, numbers: list[int], step: int, other: set[int]) -> set[int]:
        """Goes along edges, in their order for a step of 1 and back for -1; returns those to look at the next time.

        What changes sends those further on this time, and all into `other`, for the way back.
        """
        # A heap, smallest first: on the way back the numbers count as negative.
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
        if layout is None or (not is_open and not _adds_tiles(layout, shape)):
            return False
        is_partial = not layout.tiles and (bool(given.effective_layout.tiles) or source in self.without_tiles)
        (self.without_tiles.add if is_partial else self.without_tiles.discard)(target)
        space = shape.effective_layout.memory_space
        self.shapes[target] = shape.with_layout(layout.replace(memory_space=space) if space else layout)
        self.decided.add(target)
        self.changed.add(target.owner)
        return True

    def conflicts(self, edge: Edge) -> bool:
        """Is true where both ends are decided and not laid out alike."""
        ends = (edge.source, edge.target)
        if not all(node in self.fixed or node in self.decided for node in ends):
            return False
        return not agree(self.shapes[edge.source], self.shapes[edge.target])

    def write_values(self) -> None:
        """Gives every value the layouts found for it."""
        for value in _values(self.module):
            if value in self.changed:
                value.set_shape(self._laid_out(value, value.shape))

    def write_interface(self) -> None:
        """Gives the entry's parameters and results, as callers see them, the layouts found for them."""
        parameters, results = self.module.entry_layout
        wanted = (
            tuple(self._laid_out(EntryPlace("parameter", i), shape) for i, shape in enumerate(parameters)),
            tuple(self._laid_out(EntryPlace("result", i), shape) for i, shape in enumerate(results)),
        )
        if (parameters, results) != wanted:
            self.module.set_entry_layout(*wanted)

    def _laid_out(self, owner: Value | EntryPlace, shape: Shape) -> Shape:
        nodes = ((i, self.shapes.get(Node(owner, i))) for i, _ in enumerate(shape.leaves()))
        return with_leaves(shape, {i: found for i, found in nodes if found is not None})


def _adds_tiles(layout: Layout, shape: ArrayShape) -> bool:
    """Is true where a layout has the order that was found before, and tiles."""
    return bool(layout.tiles) and layout.minor_to_major == shape.effective_layout.minor_to_major


def _values(module: Module) -> Iterator[Value]:
    """Yields the values of a module, but for those of functions that are applied per element: they have no place."""
    for function in module.functions:
        if not function.is_embedded:
            yield from function.values()


def _both_stay(edge: Edge, shapes: Mapping[Node, ArrayShape]) -> tuple[str, Location | None]:
    """Returns what to say of two layouts that meet and differ where there is no copy, and the place."""
    source, target = edge.source.owner, edge.target.owner
    assert not isinstance(source, EntryPlace)
    assert not isinstance(target, EntryPlace)  # callers of the entry may see another layout than the value has
    found = f"{source.name} is laid out as {shapes[edge.source]}, but {target.name} as {shapes[edge.target]}"
    return f"{found}: StableHLO has no copy, both stay", target.location


def insert_copies(module: Module, conflicting: Iterable[Edge], shapes: Mapping[Node, ArrayShape]) -> None:
    """Lays out the two ends of every edge alike, by copies in an HLO module; `shapes` are those of its nodes."""
    wanted: dict[CopyPoint, dict[int, ArrayShape]] = {}
    for edge in conflicting:
        assert edge.copy_point is not None  # only such edges have to agree
        source, target = shapes[edge.source], shapes[edge.target]
        if isinstance(edge.copy_point, Definition):
            wanted.setdefault(edge.copy_point, {})[edge.target.leaf] = laid_out_like(target, source)
        else:
            wanted.setdefault(edge.copy_point, {})[edge.source.leaf] = laid_out_like(source, target)
    copies = _Copies(module)
    # Definitions first: what uses them may be mended, too.
    for copy_point, leaves in sorted(wanted.items(), key=lambda item: not isinstance(item[0], Definition)):
        copies.put(copy_point, leaves)


def with_leaves(shape: Shape, leaves: Mapping[int, ArrayShape]) -> Shape:
    """Returns a shape with some of its leaves, by number, replaced."""
    return _rebuilt(shape, iter(leaves.get(i, leaf) for i, leaf in enumerate(shape.leaves())))


def _rebuilt(shape: Shape, leaves: Iterator[Shape]) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(_rebuilt(element, leaves) for element in shape.elements))
    return next(leaves)


@dataclass(slots=True)
class _Copies:
    """The copies made, one for each value and layout."""

    module: Module
    made: dict[tuple[Value, Shape], Value] = field(default_factory=dict)

    def put(self, copy_point: CopyPoint, leaves: Mapping[int, ArrayShape]) -> None:
        """Gives a definition other layouts, its users a copy in the old ones; or a use a copy in other layouts."""
        if isinstance(copy_point, Definition):
            self._redefine(copy_point.value, leaves)
        else:
            copy_point.replace(self.copy(copy_point.value, with_leaves(copy_point.value.shape, leaves)))

    def _redefine(self, value: Value, leaves: Mapping[int, ArrayShape]) -> None:
        before, users = value.shape, list(value.users)
        value.set_shape(with_leaves(before, leaves))
        copied = self.copy(value, before)
        value.replace_uses(copied, keep=[user for user in value.users if user not in users])

    def copy(self, value: Value, shape: Shape) -> Value:
        """Returns a value in the layouts of `shape`, which has its types."""
        key = (value, shape)
        if key not in self.made:
            self.made[key] = self._made_copy(value, shape)
        return self.made[key]

    def _made_copy(self, value: Value, shape: Shape) -> Value:
        builder, name = self.module.after(value), f"{value.name}.copy"
        if isinstance(shape, ArrayShape):
            return builder.copy(value, shape.with_effective_layout, name=name, like=value)
        parts = [
            builder.copy(part, leaf.with_effective_layout, name=f"{part.name}.copy", like=value)
            if isinstance(leaf, ArrayShape) and part.shape != leaf
            else part
            for part, leaf in zip(builder.flatten(value, name=value.name), shape.leaves(), strict=True)
        ]
        return builder.make_tuple(parts, shape, name=name, like=value)
