"""Physical plans: against the definition of tiles at every index, there and back, and bytes read as another array."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings

from dialect_utils.layout import ArrayShape, parse_array_shape, parse_element_type, parse_shape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.index.index_map import final_dimensions, linear_index, physical_element_count, physical_index
from dialect_utils.layout.moves.physical import (
    LATE_PADS,
    Digits,
    LatePads,
    dense_bitcast_plan,
    has_tiles,
    logical_plan,
    physical_leaves,
    physical_plan,
    physical_shape,
    untiled,
)
from dialect_utils.layout.moves.plan import Plan
from tests.layout.interpret import run_plan
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


PLANNED = [s for s in GIVEN if s.effective_layout.element_size_in_bits <= 8 and physical_element_count(s) < 5000]


def numbers(shape: ArrayShape) -> np.ndarray:
    bits = np.random.default_rng(3).integers(0, 256, shape.element_count * shape.element_type.storage_bytes, np.uint8)
    if shape.element_type.bits < 8:
        bits &= np.uint8((1 << shape.element_type.bits) - 1)
    raw = np.dtype(f"u{shape.element_type.storage_bytes}")
    return bits.view(raw).reshape(shape.dimensions)


@pytest.mark.parametrize("shape", PLANNED, ids=str)
def test_packed_elements_are_at_their_linear_index_and_come_back(shape: ArrayShape) -> None:
    array = numbers(shape)
    packed = run_plan(physical_plan(shape), array)
    assert packed.shape == physical_shape(shape).dimensions
    if physical_shape(shape).element_type == shape.element_type:
        memory = packed.reshape(-1)
        assert all(memory[linear_index(shape, index)] == array[index] for index in np.ndindex(shape.dimensions))
    back = run_plan(logical_plan(shape), packed)
    assert np.array_equal(back.view(array.dtype), array)


@pytest.mark.parametrize(
    ("text", "message"),
    [("f32[<=3]{0:T(2)}", "dynamic"), ("f32[3]{0:E(16)}", "does not pack f32"), ("f32[?]{0:T(2)}", "dynamic")],
)
def test_shapes_without_a_physical_array(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        physical_plan(parse_array_shape(text))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("f32[3,4]", "f32[2,6]"),
        ("f32[3,4]", "u8[48]"),
        ("u8[4,8]", "f32[8]"),
        ("s16[3,2]", "u32[3]"),
        ("f32[5]", "bf16[5,2]"),
    ],
)
def test_bytes_read_as_another_array_are_numpys(source: str, target: str) -> None:
    one, other = parse_array_shape(source), parse_array_shape(target)
    plan = dense_bitcast_plan(one, other)
    assert plan is not None
    array = numbers(one)
    expected = array.reshape(-1).view(f"u{other.element_type.storage_bytes}").reshape(other.dimensions)
    assert np.array_equal(run_plan(plan, array.view(dtype_of(one.element_type))).view(expected.dtype), expected)


@pytest.mark.parametrize(("source", "target"), [("f32[3]", "f32[4]"), ("pred[4]", "f32[1]"), ("s4[6]", "f6e2m3fn[4]")])
def test_bytes_that_no_steps_read(source: str, target: str) -> None:
    assert dense_bitcast_plan(parse_array_shape(source), parse_array_shape(target)) is None


@pytest.mark.parametrize(
    ("text", "plain", "physical"),
    [
        ("f32[3,5]{0,1:T(2,2)}", "f32[3,5]{1,0}", "f32[3,2,2,2]{3,2,1,0}"),
        (
            "(f32[3]{0:T(2)}, f32[2]{0}, token[])",
            "(f32[3]{0}, f32[2]{0}, token[])",
            "(f32[2,2]{1,0}, f32[2]{0}, token[])",
        ),
        ("s4[4]{0:E(4)}", "s4[4]{0}", "u8[2]{0}"),
    ],
)
def test_tiles_are_taken_off(text: str, plain: str, physical: str) -> None:
    shape = parse_shape(text)
    assert has_tiles(shape)
    assert (str(untiled(shape)), str(physical_leaves(shape))) == (plain, physical)


@pytest.mark.parametrize("text", ["f32[3,5]{0,1}", "f32[<=3]{0:T(2)}", "()", "token[]"])
def test_untiled_and_dynamic_arrays_stay(text: str) -> None:
    shape = parse_shape(text)
    assert not has_tiles(shape)
    assert untiled(shape) == physical_leaves(shape) == shape
