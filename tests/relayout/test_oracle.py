"""Reduction by a command of the user's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dialect_utils.io.files import read_module
from dialect_utils.ir import Module
from relayout.cli import main
from relayout.supervisor.host import MalformedFrameError, named_file
from relayout.supervisor.programs import OracleProcess, Programs
from tests.paths import ROOT
from tests.relayout.test_reduce import HLO, MLIR, opcodes
from tests.signals import default_signals

_SECONDS = 60.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a working directory with two modules; temporary files have a directory below it."""
    (tmp_path / "a.hlo").write_text(HLO)
    (tmp_path / "a.mlir").write_text(MLIR)
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def reduced(folder: Path, file: str, oracle: str, *options: str) -> Module:
    assert main(["reduce", file, "--oracle", oracle, "-o", "small", *options]) == 0
    assert list((folder / "temporary").iterdir()) == []
    return read_module(f"small{Path(file).suffix}")


@pytest.mark.parametrize("file", ["a.hlo", "a.mlir"])
def test_what_makes_a_command_exit_with_0_stays(folder: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    small = reduced(folder, file, "grep -q tanh {} && grep -q maximum {}")
    # A constant replaces an operand that is no input.
    assert {"tanh", "maximum"} <= {*opcodes(small)} <= {"tanh", "maximum", "constant", "broadcast", "call"}
    assert "8" not in "".join(str(value.shape) for each in small.operations() for value in each.results)
    suffix = Path(file).suffix
    printed = f"grep -q tanh small{suffix} && grep -q maximum small{suffix}\n  kept: the command exits with 0\n"
    assert capsys.readouterr().out == printed


def test_the_smallest_module_is_on_disk_as_it_is_found(folder: Path) -> None:
    # Each run sees the module that the last successful run accepted, or none before the first.
    script = "cat small.hlo >> seen; echo ===== >> seen; cp {} last; grep -q tanh {}"
    small = reduced(folder, "a.hlo", script)
    seen = [text for text in (folder / "seen").read_text().split("=====\n") if text]
    assert [len(seen[0]) >= len(each) for each in seen].count(False) == 0
    assert seen[-1] == small.text() == (folder / "last").read_text()


def test_the_command_gets_files_of_the_directory_and_a_place_for_its_own(folder: Path) -> None:
    (folder / "shows.sh").write_text('touch "$TMPDIR/core" && test -f a.hlo && grep -q tanh "$1"')
    assert "tanh" in opcodes(reduced(folder, "a.hlo", "sh ./shows.sh {}"))


def test_one_of_several_runs_suffices(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that succeeds in each third run, counted in a file, is flaky without any chance."""
    flaky = "echo >> count; test $(($(wc -l < count) % 3)) = 0 && grep -q tanh {}"
    always = reduced(folder, "a.hlo", "grep -q tanh {}").text()
    capsys.readouterr()
    assert reduced(folder, "a.hlo", flaky, "--repeat", "3", "--json").text() == always
    found = json.loads(capsys.readouterr().out)
    assert found["kept"] == {"oracle": flaky, "successes": 1, "runs": 3}
    assert found["reduced"] == ["small.hlo"]
    (folder / "count").unlink()
    assert main(["reduce", "a.hlo", "--oracle", flaky, "-o", "small"]) == 1
    assert "nothing to reduce: for the whole module the command of --oracle ended with exit code 1\n" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("grep -q sinh {}", "ended with exit code 1\n"),
        ("./missing {}", "is not found"),
        ("./a.hlo {}", "cannot be executed"),
        ("kill -9 $$ {}", "was ended by SIGKILL"),
        ("exec sleep 100 # {}", "exceeds the time limit of a run"),
    ],
)
def test_a_command_that_rejects_the_module_is_an_error(
    command: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reduce", "a.hlo", "--oracle", command, "--run-timeout", "2", "-o", "small"]) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "small.hlo").exists()
    assert list((folder / "temporary").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["a.hlo", "--oracle", "true"], "has no {}"),
        (["a.hlo", "a.mlir", "--oracle", "true {}"], "about one FILE, not 2"),
        (["a.hlo", "--oracle", "true {}", "--keep", "crash"], "--keep has no effect with --oracle"),
        (["a.hlo", "--oracle", "true {}", "-p", "expand-tiling"], "-p has no effect with --oracle"),
        (["a.hlo", "--repeat", "2", "--keep", "crash"], "--repeat has no effect without --oracle"),
        (["a.hlo", "--run-timeout", "2", "--keep", "crash"], "--run-timeout has no effect without --oracle"),
        (["a.hlo", "--oracle", "true {}", "-o", "./a"], "./a.hlo would overwrite the input"),
    ],
)
def test_options_without_effect_are_errors(
    options: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reduce", *options]) == 2
    assert message in capsys.readouterr().err
    assert (folder / "a.hlo").read_text() == HLO


def test_an_interrupt_leaves_the_smallest_module_and_nothing_else(folder: Path) -> None:
    """The third run sleeps for ever, in the background, too; the first two have accepted smaller modules."""
    script = "echo >> count; test $(wc -l < count) -lt 3 && exit 0; sleep 1000 & echo $! $$ > pids; : {}; sleep 1000"
    command = [sys.executable, "-m", "relayout", "reduce", "a.hlo", "--oracle", script, "-o", "small"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with default_signals():
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    with process:
        end = time.monotonic() + _SECONDS
        while not (folder / "pids").exists() or not (folder / "pids").read_text().endswith("\n"):
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 128 + signal.SIGINT, said
    assert b"small.hlo holds the smallest module so far" in said
    assert len(opcodes(read_module("small.hlo"))) < len(opcodes(read_module("a.hlo")))
    assert list((folder / "temporary").iterdir()) == []
    for pid in map(int, (folder / "pids").read_text().split()):
        _ended(pid, end)


def _ended(pid: int, end: float) -> None:
    """Waits until a process is gone, or is a zombie that its new parent has not reaped."""
    status = Path(f"/proc/{pid}/stat")
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_time_of_the_reduction_ends_it_with_a_result(folder: Path) -> None:
    script = "echo >> count; sleep 1; grep -q tanh {}"
    assert main(["reduce", "a.hlo", "--oracle", script, "--timeout", "3", "-o", "small"]) == 0
    assert "tanh" in opcodes(read_module("small.hlo"))
    # The last run is that of the file that was written.
    assert 2 <= len((folder / "count").read_text()) <= 4


@pytest.mark.parametrize(
    ("oracle", "name"), [(None, "module.hlo"), ("true {}", "../module.hlo"), ("true {}", "other"), ("true {}", "-n")]
)
def test_a_child_chooses_neither_the_command_nor_the_name(oracle: str | None, name: str) -> None:
    with pytest.raises(MalformedFrameError):
        Programs(oracle=oracle).test(bytearray(named_file(name, b"")))


def test_the_command_sees_the_candidate_and_ends_with_its_group(folder: Path) -> None:
    process = OracleProcess("cp {} copy; sleep 1000 & echo $! > pid", "module.hlo", b"text")
    end = time.monotonic() + _SECONDS
    while process.wait(0.1) is None:
        assert time.monotonic() < end
    assert process.wait(0) == 0
    assert (folder / "copy").read_bytes() == b"text"
    process.kill()
    process.kill()
    assert list((folder / "temporary").iterdir()) == []
    _ended(int((folder / "pid").read_text()), end)
