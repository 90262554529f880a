"""Starts this program's own processes: workers that run modules, and compilers.

A sandboxed process can start none: there its parent starts them and hands over their pipes (`use_parent`).
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

# The modules that may be started, by the name of the program.
PROGRAMS = {
    "worker": "dialect_utils.execution.worker",
    "compiler": "dialect_utils.execution.compiling",
    "passes": "dialect_utils.execution.passing",
}
WORKER, COMPILER, PASSES = PROGRAMS
# The tool of `passes` that runs no code of the user.
JAXLIB = "jaxlib"

# Paths of Python and its libraries, languages and the time zone. A module must not find keys and tokens here.
INHERITED = (
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "VIRTUAL_ENV"),
    *("TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ"),
)
# Code for processors without FMA: a product and a sum round twice, as the module says, where XLA would fuse them.
# (An option of one compilation does not reach the code generator.)
_NO_FUSED_MULTIPLY_ADD = "--xla_cpu_max_isa=AVX"
# The user's flags of XLA and libtpu.
COMPILER_FLAGS = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
# libtpu asks no metadata server of a cloud, and runs beside other processes that use it.
TPU_ENVIRONMENT = {"TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}
# The times for a program that is compiled, and for a request to a worker, in seconds; a child has those of its command
# line.
compiler_seconds, worker_seconds = 900.0, 120.0
# The time for the start of a worker, which loads jaxlib on a busy machine, and for the transfer of a file of a URL.
START_SECONDS, TRANSFER_SECONDS = 120.0, 600.0
# The memory of a process beyond what it needs to start, in bytes.
DEFAULT_MEMORY_BYTES = 4_000_000_000
# The time of a process to end its own children.
_CLEANUP_SECONDS = 2.0
# The directory of this project's packages.
ROOT = str(Path(__file__).parents[1])


# Messages of C++, LLVM and XLA about a failed allocation.
NO_MEMORY = re.compile(r"std::bad_alloc|[Oo]ut of memory|Cannot allocate memory|MemoryError|RESOURCE_EXHAUSTED")


def python_command() -> list[str]:
    """Returns the command of a new interpreter, which imports nothing from the working directory."""
    return [sys.executable, "-P"]


def describe_exit(code: int | None) -> str:
    """Returns how a process ended, from its exit code (negative for a signal); None: it only closed its pipes."""
    if code is None:
        return "closed its output"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


class Started(Protocol):
    """A started process, and its end."""

    pid: int

    def wait(self, seconds: float) -> int | None:
        """Returns the exit code, negative for a signal; None if the process still runs after so many seconds."""

    def kill(self) -> None:
        """Ends the process, and frees what the system keeps of it."""


class Process(Started, Protocol):
    """A started process with the descriptors of its three pipes, which are this process's to close."""

    stdin: int
    stdout: int
    stderr: int


class LocalProcess(Process):
    """A child of this process."""

    def __init__(self, program: str, arguments: Sequence[str]) -> None:
        import subprocess

        # In the main thread the child may ask to be killed with this process.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        self._process = subprocess.Popen(
            [*python_command(), "-m", PROGRAMS[program], str(parent), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(program, arguments),
            # Ctrl-C is for this process, which then ends the child.
            start_new_session=True,
        )
        assert self._process.stdin is not None  # pipes
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.pid, self._owner, self._cleans_up = self._process.pid, os.getpid(), program == PASSES
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self.stdin, self.stdout, self.stderr = (os.dup(stream.fileno()) for stream in streams)
        for stream in streams:
            stream.close()

    def wait(self, seconds: float) -> int | None:
        from subprocess import TimeoutExpired

        try:
            return self._process.wait(seconds)
        except TimeoutExpired:
            return None

    def kill(self) -> None:
        """Ends the process; after a fork only its own parent may."""
        if os.getpid() == self._owner:
            if self._cleans_up:
                # Its standard input is closed, so that it ends its own children and removes their files.
                self.wait(_CLEANUP_SECONDS)
            self._process.kill()
            self._process.wait()


def _environment(program: str, arguments: Sequence[str]) -> dict[str, str]:
    if program == COMPILER:
        own = {name: os.environ[name] for name in COMPILER_FLAGS if name in os.environ}
        return worker_environment("1") | {"XLA_FLAGS": ""} | own | TPU_ENVIRONMENT
    if program == PASSES and arguments[-1] != JAXLIB:
        # The program is the user's own.
        return {**os.environ, "PYTHONPATH": _python_path()}
    if program == PASSES:
        return worker_environment("1")
    _, devices, fuses = arguments
    return worker_environment(devices, fuses)


def _python_path() -> str:
    return os.pathsep.join([ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])


def worker_environment(devices: str, fuses: str = "0") -> dict[str, str]:
    """Returns the environment of a worker: paths and languages, and how libraries and XLA behave there.

    Where `fuses` is "1", XLA may fuse a product and a sum, as it does for `jax.jit`.
    """
    flags = [] if int(fuses) else [_NO_FUSED_MULTIPLY_ADD]
    if int(devices) > 1:
        flags.append(f"--xla_force_host_platform_device_count={devices}")
    return {name: os.environ[name] for name in INHERITED if name in os.environ} | {
        "XLA_FLAGS": " ".join(flags),
        "JAX_PLATFORMS": "cpu",
        # Otherwise numpy starts threads for its own linear algebra on import; XLA has its own.
        "OPENBLAS_NUM_THREADS": "1",
        "JAX_ENABLE_X64": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": _python_path(),
    }


class Parent(Protocol):
    """The parent of a sandboxed process, as far as this module needs it."""

    def start(self, program: str, arguments: Sequence[str]) -> Process:
        """Starts a program; raises OSError where the system cannot."""

    def waits(self, seconds: float | None) -> None:
        """Stops the clock of this process for at most so many seconds, None for any number."""

    def goes_on(self) -> None:
        """Starts the clock again."""


_start: Callable[[str, Sequence[str]], Process] = LocalProcess
_parent: Parent | None = None


def use_parent(parent: Parent) -> None:
    """Makes `start` and `waiting` ask the parent of this process."""
    global _start, _parent
    _start, _parent = parent.start, parent


def start(program: str, *arguments: object) -> Process:
    """Starts a program of PROGRAMS with arguments; raises OSError where the system cannot."""
    return _start(program, list(map(str, arguments)))


def announce(text: str) -> None:
    """Prints what takes time next, to standard error; nothing in a program that imports these packages."""
    if _parent is not None:
        print(f"... {text}", file=sys.stderr, flush=True)


@contextmanager
def waiting(seconds: float | None) -> Iterator[None]:
    """Tells the parent that this process waits inside the block, for at most `seconds` (None: without limit)."""
    if _parent is None:
        yield
        return
    _parent.waits(seconds)
    try:
        yield
    finally:
        _parent.goes_on()
