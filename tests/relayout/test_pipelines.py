"""Pipelines of `opt` and `check`: legacy names, failing passes and their reproducers, bisection."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.ir import Module
from passes.framework import base
from passes.framework.base import OLD_NAMES
from passes.framework.pipeline import Pipeline
from relayout.cli import main
from relayout.pipelines import first_breaking

TEXT = "HloModule m\n\nENTRY e {\n  p = f32[3,5] parameter(0)\n  ROOT n = f32[3,5] negate(p)\n}\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("divide", "narrow", "negate-twice"):
        monkeypatch.setitem(base.BUILTIN_PASSES, name, "tests.passes.toy")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = tmp_path / "m.hlo"
    file.write_text(TEXT)
    return str(file)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("divide", "error: pass divide (number 2) raised ZeroDivisionError on module m: 1 by 0"),
        ("narrow", "error: the module no longer verifies after pass narrow (number 2)"),
    ],
)
@pytest.mark.parametrize("command", ["opt", "check"])
def test_a_failing_pass_leaves_a_file_that_reproduces_it(
    program: str, name: str, message: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    layouts = "annotate-layouts{target=tpu-v5e}"
    assert main([command, program, "-p", f"{layouts},{name}"]) == {"opt": 1, "check": 3}[command]
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    found = re.search(r"^note: to reproduce: (relayout opt (\S+) .*)$", shown, re.MULTILINE)
    assert found is not None
    written = Path(found[2]).read_text()
    assert written.startswith(f"// {found[1]}\n")
    assert "T(4,128)" in written  # the input of the pass
    assert main(shlex.split(found[1])[1:]) == 1
    assert message.replace("number 2", "number 1") in capsys.readouterr().err


def test_the_legacy_name_of_a_pass_is_noted_once(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", program, program, "-p", "sync-async", "-o", str(Path(program).parent)]) == 2  # one name twice
    capsys.readouterr()
    assert main(["opt", program, "-p", "sync-async"]) == 0
    out, err = capsys.readouterr()
    assert out == TEXT
    assert err.count("note: pass sync-async is called convert-async-to-sync now") == 1


# The test below covers every number of stages.
@pytest.mark.parametrize("number", [1, 3])
def test_bisection_names_the_first_pass_that_changes_results(
    program: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    passes = ["annotate-layouts{target=tpu-v5e}", "expand-tiling", "cancel-relayouts"]
    passes.insert(number - 1, "negate-twice")
    assert main(["check", program, "-p", ",".join(passes), "--bisect"]) == 1
    shown = capsys.readouterr().err
    assert f"note: pass negate-twice (number {number}) is the first after which results differ" in shown
    found = re.search(r"^note: to reproduce: (relayout check (\S+) .*)$", shown, re.MULTILINE)
    assert found is not None
    assert main(shlex.split(found[1])[1:]) == 1


@pytest.mark.parametrize("first", range(1, 8))
def test_bisection_halves_the_stages(first: int) -> None:
    asked: list[int] = []

    def is_broken(part: Sequence[Module]) -> bool:
        asked.append(len(part) - 1)
        return len(part) - 1 >= first

    stages: list[Any] = list(range(8))
    assert first_breaking(stages, is_broken) == first
    assert len(asked) <= 3


def test_old_names_of_shipped_passes_are_read() -> None:
    assert {old: str(Pipeline.parse(old)) for old in OLD_NAMES} == {"sync-async": "convert-async-to-sync"}
