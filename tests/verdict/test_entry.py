import numpy as np
import pytest

from dialect_utils.execution import from_bits, to_bits
from dialect_utils.layout import ELEMENT_TYPES, parse_array_shape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.verdict import pack_by_index, unpack_by_index
from tests.layout.packing import pack, unpack

SHAPES = [
    "f32[3,5]{1,0:T(2,2)}",
    "f32[3,5]{0,1:T(2,2)(2,1)}",
    "bf16[7,9]{1,0:T(4,8)(2,1)}",
    "s32[]{:T(8)}",
    "f32[2,0,3]{2,1,0:T(2,2)}",
    "c128[3,3]{1,0:T(2,2)}",
    "s4[3,5]{1,0:T(2,4)E(4)}",
    "u4[6]{0:E(4)}",
    "s2[3,3]{0,1:T(2,2)E(2)}",
    "pred[3,5]{1,0:T(2,4)}",
    "f8e4m3fn[5,6]{1,0:T(4,4)}",
    "f32[2,3,4]{0,2,1:T(*,2,3)}",
]


def random_array(text: str) -> np.ndarray:
    shape = parse_array_shape(text)
    bits = shape.element_type.bits
    rng = np.random.default_rng(0)
    width = (2,) if bits == 128 else ()
    codes = rng.integers(0, 1 << min(bits, 62), (*shape.dimensions, *width)).astype(np.uint64)
    return from_bits(codes, shape.element_type)


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("is_poison", [False, True])
def test_the_formula_and_the_plan_agree(text: str, is_poison: bool) -> None:
    shape = parse_array_shape(text)
    array = random_array(text)
    padding = shape.element_type.poison_bits if is_poison else 0
    ours = pack_by_index(array, shape, padding)
    theirs = pack(array, shape, padding)
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()
    back = unpack_by_index(ours, shape)
    assert to_bits(back, shape.element_type).tobytes() == to_bits(array, shape.element_type).tobytes()
    assert unpack(ours, shape).shape == back.shape


def test_another_tile_packs_otherwise() -> None:
    array = np.arange(15, dtype=np.float32).reshape(3, 5)
    packed = [pack_by_index(array, parse_array_shape(f"f32[3,5]{{1,0:{tile}}}"), 0) for tile in ("T(2,3)", "T(2,2)")]
    assert packed[0].tobytes() != packed[1].tobytes()


def test_the_example_of_xla_documentation() -> None:
    packed = pack_by_index(np.arange(15, dtype=np.int32).reshape(3, 5), parse_array_shape("s32[3,5]{1,0:T(2,2)}"), 99)
    memory = [0, 1, 5, 6, 2, 3, 7, 8, 4, 99, 9, 99, 10, 11, 99, 99, 12, 13, 99, 99, 14, 99, 99, 99]
    assert packed.shape == (2, 3, 2, 2)
    assert packed.reshape(-1).tolist() == memory


def test_the_last_byte_is_filled_up_with_padding() -> None:
    packed = pack_by_index(np.arange(3).astype(dtype_of(ELEMENT_TYPES["u4"])), parse_array_shape("u4[3]{0:E(4)}"), 0xA)
    assert packed.tolist() == [0x10, 0xA2]
