"""Index arithmetic: the elements that a step, a window or a gather reads, as numpy arrays of positions.

The arrays that are indexed hold anything: bits, terms of a proof, or words of a finite field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import Pad, Reshape, Slice, Step, Transpose
from dialect_utils.ops.window import WindowDimension

# Indices of elements, flat or of one dimension.
Positions = NDArray[np.int64]


@singledispatch
def stepped(step: Step, array: NDArray[Any]) -> NDArray[Any]:
    """Returns a transposed, reshaped or sliced array."""
    raise TypeError(f"{step} needs a padding value or the bits of the elements")


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


@dataclass(frozen=True, slots=True)
class ScatterNumbers:
    """The dimension numbers of a scatter, with HLO's names."""

    index_vector_dim: int
    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    input_batching_dims: tuple[int, ...]
    scatter_indices_batching_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]

    def positions(self, sizes: Sequence[int], indices: NDArray[Any], updates: Sequence[int]) -> Positions:
        """Returns the operand's flat index of every element of the updates, -1 in a window that is not inside.

        Source: HloEvaluator's HandleScatter, which leaves out a window that is partly outside.
        """
        at, vector = np.indices(updates), self.index_vector_dim
        batch = [i for i in range(len(updates)) if i not in self.update_window_dims]
        gone = {*self.inserted_window_dims, *self.input_batching_dims}
        kept = [i for i in range(len(sizes)) if i not in gone]
        window, index = [1] * len(sizes), [np.zeros(updates, np.int64) for _ in sizes]
        for dimension, to in zip(kept, sorted(self.update_window_dims), strict=True):
            window[dimension], index[dimension] = updates[to], at[to]
        vectors = np.moveaxis(indices, vector, -1) if vector < indices.ndim else indices[..., None]
        starts, is_inside = vectors[tuple(at[i] for i in batch)], np.full(updates, True)
        for k, dimension in enumerate(self.scatter_dims_to_operand_dims):
            start = starts[..., k].astype(np.int64)
            is_inside &= (start >= 0) & (start <= sizes[dimension] - window[dimension])
            index[dimension] = index[dimension] + start
        for dimension, start in zip(self.input_batching_dims, self.scatter_indices_batching_dims, strict=True):
            index[dimension] = at[batch[start - (start > vector)]]
        flat = np.zeros(updates, np.int64)
        for size, each in zip(sizes, index, strict=True):
            flat = flat * size + each
        return np.where(is_inside, flat, -1)


@dataclass(frozen=True, slots=True)
class GatherNumbers:
    """The dimension numbers and slice sizes of a gather, with HLO's names."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...]
    start_indices_batching_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    index_vector_dim: int
    slice_sizes: tuple[int, ...]

    def positions(
        self, sizes: Sequence[int], starts: NDArray[Any], results: Sequence[int]
    ) -> tuple[NDArray[np.int64], ...]:
        """Returns the operand's index of every result element, one array for each of the operand's dimensions.

        `sizes` are the operand's dimensions, `results` those of the result. Start indices are clamped, so that the
        slice is inside the operand. Source: StableHLO's specification of gather.
        """
        vector = self.index_vector_dim
        batch = [i for i in range(len(results)) if i not in self.offset_dims]
        gone = {*self.collapsed_slice_dims, *self.operand_batching_dims}
        kept = [i for i in range(len(sizes)) if i not in gone]
        at, index = np.indices(results), [np.zeros(results, np.int64) for _ in sizes]
        vectors = np.moveaxis(starts, vector, -1) if vector < starts.ndim else starts[..., None]
        chosen = vectors[tuple(at[i] for i in batch)]
        for k, dimension in enumerate(self.start_index_map):
            last = max(0, sizes[dimension] - self.slice_sizes[dimension])
            index[dimension] += _clamped(chosen[..., k], last)
        for dimension, start in zip(self.operand_batching_dims, self.start_indices_batching_dims, strict=True):
            index[dimension] += at[batch[start - (start > vector)]]
        for dimension, to in zip(kept, self.offset_dims, strict=True):
            index[dimension] += at[to]
        return tuple(index)


def _clamped(starts: NDArray[Any], last: int) -> NDArray[np.int64]:
    """Returns integers of any type, those of u64 above 2^63 included, between 0 and `last`."""
    starts = np.minimum(starts, np.uint64(last)) if starts.dtype == np.uint64 else starts
    return np.clip(starts.astype(np.int64), 0, last)
