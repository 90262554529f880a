"""Spreads layouts to values that have none of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Layout, Shape
from dialect_utils.text import Location
from passes.base import Pass, Report
from passes.carried_layouts import Carry, agree, is_undecided
from passes.expand_tiling import leaf_shapes
from passes.layout_copies import put_copies, with_leaves
from passes.layout_graph import Edge, Node, Port, edges, fixed_nodes

Direction = Literal["forward", "backward", "both"]


@dataclass(frozen=True)
class PropagateLayouts(Pass):
    """Spreads layouts to values that have none of their own.

    1. A layout that says more than the descending order is a choice and stays, and so does any that
       is written on a copy. All other values are undecided, the entry's parameters and results too.
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

    name: ClassVar[str] = "propagate-layouts"

    direction: Direction = "both"

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        propagate_layouts(module, self.direction, report)


def propagate_layouts(module: Module, direction: Direction = "both", report: Report | None = None) -> None:
    """Spreads the layouts of a module in place, as the pass does.

    Ends: an undecided array is decided once, and gets tiles once.
    """
    spread = _Spread(module)
    spread.run(direction)
    spread.write_values()
    apart = [edge for edge in spread.edges if edge.mend is not None and spread.are_apart(edge)]
    if module.form == "hlo":
        put_copies(module, apart, spread.shapes)
    elif report is not None:
        for edge in apart:
            report.note(*_both_stay(edge, spread.shapes))
    # Last: the entry's layout has followed the values so far.
    spread.write_interface()


@dataclass(slots=True)
class _Spread:
    """Holds the layouts found so far for the arrays of a module."""

    module: Module
    shapes: dict[Node, ArrayShape] = field(init=False)
    edges: list[Edge] = field(init=False)
    fixed: set[Node] = field(init=False)
    # Nodes whose order came without the tiles that went with it.
    without_tiles: set[Node] = field(default_factory=set)

    def __post_init__(self) -> None:
        parameters, results = self.module.entry_layout
        owners: list[tuple[Value | Port, Shape]] = [(Port("parameter", i), shape) for i, shape in enumerate(parameters)]
        owners += [(Port("result", i), shape) for i, shape in enumerate(results)]
        owners += [(value, value.shape) for value in _values(self.module)]
        self.shapes = {
            Node(owner, i): leaf
            for owner, shape in owners
            for i, leaf in enumerate(leaf_shapes(shape))
            if isinstance(leaf, ArrayShape) and leaf.is_static
        }
        self.edges = [e for e in edges(self.module) if e.source in self.shapes and e.target in self.shapes]
        self.fixed = fixed_nodes(self.module)

    def run(self, direction: Direction) -> None:
        """Takes layouts along the edges until nothing changes (rule 2)."""
        changed = True
        while changed:
            changed = False
            if direction != "backward":
                for edge in self.edges:
                    changed |= self._carry(edge.source, edge.target, edge.forward)
            if direction != "forward":
                for edge in reversed(self.edges):
                    changed |= self._carry(edge.target, edge.source, edge.backward)

    def _carry(self, source: Node, target: Node, carry: Carry) -> bool:
        given, shape = self.shapes[source], self.shapes[target]
        if target in self.fixed or is_undecided(given):
            return False
        if not is_undecided(shape) and target not in self.without_tiles:
            return False
        layout = carry(given, shape)
        if layout is None or (not is_undecided(shape) and not _adds_tiles(layout, shape)):
            return False
        is_partial = not layout.tiles and (bool(given.effective_layout.tiles) or source in self.without_tiles)
        (self.without_tiles.add if is_partial else self.without_tiles.discard)(target)
        self.shapes[target] = shape.with_layout(layout.replace(memory_space=shape.effective_layout.memory_space))
        return True

    def are_apart(self, edge: Edge) -> bool:
        """Is true where both ends are decided and do not lie alike."""
        ends = (edge.source, edge.target)
        if not all(node in self.fixed or not is_undecided(self.shapes[node]) for node in ends):
            return False
        return not agree(self.shapes[edge.source], self.shapes[edge.target])

    def write_values(self) -> None:
        """Gives every value the layouts found for it."""
        for value in _values(self.module):
            shape = self._laid_out(value, value.shape)
            if shape != value.shape:
                value.set_shape(shape)

    def write_interface(self) -> None:
        """Gives the entry's parameters and results, as callers see them, the layouts found for them."""
        parameters, results = self.module.entry_layout
        wanted = (
            tuple(self._laid_out(Port("parameter", i), shape) for i, shape in enumerate(parameters)),
            tuple(self._laid_out(Port("result", i), shape) for i, shape in enumerate(results)),
        )
        if (parameters, results) != wanted:
            self.module.set_entry_layout(*wanted)

    def _laid_out(self, owner: Value | Port, shape: Shape) -> Shape:
        nodes = ((i, self.shapes.get(Node(owner, i))) for i, _ in enumerate(leaf_shapes(shape)))
        return with_leaves(shape, {i: found for i, found in nodes if found is not None})


def _adds_tiles(layout: Layout, shape: ArrayShape) -> bool:
    """Is true where a layout has the order that was found before, and tiles."""
    return bool(layout.tiles) and layout.minor_to_major == shape.effective_layout.minor_to_major


def _values(module: Module) -> Iterator[Value]:
    """Yields the values of a module, but for those of functions that are applied per element: they have no place."""
    for function in module.functions:
        if not function.is_applied:
            yield from function.parameters
            for operation in function.operations:
                yield from operation.results


def _both_stay(edge: Edge, shapes: Mapping[Node, ArrayShape]) -> tuple[str, Location | None]:
    """Returns what to say of two layouts that meet and differ where there is no copy, and the place."""
    source, target = edge.source.owner, edge.target.owner
    assert not isinstance(source, Port)
    assert not isinstance(target, Port)  # callers of the entry may see another layout than the value has
    found = f"{source.name} lies as {shapes[edge.source]}, but {target.name} as {shapes[edge.target]}"
    return f"{found}: StableHLO has no copy, both stay", target.location
