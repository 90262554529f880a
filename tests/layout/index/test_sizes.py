import numpy as np
import pytest
from hypothesis import assume, given, settings

from dialect_utils.layout import ArrayShape, parse_array_shape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.index.index_map import (
    byte_size,
    byte_size_of,
    padding_fraction,
    physical_element_count,
    xla_byte_size,
)
from tests.layout.packing import pack
from tests.layout.shapes import tiled_shapes

# shape, true bytes, ArraySize, ByteSizeOf
SIZES = [
    ("f32[]", 4, 4, 4),
    ("f32[]{:T(128)}", 512, 512, 4),
    ("f32[3,5]{1,0:T(2,2)}", 96, 96, 60),
    ("f32[3,5]{1,0:T(2,2)(4,1)}", 192, 96, 60),
    ("f32[3,5]{1,0:T(d,2)}", 72, 72, 60),
    ("f32[3,5]{1,0:T(2,d)}", 80, 80, 60),
    ("f32[3,5]{1,0:T(d,d)}", 60, 60, 60),
    ("f32[2,3,5]{2,1,0:T(d,4,2)}", 192, 192, 120),
    ("f32[3,5]{1,0:T(*,2)}", 64, None, 60),
    ("f32[3,5]{1,0:T(2,2)L(25)}", 100, 100, 60),
    ("f32[3,5]{1,0:L(16)}", 64, 60, 60),
    ("f32[6,5]{1,0:T(4,2)SC(0:5)}", 192, 192, 120),
    ("f32[10,5]{1,0:T(4,2)SC(0:4)}", 288, 192, 200),
    ("s4[3,5]{1,0}", 15, 15, 15),
    ("s4[3,5]{1,0:E(4)}", 8, 8, 8),
    ("pred[5]{0:E(32)}", 20, 20, 20),
    ("s4[64,0]{1,0:T(8,128)E(4)}", 0, 0, 0),
    ("f32[<=3,5]{1,0:T(2,2)}", 96, 96, 60),
]


@pytest.mark.parametrize(("text", "true", "array_size", "unpadded"), SIZES)
def test_sizes(text: str, true: int, array_size: int | None, unpadded: int) -> None:
    shape = parse_array_shape(text)
    assert (byte_size(shape), xla_byte_size(shape), byte_size_of(shape)) == (true, array_size, unpadded)


def test_padding_fraction() -> None:
    assert padding_fraction(parse_array_shape("f32[3,5]{1,0:T(2,2)}")) == 9 / 24
    assert padding_fraction(parse_array_shape("f32[3,5]{1,0:L(16)}")) == 1 / 16
    assert padding_fraction(parse_array_shape("f32[0]{0:T(128)}")) == 0


def bytes_by_definition(shape: ArrayShape) -> int:
    """Returns the bytes of the array that packing makes."""
    return pack(np.zeros(shape.dimensions, dtype_of(shape.element_type)), shape).nbytes


@given(tiled_shapes())
@settings(max_examples=60, deadline=None)
def test_byte_size_is_what_packing_takes(shape: ArrayShape) -> None:
    assume(physical_element_count(shape) <= 20000)
    assert byte_size(shape) == bytes_by_definition(shape)


def test_a_wrong_size_is_noticed() -> None:
    nested = parse_array_shape("f32[3,5]{1,0:T(2,2)(4,1)}")
    assert xla_byte_size(nested) != bytes_by_definition(nested)
    assert byte_size_of(nested) != bytes_by_definition(nested)


def test_unbounded_dimensions_have_no_size() -> None:
    shape = parse_array_shape("f32[?]{0:T(8)}")
    for size in (byte_size, byte_size_of, xla_byte_size):
        with pytest.raises(ValueError, match="unbounded"):
            size(shape)
