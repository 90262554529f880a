"""Tiles undone: what sizes a row of tiles was applied to, read off the dimensions it left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tiling:
    """A list of tiles and the sizes, in physical order, that they were applied to (padded)."""

    sizes: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...] = ()

    def last_tiles(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yields what the last tile may have been, shorter ones first: how many pieces it cut, and its sizes."""
        sizes = self.sizes
        for count in range(1, len(sizes) // 2 + 1):
            tile = sizes[len(sizes) - count :]
            if min(tile) > 0:
                yield sizes[len(sizes) - 2 * count : len(sizes) - count], tile

    def without(self, tile: tuple[int, ...], met: Sequence[int]) -> Tiling:
        """Returns the tiling before a last tile, which was applied to dimensions of the sizes `met`."""
        return Tiling((*self.sizes[: len(self.sizes) - 2 * len(tile)], *met), (tile, *self.tiles))
