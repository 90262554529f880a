"""Processes for the workers of a cluster: each supervises the children that work on one unit at a time."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from dialect_utils.processes import describe_exit
from dialect_utils.text import Diagnostic, render
from relayout.batch.worker import receive_result
from relayout.command import Job, Result, Unit
from relayout.console import FAILED

# A module that has ended this many processes is not tried again.
MOST_LOSSES = 2
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
