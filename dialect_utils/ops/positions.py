"""Index arithmetic: the elements that a step, a window or a gather reads, as numpy arrays of positions.

The arrays that are indexed hold anything: bits, terms of a proof, or words of a finite field.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import Pad, Reshape, Slice, Step, Transpose
from dialect_utils.ops.window import WindowDimension

# Indices of elements, flat or of one dimension.
Positions = NDArray[np.int64]


def stepped(step: Step, array: NDArray[Any]) -> NDArray[Any]:
    """Returns a transposed, reshaped or sliced array."""
    match step:
        case Transpose():
            return array.transpose(step.permutation)
        case Reshape():
            return array.reshape(step.dimensions)
        case Slice():
            return array[tuple(map(slice, step.start, step.limit, step.strides))]
    raise TypeError(f"{step} needs a padding value or the bits of the elements")


def pad_into(array: NDArray[Any], step: Pad, padding: NDArray[Any]) -> NDArray[Any]:
    """Returns a copy of `padding`, which has the result's dimensions, with the elements of `array` in it."""
    result = padding.copy()
    targets, sources = [], []
    gaps = step.interior or (0,) * array.ndim
    for size, low, gap, limit in zip(array.shape, step.low, gaps, result.shape, strict=True):
        kept = [(low + i * (gap + 1), i) for i in range(size) if 0 <= low + i * (gap + 1) < limit]
        targets.append([to for to, _ in kept])
        sources.append([i for _, i in kept])
    result[np.ix_(*targets)] = array[np.ix_(*sources)] if array.ndim else array
    return result


def window_positions(
    window: Sequence[WindowDimension], sizes: Sequence[int], results: Sequence[int]
) -> NDArray[np.int64]:
    """Returns the operand's flat index at every offset of the window of every result element: [results, offsets].

    Results, offsets and the operand are in row-major order; an offset in the padding has the index after the last
    element, `prod(sizes)`. Source: StableHLO's specification of reduce_window.
    """
    index = np.zeros((1, 1), np.int64)
    for dimension, size, count in zip(window, sizes, results, strict=True):
        outer, inner = index[:, None, :, None], _along(dimension, size, count)[None, :, None, :]
        combined = np.where((outer >= 0) & (inner >= 0), outer * size + inner, -1)
        index = combined.reshape(len(index) * count, index.shape[1] * dimension.size)
    return np.where(index >= 0, index, prod(sizes))


def _along(dimension: WindowDimension, size: int, count: int) -> NDArray[np.int64]:
    """Returns the operand's indices along one dimension, -1 in the padding: [count, window size]."""
    offsets = np.arange(dimension.size) * dimension.rhs_dilation
    position = np.arange(count)[:, None] * dimension.stride + offsets - dimension.low
    index, rest = np.divmod(position, dimension.lhs_dilation)
    return np.where((rest == 0) & (index >= 0) & (index < size), index, -1)


def gather_positions(
    sizes: Sequence[int], columns: Sequence[NDArray[np.int64]], windows: Sequence[int]
) -> tuple[NDArray[np.int64], ...]:
    """Returns the index of every element of every window, an array [slices, *windows] for each indexed dimension.

    `sizes` are those of the indexed dimensions, `columns` their start indices. A start index is clamped, so that its
    window is inside. Source: StableHLO's specification of gather.
    """
    lasts = [size - window for size, window in zip(sizes, windows, strict=True)]
    starts = [np.clip(column, 0, last) for column, last in zip(columns, lasts, strict=True)]
    return tuple(np.broadcast_arrays(*_from_starts(starts, windows)))


def scatter_positions(
    sizes: Sequence[int], columns: Sequence[NDArray[np.int64]], windows: Sequence[int]
) -> NDArray[np.int64]:
    """Returns the flat index [windows, *sizes of a window] of every element of every window.

    `sizes` are those of the indexed dimensions, `columns` their start indices. The index is -1 in a window that is
    not inside. Source: HloEvaluator's HandleScatter, which leaves out a window that is partly outside.
    """
    lasts = [size - window for size, window in zip(sizes, windows, strict=True)]
    each_inside = [(column >= 0) & (column <= last) for column, last in zip(columns, lasts, strict=True)]
    is_inside = np.logical_and.reduce(each_inside)
    flat = np.zeros((), np.int64)
    starts = [np.where(is_inside, each, 0) for each in columns]
    for size, index in zip(sizes, _from_starts(starts, windows), strict=True):
        flat = flat * size + index
    return np.where(is_inside.reshape(-1, *(1 for _ in windows)), flat, -1)


def _from_starts(starts: Sequence[NDArray[np.int64]], windows: Sequence[int]) -> list[NDArray[np.int64]]:
    """Returns the indices of windows along each dimension, in arrays that numpy broadcasts to [starts, *windows]."""
    ones = [1] * len(windows)
    found = []
    for i, (start, window) in enumerate(zip(starts, windows, strict=True)):
        inside = np.arange(window).reshape(*ones[:i], window, *ones[i + 1 :])
        found.append(start.reshape(-1, *ones) + inside)
    return found
