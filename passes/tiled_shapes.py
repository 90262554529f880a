"""Shapes without their tiles: as values are, and as their bytes lie."""

from __future__ import annotations

from dialect_utils.layout import ArrayShape, Layout, Shape, array_leaves, map_arrays, physical_shape


def has_tiles(shape: Shape) -> bool:
    """Is true where a static array in the shape is tiled, packed or padded by its layout."""
    return any(map(_is_tiled, array_leaves(shape)))


def untiled(shape: Shape) -> Shape:
    """Returns the shape with every tiled static array in the descending layout, the others untouched."""
    return map_arrays(shape, lambda a: a.with_layout(Layout.descending(a.rank)) if _is_tiled(a) else a)


def physical_leaves(shape: Shape) -> Shape:
    """Returns the shape with the physical array of every tiled static array in its place."""
    return map_arrays(shape, lambda array: physical_shape(array) if _is_tiled(array) else array)


def _is_tiled(array: ArrayShape) -> bool:
    return array.is_tiled and array.is_static
