"""What an array's padding is made of: which dimension grows, by which tile."""

from __future__ import annotations

from dataclasses import dataclass

from dialect_utils.layout import ArrayShape
from dialect_utils.layout.layout import COMBINE, MATCH


@dataclass(frozen=True, slots=True)
class PaddedDimension:
    """One dimension that a tile makes larger: its number, its size, and the size it takes."""

    dimension: int
    size: int
    padded: int
    tile: int

    @property
    def factor(self) -> float:
        """Returns how many times larger it gets."""
        return self.padded / self.size

    def __str__(self) -> str:
        """Returns e.g. `dimension 1: 3 -> 128 (tile 128, 42.7x)`."""
        return f"dimension {self.dimension}: {self.size} -> {self.padded} (tile {self.tile}, {self.factor:.3g}x)"


def padded_dimensions(shape: ArrayShape) -> tuple[PaddedDimension, ...]:
    """Returns the dimensions that the first tile of a layout enlarges, the largest factor first.

    The later tiles divide the first one in every layout the TPU compiler writes. A tile that merges dimensions (`*`)
    or an array without a tile or without elements gives none.
    """
    layout = shape.layout
    if layout is None or not layout.tiles or 0 in shape.dimensions:
        return ()
    tile = layout.tiles[0].dimensions
    if COMBINE in tile or MATCH in tile or not shape.is_static:
        return ()
    found = []
    for place, length in enumerate(reversed(tile[-shape.rank :] if shape.rank else ())):
        dimension = layout.minor_to_major[place]
        size = shape.dimensions[dimension]
        padded = -(-size // length) * length
        if padded > size:
            found.append(PaddedDimension(dimension, size, padded, length))
    return tuple(sorted(found, key=lambda each: -each.factor))
