"""Orders of dimensions that save padded bytes on a TPU, by a model of what the program stores."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache

from dialect_utils.ir import Module, Value, array_shape
from dialect_utils.ir.chains import is_plain
from dialect_utils.ir.factors import Order, identity, value_at
from dialect_utils.layout import ArrayShape, Layout
from dialect_utils.layout.targets.tpu import allocation_bytes, default_layout, laid_out
from passes.shapes.orders.region import Joins, Region

# So many values with the most padding are looked at, each with up to two orders.
_MOST_VALUES = 20
_MOST = 10
# A value that saves less than this part of what the first one saves is not looked at.
_LEAST_PART = 1e-3


def ranked(module: Module, joins: Joins, target: str) -> list[tuple[Value, Order]]:
    """Returns values and orders whose regions save bytes, those that save the most first."""
    found: dict[Hashable, tuple[int, Value, Order]] = {}
    regions: list[Region] = []
    for value in _padded(module, target):
        for order in _orders(array_shape(value), target):
            if any(each.orders.get(value) == order for each in regions):
                continue
            region = Region(joins)
            region.spread(value, order)
            regions.append(region)
            saved = _saved(region, target)
            if saved > 0 and region.changes:
                found.setdefault(region.changes, (saved, value, order))
    best = sorted(found.values(), key=lambda each: -each[0])
    return [(value, order) for _, value, order in best[:_MOST]]


def _padded(module: Module, target: str) -> list[Value]:
    """Returns the values that another order makes smaller, those with the most bytes to save first."""
    saved: dict[Value, int] = {}
    for function in module.functions:
        if not function.is_embedded:
            for value in function.values():
                if is_plain(value) and array_shape(value).rank > 1:
                    bytes_ = _most_saved(array_shape(value), target)
                    if bytes_:
                        saved[value] = bytes_
    least = _LEAST_PART * max(saved.values(), default=0)
    listed = sorted(saved, key=lambda value: -saved[value])
    return [value for value in listed if saved[value] >= least][:_MOST_VALUES]


@lru_cache(maxsize=1 << 12)
def _most_saved(shape: ArrayShape, target: str) -> int:
    return stored_bytes(shape, identity(shape.rank), target) - min(
        stored_bytes(shape, order, target) for order in _orders(shape, target)
    )


def _orders(shape: ArrayShape, target: str) -> Iterator[Order]:
    """Yields the order of the target's own layout, and the one that moves the last dimension to the front."""
    rank = shape.rank
    own = default_layout(shape.element_type, shape.dimensions, target).major_to_minor
    front = (rank - 1, *range(rank - 1))
    yield own if own != identity(rank) else front
    if own not in (identity(rank), front):
        yield front


@lru_cache(maxsize=1 << 12)
def stored_bytes(shape: ArrayShape, order: Order, target: str) -> int:
    """Returns the padded bytes of an array whose dimensions are in an order, the last one most minor."""
    dimensions = tuple(shape.dimensions[dim] for dim in order)
    descending = Layout.descending(len(dimensions)).minor_to_major
    return allocation_bytes(laid_out(ArrayShape(shape.element_type, dimensions), descending, target), target)


def _saved(region: Region, target: str) -> int:
    """Returns the padded bytes that a region saves, less those that the transposes around it read and write."""
    saved = sum(_change(value, order, target) for value, order in region.orders.items())
    moved = {value: order for value, order in region.orders.items() if region.leaves(value)}
    for operation, found in region.fits.items():
        for position, order in found.items():
            value = value_at(operation, position)
            if position >= 0 and order != region.orders.get(value, identity(len(order))):
                moved[value] = order
    return saved - sum(_both(value, order, target) for value, order in moved.items())


def _change(value: Value, order: Order, target: str) -> int:
    shape = array_shape(value)
    return stored_bytes(shape, identity(shape.rank), target) - stored_bytes(shape, order, target)


def _both(value: Value, order: Order, target: str) -> int:
    shape = array_shape(value)
    return stored_bytes(shape, identity(shape.rank), target) + stored_bytes(shape, order, target)
