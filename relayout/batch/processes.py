"""Worker processes on this machine: each works on one unit at a time, is reused, and is replaced if it is lost."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

from dialect_utils.text import Diagnostic, render
from relayout.batch.unit import Job, Result, Unit
from relayout.batch.worker import receive_result
from relayout.console import FAILED

# A module that has ended this many processes is not tried again.
MOST_LOSSES = 2
# Results after one that is missing are held in memory, at most this many.
_AHEAD = 256
_CLEANUP_SECONDS = 5.0
_MODULE = "relayout.batch.worker"


class LostProcessError(Exception):
    """The end of a worker process without an answer; the message is its signal or exit code."""


class UnitProcess:
    """One worker process with its job."""

    def __init__(self, job: Job) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE, str(theirs.fileno())],
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
            raise LostProcessError(_ending(self._process.returncode)) from None

    def end(self) -> None:
        """Ends the process after its cleanup."""
        self.connection.close()
        self._process.terminate()
        try:
            self._process.wait(_CLEANUP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ask_to_end(self) -> None:
        """Starts the cleanup of the process; `end` waits for it."""
        self._process.terminate()


def _environment() -> dict[str, str]:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _ending(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        return f"signal {-code}"


def lost_result(unit: Unit, ending: str) -> Result:
    """Returns the result of a unit that ended every process that worked on it."""
    message = f"{unit.name}: {MOST_LOSSES} worker processes ended while they worked on it ({ending}); it is given up"
    return Result(FAILED, diagnostics=(render(Diagnostic(message)) + "\n").encode())


def run_in_processes(job: Job, units: Sequence[Unit], count: int) -> Generator[Result]:
    """Yields the results of all units in their order, from `count` processes."""
    pool = _Pool(job, units, count)
    try:
        yield from pool.results()
    finally:
        pool.end()


@dataclass(slots=True)
class _Pool:
    """Processes, the units in progress, and the units still to do."""

    job: Job
    units: Sequence[Unit]
    count: int
    waiting: deque[int] = field(init=False)
    busy: dict[UnitProcess, int] = field(default_factory=dict)
    idle: list[UnitProcess] = field(default_factory=list)
    losses: Counter[int] = field(default_factory=Counter)
    done: dict[int, Result] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = deque(range(len(self.units)))

    def results(self) -> Iterator[Result]:
        for number in range(len(self.units)):
            while number not in self.done:
                self._begin(number + _AHEAD)
                self._receive()
            yield self.done.pop(number)

    def _begin(self, end: int) -> None:
        while self.waiting and self.waiting[0] < end and len(self.busy) < self.count:
            number = self.waiting.popleft()
            process = self.idle.pop() if self.idle else UnitProcess(self.job)
            self.busy[process] = number
            process.begin(self.units[number].with_standard_input())

    def _receive(self) -> None:
        by_connection = {process.connection: process for process in self.busy}
        for connection in wait(list(by_connection)):
            assert isinstance(connection, Connection)  # as given
            process = by_connection[connection]
            number = self.busy.pop(process)
            try:
                self.done[number] = process.result()
                self.idle.append(process)
            except LostProcessError as error:
                self._lose(number, str(error))

    def _lose(self, number: int, ending: str) -> None:
        self.losses[number] += 1
        if self.losses[number] < MOST_LOSSES:
            self.waiting.appendleft(number)
        else:
            self.done[number] = lost_result(self.units[number], ending)

    def end(self) -> None:
        processes = [*self.busy, *self.idle]
        for process in processes:
            process.ask_to_end()
        for process in processes:
            process.end()
