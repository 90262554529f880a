"""A pool whose children do what a hostile file makes them do: each costs its own unit only."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.io.inputs import named_input
from relayout.batch.unit import Unit
from relayout.command import Job, Result
from relayout.commands.opt import Opt
from relayout.console import DONE, FAILED
from relayout.supervisor import pool
from relayout.supervisor.child import Limits, parse_unit
from relayout.supervisor.host import HEADER, PLAN, UNIT, receive_frame
from relayout.supervisor.pool import Pool
from tests.relayout.supervisor import hostile
from tests.relayout.supervisor.hostile import Deed

_LIMIT = 0.4

Run = Callable[..., list[Result]]


def _serving(deeds: dict[str, Deed]) -> Callable[..., Any]:
    """Returns a replacement of `serve`: each unit's deed is the one of its name, or a good result."""

    def deed(connection: Any) -> None:
        while True:
            kind, data, _ = receive_frame(connection)
            assert kind == UNIT
            name = Path(parse_unit(data).name).name
            if name in deeds:
                deeds[name](connection)
                return
            connection.sendall(_frame(b"O", name.encode()) + _frame(b"D", _GOOD))

    return lambda *ends, **_: hostile.main(deed, *ends)


def _frame(kind: bytes, data: bytes) -> bytes:
    return HEADER.pack(kind, len(data)) + data


_GOOD = json.dumps(hostile.RESULT).encode()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Returns a function that runs units of these names with their deeds."""
    monkeypatch.chdir(tmp_path)

    def run_units(deeds: dict[str, Deed], names: list[str], count: int = 2, **arguments: object) -> list[Result]:
        monkeypatch.setattr(pool, "serve", _serving(deeds))
        # A good child needs longer on a machine with other work.
        units = [Unit((named_input(name),), seconds=_LIMIT if name in deeds else 30.0) for name in names]
        before = _children()
        job = Job(Opt(output="out", **arguments))  # type: ignore[arg-type]  # options of any type
        with Pool(job, Limits(output=3 << 20), is_direct=False) as made:
            results = list(made.results(units, count))
        assert _children() == before
        return results

    return run_units


def _children() -> list[str]:
    """Returns the children of this process; other tests may have started some."""
    pid = os.getpid()
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _checked(results: list[Result], bad: str, message: str) -> None:
    first, second, third = results
    assert (first.status, first.output) == (DONE, b"a")
    assert (third.status, third.output) == (DONE, b"z")
    assert second.status == FAILED
    text = second.diagnostics.decode()
    assert text.startswith(f"error: {bad}: ")
    assert message in text
    assert len([line for line in text.splitlines() if not line.startswith("hint: ")]) == 1


@pytest.mark.parametrize("name", list(hostile.ENDS))
def test_a_child_that_ends_costs_its_unit_alone(name: str, run: Run) -> None:
    deed, message = hostile.ENDS[name]
    _checked(run({"bad": deed}, ["a", "bad", "z"], count=1), "bad", message)


@pytest.mark.parametrize("name", list(hostile.LATE))
def test_the_deadline_ends_a_child(name: str, run: Run) -> None:
    start = time.monotonic()
    _checked(run({"bad": hostile.LATE[name]}, ["a", "bad", "z"]), "bad", f"no result after {_LIMIT:g} seconds")
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("name", list(hostile.MALFORMED))
def test_a_malformed_frame_costs_its_unit_alone(name: str, run: Run) -> None:
    start = time.monotonic()
    _checked(
        run({"bad": hostile.MALFORMED[name]}, ["a", "bad", "z"], count=1),
        "bad",
        "the process that worked on it sent no",
    )
    assert time.monotonic() - start < 10


def test_output_beyond_the_limit_costs_its_unit_alone(run: Run) -> None:
    results = run({"bad": hostile.repeats(b"O", b"x" * 10_000)}, ["a", "bad", "z"])
    _checked(results, "bad", "more than 0.00314573 GB of output")


def test_every_child_of_a_batch_may_be_lost(run: Run) -> None:
    deeds = {str(n): hostile.ends_by(signal.SIGSEGV) for n in range(8)}
    results = run(deeds, list(deeds), count=3)
    assert [result.status for result in results] == [FAILED] * 8


def test_words_of_a_library_are_one_printable_line(run: Run) -> None:
    def speaks(_: object) -> None:
        os.write(2, b"first\n\x1b[31mred \xff\x07\n")
        os._exit(7)

    text = run({"bad": speaks}, ["a", "bad", "z"], count=1)[1].diagnostics.decode()
    assert text.startswith("error: bad: the process that worked on it ended with exit code 7 (\\x1b[31mred ")
    assert text.isascii() or "\ufffd" in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("deed", "status"),
    [
        (hostile.says(b"D", {"status": 0}), 0),
        (hostile.says(b"D", {"status": 2}), 2),
        (hostile.says(b"D", {"status": "0"}), FAILED),
        (hostile.says(b"D", {"status": 1000}), FAILED),
        (hostile.says(b"D", {}), FAILED),
        (hostile.says(PLAN, {}), FAILED),
        (hostile.says(PLAN, {"units": 1}), FAILED),
        (hostile.says(PLAN, {"units": [1]}), FAILED),
        (hostile.says(PLAN, {"units": [{"inputs": [[]], "target": None, "seconds": 1}]}), FAILED),
        (hostile.says(PLAN, {"units": [{"inputs": [], "target": None, "seconds": "x"}]}), FAILED),
        (hostile.says(PLAN, {"units": [{"inputs": [], "target": None, "seconds": 10**400}]}), FAILED),
        (hostile.says(PLAN, {"units": [{"inputs": [], "target": None, "seconds": float("nan")}]}), FAILED),
        (hostile.says(PLAN, {"units": [{"inputs": [], "target": None, "seconds": float("inf")}]}), FAILED),
        (hostile.says(PLAN, {"units": [{"inputs": [], "target": None, "seconds": -1}]}), FAILED),
        (hostile.ends_by(signal.SIGSEGV), FAILED),
        (hostile.closes_and_lives, FAILED),
        (hostile.sends_bytes(bytes(9)), FAILED),
    ],
)
def test_a_planner_may_be_lost(
    deed: Deed, status: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        pool, "serve", lambda connection, words, parent, **_: hostile.main(deed, connection, words, parent)
    )
    with Pool(Job(Opt()), Limits(), is_direct=True) as made:
        assert made.plan() == status
    lines = capfd.readouterr().err.splitlines()
    assert len([line for line in lines if line.startswith("error: ")]) == (status == FAILED)


def test_a_good_child_has_no_diagnostics(run: Run) -> None:
    """The opposite of the tests above: a good child is not reported."""
    results = run({}, ["a", "b", "z"])
    assert [(result.status, result.output, result.diagnostics) for result in results] == [
        (DONE, name, b"") for name in (b"a", b"b", b"z")
    ]
