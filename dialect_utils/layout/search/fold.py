"""The inverse of `physical_plan`: from a plan back to a layout that it stands for.

Tiles are read off the plan's last dimensions, the last tile first; every candidate is tried at a few
elements, and the first that fits is proved at all of them. What a pass may fold in a
module is stricter: see `packs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, permutations, product
from math import prod

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.index.index_map import final_dimensions, linear_index
from dialect_utils.layout.index.places import follow, unit_bits
from dialect_utils.layout.layout import COMBINE, Layout, Tile
from dialect_utils.layout.moves.packs import Tiling
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Pad
from dialect_utils.layout.shape import ArrayShape

_BYTE = 8
# Bounds of the search: tilings times orders for a number of tiles, tiles in a row, array dimensions.
_MOST_TILINGS = 1_500
_MOST_TILES = 4
_MOST_DIMENSIONS = 6
# A tile longer than what it meets pads it; up to this length the shorter sizes are tried too.
_LONGEST_OVERHANG = 8


@lru_cache(maxsize=1024)
def fold(plan: Plan) -> Layout | None:
    """Returns a layout under which the plan makes the physical array, or None where none was found.

    Of several the one with the fewest tiles, then the greatest minor_to_major. It answers for
    the result's dimensions and for the place of every element; padding contents do not count. A plan
    that pads more than tiles do gets legacy padded_dimensions. `*` is found in the first tile, `d` as
    the size it meets. None for more than six dimensions, for arrays without elements, and where the search,
    which is bounded, ends.
    """
    if 0 in plan.dimensions or len(plan.dimensions) > _MOST_DIMENSIONS:
        return None
    if any(isinstance(step, Pad) and (any(step.low) or step.interior) for step in plan.steps):
        return None
    return next((layout for layout in _candidates(plan) if _stands(plan, layout)), None) or _fold_behind_pad(plan)


def _fold_behind_pad(plan: Plan) -> Layout | None:
    """Returns the layout of what follows the first pad, with legacy padded_dimensions for the pad."""
    if not plan.steps or not isinstance(plan.steps[0], Pad):
        return None
    padded = tuple(size + high for size, high in zip(plan.dimensions, plan.steps[0].high, strict=True))
    layout = fold(Plan(plan.element_type, padded, plan.steps[1:]))
    if layout is None or layout.padded_dimensions is not None:
        return None
    return layout.replace(padded_dimensions=padded)


def _stands(plan: Plan, layout: Layout) -> bool:
    """Is true where the layout says what the plan does: at sample elements first, then at all."""
    shape = ArrayShape(plan.element_type, plan.dimensions, layout)
    bits = unit_bits(plan)
    result_type, dims = plan.result
    for index in _samples(plan.dimensions):
        places = follow(plan, index, 0, bits)
        linear = 0
        for coordinate, size in zip(places.coordinates, dims, strict=True):
            linear = linear * size + coordinate
        slot = linear * (result_type.bits // bits) + places.unit
        if slot != linear_index(shape, index) * (plan.element_type.bits // bits):
            return False
    from dialect_utils.layout.proof.bitcast_proof import prove_layout

    return prove_layout(plan, shape).holds


def _samples(dimensions: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Returns corners and steps by powers of two."""
    found = set(islice(product(*({0, size - 1} for size in dimensions)), 256))
    for dim, size in enumerate(dimensions):
        for step in (1 << k for k in range(max(0, size - 1).bit_length())):
            found.add((*(0,) * dim, min(step, size - 1), *(0,) * (len(dimensions) - dim - 1)))
    return sorted(found)


def _candidates(plan: Plan) -> Iterator[Layout]:
    """Yields layouts whose final dimensions are those of the plan's result, the plainest first."""
    bits = 0 if plan.result[0] == plan.element_type else plan.element_type.bits
    if bits and (plan.result[0] != ELEMENT_TYPES["u8"] or _BYTE % bits):
        return
    orders = list(permutations(range(len(plan.dimensions) - 1, -1, -1)))
    for final in _final_dimensions(plan, bits):
        for count in range(_MOST_TILES + 1):
            for tiling in islice(_tilings(Tiling(final), count), _MOST_TILINGS // len(orders)):
                for order in orders:
                    yield from _laid_out(plan.dimensions, order, tiling, final, bits)
    if bits:
        yield from (Layout(order, element_size_in_bits=bits) for order in orders)


def _final_dimensions(plan: Plan, bits: int) -> list[tuple[int, ...]]:
    """Returns what the result's dimensions may have been before bits were packed: the last ones do not show."""
    dims = plan.result[1]
    if not bits:
        return [dims]
    if not dims:
        return []
    per_byte = _BYTE // bits
    rest, last = dims[:-1], dims[-1] * per_byte
    split = [(last // b, b) for b in range(2, last) if last % b == 0 and b % per_byte]
    return [(*rest, *tail) for tail in [(last,), (last, 1), (last, 1, 1), *split]]


def _tilings(tiling: Tiling, tiles: int) -> Iterator[Tiling]:
    """Yields every way to undo so many tiles, last one first."""
    if tiles == 0:
        yield tiling
        return
    for pieces, tile in tiling.last_tiles():
        # What the first tile met is the array's own dimensions; there every shorter size is a guess too many.
        choices = [_undone(a, t) if tiles > 1 else [a * t] for a, t in zip(pieces, tile, strict=True)]
        for met in product(*choices):
            yield from _tilings(tiling.without(tile, met), tiles - 1)


def _undone(count: int, t: int) -> list[int]:
    """Returns the sizes that a tile of length t cuts into `count` pieces, the whole one first."""
    sizes = [count * t]
    if 1 < t <= _LONGEST_OVERHANG and count == 1:
        sizes += range(t - 1, 0, -1)
    return sizes


def _laid_out(
    dimensions: tuple[int, ...], order: tuple[int, ...], tiling: Tiling, final: tuple[int, ...], bits: int
) -> Iterator[Layout]:
    """Yields layouts of one order: dimensions are matched to the sizes, `*` where several make up one size."""
    physical = [dimensions[i] for i in reversed(order)]
    for groups in _groupings(physical, tiling):
        tiles = tiling.tiles
        if tiles:
            span = len(tiles[0])
            first = [
                entry for g, t in zip(groups[-span:], tiles[0], strict=False) for entry in (*(COMBINE,) * (g - 1), t)
            ]
            tiles = (tuple(first) if len(groups) >= span else tiles[0], *tiles[1:])
        layout = Layout(order, tuple(Tile(tile) for tile in tiles), element_size_in_bits=bits)
        if final_dimensions(dimensions, layout) == final:
            yield layout


def _groupings(physical: list[int], tiling: Tiling) -> Iterator[tuple[int, ...]]:
    """Yields how many dimensions make up each size; sizes before the array are units of a longer tile."""
    sizes, tiles = tiling.sizes, tiling.tiles
    if not tiles:
        if tuple(physical) == sizes:
            yield (1,) * len(sizes)
        return
    extra = len(sizes) - len(physical)
    if extra >= 0:
        if extra == 0 or len(tiles[0]) == len(sizes):
            yield (1,) * len(sizes)
        return
    kept = len(sizes) - len(tiles[0])
    yield from _compositions(physical, list(sizes), kept)


def _compositions(physical: list[int], sizes: list[int], kept: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if not physical:
            yield ()
        return
    longest = 1 if kept > 0 else len(physical) - len(sizes) + 1
    for count in range(1, longest + 1):
        if prod(physical[:count]) > sizes[0]:
            break
        for rest in _compositions(physical[count:], sizes[1:], kept - 1):
            yield (count, *rest)
