"""Whether two index maps are equal: both methods against asking every element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest

from dialect_utils.layout.index.places import Condition, Places
from dialect_utils.layout.proof.decide import IndexMap, Question, decide

DIMENSIONS, UNITS = (4, 6), 2
# So small a budget makes isl give up at once: the blocks answer.
METHODS = {"isl": 1_000_000, "enumeration": 1}


def at(place: Callable[..., Any], *conditions: Callable[..., Condition]) -> IndexMap:
    def found(index: Sequence[Any], unit: Any) -> Places:
        return Places([place(*index, unit)], unit, [condition(*index) for condition in conditions])

    return found


MAPS = [
    at(lambda i, j, u: i * 6 + j),
    at(lambda i, j, u: (i * 6 + j) // 2 * 2 + j % 2),
    at(lambda i, j, u: j * 4 + i),
    at(lambda i, j, u: i * 6 + j + u // 2),
    at(lambda i, j, u: i * 6 + j + i // 3),
    at(lambda i, j, u: i * 6 + j, lambda i, j: Condition(j, 0, 5)),
    # As the one above, but for the elements that both drop.
    at(lambda i, j, u: i * 6 + j + j // 5, lambda i, j: Condition(j, 0, 5)),
    at(lambda i, j, u: i * 6 + j, lambda i, j: Condition(i * 6 + j, 0, 24)),
    at(lambda i, j, u: i * 6 + j, lambda i, j: Condition(j, 0, 6, 2)),
]


def differing(first: IndexMap, second: IndexMap) -> set[tuple[int, ...]]:
    """Returns the elements of which a unit is at two places, or dropped by one map only."""

    def where(each: IndexMap, index: tuple[int, ...], unit: int) -> object:
        places = each(index, unit)
        is_kept = all(c.low <= c.value < c.high and c.value % c.stride == 0 for c in places.conditions)
        return (*places.coordinates, places.unit) if is_kept else None

    every = product(product(*map(range, DIMENSIONS)), range(UNITS))
    return {index for index, unit in every if where(first, index, unit) != where(second, index, unit)}


@pytest.mark.parametrize("method", METHODS)
def test_the_answer_is_that_of_asking_every_element(method: str) -> None:
    answers = set()
    for first, second in product(MAPS, MAPS):
        wrong = differing(first, second)
        found = decide(Question(DIMENSIONS, UNITS, first, second), METHODS[method])
        assert found.holds == (not wrong)
        assert found.method == method
        assert found.counterexample is None if found.holds else found.counterexample in wrong
        answers.add(found.holds)
    assert answers == {True, False}


def test_no_element_is_nowhere_else() -> None:
    assert decide(Question((0, 3), 1, MAPS[0], MAPS[2]), 1).method == "structure"
