"""The errors of the model that a search learns from compiled programs."""

from __future__ import annotations

import pytest

from relayout.tuning.candidates import Errors
from relayout.tuning.changes import Change

START = Change(("default", "default"), ("default",))
X, Y, RESULT = START.entry_arrays


def test_errors_of_parts_add_up_and_the_error_of_the_program_as_it_is_does_not_count() -> None:
    errors = Errors(START)
    errors.learn(START, 100, 150)
    errors.learn(START.with_mode(X, "{0,1}"), 80, 150)
    errors.learn(START.with_mode(Y, "{0,1}"), 90, 135)
    both = START.with_mode(X, "{0,1}").with_mode(Y, "{0,1}")
    assert errors.of(START) == 0
    assert errors.of(START.with_mode(X, "{0,1}")) == 20
    assert errors.of(both) == 20 - 5
    assert errors.of(START.with_mode(X, "{1,0}")) == 0


def test_the_error_of_several_parts_is_that_of_the_new_ones() -> None:
    errors = Errors(START)
    errors.learn(START, 100, 100)
    errors.learn(START.with_mode(X, "{0,1}"), 100, 130)
    three = START.with_mode(X, "{0,1}").with_mode(Y, "{0,1}").with_mode(RESULT, "{0,1}")
    errors.learn(three, 100, 150)
    assert errors.of(START.with_mode(X, "{0,1}")) == 30
    assert errors.of(START.with_mode(Y, "{0,1}")) == errors.of(START.with_mode(RESULT, "{0,1}")) == 10
    errors.learn(three, 100, 180)
    assert errors.of(three) == pytest.approx(80)


def test_passes_are_a_part() -> None:
    errors = Errors(START)
    errors.learn(START, 100, 100)
    split = Change(START.parameters, START.results, "split-minor")
    errors.learn(split, 10, 40)
    assert errors.of(split.with_mode(X, "{0,1}")) == 30
