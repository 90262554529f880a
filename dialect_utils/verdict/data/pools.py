"""The telling values of one array: what the programs compare it with, and what its type is known for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dialect_utils.execution import Array
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.verdict.data.needs import Need

# An integer that counts rounds stays below: a loop of more shows nothing new, and takes its time.
MOST_ROUNDS = 300


def value_range(kind: ElementType) -> tuple[int, int]:
    """Returns the smallest and the largest number of an integer type."""
    return (-(1 << kind.bits - 1), (1 << kind.bits - 1) - 1) if kind.is_signed else (0, (1 << kind.bits) - 1)


def integer_pool(need: Need) -> list[int]:
    """Returns the numbers worth trying in an integer array, none twice."""
    kind = need.shape.element_type
    low, high = value_range(kind)
    found = [0, 1, -1, 2]
    for limit in need.limits:
        found += [limit - 1, limit, limit + 1, -limit, limit // 2]
    for width in need.widths:
        found += [width - 1, width, width + 1, 2 * width]
    found += range(-1, need.branches + 1 if need.branches else 0)
    for number in need.numbers:
        # Of a fraction both whole numbers beside it.
        found += [int(number) - 1, int(number), int(number) + 1] if abs(number) < 1 << 64 else []
    if not need.counts:
        found += [low, high, low + 1, high - 1]
    if need.counts:
        low, high = max(low, -MOST_ROUNDS), min(high, MOST_ROUNDS)
    return list(dict.fromkeys(value for value in found if low <= value <= high))


def float_pool(need: Need, kind: ElementType) -> Array:
    """Returns the finite numbers worth trying in a float array: constants and their neighbours, small whole numbers."""
    dtype = dtype_of(kind)
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, *map(float, need.numbers), *(-float(number) for number in need.numbers)]
    if need.counts:
        # A loop might never end that others count.
        numbers = [float(number) for number in need.numbers if 0 < number <= MOST_ROUNDS] or [0.5]
    with np.errstate(all="ignore"):
        exact = np.array(numbers, np.float64).astype(dtype)
        below, above = (np.nextafter(exact, np.array(end).astype(dtype)) for end in (-np.inf, np.inf))
        return _finite([exact, below, above], dtype)


def special_floats(kind: ElementType, *, largest: bool = True) -> Array:
    """Returns the values of a float type that arithmetic treats on their own, those that the type has.

    `largest`: with the largest numbers, whose sums overflow.
    """
    import ml_dtypes

    dtype = dtype_of(kind)
    limits: Any = ml_dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        tiny = float(limits.smallest_normal)
        values = [0.0, -0.0, tiny, -tiny, tiny / 2, -tiny / 4]
        values += [float(limits.max), float(limits.min)] if largest else []
        return np.array([*values, np.nan, np.inf, -np.inf]).astype(dtype)


def _finite(parts: Iterable[Array], dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        whole = np.concatenate([part.astype(dtype) for part in parts])
        return whole[np.isfinite(whole.astype(np.float64))]
