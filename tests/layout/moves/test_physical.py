"""Physical plans on numbers: there and back, and bytes read as another array against numpy's view."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.layout import ArrayShape, parse_array_shape, physical_plan, physical_shape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.arrays.interpret import run_plan
from dialect_utils.layout.index.index_map import linear_index, physical_element_count
from dialect_utils.layout.moves.physical import dense_bitcast_plan, logical_plan
from tests.layout.shapes import GIVEN

PLANNED = [s for s in GIVEN if s.effective_layout.element_size_in_bits <= 8 and physical_element_count(s) < 5000]


def numbers(shape: ArrayShape) -> np.ndarray:
    bits = np.random.default_rng(3).integers(0, 256, shape.element_count * shape.element_type.storage_bytes, np.uint8)
    if shape.element_type.bits < 8:
        bits &= np.uint8((1 << shape.element_type.bits) - 1)
    raw = np.dtype(f"u{shape.element_type.storage_bytes}")
    return bits.view(raw).reshape(shape.dimensions)


@pytest.mark.parametrize("shape", PLANNED, ids=str)
def test_what_is_packed_is_at_its_linear_index_and_comes_back(shape: ArrayShape) -> None:
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
def test_what_has_no_physical_array(text: str, message: str) -> None:
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
