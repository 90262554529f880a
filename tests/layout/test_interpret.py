"""The effect of each step on an array, written out element by element; bits joined and split; packed arrays."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from numpy.typing import NDArray

from dialect_utils.layout import (
    ELEMENT_TYPES,
    ArrayShape,
    BitcastConvert,
    Pad,
    Slice,
    parse_array_shape,
    parse_element_type,
)
from dialect_utils.layout.arrays.dtypes import as_bits, dtype_of, element_type_of
from dialect_utils.layout.index.index_map import element_slot_bits, linear_indices, physical_element_count
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from tests.layout.interpret import join_bits, run_plan, split_bits
from tests.layout.packing import pack, unpack
from tests.layout.shapes import GIVEN, tiled_shapes

S32 = parse_element_type("s32")
PACKABLE = [s for s in GIVEN if element_slot_bits(s) <= s.element_type.storage_bits]


def padded(row: list[int], low: int, high: int, gap: int, padding: int) -> list[int]:
    """Returns a row with gaps between its elements and padding at both ends; negative counts cut elements off."""
    spread = [x for i, value in enumerate(row) for x in ([padding] * gap if i else []) + [value]]
    spread = [padding] * low + spread if low >= 0 else spread[-low:]
    return spread + [padding] * high if high >= 0 else spread[: len(spread) + high]


@given(st.integers(0, 4), st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_a_pad_by_its_definition(size: int, low: int, high: int, gap: int) -> None:
    length = size + max(0, size - 1) * gap
    assume(length + min(low, 0) + min(high, 0) >= 0)
    row = list(range(1, size + 1))
    found = run_plan(Plan(S32, (size,), (Pad((low,), (high,), (gap,)),)), np.array(row, np.int32), 99)
    assert found.tolist() == padded(row, low, high, gap, 99)


def test_a_pad_of_two_dimensions_pads_each() -> None:
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    found = run_plan(Plan(S32, (2, 3), (Pad((1, -1), (0, 2), (1, 0)),)), array, 7)
    rows = [padded(row, -1, 2, 0, 7) for row in array.tolist()]
    assert found.tolist() == [[7] * 4, rows[0], [7] * 4, rows[1]]


def test_a_slice_by_its_definition() -> None:
    array = np.arange(20, dtype=np.int32).reshape(4, 5)
    found = run_plan(Plan(S32, (4, 5), (Slice((1, 0), (4, 5), (2, 3)),)), array)
    assert found.tolist() == [[array[i, j] for j in (0, 3)] for i in (1, 3)]


@pytest.mark.parametrize(
    ("old", "new", "dimensions", "after"),
    [
        ("u32", "u8", (2,), (2, 4)),
        ("u8", "u32", (2, 4), (2,)),
        ("u16", "u4", (3,), (3, 4)),
        ("u4", "u16", (3, 4), (3,)),
        ("u4", "u8", (3, 2), (3,)),
        ("u8", "u2", (3,), (3, 4)),
        ("u32", "f32", (2,), (2,)),
    ],
)
def test_a_bitcast_convert_keeps_every_bit(
    old: str, new: str, dimensions: tuple[int, ...], after: tuple[int, ...]
) -> None:
    source, target = parse_element_type(old), parse_element_type(new)
    values = np.random.default_rng(5).integers(0, 1 << source.bits, dimensions, np.uint64)
    array = values.astype(f"u{source.storage_bytes}").view(dtype_of(source))
    found = run_plan(Plan(source, dimensions, (BitcastConvert(target),)), array)
    assert (found.shape, found.dtype) == (after, dtype_of(target))
    assert bits_of(found.view(f"u{target.storage_bytes}"), target.bits) == bits_of(values, source.bits)


def bits_of(array: np.ndarray, width: int) -> list[int]:
    """Returns the bits of all elements in order, the lowest of each first."""
    return [int(value) >> bit & 1 for value in array.reshape(-1) for bit in range(width)]


@pytest.mark.parametrize(("bits", "count"), [(1, 8), (2, 4), (4, 2), (4, 1)])
def test_codes_are_joined_and_split(bits: int, count: int) -> None:
    codes = np.random.default_rng(1).integers(0, 1 << bits, 4 * count, np.uint8)
    joined = join_bits(codes, bits, count)
    for i, byte in enumerate(joined):
        assert byte == sum(int(code) << (bits * k) for k, code in enumerate(codes[i * count : (i + 1) * count]))
    assert np.array_equal(split_bits(joined, bits, count), codes)


def test_missing_codes_are_zero() -> None:
    assert join_bits(np.array([3, 1, 2], np.uint8), 4, 2).tolist() == [0x13, 0x02]


@pytest.mark.parametrize(
    ("array", "message"),
    [(np.zeros((3, 2), np.int32), r"dimensions \[3, 2\]"), (np.zeros((2, 3), np.int64), "not as wide")],
)
def test_an_array_that_does_not_fit_is_rejected(array: np.ndarray, message: str) -> None:
    assert prod(array.shape) == 6
    with pytest.raises(ValueError, match=message):
        run_plan(Plan(S32, (2, 3)), array)


def numbered(shape: ArrayShape) -> NDArray[np.unsignedinteger]:
    """Returns elements with as many different bit patterns as fit, none of them zero."""
    codes = np.arange(shape.element_count) % ((1 << min(shape.element_type.bits, 16)) - 1) + 1
    return codes.astype(f"u{shape.element_type.storage_bytes}").reshape(shape.dimensions)


def by_definition(array: NDArray[np.unsignedinteger], shape: ArrayShape) -> bytes:
    """Returns the bytes of the physical array: every element at the position of the index map."""
    slots = np.zeros(physical_element_count(shape), array.dtype)
    slots[linear_indices(shape).ravel()] = array.ravel()
    bits = element_slot_bits(shape)
    if bits >= 8:
        return slots.tobytes()
    number = sum(int(code) << (bits * i) for i, code in enumerate(slots.tolist()))
    return number.to_bytes(-(-len(slots) * bits // 8), "little")


def check_packing(shape: ArrayShape) -> None:
    array = numbered(shape)
    physical = pack(array, shape)
    assert physical.shape == physical_plan(shape).result[1]
    assert physical.tobytes() == by_definition(array, shape)
    assert np.array_equal(as_bits(unpack(physical, shape)), array)


@pytest.mark.parametrize("shape", PACKABLE, ids=str)
def test_packed_elements_lie_at_their_linear_index(shape: ArrayShape) -> None:
    check_packing(shape)


@given(tiled_shapes(element_types=("f32", "bf16", "s8", "s4", "u2", "pred")))
@settings(max_examples=120, deadline=None)
def test_packing_of_drawn_shapes(shape: ArrayShape) -> None:
    if physical_element_count(shape) <= 20000:
        check_packing(shape)


def test_a_wrong_plan_is_noticed() -> None:
    shape, other = parse_array_shape("f32[3,5]{1,0:T(2,2)}"), parse_array_shape("f32[3,5]{1,0:T(2,2)(2,1)}")
    array = numbered(shape)
    assert run_plan(physical_plan(other), array).tobytes() != by_definition(array, shape)


@pytest.mark.parametrize("name", sorted(ELEMENT_TYPES))
def test_every_element_type_round_trips(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    dtype = dtype_of(element_type)
    assert element_type_of(dtype) == element_type
    shape = parse_array_shape(f"{name}[9,5]{{0,1:T(2,4)(2,1)}}")
    raw = np.arange(45 * dtype.itemsize, dtype=np.uint8) & np.uint8((1 << min(8, element_type.bits)) - 1)
    array = raw.view(dtype).reshape(9, 5)
    assert unpack(pack(array, shape), shape).tobytes() == array.tobytes()
    assert unpack(pack(array, shape), shape).dtype == dtype


@pytest.mark.parametrize(
    ("old", "new", "dims"), [("u32", "s8", (3, 2)), ("s4", "u8", (3, 2)), ("u16", "s4", (3,)), ("u2", "s4", (5, 2))]
)
def test_bitcast_converts_are_inverse(old: str, new: str, dims: tuple[int, ...]) -> None:
    plan = Plan(ELEMENT_TYPES[old], dims, (BitcastConvert(ELEMENT_TYPES[new]),))
    array = numbered(ArrayShape(ELEMENT_TYPES[old], dims))
    there = run_plan(plan, array)
    assert there.shape == plan.result[1]
    assert as_bits(run_plan(plan.inverse(), there)).tolist() == array.tolist()
