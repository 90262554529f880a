"""Which elements a window covers: of convolutions and of windowed reductions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from dialect_utils.ops.window import WindowDimension


def window_indices(
    window: Sequence[WindowDimension], sizes: Sequence[int], results: Sequence[int]
) -> NDArray[np.int64]:
    """Returns for every result element the operand's flat index at every place of its window: [results, places].

    Results, places and the operand are in row-major order; a place in the padding has the index after the last
    element. Meaning of windows: StableHLO's specification of reduce_window.
    """
    index = np.zeros((1, 1), np.int64)
    for dimension, size, count in zip(window, sizes, results, strict=True):
        outer, inner = index[:, None, :, None], _indices(dimension, size, count)[None, :, None, :]
        combined = np.where((outer >= 0) & (inner >= 0), outer * size + inner, -1)
        index = combined.reshape(len(index) * count, index.shape[1] * dimension.size)
    return np.where(index >= 0, index, prod(sizes))


def _indices(dimension: WindowDimension, size: int, count: int) -> NDArray[np.int64]:
    """Returns for every result the operand's indices along one dimension, -1 in the padding: [count, window size]."""
    places = np.arange(dimension.size) * dimension.rhs_dilation
    position = np.arange(count)[:, None] * dimension.stride + places - dimension.low
    index, rest = np.divmod(position, dimension.lhs_dilation)
    return np.where((rest == 0) & (index >= 0) & (index < size), index, -1)
