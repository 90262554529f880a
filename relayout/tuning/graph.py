"""The arrays that a compiled program stores, the orders of dimensions each may have, and the links between them.

Operations that the compiler fuses store nothing: elementwise ones and those that only move elements. A chain of
elementwise operations has one order. The orders in which the compiler reads operands and writes results are read off
its figures: a program with one operation, in each order of each argument and result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import prod

from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.ir.elementwise import is_elementwise
from dialect_utils.layout import ArrayShape, Layout
from dialect_utils.layout.moves.bitcast import is_bitcast
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Reshape
from dialect_utils.layout.targets.known import allocation_bytes, default_layout, laid_out
from dialect_utils.layout.targets.propagation import propagate_broadcast, propagate_reshaped, propagate_same
from dialect_utils.layout.targets.xla_compat import align_layouts
from dialect_utils.ops import FOLDS, Trait, with_trait
from dialect_utils.ops.structured import labels
from passes.layouts.constraints import Edge, EntryPort, Node, edges
from relayout.tuning.changes import EntryArray, entry_shapes, orders

Order = tuple[int, ...]
# Beside elementwise operations: the compiler fuses them into their users, inlines them, or they move no byte.
_FUSED = with_trait(Trait.FUSIBLE) | with_trait(Trait.ALIASES) | {"call"}
# The compiler computes their operands on the fly.
_FUSING = _FUSED | {"convolution", "dot", *FOLDS}
# Arrays below this part of all bytes have the default order.
_LEAST_PART = 1e-4
# The most minor dimensions, which are in a tile.
_TILED = 2
# Of a tile of 8 x 128 elements of 32 bits.
_TILE_BYTES = 4096


def allowed_result(operation: Operation, orders: Sequence[Order]) -> Sequence[Order]:
    """Returns the orders in which an operation writes its result, or all orders where none fits."""
    return [order for order in orders if _is_written(operation, order)] or orders


def _is_written(operation: Operation, order: Order) -> bool:
    """Is false for an order in which an operation writes no result."""
    if operation.opcode == "dot":
        # The dimensions of the batch come first.
        return order[0] >= len(operation.ints("lhs_batch_dims") or ())
    if operation.opcode == "convolution":
        known = labels(operation)
        return not {*known.out_spatial} & {*order[:_TILED]}
    if operation.opcode == "gather":
        return _has_rows(array_shape(operation.results[0]), set(operation.ints("offset_dims") or ()), order)
    return True


def denied_operands(operation: Operation, value: Value, orders: Sequence[Order]) -> frozenset[int]:
    """Returns the numbers of orders of an operand that an operation copies into another order before it reads it."""
    positions = [position for position, each in enumerate(operation.operands) if each == value]
    return frozenset(
        number
        for number, order in enumerate(orders)
        if not all(_is_read(operation, position, order) for position in positions)
    )


def _is_read(operation: Operation, position: int, order: Order) -> bool:
    """Is false for an order in which an operation does not read an operand."""
    if operation.opcode == "dot":
        return order[0] not in (operation.ints(("lhs_batch_dims", "rhs_batch_dims")[position]) or ())
    if operation.opcode == "convolution":
        known = labels(operation)
        return order[0] not in known.lhs_spatial if position == 0 else not {*order[:_TILED]} <= {*known.rhs_spatial}
    if operation.opcode == "scatter" and len(operation.results) == 1 and position != 1:
        shape = array_shape(operation.operands[position])
        fixed = {name for each in _FIXED for name in operation.ints(each) or ()}
        updated = set(operation.ints("update_window_dims") or ())
        return _has_rows(shape, updated if position else {*range(shape.rank)} - fixed, order)
    return True


# The dimensions of a scatter's array that are in none of the rows.
_FIXED = ("inserted_window_dims", "input_batching_dims")


def _has_rows(shape: ArrayShape, rows: set[int], order: Order) -> bool:
    """Is true where the most minor dimension is one of the rows, and for rows of one element."""
    wide = {dimension for dimension in rows if shape.dimensions[dimension] > 1}
    return not wide or order[0] in wide


def reads_tiles(operation: Operation, value: Value) -> bool:
    """Is true for the array from which a gather reads one tile for each index, whatever its size is."""
    return operation.opcode == "gather" and operation.operands[0] == value


def tile_bytes(operation: Operation) -> int:
    """Returns the bytes of the tiles that a gather reads; 0 for other operations."""
    if operation.opcode != "gather":
        return 0
    result, rows = array_shape(operation.results[0]), set(operation.ints("offset_dims") or ())
    return _TILE_BYTES * prod(size for number, size in enumerate(result.dimensions) if number not in rows)


@dataclass(slots=True)
class Array:
    """An array that is stored, or a chain of fused operations, whose bytes count only where its order changes.

    `sizes` are the bytes with padding in each order. `traffic` is how often the array is written and read. It is held
    from the position `begin` to `end`. `copied` has the orders of which an operation at a position makes a copy, and
    the bytes of the copy.
    """

    shape: ArrayShape
    orders: Sequence[Order]
    sizes: Sequence[int]
    entry: EntryArray | None = None
    is_stored: bool = False
    traffic: int = 0
    begin: int = 0
    end: int = 0
    copied: list[tuple[int, frozenset[int], int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Link:
    """An operation between two arrays: `kept` has for each order of the target the orders of the source that fit it.

    All elements move from another order of the source.
    """

    source: int
    target: int
    kept: tuple[frozenset[int], ...]


class Graph:
    """The arrays and links of a module for a target."""

    def __init__(self, module: Module, target: str) -> None:
        self._module, self._target, self._entry_shapes = module, target, entry_shapes(module)
        self.arrays: list[Array] = []
        # The bytes that are read whatever the orders are.
        self.fixed_traffic = 0
        self._numbers: dict[Node, int] = {}
        self._positions: dict[Operation, int] = {}
        placed: set[Function] = set()
        for function in (module.entry, *module.functions):
            self._place(function, placed)
        self.last = len(self._positions)
        found = [edge for edge in edges(module) if not _is_broadcast(edge)]
        self._add_arrays(found)
        for operation in self._positions:
            self._add_demands(operation)
        self.links = [*self._links(found)]
        self._set_ends()

    def _place(self, function: Function, placed: set[Function]) -> None:
        """Numbers the operations in the order of execution, called functions at their first call."""
        if function.is_embedded or function in placed:
            return
        placed.add(function)
        for operation in function.operations:
            begin = len(self._positions)
            for called in operation.called:
                self._place(called, placed)
            self._positions[operation] = begin

    def _add_arrays(self, found: Iterable[Edge]) -> None:
        """Adds the entry's arrays, stored results and chains of fused operations; small ones have one order."""
        earlier: dict[Node, Node] = {}
        for edge in found:
            one, other = _first(earlier, edge.source), _first(earlier, edge.target)
            if one != other and self._is_chained(edge):
                earlier[other] = one
        nodes = dict.fromkeys(node for edge in found for node in (edge.source, edge.target))
        nodes |= dict.fromkeys(Node(value, 0) for each in self._positions for value in each.results)
        shapes = {node: shape for node in nodes if (shape := self._shape(node)) is not None}
        least = _LEAST_PART * sum(_size(shape, None, self._target) for shape in shapes.values())
        for node, shape in shapes.items():
            first = _first(earlier, node)
            if first not in self._numbers:
                self._numbers[first] = len(self.arrays)
                self.arrays.append(self._array(node, shape, least))
            self._numbers[node] = self._numbers[first]

    def _array(self, node: Node, shape: ArrayShape, least: float) -> Array:
        operation = None if isinstance(node.owner, EntryPort) else node.owner.operation
        possible = [*orders(shape)] if _size(shape, None, self._target) >= least else []
        if operation is not None:
            possible = [*allowed_result(operation, possible)]
        default = default_layout(shape.element_type, shape.dimensions, self._target).minor_to_major
        possible = possible or [default]
        sizes = [_size(shape, order, self._target) for order in possible]
        array = Array(shape, possible, sizes, is_stored=self._is_stored(node))
        if isinstance(node.owner, EntryPort):
            array.entry = EntryArray(node.owner.side == "result", node.owner.number)
            array.begin = self.last if array.entry.is_result else 0
            array.end, array.traffic = self.last, int(array.entry.is_result)
        elif operation is not None and array.is_stored:
            array.begin = array.end = self._positions[operation]
            array.traffic = 1
        return array

    def _is_chained(self, edge: Edge) -> bool:
        """Is true for an edge between two fused arrays of the same dimensions."""
        source, target = self._shape(edge.source), self._shape(edge.target)
        if edge.forward is not propagate_same or source is None or target is None:
            return False
        is_stored = self._is_stored(edge.source) or self._is_stored(edge.target)
        return source.dimensions == target.dimensions and not is_stored

    def _is_stored(self, node: Node) -> bool:
        """Is true for arrays of the entry, and for results that are not computed on the fly where they are used."""
        owner = node.owner
        if isinstance(owner, EntryPort):
            return owner.side == "parameter" or not self._is_stored(Node(self._module.entry.results[owner.number], 0))
        operation = owner.operation
        if operation is None:
            return False
        return not _is_fused(operation) or any(not _fuses_operands(user) for user in owner.users)

    def _shape(self, node: Node) -> ArrayShape | None:
        owner = node.owner
        if isinstance(owner, EntryPort):
            return self._entry_shapes.get(EntryArray(owner.side == "result", owner.number))
        return owner.shape.without_layout if isinstance(owner.shape, ArrayShape) and owner.shape.is_static else None

    def _add_demands(self, operation: Operation) -> None:
        """Adds the copies that an operation makes of operands, and its reads of stored arrays."""
        begin = self._positions[operation]
        for value in dict.fromkeys(operation.operands):
            number = self._numbers.get(Node(value, 0))
            if number is None:
                continue
            array = self.arrays[number]
            denied = denied_operands(operation, value, array.orders)
            good = [size for order, size in enumerate(array.sizes) if order not in denied]
            if denied and good:
                array.copied.append((begin, denied, min(good)))
            if not _is_fused(operation):
                array.traffic += not reads_tiles(operation, value)
                array.end = max(array.end, begin)
        self.fixed_traffic += tile_bytes(operation)

    def _links(self, found: Iterable[Edge]) -> Iterator[Link]:
        seen = set()
        for edge in found:
            source, target = (self._numbers.get(node) for node in (edge.source, edge.target))
            key = (source, target, edge.forward)
            if source is None or target is None or source == target or key in seen:
                continue
            seen.add(key)
            self.arrays[source].traffic += 1
            one, other = self.arrays[source], self.arrays[target]
            yield Link(source, target, _kept(edge, one, other, self._target))

    def _set_ends(self) -> None:
        """Extends each array to the last operation that computes with it on the fly."""
        changed = True
        while changed:
            changed = False
            for link in reversed(self.links):
                source, target = self.arrays[link.source], self.arrays[link.target]
                end = target.begin if target.is_stored else target.end
                if end > source.end:
                    source.end, changed = end, True


def _first(earlier: dict[Node, Node], node: Node) -> Node:
    """Returns the first node of the chain of a node; `earlier` has a node before each other one of its chain."""
    while node in earlier:
        before = earlier[node]
        earlier[node] = earlier.get(before, before)
        node = before
    return node


def _is_fused(operation: Operation) -> bool:
    return operation.opcode in _FUSED or is_elementwise(operation)


def _fuses_operands(operation: Operation) -> bool:
    return operation.opcode in _FUSING or is_elementwise(operation)


def _is_broadcast(edge: Edge) -> bool:
    """Is true for a broadcast, which writes its result in any order."""
    return isinstance(edge.forward, partial) and edge.forward.func is propagate_broadcast


@lru_cache(maxsize=1 << 14)
def _size(shape: ArrayShape, order: Order | None, target: str) -> int:
    return allocation_bytes(laid_out(shape, order, target), target)


def _kept(edge: Edge, source: Array, target: Array, name: str) -> tuple[frozenset[int], ...]:
    """Returns for each order of the target the orders of the source under which an operation moves no element."""
    found: list[set[int]] = [set() for _ in target.orders]
    keys = {tiled(target.shape, order): number for number, order in enumerate(target.orders)}
    for number, order in enumerate(source.orders):
        kept = _propagated(edge, source.shape, target.shape, order, name)
        place = None if kept is None else keys.get(tiled(target.shape, kept))
        if place is not None:
            found[place].add(number)
    return tuple(map(frozenset, found))


def tiled(shape: ArrayShape, order: Order) -> Order:
    """Returns the dimensions in the tiles: the two most minor ones of more than one element."""
    return tuple(dimension for dimension in order if shape.dimensions[dimension] > 1)[:2]


def _propagated(edge: Edge, shape: ArrayShape, other: ArrayShape, order: Order, target: str) -> Order | None:
    """Returns the order that an operation gives its result; None where it moves elements."""
    if edge.forward is propagate_reshaped:
        return _reshaped(shape, other, order, target)
    found = edge.forward(shape.with_layout(Layout(order)), other)
    # No layout is the answer for the descending one.
    return Layout.descending(other.rank).minor_to_major if found is None else found.minor_to_major


@lru_cache(maxsize=1 << 12)
def _reshaped(shape: ArrayShape, other: ArrayShape, order: Order, target: str) -> Order | None:
    """Returns the order in which a reshape has the bytes of its operand."""
    aligned = align_layouts(shape.with_layout(Layout(order)), other.dimensions)
    if aligned is None:
        return None
    wanted = aligned.effective_layout.minor_to_major
    plan = Plan(shape.element_type, shape.dimensions, (Reshape(other.dimensions),))
    same = is_bitcast(laid_out(shape, order, target), plan, laid_out(other, wanted, target))
    return wanted if same else None
