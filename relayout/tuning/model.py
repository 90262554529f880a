"""A model of what a layout change costs: bytes with padding of all arrays, and of the copies between orders.

The layouts of arguments and results spread along the graph of `propagate-layouts`. Where two orders meet, an array is
copied. Arrays that no layout reaches have the default of the target. Dots, convolutions and fusions are not modelled.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Layout
from dialect_utils.layout.targets.propagation import propagate_broadcast, propagate_reshaped
from dialect_utils.layout.targets.tpu import allocation_bytes, default_layout, tile_for
from dialect_utils.layout.targets.xla_compat import align_layouts
from passes.layouts.constraints import Edge, EntryPort, Node, edges
from relayout.tuning.changes import AUTO, Change, laid_out

Order = tuple[int, ...]
# A copy reads and writes an array.
_COPY = 2


@dataclass(frozen=True)
class Model:
    """The graph of the layouts of a program for a target."""

    module: Module
    target: str

    @cached_property
    def _neighbours(self) -> dict[Node, list[tuple[Edge, bool]]]:
        """Returns the edges at each node, and whether they begin there."""
        found = defaultdict(list)
        for edge in edges(self.module):
            found[edge.source].append((edge, True))
            found[edge.target].append((edge, False))
        return found

    def cost(self, change: Change) -> int:
        """Returns the modelled bytes of a program whose entry has the layouts of a change."""
        orders = self._spread(change)
        arrays = [(node, shape) for node in self._neighbours if (shape := self._shape(node)) is not None]
        cost = sum(self._bytes(shape, orders.get(node)) for node, shape in arrays)
        for edge in (edge for found in self._neighbours.values() for edge, is_source in found if is_source):
            if _is_broadcast(edge):
                continue
            source, target = self._shape(edge.source), self._shape(edge.target)
            if source is None or target is None or edge.source not in orders or edge.target not in orders:
                continue
            wanted = _propagated(edge, source, target, orders[edge.source], forward=True)
            # A reshape that keeps no order moves its elements.
            if wanted != orders[edge.target]:
                cost += _COPY * self._bytes(target, orders[edge.target])
        return cost

    def _spread(self, change: Change) -> dict[Node, Order]:
        """Returns the orders of dimensions that the entry's layouts give to arrays, the nearest one to each."""
        orders: dict[Node, Order] = {}
        waiting: deque[Node] = deque()
        for side, modes in (("parameter", change.parameters), ("result", change.results)):
            for number, mode in enumerate(modes):
                node = Node(EntryPort(side, number), 0)  # type: ignore[arg-type]  # both are sides
                shape = self._shape(node)
                if shape is not None and mode != AUTO:
                    layout = laid_out(shape, mode, self.target).layout
                    assert layout is not None  # of the mode
                    orders[node] = layout.minor_to_major
                    waiting.append(node)
        while waiting:
            node = waiting.popleft()
            for edge, is_source in self._neighbours[node]:
                if is_source and _is_broadcast(edge):
                    continue
                other = edge.target if is_source else edge.source
                shape, next_shape = self._shape(node), self._shape(other)
                if other in orders or shape is None or next_shape is None:
                    continue
                order = _propagated(edge, shape, next_shape, orders[node], forward=is_source)
                if order is not None:
                    orders[other] = order
                    waiting.append(other)
        return orders

    def _shape(self, node: Node) -> ArrayShape | None:
        owner = node.owner
        if isinstance(owner, EntryPort):
            shape = self.module.entry_layout[owner.side == "result"][owner.number]
        else:
            shape = owner.shape
        return shape.without_layout if isinstance(shape, ArrayShape) and shape.is_static else None

    def _bytes(self, shape: ArrayShape, order: Order | None) -> int:
        return _bytes(shape, order, self.target)


def _is_broadcast(edge: Edge) -> bool:
    """Is true for a broadcast, which writes its result in any order."""
    return isinstance(edge.forward, partial) and edge.forward.func is propagate_broadcast


@lru_cache(maxsize=1 << 14)
def _bytes(shape: ArrayShape, order: Order | None, target: str) -> int:
    kind, sizes = shape.element_type, shape.dimensions
    if order is None:
        return allocation_bytes(shape.with_layout(default_layout(kind, sizes, target)), target)
    return allocation_bytes(shape.with_layout(Layout(order, tile_for(kind, sizes, order, target))), target)


def _propagated(edge: Edge, shape: ArrayShape, other: ArrayShape, order: Order, *, forward: bool) -> Order | None:
    """Returns the order that an operation gives an array at the other end of an edge; None where it moves elements."""
    propagate = edge.forward if forward else edge.backward
    source = shape.with_layout(Layout(order))
    found = propagate(source, other)
    if found is not None:
        return found.minor_to_major
    # No layout is also the answer for the descending one.
    if propagate is propagate_reshaped:
        aligned = align_layouts(source, other.dimensions)
        return None if aligned is None else aligned.effective_layout.minor_to_major
    return Layout.descending(other.rank).minor_to_major


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns Spearman's rank correlation of two lists; None for fewer than three pairs, and for a constant list."""
    count = len(first)
    ranks = [_ranks(each) for each in (first, second)]
    mean = (count - 1) / 2
    a, b = ([rank - mean for rank in each] for each in ranks)
    scale = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    if count < 3 or not scale:
        return None
    return sum(x * y for x, y in zip(a, b, strict=True)) / scale


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value, equal ones sharing the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]
