from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, BitcastConvert, Layout, Pad, parse_array_shape
from dialect_utils.layout.arrays.dtypes import as_bits, dtype_of, element_type_of
from dialect_utils.layout.arrays.interpret import run_plan
from dialect_utils.layout.arrays.pack import pack, unpack
from dialect_utils.layout.index.index_map import element_slot_bits, linear_indices, physical_element_count
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from tests.layout.shapes import GIVEN, tiled_shapes

PACKABLE = [s for s in GIVEN if element_slot_bits(s) <= s.element_type.storage_bits]


def numbered(shape: ArrayShape) -> NDArray[np.unsignedinteger]:
    """Returns elements with as many different bit patterns as fit, none of them zero."""
    codes = np.arange(shape.element_count) % ((1 << min(shape.element_type.bits, 16)) - 1) + 1
    return codes.astype(f"u{shape.element_type.storage_bytes}").reshape(shape.dimensions)


def by_definition(array: NDArray[np.unsignedinteger], shape: ArrayShape) -> bytes:
    """Returns the bytes of the physical array: every element put where the index map says."""
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
    assert run_plan(physical_plan(shape), array).tobytes() == physical.tobytes()
    assert np.array_equal(as_bits(unpack(physical, shape)), array)
    restored = run_plan(physical_plan(shape).inverse(), physical)
    assert np.array_equal(as_bits(restored), array)


@pytest.mark.parametrize("shape", PACKABLE, ids=str)
def test_packed_elements_lie_at_their_linear_index(shape: ArrayShape) -> None:
    check_packing(shape)


@given(tiled_shapes(element_types=("f32", "bf16", "s8", "s4", "u2", "pred")))
@settings(max_examples=120, deadline=None)
def test_packing_of_drawn_shapes(shape: ArrayShape) -> None:
    if physical_element_count(shape) <= 20000:
        check_packing(shape)


def test_padding_value_fills_padded_dimensions() -> None:
    layout = Layout((0, 1), padded_dimensions=(3, 5), padding_value=0.0)
    shape = ArrayShape(ELEMENT_TYPES["f32"], (2, 3), layout)
    a, b, c, d, e, f = array = np.arange(1, 7, dtype=np.float32)
    packed = pack(array.reshape(2, 3), shape, padding_bits=0x7FC00000)
    assert packed.ravel().tolist() == [a, d, 0, b, e, 0, c, f, 0, 0, 0, 0, 0, 0, 0]
    assert unpack(packed, shape).ravel().tolist() == array.tolist()
    ones = shape.with_layout(layout.replace(padding_value=1.0))
    assert pack(array.reshape(2, 3), ones).ravel().tolist() == [a, d, 1, b, e, 1, c, f, 1, 1, 1, 1, 1, 1, 1]


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
    "text", ["bf16[67,300]{1,0:T(8,128)(2,1)}", "s8[70,300]{0,1:T(32,128)(4,1)}", "f32[]{:T(128)}"]
)
def test_padding_and_given_memory(text: str) -> None:
    shape = parse_array_shape(text)
    array = numbered(shape)
    dims = physical_plan(shape).result[1]
    out = np.full(dims, 3, array.dtype)
    assert pack(array, shape, padding_bits=0xFF, out=out) is out
    assert int((out == 0xFF).sum()) - int((array == 0xFF).sum()) == prod(dims) - array.size
    back = np.zeros(shape.dimensions, array.dtype)
    assert unpack(out, shape, out=back) is back
    assert np.array_equal(back, array)


def test_legacy_padding_value_fills_the_padding() -> None:
    shape = next(s for s in GIVEN if s.effective_layout.padding_value is not None)
    layout = shape.effective_layout.replace(padding_value=1.5)
    array = np.zeros((2, 3), np.float32)
    assert float(pack(array, shape.with_layout(layout)).sum()) == 9 * 1.5


@pytest.mark.parametrize(
    ("old", "new", "dims"), [("u32", "s8", (3, 2)), ("s4", "u8", (3, 2)), ("u16", "s4", (3,)), ("u2", "s4", (5, 2))]
)
def test_bitcast_converts_are_inverse(old: str, new: str, dims: tuple[int, ...]) -> None:
    plan = Plan(ELEMENT_TYPES[old], dims, (BitcastConvert(ELEMENT_TYPES[new]),))
    array = numbered(ArrayShape(ELEMENT_TYPES[old], dims))
    there = run_plan(plan, array)
    assert there.shape == plan.result[1]
    assert as_bits(run_plan(plan.inverse(), there)).tolist() == array.tolist()


@given(st.integers(0, 5), st.integers(-3, 4), st.integers(-3, 4), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_pads_put_elements_where_xla_does(size: int, low: int, high: int, gap: int) -> None:
    result = low + size + max(0, size - 1) * gap + high
    if result < 0:
        return
    plan = Plan(ELEMENT_TYPES["s32"], (size,), (Pad((low,), (high,), (gap,)),))
    expected = [0] * result
    for i in range(size):
        if 0 <= low + i * (gap + 1) < result:
            expected[low + i * (gap + 1)] = i + 1
    assert run_plan(plan, np.arange(1, size + 1, dtype=np.int32)).tolist() == expected


def test_arrays_that_do_not_fit_are_refused() -> None:
    shape = parse_array_shape("f32[3,5]{1,0:T(2,2)}")
    with pytest.raises(ValueError, match="dimensions"):
        pack(np.zeros((5, 3), np.float32), shape)
    with pytest.raises(ValueError, match="wide"):
        pack(np.zeros((3, 5), np.float64), shape)
    with pytest.raises(ValueError, match="no element type"):
        element_type_of(np.dtype("M8[s]"))
