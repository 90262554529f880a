"""Workers in copies of the process of a command: they get nothing of the process but what it has imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.execution.test_worker import wait_until_dead
from tests.paths import ROOT

# Starts a worker whose work is planted, and prints what it wrote and how it ended.
_SCRIPT = """
import json, os, sys
from relayout.supervisor.programs import CopiedWorker, import_shared, may_copy_for_worker

import_shared(["numpy"])
from dialect_utils.execution import worker
assert may_copy_for_worker()
assert "OPENBLAS_NUM_THREADS" not in os.environ
kept = os.open(os.devnull, os.O_RDONLY)

def serve(parent, memory, devices):
    DEED

worker.serve = serve
started = CopiedWorker(["1000", "2", "0"])
print(json.dumps([os.read(end, 1 << 16).decode() for end in (started.stdout, started.stderr)]))
print(started.wait(20), os.getpid())
started.kill()
"""
_DESCRIBES = """os.write(1, json.dumps({
        "parent": [parent, os.getppid()],
        "limits": [memory, devices],
        "environment": dict(os.environ),
        "leads": os.getsid(0) == os.getpid(),
        "descriptors": [each for each in range(64) if os.path.exists(f"/proc/self/fd/{each}")],
        "path": sys.path,
        "has_numpy": "numpy" in sys.modules,
    }).encode()); os._exit(3)"""


def _started(deed: str, folder: Path) -> tuple[str, str, int, int]:
    """Returns what a worker with this deed wrote to its two pipes, its exit code, and its parent's process id."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.replace("DEED", deed)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "SECRET": "token"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    written, ending = done.stdout.splitlines()
    output, errors = json.loads(written)
    code, parent = map(int, ending.split())
    return output, errors, code, parent


def test_a_worker_has_the_modules_of_its_parent_and_nothing_else(tmp_path: Path) -> None:
    output, errors, code, parent = _started(_DESCRIBES, tmp_path)
    assert (errors, code) == ("", 3)
    found: dict[str, Any] = json.loads(output)
    assert found["parent"] == [parent, parent]
    assert found["limits"] == [1000, 2]
    assert found["leads"]
    assert found["has_numpy"]
    assert found["descriptors"] == [0, 1, 2]
    assert found["path"][0] == str(ROOT)
    assert not {"", str(tmp_path)} & {*found["path"]}
    assert "SECRET" not in found["environment"]
    assert found["environment"]["OPENBLAS_NUM_THREADS"] == "1"
    assert "device_count=2" in found["environment"]["XLA_FLAGS"]


@pytest.mark.parametrize(
    ("deed", "words"),
    [("raise MemoryError", "MemoryError"), ("sys.exit('out of memory')", "out of memory"), ("return", "")],
)
def test_the_words_of_a_worker_that_fails_reach_its_parent(deed: str, words: str, tmp_path: Path) -> None:
    output, errors, code, _ = _started(deed, tmp_path)
    assert (output, code) == ("", 1)
    assert errors.strip().endswith(words)


_KILLED = """
import os, signal
from relayout.supervisor.programs import CopiedWorker
started = CopiedWorker([str(10**9), "1", "0"])
os.read(started.stdout, 1)
print(started.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
_MAY_COPY = """
import sys, threading
from relayout.supervisor.programs import may_copy_for_worker
found = [may_copy_for_worker()]
ended = threading.Event()
other = threading.Thread(target=ended.wait)
other.start()
found.append(may_copy_for_worker())
ended.set()
other.join()
sys.modules["jaxlib._jax"] = sys
found.append(may_copy_for_worker())
print(found)
"""


def _printed(script: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=False
    ).stdout


def test_a_worker_ends_with_its_parent() -> None:
    pid = int(_printed(_KILLED))
    assert wait_until_dead(pid)


def test_a_process_with_other_threads_or_with_xla_is_not_copied() -> None:
    assert _printed(_MAY_COPY) == "[True, False, False]\n"
