"""Conditions of `relayout report --fail-if`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.memory import MemoryReport
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from relayout.reporting.gate import CONTRACTS, FIGURES, parse_condition
from tests.relayout.test_against import COPIED, PLAIN


def _report(text: str) -> MemoryReport:
    return MemoryReport(parse_module(text, "m"), "tpu-v5e")


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("copies > old", True),
        ("copies >= old", True),
        ("copies < old", False),
        ("relayouts <= 1.0 * old", False),
        ("relayout bytes > old", True),
        ("arguments > old", False),
        ("arguments >= old", True),
        ("copies > 2", False),
        ("copies > 1", True),
        ("arguments > 512 KiB", False),
        ("arguments >= 0.5 MiB", True),
        ("arguments > 524287", True),
        ("peak > 100 * old", False),
    ],
)
def test_conditions_on_a_program_with_two_copies_more(condition: str, holds: bool) -> None:
    failure = parse_condition(condition).failure(_report(COPIED), _report(PLAIN))
    assert (failure is not None) == holds
    if failure is not None:
        assert failure.startswith(condition)


def test_every_figure_is_one_of_a_report() -> None:
    for figure in {*FIGURES} - {CONTRACTS}:
        assert parse_condition(f"{figure} >= 0").failure(_report(COPIED), None) is not None


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        ("peek > 2", "'peek' is no figure", "peak"),
        ("peak", "'peak' is no condition", "peak > 1.02 * old"),
        ("peak > much", "'much' is no limit of peak", "2 GiB"),
        ("copies > 2 MiB", "'2 MiB' is no limit of copies", "a number"),
        ("peak > old * 2", "'old * 2' is no limit", "1.02 * old"),
        ("", "'' is no condition", "a condition is"),
    ],
)
def test_wrong_conditions(condition: str, message: str, hint: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        parse_condition(condition)
    (diagnostic,) = raised.value.diagnostics
    assert message in diagnostic.message
    assert hint in (diagnostic.hint or "")


def _files(tmp_path: Path) -> tuple[str, str]:
    old, new = tmp_path / "old.hlo", tmp_path / "new.hlo"
    old.write_text(PLAIN)
    new.write_text(COPIED)
    return str(old), str(new)


def test_the_command_ends_with_1_where_a_condition_holds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old, new = _files(tmp_path)
    assert main(["report", new, "--against", old, "--fail-if", "peak > 9 * old", "--fail-if", "copies > old"]) == 1
    assert f"error: {new}: copies > old: copies are 2, and 0 in the old report" in capfd.readouterr().err
    assert main(["report", new, "--against", old, "--fail-if", "peak > 9 * old"]) == 0
    assert main(["report", new, "--fail-if", "copies > 1"]) == 1


def test_json_lists_the_conditions_that_hold(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old, new = _files(tmp_path)
    assert main(["report", new, "--against", old, "--json", "--fail-if", "copies > old"]) == 1
    assert json.loads(capfd.readouterr().out)["failed"] == ["copies > old: copies are 2, and 0 in the old report"]


def test_old_figures_need_an_old_dump(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, new = _files(tmp_path)
    assert main(["report", new, "--fail-if", "peak > old"]) == 2
    assert "a condition on old figures needs an old dump" in capfd.readouterr().err
