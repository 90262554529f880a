"""The units of a batch on the machines of a Dask cluster.

The only module that imports distributed. A worker of the cluster runs units in `UnitProcess`, as this machine
does: a module cannot end the worker, has its limits of time and memory, and prints into its own result.
"""

from __future__ import annotations

import atexit
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any
from uuid import uuid4

from dialect_utils.io.files import is_url
from dialect_utils.processes import describe_exit, python_command
from dialect_utils.text import Diagnostic, render
from relayout import __version__
from relayout.batch.unit import Unit
from relayout.batch.worker import receive_result
from relayout.command import Job, Result
from relayout.console import FAILED, UsageError
from relayout.options import usage_error, values_of

_CONNECT_SECONDS = 10
# A note says what the command waits for if a connection takes longer.
_SILENT_SECONDS = 2
# Units sent to the cluster for each of its threads: one in progress, the others in transit.
_UNITS_PER_THREAD = 4
_LEAST_UNITS = 64
# The most results that are held in memory while an earlier result is missing.
_AHEAD = 4096
# A module that has ended this many processes is not tried again.
MOST_LOSSES = 2
_CLEANUP_SECONDS = 5.0
_MODULE = "relayout.batch.worker"


def run_on_cluster(job: Job, units: Sequence[Unit], address: str) -> Generator[Result]:
    """Yields the results of all units in their order from the workers of the scheduler at an address.

    Units are sent with the bytes of local files; workers read URLs themselves. Units of a lost worker are tried again.
    Raises UsageError without such a cluster, and for output files on this machine.
    """
    values = values_of(job.command)
    written = [values.get("dump_dir"), values.get("outputs"), *(unit.target for unit in units)]
    local = next((str(each) for each in written if each is not None and not is_url(str(each))), None)
    if local is not None:
        raise usage_error(f"{local} is on this machine, and --cluster works on others", "name a URL, or --results FILE")
    # Local paths mean nothing on a worker, and each worker has its own memory limit.
    job = replace(job, command=replace(job.command, files=()))
    with _client(address) as client:
        yield from _Batch(job, units, client).results()


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        message = "--cluster needs Dask, which is not installed"
        raise UsageError(message, hint="pip install 'relayout[cluster]'") from None
    note = Diagnostic(f"connecting to {address}, for {_CONNECT_SECONDS} s at most", severity="note")
    waiting = threading.Timer(_SILENT_SECONDS, partial(print, render(note), file=sys.stderr, flush=True))
    waiting.start()
    try:
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        message = f"--cluster {address}: {str(error)[:1].lower()}{str(error)[1:]}"
        raise usage_error(message, "`dask scheduler` prints the address of a scheduler") from None
    finally:
        waiting.cancel()


@dataclass(slots=True)
class _Batch:
    """Units at the cluster, and results that wait for earlier ones."""

    job: Job
    units: Sequence[Unit]
    client: Any
    name: str = field(default_factory=lambda: f"relayout-{uuid4().hex}")
    numbers: dict[Any, int] = field(default_factory=dict)
    done: dict[int, Result] = field(default_factory=dict)
    submitted: int = 0

    def results(self) -> Generator[Result]:
        from distributed import as_completed

        waiting = as_completed(loop=self.client.loop)
        for number in range(len(self.units)):
            while number not in self.done:
                self._submit(waiting, number + _AHEAD)
                future = next(waiting)
                finished = self.numbers.pop(future.key)
                self.done[finished] = _result(future, self.units[finished])
                future.release()
            yield self.done.pop(number)

    def _submit(self, waiting: Any, end: int) -> None:
        most = max(_LEAST_UNITS, _UNITS_PER_THREAD * sum(self.client.nthreads().values()))
        while self.submitted < min(end, len(self.units)) and len(self.numbers) < most:
            unit = self.units[self.submitted]
            if not all(is_url(each.path) for each in unit.inputs):
                unit = unit.with_contents()
            key = f"{self.name}-{self.submitted}"
            self.numbers[key] = self.submitted
            waiting.add(self.client.submit(work_on, self.job, unit, __version__, key=key, pure=False))
            self.submitted += 1


def _result(future: Any, unit: Unit) -> Result:
    from distributed import KilledWorker

    try:
        result: Result = future.result()
    except KilledWorker:
        return lost_result(unit, "workers of the cluster were lost")
    except (CancelledError, Exception) as error:
        # Errors outside of the work: a worker without this program, a scheduler that was restarted.
        message = f"{unit.name}: the cluster did not work on it: {type(error).__name__}: {error}"
        return Result(FAILED, diagnostics=(render(Diagnostic(message)) + "\n").encode())
    return result


def work_on(job: Job, unit: Unit, version: str) -> Result:
    """Works on a unit, on a worker of the cluster; raises RuntimeError for a worker with another version."""
    if version != __version__:
        raise RuntimeError(f"this worker has relayout {__version__}, not {version}")
    job = replace(job, command=job.command.with_share(_memory_share()))
    ending = ""
    for _ in range(MOST_LOSSES):
        process = _PROCESSES.take(job)
        process.begin(unit)
        try:
            result = process.result()
        except LostProcessError as error:
            ending = str(error)
            continue
        _PROCESSES.give_back(job, process)
        return result
    return lost_result(unit, ending)


def _memory_share() -> int | None:
    """Returns the memory limit of each thread of this worker in bytes, or None where Dask sets no limit."""
    from distributed import get_worker

    worker = get_worker()
    limit: int | None = worker.memory_manager.memory_limit
    return None if not limit else limit // worker.state.nthreads


class _Processes:
    """The idle processes of this worker, for the most recent job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._job = b""
        self._idle: list[UnitProcess] = []
        atexit.register(self._end)

    def take(self, job: Job) -> UnitProcess:
        """Returns an idle process for a job, or a new one."""
        data = pickle.dumps(job)
        with self._lock:
            if data != self._job:
                self._end()
                self._job = data
            if self._idle:
                return self._idle.pop()
        return UnitProcess(job)

    def give_back(self, job: Job, process: UnitProcess) -> None:
        """Stores a process of `take` as idle, or ends it if the job has changed."""
        with self._lock:
            if pickle.dumps(job) == self._job:
                self._idle.append(process)
                return
        process.end()

    def _end(self) -> None:
        while self._idle:
            self._idle.pop().end()


_PROCESSES = _Processes()


class LostProcessError(Exception):
    """The end of a worker process without an answer; the message is its signal or exit code."""


class UnitProcess:
    """One worker process with its job."""

    def __init__(self, job: Job) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*python_command(), "-m", _MODULE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_environment(),
                # Ctrl-C is for this process, which then ends the workers.
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())
        self._send(pickle.dumps(job))

    def begin(self, unit: Unit) -> None:
        """Sends a unit; `connection` is ready once the process has a result or is lost."""
        self._send(pickle.dumps(unit))

    def _send(self, data: bytes) -> None:
        with suppress(OSError):  # a lost process: `result` raises
            self.connection.send_bytes(data)

    def result(self) -> Result:
        """Returns the result of the unit that was sent; raises LostProcessError."""
        try:
            return receive_result(self.connection)
        except (EOFError, OSError):
            self.end()
            raise LostProcessError(describe_exit(self._process.returncode)) from None

    def end(self) -> None:
        """Ends the process after its cleanup."""
        self.connection.close()
        self._process.terminate()
        try:
            self._process.wait(_CLEANUP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _environment() -> dict[str, str]:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def lost_result(unit: Unit, ending: str) -> Result:
    """Returns the result of a unit that ended every process that worked on it."""
    message = f"{unit.name}: {MOST_LOSSES} worker processes ended while they worked on it ({ending}); it is given up"
    return Result(FAILED, diagnostics=(render(Diagnostic(message)) + "\n").encode())
