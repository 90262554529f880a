"""Signals that end the process of a command, its forks, and the time budget of a file, which a clock measures."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import ExtensionFileLoader
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from dialect_utils.sandbox import ENDING_SIGNALS

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


# More than a file of ordinary size needs; a megabyte of dump takes about four seconds to rewrite.
LEAST_SECONDS = 9.0
REWRITING_SECONDS_PER_MEGABYTE = 10.0
CHECKING_SECONDS_PER_MEGABYTE = 60.0
_UNTIMED = 3.0
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
# A shell adds this to the number of the signal that ended a program (POSIX: more than 128).
_SIGNALLED = 128
_AGAIN_SECONDS = 0.05
# Python's default of 700 makes it walk all live objects again and again while a module is read.
_OBJECTS_BETWEEN_COLLECTIONS = 1_000_000
# Standard input, output and error.
STREAMS = 3
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)


def seconds_for_bytes(size: int, per_megabyte: float) -> float:
    """Returns the time budget of modules in seconds, by their bytes."""
    return max(LEAST_SECONDS, per_megabyte * size / 1e6 - _UNTIMED)


def prepare_process() -> None:
    """Sets how this process collects garbage, lets threads of OpenBLAS sleep, and makes the system report children."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # Their default is to spin for 2 ** 26 cycles, even where nothing is ever multiplied; 4 is the least.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    # If a caller ignores the signal, the system forgets how a child ended, and reuses its number.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


class EndedBySignalError(KeyboardInterrupt):
    """The exception for a signal that asks the program to end, raised in the main thread."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Turns SIGINT, SIGTERM and SIGHUP into exceptions inside; signals that the caller ignores (nohup) stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *_ENDING)}
    taken = [number for number, handler in handlers.items() if handler in _DEFAULTS]
    for number in taken:
        signal.signal(number, _end)
    hook = sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number in taken:
            signal.signal(number, handlers[number])


def _end(number: int, frame: FrameType | None) -> None:
    if _loads_library(frame):
        # An exception inside the start of a library of C++ ends the process (SIGSEGV).
        _send_again(number)
        return
    raise EndedBySignalError(number)


def _loads_library(frame: FrameType | None) -> bool:
    while frame is not None:
        if isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    again = threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), number))
    again.daemon = True
    # OpenBLAS sends one, too, where the system has no more threads; then there is none here, either.
    with suppress(RuntimeError):
        again.start()


def _unraisable(hook: Callable[[UnraisableHookArgs], object], lost: UnraisableHookArgs) -> None:
    """Sends a signal again if its exception was lost in a destructor, or while an import released its lock."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        hook(lost)
        return
    _send_again(exit_code(lost.exc_value) - _SIGNALLED)


def interrupt_before(error: BaseException) -> KeyboardInterrupt | None:
    """Returns the end by a signal that was handled when an error came up, or None."""
    context: BaseException | None = error
    while context is not None and not isinstance(context, KeyboardInterrupt):
        context = context.__context__
    return context


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """Returns the exit code that a shell reports for a program ended by the signal; SIGINT for Ctrl-C."""
    number = interrupt.number if isinstance(interrupt, EndedBySignalError) else signal.SIGINT
    return _SIGNALLED + number


def fork(main: Callable[[int], NoReturn]) -> int:
    """Returns the process id of a copy of this process, which calls `main` with the id of this one."""
    # Buffered text would be written twice.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    parent = os.getpid()
    # The collector would copy every page of objects in the child.
    gc.freeze()
    # A handler that ran in the child would raise an exception in this process's code.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        with warnings.catch_warnings():
            # Python and JAX warn of other threads; those of a caller hold no lock that the child needs.
            warnings.simplefilter("ignore")
            pid = os.fork()
        if pid == 0:
            try:
                main(parent)
            finally:
                os._exit(1)
    finally:
        gc.unfreeze()
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return pid


def leave_session(kept: Iterable[int] = ()) -> None:
    """Leaves the session, the terminal and the files of the parent, but for `kept` and the three streams."""
    os.setsid()
    reset_signals()
    for before, after in pairwise([STREAMS - 1, *sorted(kept), os.sysconf("SC_OPEN_MAX")]):
        os.closerange(before + 1, after)


def reset_signals() -> None:
    """Unblocks the signals that end a process; the terminal sends its signals to the command's process."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)


# A longer time between two looks is not the child's: the parent waited for its reader, or the machine slept.
_LONGEST_STEP = 1.0
# After its deadline a process may still end by itself.
_GRACE_SECONDS = 0.5
_NANOSECONDS = 1e9


@dataclass(slots=True)
class Clock:
    """A deadline in seconds for the process `pid`.

    Time passes while the process computes and while it does nothing. It does not pass while the process has said that
    it waits for a process or for standard input: such a wait has a limit of its own. At most
    `credit` seconds in which the process is ready to run, but other processes have the processors, do not count.
    """

    pid: int
    seconds: float
    credit: float = 0.0
    _spent: float = field(default=0.0, init=False)
    _waited: float | None = field(default=None, init=False)
    _longest_wait: float | None = field(default=None, init=False)
    _seen: float = field(default=0.0, init=False)
    _queued: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._seen, self._queued = time.monotonic(), _queued_seconds(self.pid)

    def look(self) -> None:
        """Adds the time since the last update."""
        now = time.monotonic()
        step = max(0.0, min(now - self._seen, _LONGEST_STEP))
        self._seen = now
        if self._waited is None:
            self._spent += step
        else:
            self._waited += step

    @property
    def spent(self) -> float:
        """Returns the seconds that have passed, without waits."""
        return self._spent

    def restart(self) -> None:
        """Restarts the clock with the full time, for the next item of the unit."""
        self.look()
        self._spent, self._queued = 0.0, _queued_seconds(self.pid)

    def wait(self, longest: float | None) -> None:
        """Stops the clock for at most so many seconds, None for any number."""
        self.look()
        self._waited, self._longest_wait = 0.0, longest

    def go_on(self) -> None:
        """Ends a wait."""
        self.look()
        self._waited = None

    def left(self) -> float | None:
        """Returns the seconds until the deadline with its grace period, at least 0; None where there is no deadline."""
        if self._waited is not None:
            return None if self._longest_wait is None else max(0.0, self._longest_wait + _GRACE_SECONDS - self._waited)
        left = self.seconds + _GRACE_SECONDS - self._spent
        if left <= 0:
            # Read late, because the waiting time in the queue of the processors is in a file of the system.
            left += min(self.credit, _queued_seconds(self.pid) - self._queued)
        return max(0.0, left)


def _queued_seconds(pid: int) -> float:
    """Returns how long a process was ready to run while others ran (Linux: schedstat), 0 where that is unknown."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / _NANOSECONDS
    except (OSError, IndexError, ValueError):
        return 0.0
