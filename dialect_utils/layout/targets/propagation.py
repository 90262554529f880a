"""Layouts that one value of an op suggests for another: each function maps a laid-out array to the other's layout.

All functions return None where they suggest only the descending order. Tiles are carried over if the elements of both
values take equally many bits in memory and the tiled dimensions stay together: a tile of (8,128)(2,1) is made for 16
bits and implies nothing for 32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import takewhile

from dialect_utils.layout.index.index_map import element_slot_bits
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.moves.bitcast import is_bitcast
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Reshape
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.xla_compat import align_layouts

Propagation = Callable[[ArrayShape, ArrayShape], Layout | None]
# A module has few distinct shapes.
_remembered = lru_cache(maxsize=1 << 12)


@_remembered
def propagate_same(source: ArrayShape, target: ArrayShape) -> Layout | None:
    """Returns the layout for a value with corresponding dimensions."""
    return _carried(source, target, source.effective_layout.minor_to_major)


@_remembered
def propagate_transposed(source: ArrayShape, target: ArrayShape, permutation: tuple[int, ...]) -> Layout | None:
    """Returns the layout that moves no element when dimension `permutation[i]` becomes dimension i."""
    order = tuple(permutation.index(dim) for dim in source.effective_layout.minor_to_major)
    return _carried(source, target, order)


@_remembered
def propagate_reshaped(source: ArrayShape, target: ArrayShape) -> Layout | None:
    """Returns the layout under which a reshape moves no byte, without tiles if those must go, or None.

    The order is that of ShapeUtil::AlignLayouts (xla/shape_util.cc).
    """
    aligned = align_layouts(source, target.dimensions)
    if aligned is None:
        return None
    plan = Plan(source.element_type, source.dimensions, (Reshape(target.dimensions),))
    order = aligned.effective_layout.minor_to_major
    tiled = _carried(source, target, order)
    if tiled is not None and is_bitcast(source, plan, target.with_layout(tiled)):
        return tiled
    untiled = source.with_layout(Layout(source.effective_layout.minor_to_major))
    if is_bitcast(untiled, plan, target.without_layout):
        return None
    return Layout(order) if is_bitcast(untiled, plan, target.with_layout(Layout(order))) else None


@_remembered
def propagate_broadcast(source: ArrayShape, target: ArrayShape, dimensions: tuple[int, ...]) -> Layout | None:
    """Returns the layout of a broadcast in which the operand's dimensions keep their order.

    Dimension i of the operand is `dimensions[i]` of the result; new dimensions keep their descending positions.
    """
    major_to_minor = list(range(target.rank))
    for position, dim in zip(sorted(dimensions), source.effective_layout.major_to_minor, strict=True):
        major_to_minor[position] = dimensions[dim]
    order = tuple(reversed(major_to_minor))
    together = _common_minor(order, [dimensions[dim] for dim in source.effective_layout.minor_to_major])
    return _carried(source, target, order, together)


@_remembered
def propagate_unbroadcast(source: ArrayShape, target: ArrayShape, dimensions: tuple[int, ...]) -> Layout | None:
    """Returns the layout of a broadcast's operand in which its dimensions have the order of the result."""
    order = tuple(dimensions.index(dim) for dim in source.effective_layout.minor_to_major if dim in dimensions)
    together = _common_minor(source.effective_layout.minor_to_major, [dimensions[dim] for dim in order])
    return _carried(source, target, order, together)


def agree(source: ArrayShape, target: ArrayShape) -> bool:
    """Is true where two values of equal dimensions have the same order, and the same tiles if equally wide."""
    a, b = source.effective_layout, target.effective_layout
    if a.minor_to_major != b.minor_to_major:
        return False
    if element_slot_bits(source) != element_slot_bits(target):
        return True
    return (a.tiles, a.element_size_in_bits) == (b.tiles, b.element_size_in_bits)


def laid_out_like(shape: ArrayShape, model: ArrayShape) -> ArrayShape:
    """Returns the shape with the order, and if equally wide the tiles, of `model`; it keeps its memory space."""
    layout, other = shape.effective_layout, model.effective_layout
    wanted = layout.replace(minor_to_major=other.minor_to_major)
    if element_slot_bits(shape) == element_slot_bits(model):
        wanted = wanted.replace(tiles=other.tiles, element_size_in_bits=other.element_size_in_bits)
    return shape.with_layout(wanted)


def is_unconstrained(shape: ArrayShape) -> bool:
    """Is true where a layout is the default, in any memory space, or not written."""
    return shape.layout is None or shape.layout.in_default_memory.is_default


def _carried(
    source: ArrayShape, target: ArrayShape, order: tuple[int, ...], together: int | None = None
) -> Layout | None:
    """Returns a layout of an order, with the source's tiles if the `together` most minor dimensions hold them."""
    layout = source.effective_layout
    packed, tiles = 0, layout.tiles
    if layout.element_size_in_bits and source.element_type.bits == target.element_type.bits:
        packed = layout.element_size_in_bits
    elif layout.element_size_in_bits or source.element_type.storage_bits != target.element_type.storage_bits:
        tiles = ()
    # TPUs tile vectors by (128), all other arrays in two dimensions.
    is_of_vectors = source.rank < 2 <= target.rank
    if is_of_vectors or (together is not None and not _stays_within(tiles, together)):
        tiles = ()
    found = Layout(order, tiles, element_size_in_bits=packed)
    return None if found.is_default else found


def _stays_within(tiles: tuple[Tile, ...], count: int) -> bool:
    """Is true where tiles touch only the `count` most minor dimensions."""
    if not tiles:
        return True
    first = len(tiles[0].dimensions)
    # A later tile applies to two dimensions for each one that the first tile has split.
    return first <= count and all(len(tile.dimensions) <= 2 * first for tile in tiles[1:])


def _common_minor(order: Sequence[int], dimensions: Sequence[int]) -> int:
    """Returns the number of most minor dimensions that both lists share; both begin with the most minor."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(order, dimensions, strict=False)))
