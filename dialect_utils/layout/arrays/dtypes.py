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
from dialect_utils.layout.type_names import numpy_name

_BYTE = 8


@cache
def dtype_of(element_type: ElementType) -> np.dtype[Any]:
    """Returns the numpy dtype of an element type; raises ValueError where this ml_dtypes lacks it."""
    name = numpy_name(element_type)
    found = getattr(ml_dtypes, name, None) or np.sctypeDict.get(name)
    if found is None:
        raise ValueError(f"this version of ml_dtypes has no {name}, the dtype of {element_type}")
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
