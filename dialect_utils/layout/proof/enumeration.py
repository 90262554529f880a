"""Indices of an array, all of them, as blocks of numpy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from dialect_utils.layout.index.places import Places

# Units enumerated at a time: bounds the memory at some tens of megabytes whatever the array.
_BLOCK = 1 << 18


def blocks(sizes: tuple[int, ...]) -> Iterator[tuple[list[Any], Any]]:
    """Yields index and unit of all elements in row-major order, a block of flat arrays at a time."""
    total = prod(sizes)
    for begin in range(0, total, _BLOCK):
        flat = np.arange(begin, min(begin + _BLOCK, total))
        coordinates: list[Any] = []
        for size in reversed(sizes):
            coordinates.insert(0, flat % size)
            flat = flat // size
        yield coordinates[:-1], coordinates[-1]


def keeps(places: Places, shape: tuple[int, ...]) -> Any:
    """Returns which elements of a block keep the conditions, as a flat array of `shape`."""
    kept = np.ones(shape, bool)
    for condition in places.conditions:
        kept &= (condition.value >= condition.low) & (condition.value < condition.high)
        kept &= condition.value % condition.stride == 0
    return kept


def at(index: Sequence[Any], position: int) -> tuple[int, ...]:
    """Returns the index at one position of a block."""
    return tuple(int(coordinate[position]) for coordinate in index)
