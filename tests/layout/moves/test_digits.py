"""The steps of tiles against the definition of tiles, at every index."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings

from dialect_utils.layout import ArrayShape, Plan, parse_array_shape, parse_element_type
from dialect_utils.layout.arrays.interpret import run_plan
from dialect_utils.layout.index.index_map import final_dimensions, physical_element_count, physical_index
from dialect_utils.layout.moves.digits import LATE_PADS, Digits, LatePads
from tests.layout.shapes import GIVEN, tiled_shapes

S32 = parse_element_type("s32")
MOST = 3000


def check(shape: ArrayShape, late: LatePads) -> None:
    layout = shape.effective_layout
    digits = Digits(shape.dimensions, layout.major_to_minor, late)
    for tile in layout.tiles:
        digits.tile(tile)
    numbers = np.arange(prod(shape.dimensions), dtype=np.int32).reshape(shape.dimensions)
    found = run_plan(Plan(S32, shape.dimensions, digits.finish()), numbers, padding_bits=0xFFFFFFFF)
    assert found.shape == final_dimensions(shape.dimensions, layout)
    expected = np.full(found.shape, -1, np.int32)
    for index in np.ndindex(shape.dimensions):
        expected[tuple(physical_index(shape, index))] = numbers[index]
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("late", LATE_PADS)
def test_given_shapes(late: LatePads) -> None:
    for shape in GIVEN:
        if shape.effective_layout.padded_dimensions is None and physical_element_count(shape) <= MOST:
            check(shape, late)


@given(tiled_shapes(largest=5))
@settings(max_examples=30, deadline=None)
def test_drawn_shapes(shape: ArrayShape) -> None:
    assume(physical_element_count(shape) <= MOST)
    for late in LATE_PADS:
        check(shape, late)


def test_another_tile_is_noticed() -> None:
    digits = Digits((4, 4), (0, 1), LATE_PADS[0])
    digits.tile(parse_array_shape("f32[4,4]{1,0:T(2,2)}").effective_layout.tiles[0])
    steps = digits.finish()
    numbers = np.arange(16, dtype=np.int32).reshape(4, 4)
    assert run_plan(Plan(S32, (4, 4), steps), numbers).reshape(-1).tolist()[:6] == [0, 1, 4, 5, 2, 3]


@pytest.mark.parametrize(("size", "holds"), [(2, True), (3, True), (4, False), (6, True)])
def test_groups_are_split_off_where_they_are_whole(size: int, holds: bool) -> None:
    digits = Digits((5, 6), (0, 1), LATE_PADS[0])
    assert digits.split_minor(size) is holds
    dimensions = Plan(S32, (5, 6), digits.finish()).result[1]
    assert dimensions == ((5, 6 // size, size) if holds else (5, 6))
