"""How long the program itself may compute on one file: what a file asks for must not decide that alone."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from dialect_utils.text import Diagnostic, DiagnosticError

# What no file of ordinary size needs; a megabyte of dump takes some four seconds to rewrite.
LEAST_SECONDS = 9.0
REWRITING_SECONDS_PER_MEGABYTE = 10.0
CHECKING_SECONDS_PER_MEGABYTE = 60.0
# A timer of so many seconds is off.
UNLIMITED = 0.0
_UNTIMED = 3.0
# Where the exception is lost (in a destructor), the next one comes soon.
_AGAIN_SECONDS = 0.5


class ComputationLimitError(DiagnosticError):
    """The end of a program that has computed for too long on one file."""


class _TimeUpError(BaseException):
    """The same inside: like Ctrl-C, no handler of errors may take it for an error of the file."""


def seconds_for(files: Sequence[str], per_megabyte: float) -> float:
    """Returns how many seconds of computation files of their size may take."""
    return seconds_for_bytes(sum(os.path.getsize(file) for file in files if os.path.isfile(file)), per_megabyte)


def seconds_for_bytes(size: int, per_megabyte: float) -> float:
    """Returns how many seconds of computation so many bytes of modules may take."""
    return max(LEAST_SECONDS, per_megabyte * size / 1e6 - _UNTIMED)


@contextmanager
def limited_computation(seconds: float, hint: str | None = "--timeout SECONDS gives it more") -> Iterator[None]:
    """Raises ComputationLimitError once this process has computed for so long inside; waiting does not count."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise _TimeUpError

    handler = signal.signal(signal.SIGPROF, interrupt)
    timer = signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_SECONDS)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, UNLIMITED)  # before a second one could come outside
    except _TimeUpError:
        message = f"no result after {seconds:.3g} seconds of computation"
        raise ComputationLimitError(Diagnostic(message, hint=hint)) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, *timer)
        signal.signal(signal.SIGPROF, handler)
