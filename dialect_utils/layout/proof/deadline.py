"""The deadline of a proof: CPU seconds of this process after which the loops of the proof give up.

Proofs run in deep recursions of several packages, so the deadline is a context variable and not a parameter. A loop
that may take long calls `check_deadline` in each iteration. A call of isl asks `seconds_left` before it starts, because
nothing interrupts it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

Clock = Callable[[], float]
# CPU time of this process, so waiting for a worker or for other programs costs nothing.
CLOCK: Clock = time.process_time


class DeadlineError(Exception):
    """Raised by `check_deadline` after the deadline."""

    def __init__(self) -> None:
        super().__init__("the proof takes longer than its time limit")


# The clock, and the time on it at which proofs give up.
_deadline: ContextVar[tuple[Clock, float]] = ContextVar("deadline", default=(CLOCK, inf))


@contextmanager
def deadline(seconds: float, clock: Clock | None = None) -> Iterator[None]:
    """Limits the proofs inside to `seconds` of a clock, by default that of an outer deadline, which holds as well."""
    outer, end = _deadline.get()
    clock = clock or outer
    own = clock() + seconds
    token = _deadline.set((clock, min(own, end) if clock is outer else own))
    try:
        yield
    finally:
        _deadline.reset(token)


def check_deadline() -> None:
    """Raises DeadlineError after the deadline."""
    clock, end = _deadline.get()
    if end < inf and clock() >= end:
        raise DeadlineError


def seconds_left() -> float:
    """Returns the seconds until the deadline, infinitely many without one."""
    clock, end = _deadline.get()
    return end - clock() if end < inf else inf


def now() -> float:
    """Returns the time on the clock of the deadline."""
    return _deadline.get()[0]()
