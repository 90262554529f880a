"""Data with structure: rows, columns and arrays of one magnitude, and constants of the programs in pairs.

An epsilon below a root, or added to a norm, matters only where all elements of a row are about as small. A test for
two rare values at once is true only where both occur at one position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Any

import numpy as np

from dialect_utils.execution import Array
from dialect_utils.layout.arrays.dtypes import element_type_of
from dialect_utils.layout.arrays.floats import limits

# Every fourth row, and every fourth array, is constant; half of these are zero.
_CONSTANT_EVERY, _CONSTANT_ARRAY_EVERY = 4, 4
# Constants up to this may be an epsilon.
_LARGEST_EPSILON = 0.01
_MAGNITUDES = (1e-3, 1e3, 1e-6, 30.0)
# So many powers of two are left between a magnitude and the ends of the type.
_MARGIN = 8.0
_SMALLEST_NORMAL = float(np.finfo(np.float32).smallest_normal)
# A whole array has one magnitude in a set, so more sets hold whole arrays.
_WAYS = ("rows", "whole", "columns", "whole")


def magnitudes(constants: Sequence[float], numbers: Sequence[float], finfo: Any, count: int) -> list[float]:
    """Returns the magnitudes worth trying in a row of `count` elements, the most telling ones first.

    With these magnitudes the mean or sum of the elements, or of their squares, equals a small constant.
    """
    small = [abs(each) for each in constants if 0 < abs(each) <= _LARGEST_EPSILON]
    sums = [form for each in small for form in (sqrt(each), each / count, sqrt(each / count), each)]
    found = [*sums, *_MAGNITUDES, *(sqrt(abs(each)) for each in numbers if 0 < abs(each) <= _LARGEST_EPSILON)]
    # Engines flush subnormal numbers of f32 to zero, but convert subnormal numbers of narrower types exactly.
    is_narrow = float(finfo.smallest_normal) > _SMALLEST_NORMAL
    smallest = float(finfo.smallest_subnormal if is_narrow else finfo.smallest_normal)
    low, high = _MARGIN * smallest, float(finfo.max) / _MARGIN
    return list(dict.fromkeys(each for each in found if low <= each <= high)) or [1.0]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Values to scale by rows, by columns or as a whole: `run` is the number of the set, `position` of the array."""

    values: Array
    constants: Sequence[float]
    numbers: Sequence[float]
    run: int
    position: int

    def scaled(self, rng: np.random.Generator) -> Array:
        """Returns values whose rows, columns or whole array have one magnitude each, or are constant."""
        way, turn = _WAYS[self.run % len(_WAYS)], self.run // len(_WAYS) + self.position
        values, exact = self.values, self.values.astype(np.float64)
        if values.ndim < 2 or not values.size or way == "whole":
            turn = self.run + self.position
            rows, are_constant = exact.reshape(1, -1), np.array([turn % _CONSTANT_ARRAY_EVERY == 1])
        else:
            rows = exact.reshape(-1, values.shape[-1]) if way == "rows" else exact.reshape(values.shape[0], -1).T
            are_constant = np.arange(len(rows)) % _CONSTANT_EVERY == _CONSTANT_EVERY - 1
        made = self._rows(rng, rows, are_constant, turn)
        is_turned = way == "columns" and len(rows) > 1
        with np.errstate(all="ignore"):
            whole: Array = (made.T if is_turned else made).reshape(values.shape).astype(values.dtype)
        return whole

    def _rows(self, rng: np.random.Generator, rows: Array, are_constant: Array, turn: int) -> Array:
        finfo = limits(element_type_of(self.values.dtype))
        pool = np.array(magnitudes(self.constants, self.numbers, finfo, max(1, rows.shape[1])))
        scales = pool[(np.arange(len(rows)) + turn * len(rows)) % len(pool)]
        level = rng.standard_normal((len(rows), 1)) * (np.arange(len(rows)) + turn & _CONSTANT_EVERY == 0)[:, None]
        made: Array = np.where(are_constant[:, None], level, rows) * scales[:, None]
        return made


def paired(rng: np.random.Generator, values: Array, pool: Array, run: int, position: int) -> Array:
    """Returns values of a pool: over the even runs two arrays together hold all pairs, over the odd ones random pairs.

    Positions beyond the end of the pool take the element of `values`. With a prime number of positions, two arrays hold
    each pair at one element (orthogonal arrays).
    """
    count, size = values.size, prime_above(len(pool))
    turn = np.arange(count) + run // 2 * count
    chosen = (turn // size + position * (turn % size)) % size if run % 2 == 0 else rng.integers(0, size, count)
    flat = values.reshape(-1)
    taken = pool[np.minimum(chosen, len(pool) - 1)]
    return np.where(chosen < len(pool), taken, flat).astype(values.dtype).reshape(values.shape)


def prime_above(number: int) -> int:
    """Returns the smallest prime number that is at least a number."""
    candidate = max(2, number)
    while any(candidate % divisor == 0 for divisor in range(2, isqrt(candidate) + 1)):
        candidate += 1
    return candidate
