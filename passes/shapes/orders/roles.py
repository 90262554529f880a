"""Operations whose dimensions have different roles, on operands whose dimensions are in other orders.

The order of the results follows from the orders of the operands. A rule gets the known orders of operands and results,
and returns None where the operation has to stay as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from dialect_utils.ir import Operation, array_shape
from dialect_utils.ir.permuted import NamedInts

Order = tuple[int, ...]


class Roles(NamedTuple):
    """The orders of operands (None: any) and results, and the changed attributes."""

    operands: tuple[Order | None, ...]
    results: tuple[Order, ...]
    ints: tuple[NamedInts, ...]


Known = Sequence[Order | None]
Rule = Callable[[Operation, Known, Known], Roles | None]


def identity(rank: int) -> Order:
    """Returns the order in which every dimension stays where it is."""
    return tuple(range(rank))


def reduce(operation: Operation, given: Known, wanted: Known) -> Roles | None:
    """Keeps the sequence of the reduced dimensions, so that sums stay in their order.

    A reduction of several arrays keeps that of the other dimensions, too: a proof knows no other order of these.
    """
    reduced, count = operation.ints("dimensions"), len(operation.operands) // 2
    if reduced is None:
        return None
    rank = array_shape(operation.operands[0]).rank
    kept = [dim for dim in range(rank) if dim not in reduced]
    order, of_result = _first(given[:count]), _first(wanted)
    if order is None and of_result is not None:
        order = _refilled(identity(rank), [kept[dim] for dim in of_result])
    if order is None:
        return None
    order = _refilled(order, sorted(reduced))
    if count > 1:
        order = _refilled(order, kept)
    result = tuple(kept.index(dim) for dim in order if dim in kept)
    dimensions = tuple(sorted(order.index(dim) for dim in reduced))
    ints = _written(operation, (("dimensions", dimensions),))
    return Roles((order,) * count + (None,) * count, (result,) * len(wanted), ints)


class _Side(NamedTuple):
    """The batch and summed dimensions of one operand of a dot, in their sequence, and the others."""

    batch: Order
    summed: Order
    free: Order


def dot(operation: Operation, given: Known, wanted: Known) -> Roles | None:
    """Renumbers the dimensions of a dot: its result has the batch first, then those of each operand."""
    sides = _side(operation, 0, "lhs"), _side(operation, 1, "rhs")
    if not sides[0].summed and not sides[0].batch and not _has_numbers(operation):
        return None
    of_result = wanted[0]
    orders = [each or identity(_rank(operation, i)) for i, each in enumerate(given)]
    if of_result is not None and _is_grouped(of_result, sides):
        for i, columns in enumerate(_columns_of(sides)):
            if given[i] is None:
                orders[i] = _refilled(orders[i], [columns[dim] for dim in of_result if dim in columns])
    lhs, rhs = orders
    pairs = sorted(zip(sides[0].batch, sides[1].batch, strict=True), key=lambda pair: lhs.index(pair[0]))
    batch = [sides[0].batch.index(pair[0]) for pair in pairs]
    free = [[order.index(dim) for dim in side.free] for order, side in zip(orders, sides, strict=True)]
    result = (
        *batch,
        *(len(batch) + place for place in _ranks(free[0])),
        *(len(batch) + len(free[0]) + place for place in _ranks(free[1])),
    )
    ints = (
        ("lhs_batch_dims", tuple(lhs.index(pair[0]) for pair in pairs)),
        ("rhs_batch_dims", tuple(rhs.index(pair[1]) for pair in pairs)),
        ("lhs_contracting_dims", tuple(lhs.index(dim) for dim in sides[0].summed)),
        ("rhs_contracting_dims", tuple(rhs.index(dim) for dim in sides[1].summed)),
    )
    return Roles((lhs, rhs), (result,), _written(operation, ints))


def _has_numbers(operation: Operation) -> bool:
    return operation.ints("lhs_contracting_dims") is not None


def _side(operation: Operation, number: int, name: str) -> _Side:
    batch, summed = (operation.ints(f"{name}_{each}_dims") or () for each in ("batch", "contracting"))
    free = (dim for dim in range(_rank(operation, number)) if dim not in (*batch, *summed))
    return _Side(batch, summed, tuple(free))


def _is_grouped(order: Order, sides: tuple[_Side, _Side]) -> bool:
    """Is true if an order of the result has the batch first, then the dimensions of each operand."""
    batch, rows = len(sides[0].batch), len(sides[0].free)
    groups = [(dim >= batch) + (dim >= batch + rows) for dim in order]
    return groups == sorted(groups)


def _columns_of(sides: tuple[_Side, _Side]) -> tuple[dict[int, int], dict[int, int]]:
    """Returns for each operand of a dot its dimension for each dimension of the result."""
    batch, rows = len(sides[0].batch), len(sides[0].free)
    first = dict(enumerate((*sides[0].batch, *sides[0].free)))
    second = {**dict(enumerate(sides[1].batch)), **{batch + rows + i: dim for i, dim in enumerate(sides[1].free)}}
    return first, second


def gather(operation: Operation, given: Known, wanted: Known) -> Roles | None:
    """Gathers windows of an array whose dimensions are in another order; the batch keeps its order."""
    fixed = {*_dims(operation, "collapsed_slice_dims"), *_dims(operation, "operand_batching_dims")}
    windows = _Windows(operation, 0, fixed, _dims(operation, "offset_dims"), array_shape(operation.results[0]).rank)
    order, result = windows.orders(given[0], wanted[0])
    sizes = _dims(operation, "slice_sizes")
    ints = (
        ("offset_dims", windows.places(result)),
        ("collapsed_slice_dims", _moved(order, _dims(operation, "collapsed_slice_dims"))),
        *_batching(operation, order, "operand_batching_dims", "start_indices_batching_dims"),
        ("start_index_map", tuple(order.index(dim) for dim in _dims(operation, "start_index_map"))),
        ("slice_sizes", tuple(sizes[dim] for dim in order)),
    )
    return Roles((order, identity(_rank(operation, 1))), (result,), _written(operation, ints))


def scatter(operation: Operation, given: Known, wanted: Known) -> Roles | None:
    """Scatters into an array whose dimensions are in another order; the batch of the updates keeps its order."""
    if len(operation.operands) != len(("array", "indices", "updates")):
        return None
    fixed = {*_dims(operation, "inserted_window_dims"), *_dims(operation, "input_batching_dims")}
    windows = _Windows(operation, 0, fixed, _dims(operation, "update_window_dims"), _rank(operation, 2))
    order, updates = windows.orders(given[0] or wanted[0], given[2])
    ints = (
        ("update_window_dims", windows.places(updates)),
        ("inserted_window_dims", _moved(order, _dims(operation, "inserted_window_dims"))),
        *_batching(operation, order, "input_batching_dims", "scatter_indices_batching_dims"),
        (
            "scatter_dims_to_operand_dims",
            tuple(order.index(dim) for dim in _dims(operation, "scatter_dims_to_operand_dims")),
        ),
    )
    return Roles((order, identity(_rank(operation, 1)), updates), (order,), _written(operation, ints))


class _Windows:
    """The dimensions of an array whose windows are read or written, and of these windows."""

    def __init__(self, operation: Operation, number: int, fixed: set[int], places: Order, rank: int) -> None:
        self.array = identity(_rank(operation, number))
        # The dimension of the array for each window dimension.
        self.kept = [dim for dim in self.array if dim not in fixed]
        self.windows, self.rank = places, rank
        self.batch = [dim for dim in range(rank) if dim not in places]

    def orders(self, array: Order | None, windows: Order | None) -> tuple[Order, Order]:
        """Returns the orders of the array and of the windows where one or both are wanted; the array decides."""
        if windows is not None and [dim for dim in windows if dim in self.batch] != self.batch:
            windows = None
        if array is None and windows is not None:
            array = self._array(windows)
        array = array or self.array
        sequence = [self.windows[self.kept.index(dim)] for dim in array if dim in self.kept]
        if windows is not None:
            return array, _refilled(windows, sequence)
        count = len(_leading(array, self.kept))
        if count == len(_leading(self.array, self.kept)):
            return array, _refilled(identity(self.rank), sequence)
        return array, (*sequence[:count], *self.batch, *sequence[count:])

    def _array(self, windows: Order) -> Order:
        """Returns the order of the array in which the window's dimensions are where the windows have them."""
        sequence = [self.kept[self.windows.index(dim)] for dim in windows if dim in self.windows]
        count = len(_leading(windows, self.windows))
        if count == len(_leading(identity(self.rank), self.windows)):
            return _refilled(self.array, sequence)
        return (*sequence[:count], *(dim for dim in self.array if dim not in self.kept), *sequence[count:])

    def places(self, windows: Order) -> Order:
        """Returns the window dimensions in an order of the windows."""
        return tuple(i for i, dim in enumerate(windows) if dim in self.windows)


def _batching(operation: Operation, order: Order, ours: str, theirs: str) -> tuple[NamedInts, NamedInts]:
    """Returns the batching dimensions of an array, ascending, with those of the indices in the same sequence."""
    pairs = zip((order.index(dim) for dim in _dims(operation, ours)), _dims(operation, theirs), strict=True)
    listed = sorted(pairs)
    return (ours, tuple(pair[0] for pair in listed)), (theirs, tuple(pair[1] for pair in listed))


def _written(operation: Operation, ints: Iterable[NamedInts]) -> tuple[NamedInts, ...]:
    """Returns the attributes that change; HLO leaves out empty ones."""
    return tuple((name, values) for name, values in ints if values != (operation.ints(name) or ()))


def _dims(operation: Operation, name: str) -> Order:
    return operation.ints(name) or ()


def _rank(operation: Operation, number: int) -> int:
    return array_shape(operation.operands[number]).rank


def _moved(order: Order, dims: Iterable[int]) -> Order:
    return tuple(sorted(order.index(dim) for dim in dims))


def _refilled(order: Order, sequence: Sequence[int]) -> Order:
    """Returns an order whose dimensions that `sequence` has are in that sequence, at the places that they take."""
    following = iter(sequence)
    return tuple(next(following) if dim in sequence else dim for dim in order)


def _ranks(places: Sequence[int]) -> list[int]:
    """Returns the numbers of places in ascending order of the places."""
    return sorted(range(len(places)), key=places.__getitem__)


def _leading(order: Order, dims: Sequence[int]) -> list[int]:
    """Returns the dimensions of an order up to the first one that is not in `dims`."""
    return [*takewhile(dims.__contains__, order)]


def _first(orders: Iterable[Order | None]) -> Order | None:
    return next((order for order in orders if order is not None), None)
