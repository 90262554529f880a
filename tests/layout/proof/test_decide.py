"""Equality of two index maps, by both methods against every element; isl's terms against Python's integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import islpy as isl
import pytest

from dialect_utils.layout.index.positions import Condition, Position
from dialect_utils.layout.proof.decide import Budget, IndexMap, Question, Terms, decide

SIZES = (3, 4)
UNITS = 2

EXPRESSIONS: list[Callable[..., Any]] = [
    lambda i, j, u: i * 4 + j,
    lambda i, j, u: (i * 4 + j) // 3,
    lambda i, j, u: (i + j * -1) % 3,
    lambda i, j, u: (i + -2) // 2 + u,
    lambda i, j, u: 5 + j,
]


def points(of: isl.Set) -> set[tuple[int, ...]]:
    """Returns the points of a set, the unit last."""
    found: list[tuple[int, ...]] = []
    of.foreach_point(
        lambda point: found.append(
            tuple(int(str(point.get_coordinate_val(isl.dim_type.set, k))) for k in range(len(SIZES) + 1))
        )
    )
    return set(found)


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_a_term_is_what_python_computes(number: int) -> None:
    expression = EXPRESSIONS[number]
    with Budget(100_000) as context:
        terms = Terms(context, SIZES, UNITS)
        value = expression(*terms.index, terms.unit)
        for point in product(range(3), range(4), range(2)):
            expected = expression(*point)
            held = terms.aff(value).eq_set(terms.aff(expected)).intersect(terms.domain(()))
            assert point in points(held)
        return
    pytest.fail("isl gave up")


def test_the_domain_meets_the_conditions() -> None:
    with Budget(100_000) as context:
        terms = Terms(context, SIZES, UNITS)
        conditions = [Condition(terms.index[1], 1, 4, 2), Condition(terms.index[0] + terms.unit, 0, 2)]
        expected = {(i, j, u) for i, j, u in product(range(3), range(4), range(2)) if j == 2 and i + u < 2}
        assert points(terms.domain(conditions)) == expected
        assert terms.sample(terms.domain(conditions)) in {(i, j) for i, j, _ in expected}
        return
    pytest.fail("isl gave up")


def test_a_budget_that_is_spent_is_left_quietly_and_other_errors_are_not() -> None:
    with Budget(1) as context:
        Terms(context, SIZES, UNITS).domain(())
        pytest.fail("isl had no budget for this")
    with pytest.raises(ZeroDivisionError), Budget(1000):
        _ = 1 // 0


DIMENSIONS, UNITS = (4, 6), 2
# With so small a budget isl gives up at once, and blocks are enumerated.
METHODS = {"isl": 1_000_000, "enumeration": 1}


def at(place: Callable[..., Any], *conditions: Callable[..., Condition]) -> IndexMap:
    def found(index: Sequence[Any], unit: Any) -> Position:
        return Position([place(*index, unit)], unit, [condition(*index) for condition in conditions])

    return found


MAPS = [
    at(lambda i, j, u: i * 6 + j),
    at(lambda i, j, u: (i * 6 + j) // 2 * 2 + j % 2),
    at(lambda i, j, u: j * 4 + i),
    at(lambda i, j, u: i * 6 + j + u // 2),
    at(lambda i, j, u: i * 6 + j + i // 3),
    at(lambda i, j, u: i * 6 + j, lambda i, j: Condition(j, 0, 5)),
    # Equal to the map above except for elements that both drop.
    at(lambda i, j, u: i * 6 + j + j // 5, lambda i, j: Condition(j, 0, 5)),
    at(lambda i, j, u: i * 6 + j, lambda i, j: Condition(i * 6 + j, 0, 24)),
    at(lambda i, j, u: i * 6 + j, lambda i, j: Condition(j, 0, 6, 2)),
]


def differing(first: IndexMap, second: IndexMap) -> set[tuple[int, ...]]:
    """Returns the elements with a unit at two positions, or dropped by one map only."""

    def where(each: IndexMap, index: tuple[int, ...], unit: int) -> object:
        places = each(index, unit)
        is_kept = all(c.low <= c.value < c.high and c.value % c.stride == 0 for c in places.conditions)
        return (*places.coordinates, places.unit) if is_kept else None

    every = product(product(*map(range, DIMENSIONS)), range(UNITS))
    return {index for index, unit in every if where(first, index, unit) != where(second, index, unit)}


@pytest.mark.parametrize("method", METHODS)
def test_the_answer_is_that_of_comparing_every_element(method: str) -> None:
    answers = set()
    for first, second in product(MAPS, MAPS):
        wrong = differing(first, second)
        found = decide(Question(DIMENSIONS, UNITS, first, second), METHODS[method])
        assert found.holds == (not wrong)
        assert found.method == method
        assert found.counterexample is None if found.holds else found.counterexample in wrong
        answers.add(found.holds)
    assert answers == {True, False}


def test_arrays_without_elements_are_equal() -> None:
    assert decide(Question((0, 3), 1, MAPS[0], MAPS[2]), 1).method == "structure"
