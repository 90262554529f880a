"""The search for passes, against a compiler that is a function of the passes that are disabled."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from relayout.bisection.judging import IsRight, Names, single_passes, smallest_set

NAMES = tuple("abcdefgh")


def compiler(*causes: str, needed: str = "") -> IsRight:
    """Returns a compiler that is right without all passes of a cause, and compiles only with the needed ones."""

    def is_right(disabled: Names) -> bool | None:
        assert len(set(disabled)) == len(disabled)
        if set(disabled) & set(needed):
            return None
        return any(set(cause) <= set(disabled) for cause in causes)

    return is_right


def test_each_pass_that_alone_is_to_blame_is_found() -> None:
    assert single_passes(NAMES, compiler("b", "f")) == ["b", "f"]
    assert single_passes(NAMES, compiler("bc")) == []
    assert single_passes(NAMES, compiler("b", "f", needed="b")) == ["f"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_the_smallest_set_is_found(size: int) -> None:
    for cause in combinations(NAMES, size):
        assert smallest_set(NAMES, compiler("".join(cause))) == cause


def test_no_pass_of_the_set_can_stay() -> None:
    for first, second in product(combinations(NAMES, 2), combinations(NAMES, 3)):
        is_right = compiler("".join(first), "".join(second))
        found = smallest_set(NAMES, is_right)
        assert is_right(found)
        assert not any(is_right(tuple(name for name in found if name != each)) for each in found)


def test_passes_that_the_compiler_needs_are_left_alone() -> None:
    assert smallest_set(NAMES, compiler("bg", needed="adh")) == ("b", "g")
    assert smallest_set(NAMES, compiler("bg", needed="b")) == ()


def test_a_compiler_that_is_wrong_without_all_passes_has_no_set() -> None:
    assert smallest_set(NAMES, compiler()) == ()
    assert smallest_set((), compiler("a")) == ()
    assert smallest_set((), compiler("")) == ()
