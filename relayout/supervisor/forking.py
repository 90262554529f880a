"""Workers in copies of the process of the command.

A copy has what this process has imported: a command imports before its first fork what its children and workers need.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import NoReturn

from dialect_utils import processes
from relayout.process import STREAMS, fork, leave_session

_THREADS = "/proc/self/task"
_XLA = "jaxlib._jax"
_LOOK_SECONDS = 0.002
# numpy's library for linear algebra would start a thread for each core, and a copy has none of them.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "1")


def import_shared(names: Iterable[str]) -> None:
    """Imports modules into this process for its copies; only Linux lets a copy use what numpy has loaded."""
    if sys.platform != "linux":
        return
    name, value = _ONE_THREAD
    is_ours = name not in os.environ
    os.environ.setdefault(name, value)
    try:
        for each in names:
            import_module(each)
    finally:
        # Programs of the user get the environment without it.
        if is_ours:
            del os.environ[name]


def may_copy_for_worker() -> bool:
    """Is true while this process has one thread and has not loaded XLA, whose threads a copy would lack."""
    try:
        return len(os.listdir(_THREADS)) == 1 and _XLA not in sys.modules
    except OSError:  # another system than Linux
        return False


class CopiedWorker:
    """A worker in a copy of this process: it starts with what this process has imported."""

    def __init__(self, arguments: Sequence[str]) -> None:
        with ExitStack() as theirs, ExitStack() as failed:
            # The worker's ends: it reads the first pipe and writes the others.
            ends, ours = [], []
            for number in range(STREAMS):
                pipe = os.pipe()
                end, own = pipe if number == 0 else reversed(pipe)
                theirs.callback(os.close, end)
                failed.callback(os.close, own)
                ends.append(end)
                ours.append(own)
            self.pid = fork(lambda parent: _serve(ends, parent, *arguments))
            failed.pop_all()
        self.stdin, self.stdout, self.stderr = ours
        self._code: int | None = None

    def wait(self, seconds: float) -> int | None:
        """Returns the exit code, negative for a signal; None if the process still runs after so many seconds."""
        end = time.monotonic() + seconds
        while self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= end:
                return None
            else:
                time.sleep(_LOOK_SECONDS)
        return self._code

    def kill(self) -> None:
        """Ends the process, and frees what the system keeps of it."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _serve(ends: Sequence[int], parent: int, memory: str, devices: str) -> NoReturn:
    """Serves requests in a process just forked, as if a new interpreter had started the worker."""
    try:
        for stream, end in enumerate(ends):
            os.dup2(end, stream)
        leave_session()
        environment = processes.worker_environment(devices)
        os.environ.clear()
        os.environ.update(environment)
        _forget_working_directory(environment["PYTHONPATH"].split(os.pathsep))
        # Imported here: few commands execute modules.
        from dialect_utils.execution import worker

        worker.serve(parent, int(memory), int(devices))
    except SystemExit as error:
        os.write(STREAMS - 1, str(error.code).encode())
    except BaseException:
        import traceback

        os.write(STREAMS - 1, traceback.format_exc().encode("utf-8", "backslashreplace"))
    os._exit(1)


def _forget_working_directory(named: Sequence[str]) -> None:
    """Keeps imports from the working directory, as Python's option -P does; `named` are the folders of PYTHONPATH."""
    with contextlib.suppress(OSError):
        unsafe = {"", os.getcwd()}.difference(named)
        sys.path[:] = [each for each in dict.fromkeys([*named, *sys.path]) if each not in unsafe]
