"""isl's terms against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import islpy as isl
import pytest

from dialect_utils.layout.index.places import Condition
from dialect_utils.layout.proof.presburger import Budget, Terms

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


def test_the_domain_is_what_keeps_the_conditions() -> None:
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
