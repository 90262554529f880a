"""Units in the last place of each floating-point type."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of

Numbers = NDArray[Any]


def ulps_of(values: Numbers | float, kind: ElementType) -> Numbers:
    """Returns the unit in the last place of each number; subnormal numbers have that of the smallest normal number."""
    _, exponents = np.frexp(np.maximum(np.abs(values), smallest_normal(kind)))
    units: Numbers = np.ldexp(epsilon(kind), exponents - 1)
    return units


def epsilon(kind: ElementType) -> float:
    """Returns the unit in the last place of 1."""
    return float(_limits(kind).eps)


def digits(kind: ElementType) -> int:
    """Returns the bits of the significand, the hidden one included."""
    return 1 - round(log2(epsilon(kind)))


def smallest_normal(kind: ElementType) -> float:
    """Returns the smallest positive number that is not subnormal."""
    return float(_limits(kind).smallest_normal)


def largest(kind: ElementType) -> float:
    """Returns the largest finite number."""
    return float(_limits(kind).max)


def _limits(kind: ElementType) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(dtype_of(kind))
