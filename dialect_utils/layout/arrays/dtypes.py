"""Element types as numpy dtypes; ml_dtypes has the dtypes that numpy lacks.

An element narrower than a byte takes one byte in numpy, in its low bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType

_BYTE = 8

_NUMPY_NAMES = {
    "pred": "bool",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}
_ML_DTYPES_NAMES = {
    "bf16": "bfloat16",
    "f4e2m1fn": "float4_e2m1fn",
    "f6e2m3fn": "float6_e2m3fn",
    "f6e3m2fn": "float6_e3m2fn",
}


@cache
def dtype_of(element_type: ElementType) -> np.dtype[Any]:
    """Returns the numpy dtype of an element type; raises ValueError where this ml_dtypes lacks it."""
    name = element_type.name
    if name in _NUMPY_NAMES:
        return np.dtype(_NUMPY_NAMES[name])
    if element_type.is_integral:
        full = ("int" if name[0] == "s" else "uint") + name[1:]
        if element_type.bits >= _BYTE:
            return np.dtype(full)
    else:
        full = _ML_DTYPES_NAMES.get(name) or f"float8_{name[2:]}"
    found = getattr(ml_dtypes, full, None)
    if found is None:
        raise ValueError(f"this version of ml_dtypes has no {full}, the dtype of {name}")
    dtype: np.dtype[Any] = np.dtype(found)
    return dtype


@cache
def element_type_of(dtype: np.dtype[Any]) -> ElementType:
    """Returns the element type of a numpy dtype; raises ValueError where XLA has no such type."""
    for element_type in ELEMENT_TYPES.values():
        try:
            if dtype_of(element_type) == dtype:
                return element_type
        except ValueError:
            continue
    raise ValueError(f"XLA has no element type for the dtype {dtype}")


def as_bits(array: NDArray[Any]) -> NDArray[Any]:
    """Returns a view of the same elements as unsigned integers; elements wider than 64 bits stay as they are.

    Copies only memory that cannot be viewed (a rank-0 array of another byte order).
    """
    size = array.dtype.itemsize
    return array.view(f"u{size}") if size <= _BYTE else array


def bits_scalar(bits: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Returns a rank-0 array of `dtype` with exactly these bits, least significant first."""
    raw = (bits & ((1 << (_BYTE * dtype.itemsize)) - 1)).to_bytes(dtype.itemsize, "little")
    return np.frombuffer(raw, dtype=dtype).reshape(())
