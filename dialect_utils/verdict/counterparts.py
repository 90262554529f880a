"""Looks for arrays of one program among those of another, in any order of their dimensions.

A compiler reorders and flattens dimensions, and names of values do not survive it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import Array
from dialect_utils.layout.arrays.dtypes import element_type_of

# The number of elements of the sorted arrays that are compared first. Sorted arrays differ by at most as much as the
# arrays, whatever the order of their elements.
_QUANTILES = 33
# The most dimensions, without those of size 1, of arrays that are compared in every order of these.
_MOST_DIMENSIONS = 5


@dataclass(frozen=True, slots=True)
class _Known:
    values: NDArray[Any]
    quantiles: NDArray[Any]
    largest: float
    is_rounded: bool


@dataclass(slots=True)
class Counterparts:
    """The arrays of a program; another array is one of them if it differs by at most a share of the largest element."""

    share: float
    _of_size: dict[int, list[_Known]] = field(default_factory=lambda: defaultdict(list))

    def add(self, arrays: Iterable[Array]) -> None:
        """Adds arrays."""
        for array in arrays:
            self._of_size[array.size].append(_known(array))

    def distance(self, array: Array) -> float:
        """Returns 0 for an array that is one of them, else a lower bound of the distance to the nearest one.

        The bound is a share of that one's largest element, and infinite without an array of as many elements.
        """
        candidates = self._of_size.get(array.size, [])
        if not array.size or not candidates:
            return np.inf if array.size else 0.0
        given = _known(array)
        differences = _differences(given.quantiles, np.stack([each.quantiles for each in candidates])).max(axis=1)
        bounds = []
        for other, difference in zip(candidates, differences, strict=True):
            limit = _limit(given, other, self.share)
            if difference <= limit:
                difference = _least_difference(given.values, other.values, limit)
            if difference <= limit:
                return 0.0
            bounds.append(difference / other.largest if other.largest else np.inf)
        return float(min(bounds))


def is_close(array: Array, other: Array, share: float) -> bool:
    """Is true for arrays of the same dimensions that differ by at most a share of the largest element of the other."""
    given, wanted = _known(array), _known(other)
    return bool((_differences(given.values, wanted.values) <= _limit(given, wanted, share)).all())


def is_informative(array: Array) -> bool:
    """Is true for an array with different elements: two arrays of zeros say little about the programs."""
    return bool(array.size and (array != array.flat[0]).any())


def _known(array: Array) -> _Known:
    kind = element_type_of(array.dtype)
    wide: Any = np.complex128 if kind.is_complex else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.squeeze(array.astype(wide, copy=False))
        magnitudes = np.abs(values).ravel()
        ordered = np.sort(magnitudes if kind.is_complex else values.ravel())
    positions = np.linspace(0, ordered.size - 1, _QUANTILES).astype(np.int64)
    largest = float(magnitudes[np.isfinite(magnitudes)].max(initial=0.0))
    quantiles = ordered[positions] if ordered.size else ordered
    return _Known(values, quantiles, largest, kind.is_inexact)


def _differences(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Returns the differences of elements: 0 for two equal infinities or NaNs, infinite for other non-finite ones."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(difference), np.inf, difference)


def _limit(given: _Known, other: _Known, share: float) -> float:
    return share * other.largest if given.is_rounded or other.is_rounded else 0.0


def _least_difference(a: NDArray[Any], b: NDArray[Any], limit: float) -> float:
    """Returns the largest difference of two elements in the first order with none above the limit, or in the best."""
    least = np.inf
    for x, y in _arrangements(a, b):
        least = min(least, float(_differences(x, y).max()))
        if least <= limit:
            break
    return least


def _arrangements(a: NDArray[Any], b: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yields the elements of two arrays, as they are and in every order of the dimensions of one of them."""
    yield a.ravel(), b.ravel()
    for fixed, moved in ((a, b), (b, a)):
        if 1 < moved.ndim <= _MOST_DIMENSIONS:
            orders = permutations(range(moved.ndim))
            next(orders)
            yield from ((fixed.ravel(), np.transpose(moved, order).ravel()) for order in orders)
