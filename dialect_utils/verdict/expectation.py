"""Measures the distance of an output from an expected one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dialect_utils.execution import Array
from dialect_utils.layout import ElementType
from dialect_utils.verdict.outcome import Tolerance, different_elements

BITS = Tolerance()


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of two arrays.

    `equal`: equal within the given tolerance. `absolute` and `relative` are the largest differences
    (relative to the larger magnitude of the two elements) with their indices; both None where all
    bits are equal. The difference of a finite and a non-finite element is infinite.
    """

    equal: bool
    differing: int
    elements: int
    absolute: tuple[float, tuple[int, ...]] | None = None
    relative: tuple[float, tuple[int, ...]] | None = None

    def __str__(self) -> str:
        if self.absolute is None or self.relative is None:
            return "equal bits"
        parts = [f"{self.differing} of {self.elements} elements differ"]
        for what, (value, index) in (("absolute", self.absolute), ("relative", self.relative)):
            parts.append(f"largest {what} difference {value:.3g} at [{','.join(map(str, index))}]")
        return ", ".join(parts)


def measure(actual: Array, expected: Array, element_type: ElementType, tolerance: Tolerance = BITS) -> Distance:
    """Returns the distance of two arrays of one type and the same dimensions; NaNs are equal."""
    differs = different_elements(actual, expected, element_type)
    if not differs.any():
        return Distance(True, 0, differs.size)
    equal = tolerance != BITS and not different_elements(expected, actual, element_type, tolerance).any()
    wide: Any = np.complex128 if element_type.is_complex else np.float64
    x, y = actual.astype(wide), expected.astype(wide)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        absolute = np.where(differs, np.abs(x - y), 0.0)
        absolute = np.where(np.isnan(absolute), np.inf, absolute)
        largest = np.maximum(np.abs(x), np.abs(y))
        relative = np.where(absolute == 0, 0.0, absolute / largest)
        relative = np.where(np.isnan(relative), np.inf, relative)
    return Distance(equal, int(differs.sum()), differs.size, _largest(absolute), _largest(relative))


def _largest(values: Any) -> tuple[float, tuple[int, ...]]:
    index = tuple(int(i) for i in np.unravel_index(int(values.argmax()), values.shape))
    return float(values[index]), index
