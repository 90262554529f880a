"""The processes that a sandboxed child asks for: workers, compilers, and the command of `reduce --oracle`.

A worker may be a copy of the process of the command. A copy has what this process has imported: a command imports
before its first fork what its children and workers need.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from typing import Any, NoReturn

from dialect_utils import processes, sandbox
from dialect_utils.text import entries_below
from relayout.process import STREAMS, fork, leave_session
from relayout.supervisor.host import CANDIDATES, MalformedFrameError, parse_named_file

_THREADS = "/proc/self/task"
_XLA = "jaxlib._jax"
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


class _Polled(processes.Started, ABC):
    """A child of this process that is asked again and again whether it has ended."""

    @abstractmethod
    def _ended(self) -> int | None:
        """Returns the exit code, negative for a signal, or None while the process runs."""

    def wait(self, seconds: float) -> int | None:
        end = time.monotonic() + seconds
        while (code := self._ended()) is None and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
        return code


class CopiedWorker(_Polled, processes.Process):
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

    def _ended(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def kill(self) -> None:
        """Ends the process, and frees what the system keeps of it."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _serve(ends: Sequence[int], parent: int, memory: str, devices: str, fuses: str) -> NoReturn:
    """Serves requests in a process just forked, as if a new interpreter had started the worker."""
    try:
        for stream, end in enumerate(ends):
            os.dup2(end, stream)
        leave_session()
        environment = processes.worker_environment(devices, fuses)
        os.environ.clear()
        os.environ.update(environment)
        _forget_working_directory(environment["PYTHONPATH"].split(os.pathsep))
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


# The path of the candidate replaces it in the command of --oracle.
PLACEHOLDER = "{}"
_MOST_PROCESSES = 16
# A longer wait is several waits of this length, between which other children are served.
_WAITABLE_SECONDS = 0.05
_SHELL = "/bin/sh"
_PROCESSES = "/proc"
# The user's program may crash on each candidate.
_NO_CORE_DUMPS = "ulimit -c 0\n"
_LOOK_SECONDS = 0.002


class OracleProcess(_Polled):
    """A run of the user's command on a candidate, in a session of its own, with a directory for temporary files.

    The command may do all that the user may: a sandboxed child chooses only the bytes of the candidate. The signals
    that end this process are blocked while it is made.
    """

    def __init__(self, command: str, name: str, candidate: bytes | memoryview) -> None:
        with ExitStack() as stack:
            from dialect_utils.io.temporary import temporary_directory

            self._directory = stack.enter_context(temporary_directory())
            self.pid = self._started(command, name, candidate)
            self._stack = stack.pop_all()
        self._is_reaped = False

    def _started(self, command: str, name: str, candidate: bytes | memoryview) -> int:
        """Writes the candidate and starts the shell; returns the process id."""
        path = os.path.join(self._directory, name)
        with open(path, "xb") as file:
            file.write(candidate)
        streams = ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY))
        return os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _NO_CORE_DUMPS + command.replace(PLACEHOLDER, shlex.quote(path))],
            {**os.environ, "TMPDIR": self._directory},
            file_actions=[(os.POSIX_SPAWN_OPEN, stream, os.devnull, flags, 0) for stream, flags in streams],
            setsid=True,
            setsigmask=(),
            setsigdef=sandbox.ENDING_SIGNALS,
        )

    def _ended(self) -> int | None:
        # The process stays a zombie, so that its number names no other group before `kill`.
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def kill(self) -> None:
        """Ends the command and the processes that it left in the background, and removes the directory."""
        # A signal may have interrupted an earlier call.
        if not self._is_reaped:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._is_reaped = True
        while self._kill_left():
            time.sleep(_LOOK_SECONDS)
        self._stack.close()

    def _kill_left(self) -> bool:
        """Kills processes that have left the session: their environment names the directory; is true if there were."""
        marker, found = os.fsencode(f"TMPDIR={self._directory}\0"), False
        for each in filter(str.isdecimal, os.listdir(_PROCESSES) if os.path.isdir(_PROCESSES) else ()):
            # Processes of other users, and those that end meanwhile.
            with contextlib.suppress(OSError), open(f"{_PROCESSES}/{each}/environ", "rb") as environment:
                if marker in environment.read():
                    os.kill(int(each), signal.SIGKILL)
                    found = True
        return found


@dataclass(slots=True)
class Programs:
    """The processes of one child, which may ask for those that its command line needs."""

    memory: int = processes.DEFAULT_MEMORY_BYTES
    may_compile: bool = False
    # The directories, one for each compilation, in which a compiler may write the modules of its passes.
    dumps: tuple[str, ...] = ()
    # The command of --oracle, None without it.
    oracle: str | None = None
    # The tool of --with, None without it.
    tool: str | None = None
    running: dict[int, processes.Started] = field(default_factory=dict)

    def start(self, program: str, arguments: Sequence[object]) -> tuple[dict[str, Any], list[int]]:
        """Starts a program of `processes.PROGRAMS`; returns the answer and the descriptors of its pipes."""
        self._check_count()
        started = _started(program, self._checked(program, arguments))
        self.running[started.pid] = started
        return {"pid": started.pid}, [started.stdin, started.stdout, started.stderr]

    def test(self, frame: bytearray) -> dict[str, Any]:
        """Starts the command of --oracle on the candidate of a frame; returns the answer."""
        self._check_count()
        name, candidate = parse_named_file(frame)
        if self.oracle is None or name not in CANDIDATES.values():
            raise MalformedFrameError("a candidate that no command takes")
        # The exception of a signal comes after `running` has the process, which `end` then ends.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, sandbox.ENDING_SIGNALS)
        try:
            started = OracleProcess(self.oracle, name, candidate)
            self.running[started.pid] = started
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return {"pid": started.pid}

    def wait(self, pid: int, seconds: float) -> int | None:
        """Returns the exit code of a process; None if it still runs after a short time."""
        return self._found(pid).wait(max(0.0, min(seconds, _WAITABLE_SECONDS)))

    def kill(self, pid: int) -> None:
        """Ends a process."""
        self._found(pid).kill()
        del self.running[pid]

    def end(self) -> None:
        """Ends all processes that were started."""
        for each in self.running.values():
            each.kill()
        self.running.clear()

    def written(self) -> int:
        """Returns the bytes that compilers have written into the directories of their dumps."""
        total = 0
        for each in chain.from_iterable(map(entries_below, self.dumps)):
            # It may be gone by now.
            with contextlib.suppress(OSError):
                total += each.stat(follow_symlinks=False).st_size
        return total

    def _found(self, pid: int) -> processes.Started:
        if pid not in self.running:
            raise MalformedFrameError("a process that it did not start")
        return self.running[pid]

    def _check_count(self) -> None:
        if len(self.running) >= _MOST_PROCESSES:
            raise MalformedFrameError("too many processes")

    def _checked(self, program: str, arguments: Sequence[object]) -> list[str]:
        """Returns the arguments of a program that this child may start; raises MalformedFrameError for others."""
        match arguments:
            # The directory is one of the dumps of this command; there is none where it compiles without one.
            case [str(memory), str(platform), str(folder)] if program == processes.COMPILER and (
                folder in self.dumps if folder else self.may_compile
            ):
                return [str(min(int(memory), self.memory)), platform, folder]
            case [str(memory), str(devices), ("0" | "1") as fuses] if program == processes.WORKER:
                return [str(min(int(memory), self.memory)), str(int(devices)), fuses]
            case [str(memory), str(tool)] if program == processes.PASSES and tool == self.tool:
                return [str(min(int(memory), self.memory)), tool]
        raise MalformedFrameError(f"a request for a {program} that it may not start")


def _started(program: str, arguments: Sequence[str]) -> processes.Process:
    """Starts a program: a worker as a copy of this process where that is possible, else a new interpreter."""
    if program == processes.WORKER and may_copy_for_worker():
        return CopiedWorker(arguments)
    return processes.LocalProcess(program, arguments)
