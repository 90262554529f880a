"""Files one does not trust: the table, run as a user would; `make hostile` runs all of its commands."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest

from tests.hostile.case import Case
from tests.hostile.runner import Runner
from tests.hostile.table import cases

# Without it each case gets its first command, modules without a meaning are left to one in three, because the verifier
# rejects nearly all of them, and what starts a worker to one in a dozen.
IS_WHOLE = "RELAYOUT_HOSTILE" in os.environ
_WORKS = ("run", "check")
_ONE_IN = 12
_ONE_OF_NONSENSE_IN = 3


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as started:
        yield started


def chosen() -> Sequence[Case]:
    every = cases()
    if IS_WHOLE:
        return every
    cheap = [case for case in every if case.commands[0][0] not in _WORKS or case.name.startswith(("npz", "file"))]
    costly = [case for case in every if case not in cheap]
    nonsense = [case for case in cheap if case.name.startswith("nonsense")]
    cheap = [case for case in cheap if case not in nonsense] + nonsense[::_ONE_OF_NONSENSE_IN]
    return cheap + [case for case in costly if case.name.startswith("act")] + costly[::_ONE_IN]


def test_the_table_is_one_of_different_cases() -> None:
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) > 500


@pytest.mark.parametrize("case", chosen(), ids=lambda case: case.name.encode("unicode_escape").decode())
def test_every_file_is_done_or_refused(runner: Runner, case: Case) -> None:
    assert list(runner.faults(case, most_commands=None if IS_WHOLE else 1)) == []


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("explain", "f32["), "it does not say 'never said'"),
        (("explain", "f32[3]"), "it accepts what means nothing"),
    ],
)
def test_the_runner_finds_faults(runner: Runner, arguments: tuple[str, ...], fault: str) -> None:
    says = "never said" if "say" in fault else ""
    found = list(runner.faults(Case("planted", b"", (arguments,), says=says, is_refused=not says)))
    assert len(found) == 1
    assert fault in found[0]
