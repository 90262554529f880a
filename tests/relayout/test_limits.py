"""The time budget: it ends a computation, and no handler of errors inside catches it."""

from __future__ import annotations

import contextlib
import signal

import pytest

from dialect_utils.text import DiagnosticError
from relayout.process import ComputationLimitError, limited_computation


def _compute_for_ever() -> None:
    while True:
        pass


def test_a_long_computation_ends_with_a_diagnostic() -> None:
    with pytest.raises(ComputationLimitError, match=r"no result after 0\.1 seconds"), limited_computation(0.1):
        _compute_for_ever()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.parametrize("handled", [DiagnosticError, Exception])
def test_no_handler_inside_catches_the_end_of_the_budget(handled: type[Exception]) -> None:
    with pytest.raises(ComputationLimitError), limited_computation(0.1), contextlib.suppress(handled):
        _compute_for_ever()


def test_within_the_limit_nothing_happens() -> None:
    with limited_computation(10.0):
        assert sum(range(1000)) == 499500
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
