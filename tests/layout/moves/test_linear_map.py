"""Maps of linear indices: merged and exchanged, against numpy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.layout.moves.linear_map import LinearMap, Permute, Resize, common_sizes, try_commute, try_merge

UNSPECIFIED = -1


def moved(array: np.ndarray, maps: list[LinearMap]) -> np.ndarray:
    """Moves the numbers of an array; an element that a resize adds is -1, or -2 - its padding value."""
    for each in maps:
        array = array.reshape(each.sizes)
        if isinstance(each, Permute):
            array = array.transpose(each.permutation)
            continue
        value = UNSPECIFIED if each.padding is None else -2 - int(str(each.padding))
        cut = tuple(
            slice(max(0, -low), size - max(0, -high))
            for size, low, high in zip(each.sizes, each.low, each.high, strict=True)
        )
        ends = [(max(0, low), max(0, high)) for low, high in zip(each.low, each.high, strict=True)]
        array = np.pad(array[cut], ends, constant_values=value)
    return array.ravel()


@st.composite
def maps(draw: st.DrawFn, count: int | None = None) -> LinearMap:
    sizes = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=3)))
    if count is not None:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        first = draw(st.sampled_from(divisors))
        sizes = (first, count // first)
    if draw(st.booleans()):
        return Permute(sizes, tuple(draw(st.permutations(range(len(sizes))))))
    low = tuple(draw(st.integers(-1, 1)) for _ in sizes)
    high = tuple(draw(st.integers(-1, 1)) for _ in sizes)
    found = Resize(sizes, low, high, draw(st.sampled_from([None, 0, 1])))
    return found if found.is_valid else Permute(sizes, tuple(range(len(sizes))))


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_merged_and_exchanged_maps_have_the_same_effect(data: st.DataObject) -> None:
    first = data.draw(maps())
    second = data.draw(maps(int(np.prod(first.result))))
    expected = moved(np.arange(int(np.prod(first.sizes))), [first, second])
    merged, exchanged = try_merge(first, second), try_commute(first, second)
    for found in (merged, None if exchanged is None else [*exchanged[0], *exchanged[1]]):
        if found is not None:
            values = moved(np.arange(int(np.prod(first.sizes))), found)
            assert values.shape == expected.shape
            assert np.all((values == expected) | (expected == UNSPECIFIED))


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        # The second resize removes all padding of the first, so the first padding value is irrelevant.
        (Resize((4,), (0,), (2,), "0"), Resize((6,), (1,), (-2,), "1"), [Resize((4,), (1,), (0,), "1")]),
        (Resize((4,), (2,), (0,), "0"), Resize((6,), (-2,), (1,), "1"), [Resize((4,), (0,), (1,), "1")]),
        (Resize((4,), (0,), (2,), "0"), Resize((6,), (1,), (-1,), "1"), None),
        (Resize((4,), (0,), (2,), "0"), Resize((6,), (1,), (-1,), "0"), [Resize((4,), (1,), (1,), "0")]),
        # Elements cut off at one end and padding added at the other are independent.
        (Resize((4,), (-1,), (0,)), Resize((3,), (0,), (2,), "0"), [Resize((4,), (-1,), (2,), "0")]),
        (Resize((4,), (-1,), (0,)), Resize((3,), (1,), (0,), "0"), None),
        (Resize((4,), (-1,), (0,)), Resize((3,), (1,), (0,)), []),
        (Permute((2, 3), (1, 0)), Permute((3, 2), (1, 0)), []),
        (Permute((2, 3, 4), (1, 0, 2)), Permute((3, 8), (1, 0)), [Permute((2, 3, 4), (0, 2, 1))]),
    ],
)
def test_merges(first: LinearMap, second: LinearMap, merged: list[LinearMap] | None) -> None:
    assert try_merge(first, second) == merged


def test_a_resize_goes_ahead_of_a_permute() -> None:
    found = try_commute(Permute((2, 3), (1, 0)), Resize((3, 2), (0, 1), (2, 0), "0"))
    assert found == ([Resize((2, 3), (1, 0), (0, 2), "0")], [Permute((3, 5), (1, 0))])
    back = try_commute(found[0][0], found[1][0])
    assert back == ([Permute((2, 3), (1, 0))], [Resize((3, 2), (0, 1), (2, 0), "0")])


@pytest.mark.parametrize(
    ("a", "b", "common"), [((4, 6), (2, 12), (2, 2, 6)), ((6,), (4,), None), ((2, 1, 3), (6,), (2, 1, 3))]
)
def test_common_sizes(a: tuple[int, ...], b: tuple[int, ...], common: tuple[int, ...] | None) -> None:
    assert common_sizes(a, b) == common
