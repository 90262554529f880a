"""The server of lit tests ends as the programs end, and gives them the caller's streams, directory and environment."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.lit_server import start
from tests.paths import ROOT

NAMES = ("filecheck", f"{sys.executable} -P -m relayout")


@pytest.fixture(scope="module")
def programs() -> Iterator[dict[str, list[str]]]:
    """Yields the command lines that replace those of the programs."""
    config = SimpleNamespace(environment={}, substitutions=[*((name, name) for name in NAMES), ("other", "true")])
    with start(config):
        yield {name: text.split() for name, text in config.substitutions}


def test_only_the_programs_are_replaced(programs: dict[str, list[str]]) -> None:
    assert programs["other"] == ["true"]
    assert [programs[name][-1] for name in NAMES] == ["filecheck", "relayout"]


def test_a_program_has_its_own_streams_directory_and_status(programs: dict[str, list[str]], tmp_path: Path) -> None:
    (tmp_path / "a.hlo").write_bytes((ROOT / "examples" / "negate.hlo").read_bytes())
    command = [*programs[NAMES[1]], "opt", "a.hlo", "-p", "expand-tiling"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "transpose(" in ended.stdout
    wrong = subprocess.run([*command, "--absent"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: unknown option --absent"), wrong.stderr
    checks = tmp_path / "checks"
    checks.write_text("CHECK: transpose(\n")
    for given, status in ((ended.stdout, 0), ("", 1)):
        checked = subprocess.run([*programs["filecheck"], "checks"], cwd=tmp_path, input=given, text=True, timeout=60)
        assert checked.returncode == status


def test_a_program_ends_by_its_signal_or_its_own_status(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    address = str(tmp_path / "d" / "socket")
    code = (
        "import os, sys; from pathlib import Path; from tests.lit_server import serve; "
        "serve(Path(sys.argv[1]), {'abort': os.abort, 'exit': sys.exit, 'raise': list.pop})"
    )
    command = [sys.executable, "-c", code, address]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        ask = [sys.executable, "-I", "-S", str(ROOT / "tests" / "lit_client.py"), address]
        ended = [
            subprocess.run([*ask, name], timeout=60, stderr=subprocess.DEVNULL) for name in ("abort", "exit", "raise")
        ]
        assert [each.returncode for each in ended] == [-signal.SIGABRT, 0, 1]
    assert not (tmp_path / "d").exists()
