"""Data movement done to numpy arrays of anything: terms, or numbers of a field."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import Pad, Reshape, Slice, Step, Transpose


@singledispatch
def stepped(step: Step, array: NDArray[Any]) -> NDArray[Any]:
    """Returns what a transpose, reshape or slice makes of an array of anything."""
    raise TypeError(f"{step} is no mere indexing: pads and bitcast-converts are treated by their own")


@stepped.register
def _transposed(step: Transpose, array: NDArray[Any]) -> NDArray[Any]:
    return array.transpose(step.permutation)


@stepped.register
def _reshaped(step: Reshape, array: NDArray[Any]) -> NDArray[Any]:
    return array.reshape(step.dimensions)


@stepped.register
def _sliced(step: Slice, array: NDArray[Any]) -> NDArray[Any]:
    return array[tuple(map(slice, step.start, step.limit, step.strides))]


def pad_into(array: NDArray[Any], step: Pad, padding: NDArray[Any]) -> NDArray[Any]:
    """Returns an array of paddings with the elements of another written where a pad puts them."""
    result = padding.copy()
    places, sources = [], []
    gaps = step.interior or (0,) * array.ndim
    for size, low, gap, limit in zip(array.shape, step.low, gaps, result.shape, strict=True):
        kept = [(low + i * (gap + 1), i) for i in range(size) if 0 <= low + i * (gap + 1) < limit]
        places.append([to for to, _ in kept])
        sources.append([i for _, i in kept])
    result[np.ix_(*places)] = array[np.ix_(*sources)] if array.ndim else array
    return result
