"""Element types as dtypes and back, and scalars of given bits."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.layout import ELEMENT_TYPES, ElementType, parse_element_type
from dialect_utils.layout.arrays.dtypes import as_bits, bits_scalar, dtype_of, element_type_of


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=str)
def test_a_dtype_is_one_element_type(element_type: ElementType) -> None:
    try:
        dtype = dtype_of(element_type)
    except ValueError:
        pytest.skip("this version of ml_dtypes is older than the type")
    assert element_type_of(dtype) == element_type
    bits = element_type.poison_bits
    scalar = bits_scalar(bits, dtype)
    assert (scalar.shape, scalar.dtype) == ((), dtype)
    assert int.from_bytes(scalar.tobytes(), "little") == bits


@pytest.mark.parametrize(
    ("name", "dtype"), [("pred", "bool"), ("s32", "int32"), ("u64", "uint64"), ("c64", "complex64"), ("f16", "float16")]
)
def test_types_that_numpy_has(name: str, dtype: str) -> None:
    assert dtype_of(parse_element_type(name)) == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["datetime64[s]", "U3", "O", "longdouble"])
def test_a_dtype_that_xla_lacks(dtype: str) -> None:
    with pytest.raises(ValueError, match="no element type"):
        element_type_of(np.dtype(dtype))


def test_bits_beyond_the_width_are_cut() -> None:
    assert int(bits_scalar(0x1FF, np.dtype(np.uint8))) == 0xFF
    assert int(bits_scalar(-1, np.dtype(np.int16))) == -1


def test_bits_are_a_view_where_they_can_be() -> None:
    array = np.array([1.0, -0.0], np.float32)
    assert as_bits(array).tolist() == [0x3F800000, 0x80000000]
    assert np.shares_memory(as_bits(array), array)
    wide = np.zeros(2, np.complex128)
    assert as_bits(wide) is wide
