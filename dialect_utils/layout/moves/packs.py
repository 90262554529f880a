"""The inverse of the physical plan: from a plan back to the tiled layout that it packs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import prod

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.shape import ArrayShape


@dataclass(frozen=True, slots=True)
class Tiling:
    """A list of tiles and the sizes, in physical order, that they were applied to (padded)."""

    sizes: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...] = ()

    def last_tiles(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yields the candidates for the last tile, shorter ones first: the number of pieces, and the sizes."""
        sizes = self.sizes
        for count in range(1, len(sizes) // 2 + 1):
            tile = sizes[len(sizes) - count :]
            if min(tile) > 0:
                yield sizes[len(sizes) - 2 * count : len(sizes) - count], tile

    def without(self, tile: tuple[int, ...], met: Sequence[int]) -> Tiling:
        """Returns the tiling before its last tile, which was applied to dimensions of the sizes `met`."""
        return Tiling((*self.sizes[: len(self.sizes) - 2 * len(tile)], *met), (tile, *self.tiles))


_BYTE = 8
# The search excludes layouts of more dimensions or with more tile dimensions.
_MOST_DIMENSIONS = 6
_MOST_TILE_DIMENSIONS = 8
_PADDING = "padding"


@lru_cache(maxsize=4096)
def is_pack_of(shape: ArrayShape, plan: Plan) -> bool:
    """Is true where a plan packs the array of a shape exactly into the shape's physical array.

    Paddings are compared by position, not by contents.
    """
    try:
        wanted = physical_plan(shape)
    except ValueError:
        return False
    if (plan.start, plan.result) != (wanted.start, wanted.result):
        return False
    if plan.steps == wanted.steps:
        return True
    # With undefined padding, a slice followed by a pad would be the identity, so the padding value is definite.
    found = plan.with_padding(_PADDING)
    if normal_form(found) == normal_form(wanted.with_padding(_PADDING)):
        return True
    # No step duplicates an element, so if all elements arrive the rest is padding.
    return is_identity(found.then(wanted.inverse()))


@lru_cache(maxsize=4096)
def try_tiled_layout(plan: Plan) -> Layout | None:
    """Returns the tiled layout whose physical array a plan makes, or None where no layout is found.

    Of several layouts, one with the fewest tiles and then the greatest minor_to_major is returned. Tiles that
    combine dimensions (`*`) or match them (`d`), split configs and alignments are not searched: the steps of a
    plan do not show them. A plan of reshapes has no layout: any array can be reshaped and back.
    """
    if len(plan.dimensions) > _MOST_DIMENSIONS or 0 in plan.dimensions:
        return None
    # Reshapes keep the number of elements.
    if prod(plan.dimensions) == prod(plan.result[1]) and {*normal_form(plan).opcodes} <= {"reshape"}:
        return None
    return next((layout for layout in _candidates(plan) if is_pack_of(ArrayShape(*plan.start, layout), plan)), None)


def _candidates(plan: Plan) -> Iterator[Layout]:
    """Yields layouts whose final dimensions could be the plan's result."""
    rank = len(plan.dimensions)
    bits = 0 if plan.result[0] == plan.element_type else plan.element_type.bits
    for final in _finals(plan):
        if not 0 < len(final) - rank <= _MOST_TILE_DIMENSIONS:
            continue
        for tiling in sorted(_tilings(Tiling(final), rank), key=lambda tiling: len(tiling.tiles)):
            for order in _orders(plan.dimensions, tiling.sizes):
                yield Layout(order, tuple(map(Tile, tiling.tiles)), element_size_in_bits=bits)


def _finals(plan: Plan) -> Iterator[tuple[int, ...]]:
    """Yields the possible final dimensions in elements."""
    element_type, dimensions = plan.result
    if element_type == plan.element_type:
        yield dimensions
        return
    bits = plan.element_type.bits
    if element_type != ELEMENT_TYPES["u8"] or _BYTE % bits or not dimensions:
        return
    elements = (*dimensions[:-1], dimensions[-1] * (_BYTE // bits))
    yield elements
    # Packing drops trailing unit dimensions, such as the 1 of a tile (8,1).
    yield (*elements, 1)


def _tilings(tiling: Tiling, rank: int) -> Iterator[Tiling]:
    """Yields every way to undo tiles, last one first, until `rank` dimensions are left."""
    sizes = tiling.sizes
    if len(sizes) == rank or (tiling.tiles and _is_widened(tiling, rank)):
        yield Tiling(sizes[len(sizes) - rank :], tiling.tiles)
    for pieces, tile in tiling.last_tiles():
        if len(sizes) - len(tile) < rank:
            break
        yield from _tilings(tiling.without(tile, [size * t for size, t in zip(pieces, tile, strict=True)]), rank)


def _is_widened(tiling: Tiling, rank: int) -> bool:
    """Is true where the first tile has more dimensions than the array, so unit dimensions were prepended."""
    first = tiling.tiles[0]
    return len(first) == len(tiling.sizes) > rank and tiling.sizes[: len(first) - rank] == first[: len(first) - rank]


def _orders(dimensions: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yields each minor_to_major under which every dimension fits into its padded size, the greatest first."""
    for order in permutations(range(len(dimensions) - 1, -1, -1)):
        if all(dimensions[dim] <= size for dim, size in zip(reversed(order), sizes, strict=True)):
            yield order
