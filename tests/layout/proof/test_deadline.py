"""A deadline ends proofs on an injected clock, which counts the checks; budgets of isl grow while time is left."""

from __future__ import annotations

from itertools import count, islice

import pytest

from dialect_utils.layout.proof.deadline import DeadlineError, check_deadline, deadline, now, seconds_left
from dialect_utils.layout.proof.decide import Terms, budgets
from dialect_utils.layout.proof.enumeration import blocks


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_without_a_deadline_nothing_ends() -> None:
    check_deadline()
    assert seconds_left() == float("inf")


def test_a_check_after_the_deadline_raises() -> None:
    clock = Clock()
    with deadline(5, clock):
        clock.time = 4.9
        check_deadline()
        assert seconds_left() == pytest.approx(0.1)
        clock.time = 5
        with pytest.raises(DeadlineError):
            check_deadline()
    check_deadline()


def test_the_earlier_of_nested_deadlines_holds() -> None:
    clock = Clock()
    with deadline(5, clock), deadline(9):
        assert now() == 0
        clock.time = 5
        with pytest.raises(DeadlineError):
            check_deadline()
    with deadline(9, clock), deadline(2):
        assert seconds_left() == 2


def test_blocks_of_an_array_of_any_size_end() -> None:
    with deadline(3, count().__next__):  # each look at the clock is a second, the first one at the start
        found = blocks((1 << 62, 4))
        assert len(list(islice(found, 2))) == 2
        with pytest.raises(DeadlineError):
            next(found)


def _sizes(seconds: float, of_an_operation: float) -> list[int]:
    clock, found = Clock(), []
    with deadline(1e9, clock):
        for budget in budgets(100_000, seconds):
            found.append(budget.operations)
            clock.time += budget.operations * of_an_operation
    return found


@pytest.mark.parametrize(
    ("of_an_operation", "most"), [(0, 100_000), (3e-6, 100_000), (1e-4, 8_000), (1e-3, 1_000), (1, 1_000)]
)
def test_budgets_grow_while_the_next_one_fits_the_time(of_an_operation: float, most: int) -> None:
    assert max(_sizes(2.0, of_an_operation)) == most


def test_no_budget_is_tried_after_the_deadline() -> None:
    clock = Clock()
    with deadline(1, clock):
        clock.time = 2
        with pytest.raises(DeadlineError):
            next(budgets(100, 1.0))


def test_a_question_is_asked_again_with_a_larger_budget() -> None:
    for tried, budget in enumerate(budgets(1_000_000, 1e6)):
        with budget as context:
            terms = Terms(context, (5, 7), 1)
            for _ in range(1 + 200 // (tried + 1)):
                assert not terms.domain([]).is_empty()
            assert tried > 0
            return
    pytest.fail("isl gave up")
