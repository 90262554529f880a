"""The hostile commands that tell most, each in a session of its own: no violation. And planted ones are found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.bytecode import Module, varint
from tests.hostile.case import Case
from tests.hostile.commands import MOST_OF_CHILD, MOST_OF_MAIN, Outcome, violations
from tests.hostile.families import FAMILIES, TELLING, timed
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_the_commands_that_tell_most_end_well(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "tests.hostile.commands", "--telling", "--json", str(tmp_path / "rows")]
    ended = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len((tmp_path / "rows").read_text().splitlines()) == len(TELLING)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "table"])
def test_names_of_cases_occur_once(family: str) -> None:
    names = [case.name for case in FAMILIES[family]()]
    assert len(names) == len({*names}) > 40


def test_a_number_of_bytecode_is_as_mlir_writes_it() -> None:
    assert [varint(each).hex() for each in (0, 1, 127, 128, 16383)] == ["01", "03", "ff", "0202", "feff"]
    assert varint(1 << 63).hex() == "00" + "00" * 7 + "80"
    assert Module().encode().startswith(b"ML\xefR\x0dMLIR\0")


def test_the_time_limit_of_a_command_is_set_once() -> None:
    assert timed(("opt", "x"), 4.0) == ("opt", "x", "--timeout", "4")
    assert timed(("opt", "x", "--timeout", "9"), 4.0)[-1] == "9"
    assert timed(("explain", "x"), 4.0) == ("explain", "x")


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Outcome(code=-6), "abort"),
        (Outcome(code=134), "abort"),
        (Outcome(is_killed=True), "hang"),
        (Outcome(cpu=13), "hang"),
        (Outcome(main_megabytes=MOST_OF_MAIN + 1), "memory"),
        (Outcome(child_megabytes=MOST_OF_CHILD + 1), "memory"),
        (Outcome(stderr="Traceback (most recent call last):"), "traceback"),
        (Outcome(stderr="\x1b[31m"), "terminal"),
        (Outcome(left=["sleep 9"]), "process"),
        (Outcome(files=["x"]), "file"),
        (Outcome(code=1), "silent"),
        (Outcome(stdout="fine"), "answer"),
    ],
)
def test_violations_are_found(outcome: Outcome, kind: str) -> None:
    case = Case("planted", says="never said" if kind == "answer" else "")
    found = list(violations(case, ("opt", "x", "--timeout", "4"), outcome))
    assert [each.partition(":")[0] for each in found] == [kind]


def test_a_clean_outcome_has_no_violation() -> None:
    assert not list(violations(Case("clean"), ("opt", "x"), Outcome(stdout="HloModule m\n\x1b")))
