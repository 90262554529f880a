from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest

from dialect_utils.io.inputs import named_input
from relayout.batch import processes
from relayout.batch.processes import run_in_processes
from relayout.batch.unit import Job, Result, Unit
from relayout.console import WRONG_COMMAND
from tests.paths import ROOT
from tests.signals import default_signals


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_MODULE", "tests.relayout.batch.planted_worker")


def run(folder: Path, names: list[str], count: int, traceback: object = False) -> list[Result]:
    units = [Unit((named_input(str(folder / name)),)) for name in names]
    return list(run_in_processes(Job("opt", Namespace(traceback=traceback)), units, count))


def test_a_lost_process_costs_its_module_alone_and_two_lost_ones_give_it_up(tmp_path: Path) -> None:
    names = ["a", "dies", "fails", "dies-once", *"bcdefgh"]
    results = run(tmp_path, names, 2)
    assert [result.output.decode().strip() for result in results] == [name if name != "dies" else "" for name in names]
    assert [result.status for result in results] == [0, 1, 1, *[0] * 8]
    assert b"2 worker processes ended while they worked on it (SIGKILL)" in results[1].diagnostics
    used = {result.diagnostics.split()[-1] for name, result in zip(names, results, strict=True) if name != "dies"}
    # Two at first, and at most one for each of the three that ended.
    assert 1 <= len(used) <= 5


def test_a_wrong_command_is_said_by_every_unit(tmp_path: Path) -> None:
    [result] = run(tmp_path, ["wrong"], 1)
    assert result.status == WRONG_COMMAND
    assert result.ends_batch
    [result] = run(tmp_path, ["a"], 1, "wrong")
    assert result.status == WRONG_COMMAND
    assert b"no worker can begin" in result.diagnostics


def test_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    code = f"""if True:
        import sys
        from pathlib import Path
        from relayout.batch import processes
        from relayout.process import ended_by_signals
        from tests.relayout.batch.test_processes import run
        processes._MODULE = "tests.relayout.batch.planted_worker"
        with ended_by_signals():
            run(Path({str(tmp_path)!r}), ["a", "waits"], 2)
    """
    with default_signals():
        started = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    while not (tmp_path / "waits").exists():
        assert started.poll() is None
        time.sleep(0.05)
    children = [int(pid) for pid in Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()]
    assert children
    started.send_signal(signal.SIGINT)
    started.wait(20)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in children)
