from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
from hypothesis import given, strategies as st

from dialect_utils.ops.positions import window_positions
from dialect_utils.ops.window import WindowDimension

_DIMENSIONS = st.lists(
    st.tuples(
        st.builds(
            WindowDimension,
            size=st.integers(1, 3),
            stride=st.integers(1, 3),
            low=st.integers(-1, 3),
            lhs_dilation=st.integers(1, 3),
            rhs_dilation=st.integers(1, 3),
        ),
        st.integers(0, 4),
        st.integers(0, 3),
    ),
    max_size=3,
)


@given(_DIMENSIONS)
def test_every_place_of_every_window(dimensions: list[tuple[WindowDimension, int, int]]) -> None:
    """As StableHLO's specification of reduce_window says it, one place at a time."""
    window, sizes, results = zip(*dimensions, strict=True) if dimensions else ((), (), ())
    found = window_positions(window, sizes, results)
    assert found.shape == (prod(results), prod(dimension.size for dimension in window))
    for row, result in zip(found, product(*map(range, results)), strict=True):
        for index, place in zip(row, product(*(range(dimension.size) for dimension in window)), strict=True):
            assert index == _expected(window, sizes, result, place)


def _expected(
    window: tuple[WindowDimension, ...], sizes: tuple[int, ...], result: tuple[int, ...], place: tuple[int, ...]
) -> int:
    at = []
    for dimension, size, i, k in zip(window, sizes, result, place, strict=True):
        dilated = i * dimension.stride + k * dimension.rhs_dilation - dimension.low
        if dilated % dimension.lhs_dilation or not 0 <= dilated < size * dimension.lhs_dilation:
            return prod(sizes)
        at.append(dilated // dimension.lhs_dilation)
    return int(np.ravel_multi_index(at, sizes)) if sizes else 0
