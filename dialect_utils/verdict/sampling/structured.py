"""Data with structure: rows, columns and arrays of one magnitude, and constants of the programs in pairs.

An epsilon below a root, or added to a norm, matters only where all elements of a row are about as small. A test for
two rare values at once is true only where both stand at one position.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, sqrt
from typing import Any

import numpy as np

from dialect_utils.execution import Array

# Every fourth row, and every second array, is constant.
_CONSTANT_EVERY, _CONSTANT_ARRAY_EVERY = 4, 2
# Constants up to this may be an epsilon.
_LARGEST_EPSILON = 0.01
_MAGNITUDES = (1e-3, 1e3, 1e-6, 30.0)
# So many powers of two are left between a magnitude and the ends of the type.
_MARGIN = 8.0
# By rows, by columns and by whole arrays, in turn.
_WAYS = 3


def magnitudes(constants: Sequence[float], numbers: Sequence[float], limits: Any) -> list[float]:
    """Returns the magnitudes worth trying in a row: roots of small constants, these constants, and a few others."""
    small = [abs(each) for each in (*constants, *numbers) if 0 < abs(each) <= _LARGEST_EPSILON]
    found = [*map(sqrt, small), *_MAGNITUDES, *small]
    low, high = _MARGIN * float(limits.smallest_normal), float(limits.max) / _MARGIN
    return list(dict.fromkeys(each for each in found if low <= each <= high)) or [1.0]


def scaled(rng: np.random.Generator, values: Array, pool: Sequence[float], run: int, position: int) -> Array:
    """Returns values whose rows, columns or whole array have one magnitude of the pool each, or are constant."""
    way, turn = run % _WAYS, run // _WAYS + position
    exact = values.astype(np.float64)
    if values.ndim < 2 or not values.size or way == 2:
        rows = exact.reshape(1, -1)
        is_constant = np.array([turn % _CONSTANT_ARRAY_EVERY == 1])
    else:
        rows = exact.reshape(-1, values.shape[-1]) if way == 0 else exact.reshape(values.shape[0], -1).T
        is_constant = np.arange(len(rows)) % _CONSTANT_EVERY == _CONSTANT_EVERY - 1
    scales = np.array(pool)[(np.arange(len(rows)) + turn * len(rows)) % len(pool)]
    level = rng.standard_normal((len(rows), 1))
    made = np.where(is_constant[:, None], level, rows) * scales[:, None]
    whole = made.T if way == 1 and len(rows) > 1 else made
    with np.errstate(all="ignore"):
        scaled_values: Array = whole.reshape(values.shape).astype(values.dtype)
    return scaled_values


def paired(rng: np.random.Generator, values: Array, pool: Array, run: int, position: int) -> Array:
    """Returns values of a pool: over the even runs two arrays together hold all pairs, over the odd ones random pairs.

    Positions of the pool beyond its end stand for a given value. With a prime number of positions, two arrays hold each
    pair at one element (orthogonal arrays).
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
