"""Arrays found among those of another program, whatever the order of their dimensions."""

from __future__ import annotations

from itertools import permutations

import ml_dtypes
import numpy as np
import pytest

from dialect_utils.verdict.expectation import KnownArrays, is_close, is_informative

RNG = np.random.default_rng(0)
CUBE = RNG.standard_normal((3, 4, 5)).astype(np.float32)


def distance(array: object, *known: object, share: float = 1e-5) -> float:
    arrays = KnownArrays(share)
    arrays.add([np.asarray(each) for each in known])
    return arrays.distance(np.asarray(array))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_an_array_is_found_in_any_order_of_its_dimensions_and_flattened(order: tuple[int, ...]) -> None:
    moved = CUBE.transpose(order)
    assert distance(moved, CUBE) == 0
    assert distance(moved.reshape(-1), CUBE) == 0
    assert distance(CUBE, moved.reshape(1, -1, 1)) == 0


def test_an_array_with_the_same_elements_in_another_order_is_not_found() -> None:
    assert distance(CUBE[::-1], CUBE) > 0.1
    assert distance(np.arange(6)[::-1], np.arange(6)) > 0
    assert distance(np.roll(CUBE, 1, axis=2), CUBE) > 0
    assert distance(CUBE.reshape(5, 4, 3), CUBE) == 0
    assert distance(CUBE.swapaxes(0, 2).reshape(4, 15), CUBE) == 0
    assert distance(CUBE.reshape(2, 30).T.reshape(3, 4, 5), CUBE) > 0


def test_the_tolerance_is_a_share_of_the_largest_element() -> None:
    changed = CUBE.astype(np.float64)
    changed[1, 2, 3] += 0.5e-5 * np.abs(CUBE).max()
    assert distance(changed, CUBE) == 0
    changed[1, 2, 3] += 2e-5 * np.abs(CUBE).max()
    assert distance(changed, CUBE) >= 1e-5
    assert distance(changed, CUBE, share=1e-4) == 0


def test_the_distance_is_at_most_that_to_the_nearest_array() -> None:
    for _ in range(100):
        a, b, c = RNG.standard_normal((3, 6, 7))
        found = distance(a, b, c)
        assert 0 < found <= min(np.abs(a - each).max() / np.abs(each).max() for each in (b, c)) + 1e-12
    assert distance(CUBE, CUBE[0]) == np.inf
    assert distance(CUBE) == np.inf
    assert distance(CUBE, np.zeros_like(CUBE)) == np.inf


def test_integers_and_booleans_are_compared_exactly() -> None:
    numbers = np.arange(1 << 20, (1 << 20) + 60).reshape(6, 10)
    assert distance(numbers.T, numbers) == 0
    assert distance(numbers + (np.arange(60) == 7).reshape(6, 10), numbers) > 0
    assert distance(numbers.astype(np.float64) + 1e-3, numbers) == 0
    assert distance(np.array([True, False]), np.array([False, True])) > 0


def test_infinities_and_nans_are_equal_to_themselves_only() -> None:
    special = np.array([1.0, np.inf, -np.inf, np.nan])
    assert distance(special, special.copy()) == 0
    assert distance(special, np.array([1.0, np.inf, np.inf, np.nan])) > 0
    assert distance(special, np.array([1.0, np.inf, -np.inf, 2.0])) > 0
    assert distance(np.array([1.0, 2.0, 3.0, 4.0]), special) > 0


def test_other_types_are_compared_by_value() -> None:
    narrow = CUBE.astype(ml_dtypes.bfloat16)
    assert distance(narrow, narrow.astype(np.float32)) == 0
    assert distance(narrow, CUBE) > 0
    assert distance(narrow, CUBE, share=1e-2) == 0
    whole = CUBE + 1j * CUBE[::-1]
    assert distance(whole.T, whole) == 0
    assert distance(whole.conj(), whole) > 0


def test_arrays_of_the_same_dimensions_are_close_without_another_order() -> None:
    square = RNG.standard_normal((4, 4))
    assert is_close(square, square + 1e-7, 1e-5)
    assert not is_close(square.T, square, 1e-5)
    assert not is_close(square + 1e-3, square, 1e-5)
    assert is_close(np.zeros((0, 3)), np.zeros((0, 3)), 0.0)


def test_an_array_of_equal_elements_is_not_informative() -> None:
    assert is_informative(CUBE)
    assert not is_informative(np.ones((3, 4)))
    assert not is_informative(np.zeros((0,)))
    assert not is_informative(np.array(3.0))
