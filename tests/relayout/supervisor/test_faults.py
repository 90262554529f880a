"""One fault at one step of a whole command: some steps; `make hostile-faults` tries all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.relayout.supervisor import faults
from tests.relayout.supervisor.faults import COMMANDS, FAULTS, Ending, Side

_ALL: list[tuple[Side, str]] = [(side, fault) for side, names in FAULTS.items() for fault in names]
_STEPS = 2


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    faults.load()


@pytest.mark.parametrize(("side", "fault"), _ALL)
def test_a_fault_at_any_step_is_one_clean_end(side: Side, fault: str) -> None:
    number = _ALL.index((side, fault))
    command = list(COMMANDS)[number % len(COMMANDS)]
    assert not list(faults.found(command, side, fault, _STEPS, offset=7 * number))


_GOOD = Ending(0, b"text", "", {"o": b"data"}, 0, 10, 0.1)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"code": -11}, "exit code -11"),
        ({"code": 99}, "exit code 99"),
        ({"code": 1, "errors": "Traceback (most recent call last):\n"}, "a traceback"),
        ({"code": 1, "errors": "line\n" * 20}, "20 lines of errors"),
        ({"code": 1}, "no error line"),
        ({"files": {"o": b"da"}}, "the file o with 2 bytes"),
        ({"files": {"o": b"data", ".relayout-x": b""}}, "the file .relayout-x with 0 bytes"),
        ({"files": {}}, "exit code 0 without the whole result"),
        ({"output": b"te"}, "exit code 0 without the whole result"),
        ({"processes": 1}, "1 processes stay"),
        ({"seconds": 30.0}, "30.0 seconds"),
    ],
)
def test_a_planted_problem_is_found(changed: dict[str, object], problem: str) -> None:
    ending = replace(_GOOD, **changed)  # type: ignore[arg-type]  # fields by name
    assert problem in faults.problems(ending, _GOOD, "ENOSPC")


def test_a_good_end_has_no_problem() -> None:
    assert not list(faults.problems(_GOOD, _GOOD, "ENOSPC"))
    assert not list(faults.problems(replace(_GOOD, code=143, files={}, output=b""), _GOOD, "SIGTERM"))
    assert not list(faults.problems(replace(_GOOD, code=1, errors="error: x\n", files={}), _GOOD, "ENOSPC"))


def test_steps_are_spread_over_all() -> None:
    assert faults.steps_of(3, 5, 1) == [0, 1, 2]
    assert faults.steps_of(100, 4, 1) == [1, 26, 51, 76]
    assert faults.steps_of(100, 4, 30) == [30, 55, 80, 5]
