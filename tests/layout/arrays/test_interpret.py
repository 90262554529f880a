"""What each step does to an array, written out element by element; bits joined and split."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dialect_utils.layout import BitcastConvert, Pad, Slice, parse_element_type
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.arrays.interpret import join_bits, run_plan, split_bits
from dialect_utils.layout.moves.plan import Plan

S32 = parse_element_type("s32")


def padded(row: list[int], low: int, high: int, gap: int, padding: int) -> list[int]:
    """Returns a row with gaps between its elements and paddings at its ends; negative ones cut."""
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
def test_an_array_that_does_not_fit_is_refused(array: np.ndarray, message: str) -> None:
    assert prod(array.shape) == 6
    with pytest.raises(ValueError, match=message):
        run_plan(Plan(S32, (2, 3)), array)
