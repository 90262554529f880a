"""Element types against the dtypes of numpy and ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dialect_utils.layout import ELEMENT_TYPES, ElementType, parse_element_type
from dialect_utils.layout.arrays.dtypes import bits_scalar, dtype_of
from dialect_utils.text import DiagnosticError


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=str)
def test_widths_and_kinds_are_those_of_the_dtype(element_type: ElementType) -> None:
    try:
        dtype = dtype_of(element_type)
    except ValueError:
        pytest.skip("this version of ml_dtypes is older than the type")
    assert dtype.itemsize == element_type.storage_bytes
    assert element_type.storage_bits == max(8, element_type.bits)
    if element_type.is_integral:
        limits = ml_dtypes.iinfo(dtype)
        assert (limits.bits, limits.min < 0) == (element_type.bits, element_type.is_signed)
        assert element_type.is_signed != element_type.is_unsigned
    elif element_type.is_floating:
        assert ml_dtypes.finfo(dtype).bits == element_type.bits
    kinds = (element_type.is_integral, element_type.is_floating, element_type.is_complex, element_type.name == "pred")
    assert kinds.count(True) == 1


def test_the_part_of_a_complex_type_is_the_dtype_of_real_and_imaginary_parts() -> None:
    for name in ("c64", "c128"):
        kind = ELEMENT_TYPES[name]
        assert dtype_of(kind.part) == np.zeros(1, dtype_of(kind)).real.dtype
        assert not kind.part.is_complex
    assert all(kind.part is kind for kind in ELEMENT_TYPES.values() if not kind.is_complex)


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=str)
def test_poison_is_nan_where_the_type_has_one(element_type: ElementType) -> None:
    assert 0 < element_type.poison_bits < 1 << element_type.bits
    if element_type.is_integral or element_type.name == "pred":
        return
    try:
        dtype = dtype_of(element_type)
    except ValueError:
        pytest.skip("this version of ml_dtypes is older than the type")
    poison = bits_scalar(element_type.poison_bits, dtype)
    bytes_of_all = np.arange(256, dtype=np.uint8).view(dtype) if dtype.itemsize == 1 else np.array([np.nan], dtype)
    has_nan = bool(np.isnan(bytes_of_all[: 1 << min(8, element_type.bits)].astype(np.complex128)).any())
    assert bool(np.isnan(poison.astype(np.complex128))) == has_nan


def test_an_unknown_name_gets_the_nearest_known_one() -> None:
    assert parse_element_type("bf16").bits == 16
    with pytest.raises(DiagnosticError, match="unknown element type 'F32'") as caught:
        parse_element_type("F32")
    assert caught.value.diagnostics[0].hint == "write f32"


def test_poison_is_the_quiet_nan_with_no_other_bit_of_the_fraction() -> None:
    """In these formats the fraction of a quiet NaN begins with a 1."""
    fractions = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "f8e5m2": 2, "f8e3m4": 4, "f8e4m3": 3}
    for name, bits in fractions.items():
        kind = ELEMENT_TYPES[name]
        exponent = (1 << (kind.bits - 1 - bits)) - 1
        assert kind.poison_bits == (exponent << bits | 1 << (bits - 1)), name
