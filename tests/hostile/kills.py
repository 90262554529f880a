"""Ends workers and whole commands at random moments: nothing may be lost, and nothing left over.

`python -m tests.hostile.kills [WORKERS [COMMANDS [SEED]]]` ends WORKERS times a worker that executes, and
COMMANDS times a batch with `--results`, which is then resumed; it ends with 1 where a row is lost, or a
process or file stays.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dialect_utils.execution import ExecutionError, Program, Worker
from tests.paths import ROOT

_WORKERS, _COMMANDS, _SEED = 30, 36, 5
_FILES = 6
_NEGATE = "HloModule m\nENTRY e {\n  p = f32[1000] parameter(0)\n  ROOT n = f32[1000] negate(p)\n}\n"
_LONGEST_WAIT, _LONGEST_LIFE = 0.6, 5.0
_END_SECONDS = 10.0


def ended_workers(rounds: int, chance: random.Random) -> Iterator[str]:
    """Yields what is wrong after a worker was ended while it may have been at work."""
    program, ones = Program(_NEGATE, "hlo"), np.ones(1000, np.float32)
    with Worker() as worker:
        for number in range(rounds):
            worker.run(program, [[ones]])
            assert worker.pid is not None  # it has just answered
            killer = threading.Timer(chance.random() * _LONGEST_WAIT, os.kill, (worker.pid, signal.SIGKILL))
            killer.start()
            try:
                while killer.is_alive():
                    worker.run(program, [[ones]])
                killer.join()
                worker.run(program, [[ones]])
            except ExecutionError as error:
                if error.failure != "crash":
                    yield f"worker {number}: {error}"
            ((found,),) = worker.run(program, [[ones]])
            if not np.array_equal(found, -ones):
                yield f"worker {number}: another result after it was ended"


def ended_commands(rounds: int, chance: random.Random) -> Iterator[str]:
    """Yields what is wrong after a batch was ended and resumed."""
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            directory, temporary, sent = Path(name, "d"), Path(name, "t"), (signal.SIGKILL, signal.SIGTERM)[number % 2]
            directory.mkdir()
            temporary.mkdir()
            for copy in range(_FILES):
                shutil.copy(ROOT / "examples/negate.hlo", directory / f"m{copy}.hlo")
            jobs = ("--jobs", "2") if number % 4 > 1 else ()
            command = ("check", str(directory), "-p", "expand-tiling", *jobs, "--results", f"{name}/rows.jsonl")
            process = _started(command, temporary)
            time.sleep(chance.random() * _LONGEST_LIFE)
            process.send_signal(sent)
            process.wait()
            for fault in (*_left_over(temporary, is_clean=sent == signal.SIGTERM), *_lost(command, temporary, name)):
                yield f"command {number} ({sent.name}): {fault}"


def _started(command: Sequence[str], temporary: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    quiet = subprocess.DEVNULL
    line = [sys.executable, "-m", "relayout", *command]
    return subprocess.Popen(line, stdout=quiet, stderr=quiet, env=environment, start_new_session=True)


def _left_over(temporary: Path, *, is_clean: bool) -> Iterator[str]:
    """Yields processes that stay, and files where the command had the time to remove them."""
    end = time.monotonic() + _END_SECONDS
    while (left := list(_processes(temporary))) and time.monotonic() < end:
        time.sleep(0.05)
    if left:
        yield f"the processes {left} stay"
    if is_clean and (files := sorted(path.name for path in temporary.iterdir())):
        yield f"the files {files} stay"


def _processes(temporary: Path) -> Iterator[int]:
    """Yields the processes that were given this directory for temporary files; needs Linux."""
    marker = f"TMPDIR={temporary}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:
            continue


def _lost(command: Sequence[str], temporary: Path, name: str) -> Iterator[str]:
    """Resumes a command; yields what its results lack or have twice."""
    code = _started((*command, "--resume"), temporary).wait()
    rows = [json.loads(line) for line in Path(name, "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    found = sorted(Path(str(row["name"])).name for row in rows)
    if code or found != [f"m{copy}.hlo" for copy in range(_FILES)]:
        yield f"resumed, it ends with {code} and has rows of {found}"


def main(workers: int = _WORKERS, commands: int = _COMMANDS, seed: int = _SEED) -> int:
    """Runs all rounds, prints what is wrong, and returns the exit code."""
    chance = random.Random(seed)
    faults = 0
    for fault in (*ended_workers(workers, chance), *ended_commands(commands, chance)):
        faults += 1
        print(fault, flush=True)
    print(f"{workers} workers and {commands} commands ended: {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
