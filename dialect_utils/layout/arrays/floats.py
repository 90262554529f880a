"""The limits of floating-point types, and units in the last place."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.arrays.dtypes import dtype_of, element_type_of
from dialect_utils.layout.element_type import ElementType

Numbers = NDArray[Any]
_MOST_ULPS = 32.0
# Numbers up to this are moderate in every type.
_MODERATE = 16.0


def ulps_of(values: Numbers | float, element_type: ElementType) -> Numbers:
    """Returns the unit in the last place of each number; subnormal numbers have that of the smallest normal number."""
    _, exponents = np.frexp(np.maximum(np.abs(values), smallest_normal(element_type)))
    units: Numbers = np.ldexp(epsilon(element_type), exponents - 1)
    return units


def epsilon(element_type: ElementType) -> float:
    """Returns the unit in the last place of 1."""
    return float(limits(element_type).eps)


def digits(element_type: ElementType) -> int:
    """Returns the bits of the significand, the hidden one included."""
    return 1 - round(log2(epsilon(element_type)))


def most_ulps(element_type: ElementType) -> float:
    """Returns the most units in the last place that a close result is off: 32, or 2^(d / 4) for d < 20 digits."""
    return min(_MOST_ULPS, float(2.0 ** (digits(element_type) / 4)))


def smallest_normal(element_type: ElementType) -> float:
    """Returns the smallest positive number that is not subnormal."""
    return float(limits(element_type).smallest_normal)


def largest(element_type: ElementType) -> float:
    """Returns the largest finite number."""
    return float(limits(element_type).max)


def limits(element_type: ElementType) -> Any:
    """Returns the `finfo` of a type."""
    import ml_dtypes

    return ml_dtypes.finfo(dtype_of(element_type))


def complex_array(real: NDArray[Any], imaginary: NDArray[Any]) -> NDArray[Any]:
    """Returns the complex array of two parts of f32 or f64."""
    whole = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    whole.real, whole.imag = real, imaginary
    return whole


def wide(array: NDArray[Any]) -> NDArray[Any]:
    """Returns the elements in 64 bits, complex ones in 128."""
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64, copy=False)


def without_subnormals(array: NDArray[Any]) -> NDArray[Any]:
    """Returns an array with zeros for subnormal numbers, which one engine flushes and another keeps."""
    return _of_floats(array, lambda part, kind: np.where(np.abs(wide(part)) < smallest_normal(kind), part * 0, part))


def moderate(array: NDArray[Any]) -> NDArray[Any]:
    """Returns an array without very large and very small numbers, products of which leave the range of the type."""

    def clipped(part: NDArray[Any], kind: ElementType) -> NDArray[Any]:
        numbers, most = wide(part), max(_MODERATE, largest(kind) ** (1 / 16))
        found = np.copysign(np.clip(np.abs(numbers), 1 / most, most), numbers)
        return np.where((numbers == 0) | ~np.isfinite(numbers), numbers, found)

    return _of_floats(array, clipped)


def _of_floats(array: NDArray[Any], function: Callable[[NDArray[Any], ElementType], NDArray[Any]]) -> NDArray[Any]:
    """Returns a function of an array of floats, or of both parts of complex numbers; other arrays stay as they are."""
    kind = element_type_of(array.dtype)
    if kind.is_complex:
        return complex_array(_of_floats(array.real, function), _of_floats(array.imag, function))
    if not kind.is_floating:
        return array
    with np.errstate(invalid="ignore"):
        return function(array, kind).astype(array.dtype)
