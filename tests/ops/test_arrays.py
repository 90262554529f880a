"""The index arithmetic of operations on whole arrays, against the definitions, one element at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from dialect_utils.layout import Pad, Transpose
from dialect_utils.ops.arrays import ArrayDomain
from dialect_utils.ops.window import WindowDimension
from dialect_utils.ops.windows import Convolution

_Array = NDArray[Any]


class _Numbers(ArrayDomain[_Array]):
    """Plain integers."""

    def select(self, make: Callable[..., _Array], *arrays: _Array) -> _Array:
        return make(*arrays)

    def dimensions(self, array: _Array) -> tuple[int, ...]:
        return array.shape

    def integers(self, array: _Array) -> NDArray[np.int64]:
        return array.astype(np.int64)

    def contract(
        self, operation: object, left: _Array, right: _Array, present: NDArray[np.bool_] | None = None
    ) -> _Array:
        assert present is None or not left[:, ~present].any()
        return left @ right.swapaxes(-1, -2)


NUMBERS = _Numbers()


def numbers(*sizes: int) -> _Array:
    return np.random.default_rng(sum(sizes)).integers(1, 100, sizes)


_WINDOWS = st.builds(
    WindowDimension,
    size=st.integers(1, 3),
    stride=st.integers(1, 2),
    low=st.integers(-1, 2),
    high=st.integers(0, 2),
    lhs_dilation=st.integers(1, 2),
    rhs_dilation=st.integers(1, 2),
    is_reversed=st.booleans(),
)


def _pairings(size: int) -> list[tuple[WindowDimension, int]]:
    """Returns windows that only pair indices, each with the size of its array."""
    last = size - 1
    return [
        (WindowDimension(size, max(1, last), lhs_dilation=size), size),
        (WindowDimension(size, size, low=last, high=last, rhs_dilation=1 + size, lhs_dilation=size), size),
        (WindowDimension(size, is_reversed=size > 2), size),
        (WindowDimension(1), size),
        (WindowDimension(size, low=last, high=last), 1),
        (WindowDimension(size, low=last, high=last, is_reversed=True), 1),
    ]


_DIMENSIONS = st.one_of(
    st.tuples(_WINDOWS, st.integers(1, 4)), st.integers(1, 4).flatmap(lambda size: st.sampled_from(_pairings(size)))
)


@settings(deadline=None, max_examples=300)
@given(st.lists(_DIMENSIONS, max_size=3), st.sampled_from([(1, 1), (2, 1), (1, 2), (3, 1)]))
def test_convolution(dimensions: list[tuple[WindowDimension, int]], groups: tuple[int, int]) -> None:
    window = tuple(each for each, _ in dimensions)
    spatial = [size for _, size in dimensions]
    results = [max(0, _count(each, size)) for each, size in dimensions]
    features, batches = groups
    lhs = numbers(2 * batches, 2 * features, *spatial)
    rhs = numbers(2 * features * batches, 2, *(each.size for each in window))
    sizes = (2, 2 * features * batches, *results)
    straight = tuple(replace(each, is_reversed=False) for each in window)
    backwards = [i + 2 for i, each in enumerate(window) if each.is_reversed]
    # Plain integers have only the primitives that select positions, and no operation is read.
    domain: Any = NUMBERS
    operation: Any = None
    convolution: Convolution[_Array] = Convolution(domain, operation, straight, groups, sizes, False)
    found = convolution.of(lhs, np.flip(rhs, tuple(backwards)))
    assert found.shape == sizes
    for b, o, *place in product(*map(range, sizes)):
        group = o // 2
        images = lhs[b + 2 * (group if batches > 1 else 0)]
        channels = images[2 * group : 2 * group + 2] if features > 1 else images
        assert found[(b, o, *place)] == _windowed(channels, rhs[o], window, place)


def _count(dimension: WindowDimension, size: int) -> int:
    base = (size - 1) * dimension.lhs_dilation + 1 + dimension.low + dimension.high
    return (base - (dimension.size - 1) * dimension.rhs_dilation - 1) // dimension.stride + 1


def _windowed(channels: _Array, kernel: _Array, window: tuple[WindowDimension, ...], place: list[int]) -> int:
    """Returns one element of a convolution, as HloEvaluator computes it."""
    total = 0
    for i, *offset in product(*map(range, kernel.shape)):
        at = []
        for each, k, position in zip(window, offset, place, strict=True):
            k = each.size - 1 - k if each.is_reversed else k
            index, rest = divmod(position * each.stride + k * each.rhs_dilation - each.low, each.lhs_dilation)
            at.append(-1 if rest else index)
        if all(0 <= index < size for index, size in zip(at, channels.shape[1:], strict=True)):
            total += int(channels[(i, *at)] * kernel[(i, *offset)])
    return total


def test_windows_read_padding_where_they_leave_the_array() -> None:
    window = (WindowDimension(2, low=1, high=1),)
    found = NUMBERS.windows(np.array([1, 2]), np.array(9), window, (3,))
    assert found.tolist() == [[9, 1], [1, 2], [2, 9]]


@pytest.mark.parametrize(("start", "expected"), [(-5, [1, 2]), (1, [2, 3]), (7, [3, 4])])
def test_start_indices_are_clamped(start: int, expected: list[int]) -> None:
    array = np.array([1, 2, 3, 4])
    assert NUMBERS.slice_at(array, [np.array(start)], (2,)).tolist() == expected
    updated = NUMBERS.update_at(array, np.array([0, 0]), [np.array(start)])
    assert [value for value in array if value not in updated] == expected


def test_a_broadcast_names_the_result_dimension_of_each_operand_dimension() -> None:
    array = numbers(2, 1, 3)
    found = NUMBERS.broadcast(array, (2, 0, 1), (4, 3, 2))
    for i, j, k in np.ndindex(4, 3, 2):
        assert found[i, j, k] == array[k, 0, j]


def test_movement() -> None:
    array = numbers(2, 3)
    assert (NUMBERS.move(array, Transpose((1, 0))) == array.T).all()
    padded = NUMBERS.move(array, Pad((0, -1), (1, 0), (0, 1)), np.array(7))
    assert padded.tolist() == [[7, array[0, 1], 7, array[0, 2]], [7, array[1, 1], 7, array[1, 2]], [7] * 4]
    assert (NUMBERS.reverse(array, (1,)) == array[:, ::-1]).all()
    assert NUMBERS.concatenate([array, array], 1).shape == (2, 6)
