"""The clock of a unit: the seconds that its process worked, or was stuck, as its parent measures them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

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
        """Adds the time since the last look."""
        now = time.monotonic()
        step = max(0.0, min(now - self._seen, _LONGEST_STEP))
        self._seen = now
        if self._waited is None:
            self._spent += step
        else:
            self._waited += step

    def restart(self) -> None:
        """Gives the whole time again, for another item of the unit."""
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
