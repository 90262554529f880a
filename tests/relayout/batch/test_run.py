"""One command on several inputs gives the same in one process and in several."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dialect_utils.io.inputs import named_input
from relayout.batch import run as batches
from relayout.batch.unit import Unit
from relayout.cli import main
from relayout.command import BatchOptions, LimitOptions
from relayout.commands.print import Print
from tests.paths import ROOT


def test_opt_prints_the_same_for_every_number_of_jobs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = sorted(map(str, folder.iterdir()))
    found = []
    for jobs in ("1", "2"):
        found.append((main(["opt", *files, "-p", "expand-tiling", "--jobs", jobs]), capfd.readouterr()))
    assert found[0] == found[1]
    status, (output, errors) = found[0]
    assert status == 1
    assert output.count("HloModule m") == 5
    assert "m2.hlo" in errors


def test_standard_input_reaches_another_process(folder: Path) -> None:
    text = (folder / "m0.hlo").read_text()
    command = [sys.executable, "-m", "relayout", "opt", "-", str(folder / "m1.hlo"), "--jobs", "2"]
    ended = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout == text + (folder / "m1.hlo").read_text()


def units(count: int) -> list[Unit]:
    return [Unit((named_input(f"absent{number}"),)) for number in range(count)]


@pytest.mark.parametrize(
    ("asked", "memory", "count", "expected"),
    [
        *((None, None, 1, 1), (None, None, 7, 1), (None, None, 17, 2), (None, None, 900, 4), (3, None, 2, 2)),
        *((4, 30, 9, 3), (4, 200, 9, 1), (2, 10, 9, 2)),
    ],
)
def test_processes_pay_for_their_start_and_have_the_memory_they_are_given(
    asked: int | None, memory: int | None, count: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_cores", lambda: 4)
    monkeypatch.setattr(batches, "machine_memory", lambda: 100)
    command = Print(files=("x",), batch=BatchOptions(jobs=asked), limits=LimitOptions(memory=memory))
    assert batches.job_count(command, units(count)) == expected
    shared = command.with_share(100 // expected)
    assert shared.files == ()
    assert shared.limits.memory == (memory if memory is not None else 100 // expected)


def test_large_modules_get_processes_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_cores", lambda: 4)
    large = tmp_path / "large"
    large.write_bytes(bytes(9_000_000))
    both = [Unit((named_input(str(large)),))] * 2
    assert batches.job_count(Print(batch=BatchOptions()), both) == 2
