"""The inverse of the physical plan: from a movement back to the tiled layout that it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.movement import Movement, is_identity, normal_form
from dialect_utils.layout.plan import Plan, physical_plan
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.steps import Reshape

_BYTE = 8
# Layouts of more dimensions or with more tile dimensions are not searched for.
_MOST_DIMENSIONS = 6
_MOST_TILE_DIMENSIONS = 8


def is_put_of(shape: ArrayShape, movement: Movement) -> bool:
    """Is true where a movement puts the array of a shape exactly into the shape's physical array.

    Paddings are compared by place, not by contents.
    """
    try:
        plan = physical_plan(shape)
    except ValueError:
        return False
    start = (movement.plan.element_type, movement.plan.dimensions)
    if start != (shape.element_type, shape.dimensions) or movement.plan.result != plan.result:
        return False
    found, wanted = Movement(movement.plan), Movement(plan)
    # Both ways: dropping an element or adding a definite one shows in one of them.
    there = Movement(found.plan.then(plan.inverse()))
    back = Movement(plan.then(found.plan.inverse()))
    return normal_form(found) == normal_form(wanted) or (is_identity(there) and is_identity(back))


@lru_cache(maxsize=4096)
def try_tiled_layout(movement: Movement) -> Layout | None:
    """Returns the tiled layout whose physical array a movement makes, or None where there is none.

    Of several the one with the fewest tiles, then the greatest minor_to_major. Tiles that
    combine dimensions (`*`) or match them (`d`), split configs and alignments are not found:
    structure does not tell them. Nor do reshapes alone: any array can be reshaped and back.
    """
    plan = movement.plan
    if (
        all(isinstance(step, Reshape) for step in normal_form(movement).plan.steps)
        or len(plan.dimensions) > _MOST_DIMENSIONS
        or 0 in plan.dimensions
    ):
        return None
    return next((layout for layout in _candidates(plan) if _fits(plan, layout, movement)), None)


def _fits(plan: Plan, layout: Layout, movement: Movement) -> bool:
    return is_put_of(ArrayShape(plan.element_type, plan.dimensions, layout), movement)


@dataclass(frozen=True, slots=True)
class _Tiling:
    """Is a list of tiles and the sizes, in physical order, that they were applied to (padded)."""

    sizes: tuple[int, ...]
    tiles: tuple[Tile, ...] = ()


def _candidates(plan: Plan) -> Iterator[Layout]:
    """Yields layouts whose final dimensions could be the plan's result."""
    rank = len(plan.dimensions)
    bits = 0 if plan.result[0] == plan.element_type else plan.element_type.bits
    for final in _finals(plan):
        if not 0 < len(final) - rank <= _MOST_TILE_DIMENSIONS:
            continue
        for tiling in sorted(_tilings(_Tiling(final), rank), key=lambda tiling: len(tiling.tiles)):
            for order in _orders(plan.dimensions, tiling.sizes):
                yield Layout(order, tiling.tiles, element_size_in_bits=bits)


def _finals(plan: Plan) -> Iterator[tuple[int, ...]]:
    """Yields what the final dimensions in elements can be."""
    element_type, dimensions = plan.result
    if element_type == plan.element_type:
        yield dimensions
        return
    bits = plan.element_type.bits
    if element_type != ELEMENT_TYPES["u8"] or _BYTE % bits or not dimensions:
        return
    elements = (*dimensions[:-1], dimensions[-1] * (_BYTE // bits))
    yield elements
    # Packing swallows unit dimensions at the end, such as that of a tile (8,1).
    yield (*elements, 1)


def _tilings(tiling: _Tiling, rank: int) -> Iterator[_Tiling]:
    """Yields every way to undo tiles, last one first, until `rank` dimensions are left."""
    sizes = tiling.sizes
    if len(sizes) == rank or (tiling.tiles and _is_widened(tiling, rank)):
        yield _Tiling(sizes[len(sizes) - rank :], tiling.tiles)
    for count in range(1, len(sizes) // 2 + 1):
        if len(sizes) - count < rank:
            break
        tile = sizes[len(sizes) - count :]
        if min(tile) < 1:
            continue
        outer = sizes[: len(sizes) - count]
        merged = tuple(size * t for size, t in zip(outer[-count:], tile, strict=True))
        yield from _tilings(_Tiling(outer[:-count] + merged, (Tile(tile), *tiling.tiles)), rank)


def _is_widened(tiling: _Tiling, rank: int) -> bool:
    """Is true where the first tile has more dimensions than the array, which got unit dimensions for it."""
    first = tiling.tiles[0].dimensions
    return len(first) == len(tiling.sizes) > rank and tiling.sizes[: len(first) - rank] == first[: len(first) - rank]


def _orders(dimensions: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yields the minor_to_major under which every dimension fits into its padded size, the greatest first."""
    for order in permutations(range(len(dimensions) - 1, -1, -1)):
        if all(dimensions[dim] <= size for dim, size in zip(reversed(order), sizes, strict=True)):
            yield order
