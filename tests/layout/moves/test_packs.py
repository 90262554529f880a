"""Plans that pack an array into a tiled layout, and plans that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.layout import Pad, Reshape, Slice, Step, Transpose, parse_array_shape
from dialect_utils.layout.moves.packs import Tiling, is_pack_of, try_tiled_layout
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan


def tiled(sizes: tuple[int, ...], tile: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the dimensions after a tile, for sizes that the tile divides."""
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


def test_shorter_tiles_come_first_and_empty_ones_are_excluded() -> None:
    assert list(Tiling((2, 3, 4, 5)).last_tiles()) == [((4,), (5,)), ((2, 3), (4, 5))]
    assert list(Tiling((2, 3, 4, 0)).last_tiles()) == []
    assert list(Tiling((7,)).last_tiles()) == []


SHAPE = parse_array_shape("f32[3,5]{1,0:T(2,2)}")
PACK = physical_plan(SHAPE)
SPLIT = PACK.steps[1:]


def plan(*steps: Step) -> Plan:
    return Plan(SHAPE.element_type, SHAPE.dimensions, steps)


@pytest.mark.parametrize(
    "steps",
    [
        PACK.steps,
        (Pad((0, 0), (0, 1)), Pad((0, 0), (1, 0)), *SPLIT),
        # The slice removes only elements that the pad added.
        (Pad((0, 0), (5, 5)), Slice((0, 0), (4, 6)), *SPLIT),
        (Pad((0, 0), (1, 1)), Slice((0, 0), (3, 5)), Pad((0, 0), (1, 1)), *SPLIT),
    ],
)
def test_packs(steps: tuple[Step, ...]) -> None:
    assert is_pack_of(SHAPE, plan(*steps))


@pytest.mark.parametrize(
    "steps",
    [
        # Padding replaces the last row.
        (Slice((0, 0), (2, 5)), Pad((0, 0), (2, 1)), *SPLIT),
        (Pad((0, 0), (1, 1)), Slice((0, 0), (2, 6)), Pad((0, 0), (2, 0)), *SPLIT),
        # Padding at the low end moves every element.
        (Pad((1, 0), (0, 1)), *SPLIT),
        (Pad((0, 0), (1, 1)), Reshape((2, 2, 3, 2)), Transpose((0, 2, 3, 1))),
        (Pad((0, 0), (1, 1)), Reshape((2, 2, 3, 2))),
    ],
)
def test_a_plan_that_drops_or_moves_an_element_is_no_pack(steps: tuple[Step, ...]) -> None:
    assert not is_pack_of(SHAPE, plan(*steps))


def test_a_plan_of_another_array_is_no_pack() -> None:
    bare = SHAPE.without_layout
    assert is_pack_of(bare, plan())
    assert not is_pack_of(bare, plan(Reshape((15,))))
    assert not is_pack_of(parse_array_shape("f32[5,3]{1,0:T(2,2)}"), PACK)


@pytest.mark.parametrize(
    "text",
    [
        "f32[3,5]{1,0:T(2,2)}",
        "f32[3,5]{0,1:T(2,2)}",
        "bf16[9,130]{1,0:T(8,128)(2,1)}",
        "f32[5]{0:T(2,4)}",
        "s4[16,256]{1,0:T(8,128)(8,1)E(4)}",
        "s2[3]{0:T(2048)(128)(16,1)E(2)}",
    ],
)
def test_the_layout_of_a_pack_is_found(text: str) -> None:
    shape = parse_array_shape(text)
    assert str(try_tiled_layout(physical_plan(shape))) == str(shape.layout)


@pytest.mark.parametrize(
    "steps",
    [(Reshape((5, 3)),), (Transpose((1, 0)),), (Slice((0, 0), (2, 5)), Pad((0, 0), (2, 1)), *SPLIT)],
)
def test_no_layout_is_found_for_plans_without_one(steps: tuple[Step, ...]) -> None:
    assert try_tiled_layout(plan(*steps)) is None
