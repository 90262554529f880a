"""Delivers one fault at one step of a whole command, and says what is wrong with how the command ends.

A step is a call of the system, before it or after it, in the process of the command or in its first child. Faults are
signals, the end of the child, a clock that jumps beyond the deadline, errors of the call, and a failed allocation.
`python -m tests.relayout.supervisor.faults [EVERY]` tries every step, or one of EVERY.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from dialect_utils.io.files import STANDARD_INPUT
from relayout import process
from relayout.supervisor import pool
from tests.signals import fork

Side = Literal["parent", "child"]
_PR_SET_CHILD_SUBREAPER = 36
_END_SECONDS, _LONGEST_RUN = 2.0, 30.0
_SIGNALLED = 128
_CLOSED_PIPE = 141

# Calls of the system, by the names of Python's functions; `_FALLIBLE` ones may return errors.
_FALLIBLE = {
    *("open", "fork", "pipe", "socketpair", "mkdir", "replace", "chmod", "dup", "dup2", "setsid", "fork_exec"),
    *("write", "flush", "send", "sendall", "sendmsg", "recv", "recvmsg", "read", "stat", "listdir", "scandir"),
}
_OTHER = {
    "close",
    "unlink",
    "rmdir",
    "poll",
    "wait4",
    "waitid",
    "waitpid",
    "kill",
    "closerange",
    "fchdir",
    "set_blocking",
}
_EVENTS = ("c_call", "c_return")

_SIGNALS = {name: getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP")}
_ERRORS = {name: getattr(errno, name) for name in ("ENOSPC", "EMFILE", "EAGAIN", "EPIPE", "EIO")}
# The ways in which a process is ended or stopped.
_ENDS = {"killed": signal.SIGKILL, "crashed": signal.SIGSEGV, "stopped": signal.SIGSTOP}
FAULTS: dict[Side, tuple[str, ...]] = {
    "parent": (*_SIGNALS, "child killed", "child stopped", "deadline", "clock back", *_ERRORS, "memory"),
    "child": (*_ENDS, *_ERRORS, "memory"),
}

_MODULE = "HloModule m\nENTRY e {\n  p = f32[3,5]{1,0:T(2,2)} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"
COMMANDS: dict[str, tuple[str, ...]] = {
    "file": ("opt", "a.hlo", "-p", "expand-tiling", "-o", "out.hlo", "--timeout", "1"),
    "output": ("opt", "a.hlo", "-p", "expand-tiling", "--timeout", "1"),
    "batch": ("opt", "a.hlo", "b.hlo", "c.hlo", "--jobs", "2", "-o", "o/", "--timeout", "1"),
    "input": ("explain", "-"),
    "proof": ("check", "a.hlo", "-p", "expand-tiling", "--engines", "proof", "--timeout", "4"),
}
_INPUTS = dict.fromkeys(("a.hlo", "b.hlo", "c.hlo"), _MODULE)
_SHAPES = "f32[3,5]{1,0:T(2,2)}\nf32[3,5]\n"


@dataclass
class _Counter:
    """Counts the steps of one side, and delivers the fault at its step."""

    side: Side
    fault: str
    step: int
    shared: Any
    parent: int = field(default_factory=os.getpid)

    def __call__(self, frame: Any, event: str, function: Any) -> None:
        if event not in _EVENTS or getattr(function, "__name__", "") not in _FALLIBLE | _OTHER:
            return
        if (os.getpid() == self.parent) != (self.side == "parent"):
            return
        name = function.__name__
        if self._is_error() and (event != "c_call" or name not in _FALLIBLE - {"flush"}):
            return
        number = self.shared.value
        self.shared.value += 1
        if number == self.step:
            self._deliver(name)

    def _is_error(self) -> bool:
        return self.fault in _ERRORS or self.fault == "memory"

    def _deliver(self, name: str) -> None:
        if self.fault == "memory":
            raise MemoryError
        if self.fault in _ERRORS:
            raise OSError(_ERRORS[self.fault], os.strerror(_ERRORS[self.fault]))
        if self.fault in _SIGNALS:
            os.kill(os.getpid(), _SIGNALS[self.fault])
        elif self.fault in _ENDS:
            os.kill(os.getpid(), _ENDS[self.fault])
        elif self.fault.startswith("child "):
            for pid in _children(self.parent):
                os.kill(pid, _ENDS[self.fault.removeprefix("child ")])
        else:
            _jump(1e6 if self.fault == "deadline" else -1e6)


def _jump(seconds: float) -> None:
    """Moves the clock of the deadlines, and lets the jump count."""
    now = time.monotonic
    moved = type("time", (), {"monotonic": staticmethod(lambda: now() + seconds)})
    process.time = moved  # type: ignore[assignment, attr-defined]  # all that the clock uses
    process._LONGEST_STEP = 1e9  # noqa: SLF001 (otherwise a jump costs a second)


@dataclass(frozen=True)
class Ending:
    """How a command ended: its exit code, negative for a signal, its output, what it left, and its steps."""

    code: int
    output: bytes
    errors: str
    files: dict[str, bytes]
    processes: int
    steps: int
    seconds: float


def ended(arguments: Sequence[str], side: Side = "parent", fault: str = "SIGTERM", step: int = -1) -> Ending:
    """Runs a command in a new process and directory, with a fault at one step of one side."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Not a TemporaryDirectory: the command would remove it when it exits.
    directory = Path(tempfile.mkdtemp(prefix="faults-"))
    try:
        return _ended(directory, arguments, _Counter(side, fault, step, _shared_number()))
    finally:
        shutil.rmtree(directory)


def _ended(directory: Path, arguments: Sequence[str], counter: _Counter) -> Ending:
    folder = directory / "work"
    folder.mkdir()
    for file, text in _INPUTS.items():
        (folder / file).write_text(text)
    (directory / "input").write_text(_SHAPES)
    start = time.monotonic()
    pid = fork()
    if pid == 0:
        _become_command(directory, folder, arguments, counter)
    code = _waited(pid)
    seconds = time.monotonic() - start
    left = _left_over()
    files = {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if str(path.relative_to(folder)) not in _INPUTS
    }
    output, errors = (directory / "output").read_bytes(), (directory / "errors").read_text(errors="replace")
    return Ending(code, output, errors, files, left, counter.shared.value, seconds)


def _shared_number() -> Any:
    # Imported here: it is for this function.
    import mmap

    return ctypes.c_long.from_buffer(mmap.mmap(-1, mmap.PAGESIZE))


def _become_command(directory: Path, folder: Path, arguments: Sequence[str], counter: _Counter) -> None:
    try:
        os.setsid()
        for number in _SIGNALS.values():
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = None
        for descriptor, name in enumerate(("input", "output", "errors")):
            flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT
            os.dup2(os.open(directory / name, flags, 0o600), descriptor)
        os.closerange(3, 1024)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, "rw"[number > 0], closefd=False)  # noqa: SIM115 (as long as the process)
            for number in range(3)
        )
        sys.argv = ["relayout", *arguments]
        pool._PLAN_SECONDS = 1.0  # noqa: SLF001 (a child that is stopped while it plans)
        counter.parent = os.getpid()
        # Imported here: pytest replaces streams before.
        from relayout.__main__ import run

        sys.setprofile(counter)
        run()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(99)


def _waited(pid: int) -> int:
    end = time.monotonic() + _LONGEST_RUN
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 98


def _children(pid: int) -> list[int]:
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []


def _left_over() -> int:
    """Returns how many processes stay: they are now children of this process, which reaps those that end."""
    end = time.monotonic() + _END_SECONDS
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return 0
    left = _children(os.getpid())
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(left)


_MOST_LINES = 8
# The longest time limit, the grace period, and two seconds.
_MOST_SECONDS = 4.0 + 0.5 + 2.0


def _allowed(fault: str) -> set[int]:
    """Returns the exit codes that a command may have after a fault."""
    if fault in _SIGNALS:
        # Before the command has set its handlers, the system ends it.
        return {0, _SIGNALLED + _SIGNALS[fault], -_SIGNALS[fault]}
    return {0, 1, 2, 3, *([_CLOSED_PIPE] if fault == "EPIPE" else [])}


def problems(ending: Ending, good: Ending, fault: str) -> Iterator[str]:
    """Yields what is wrong with the end of a command; `good` is its end without a fault."""
    if ending.code not in _allowed(fault):
        yield f"exit code {ending.code}"
    if "Traceback" in ending.errors or "Exception ignored" in ending.errors:
        yield "a traceback"
    if len(ending.errors.splitlines()) > _MOST_LINES:
        yield f"{len(ending.errors.splitlines())} lines of errors"
    if ending.code in (1, 2) and not ending.errors and ending.files == good.files:
        yield "no error line"
    for name, data in ending.files.items():
        if good.files.get(name) != data:
            yield f"the file {name} with {len(data)} bytes"
    if ending.code == 0 and (ending.files, ending.output) != (good.files, good.output):
        yield "exit code 0 without the whole result"
    yield from _costs(ending)


def _costs(ending: Ending) -> Iterator[str]:
    if ending.processes:
        yield f"{ending.processes} processes stay"
    if ending.seconds > _MOST_SECONDS:
        yield f"{ending.seconds:.1f} seconds"


def steps_of(count: int, most: int, offset: int) -> list[int]:
    """Returns at most so many of the first `count` numbers, spread evenly; `offset` chooses which."""
    if count <= most:
        return list(range(count))
    return [(offset + number * count // most) % count for number in range(most)]


def _ends(command: str, fault: str) -> bool:
    """Is false for a process that is stopped while it waits for standard input, which takes any time."""
    return "stopped" not in fault or STANDARD_INPUT not in COMMANDS[command]


def found(command: str, side: Side, fault: str, most: int, offset: int = 0) -> Iterator[str]:
    """Yields what is wrong where a fault is delivered at steps of a command."""
    if not _ends(command, fault):
        return
    arguments = COMMANDS[command]
    good = ended(arguments, side, fault)
    if good.code:
        yield f"{command}: exit code {good.code} without a fault: {good.errors}"
        return
    for step in steps_of(good.steps, most, offset):
        ending = ended(arguments, side, fault, step)
        for problem in problems(ending, good, fault):
            yield f"{command}, {side}, {fault} at step {step} of {good.steps}: {problem}\n{ending.errors[-600:]}"


def main(every: int = 1) -> int:
    """Delivers every fault at every step, or at one of `every`; prints what is wrong and returns the exit code."""
    load()
    count = 0
    for command in COMMANDS:
        for side, faults in FAULTS.items():
            for fault in filter(partial(_ends, command), faults):
                steps = ended(COMMANDS[command], side, fault).steps
                wrong = list(found(command, side, fault, max(1, steps // every), offset=count))
                count += len(wrong)
                print(
                    "\n".join([f"{command}, {side}, {fault}: {steps} steps, {len(wrong)} problems", *wrong]), flush=True
                )
    return int(count > 0)


def load() -> None:
    """Imports what the commands import, so that a run costs little and its steps are those of the supervisor."""
    for module in ("cli", "commands.opt", "commands.check", "commands.explain", "batch.run", "supervisor.child"):
        importlib.import_module(f"relayout.{module}")
    for module in ("passes.layouts.verify_layouts", "passes.tiling.expand_tiling", "dialect_utils.verdict.comparator"):
        importlib.import_module(module)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
