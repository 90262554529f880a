"""Shapes without their tiles: of values, and of their bytes."""

from __future__ import annotations

from dialect_utils.layout.layout import Layout
from dialect_utils.layout.moves.physical import physical_shape
from dialect_utils.layout.shape import ArrayShape, Shape


def has_tiles(shape: Shape) -> bool:
    """Is true where a static array in the shape is tiled, packed or padded by its layout."""
    return any(map(_is_tiled, shape.arrays()))


def untiled(shape: Shape) -> Shape:
    """Returns the shape with every tiled static array in the descending layout, the others untouched."""
    return shape.map_arrays(lambda a: a.with_layout(Layout.descending(a.rank)) if _is_tiled(a) else a)


def physical_leaves(shape: Shape) -> Shape:
    """Returns the shape with the physical array of every tiled static array in its place."""
    return shape.map_arrays(lambda array: physical_shape(array) if _is_tiled(array) else array)


def _is_tiled(array: ArrayShape) -> bool:
    return array.is_tiled and array.is_static
