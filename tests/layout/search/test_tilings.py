"""Tilings undone, tile by tile, against applying them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dialect_utils.layout.search.tilings import Tiling


def tiled(sizes: tuple[int, ...], tile: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the dimensions that a tile leaves of sizes that it divides."""
    kept, cut = sizes[: len(sizes) - len(tile)], sizes[len(sizes) - len(tile) :]
    return (*kept, *(size // t for size, t in zip(cut, tile, strict=True)), *tile)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=3), st.integers(0, 2))
@settings(max_examples=30, deadline=None)
def test_a_tile_that_was_applied_is_among_those_that_may_have_been(cut: list[tuple[int, int]], kept: int) -> None:
    tile = tuple(t for _, t in cut)
    sizes = (5,) * kept + tuple(count * t for count, t in cut)
    found = Tiling(tiled(sizes, tile))
    counts = tuple(count for count, _ in cut)
    assert (counts, tile) in list(found.last_tiles())
    before = found.without(tile, sizes[kept:])
    assert (before.sizes, before.tiles) == (sizes, (tile,))


def test_shorter_tiles_come_first_and_empty_ones_are_none() -> None:
    assert list(Tiling((2, 3, 4, 5)).last_tiles()) == [((4,), (5,)), ((2, 3), (4, 5))]
    assert list(Tiling((2, 3, 4, 0)).last_tiles()) == []
    assert list(Tiling((7,)).last_tiles()) == []
