"""Work in a thread of its own, for a limited time."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T")
_JOIN_SECONDS, _END_SECONDS = 5.0, 1.0


class EndedError(SystemExit):
    """Raised in the thread when its time is over: passes that catch Exception do not catch it."""


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    work: Callable[[], T]
    done: threading.Event = field(default_factory=threading.Event)
    results: list[T] = field(default_factory=list)
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self.work())
        except BaseException as error:  # the caller raises it
            self.error = error
        self.done.set()


class LimitedThread:
    """A thread for calls, one at a time; after a call that exceeds its time another thread takes its place."""

    # A callback may come from a thread that was ended, too.
    _own = threading.local()

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def is_current(self) -> bool:
        """Is true inside of a call, which cannot wait for another one."""
        return getattr(self._own, "is_current", False)

    def call(self, work: Callable[[], T], seconds: float) -> T:
        """Returns the result of a function; raises its exception, and TimeoutError after so many seconds.

        The cause of that error is the exception with which the function then ended, if it did.
        """
        if not self._lock.acquire(timeout=seconds):
            raise TimeoutError
        job = _Job(work)
        try:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, args=(self._jobs,), daemon=True)
                self._threads.append(self._thread)
                self._thread.start()
            self._jobs.put(job.run)
            if not job.done.wait(seconds):
                self._end_thread()
                job.done.wait(_END_SECONDS)
                raise TimeoutError from job.error
        finally:
            if not job.done.is_set():
                self._end_thread()
            self._lock.release()
        if job.error is not None:
            raise job.error
        [result] = job.results
        return result

    def close(self) -> None:
        """Ends the threads, and waits a short time for those that are in C++: Python's end would abort there."""
        self._jobs.put(None)
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)

    def _end_thread(self) -> None:
        """Raises EndedError in the thread as soon as it runs Python again, except in XLA, which would abort."""
        if self._thread is None:
            return
        ident = self._thread.ident
        if ident is not None and not _is_in_jax(sys._current_frames().get(ident)):  # noqa: SLF001 (the documented name)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(EndedError))
        self._jobs.put(None)
        self._thread, self._jobs = None, SimpleQueue()

    def _work(self, jobs: SimpleQueue[Callable[[], None] | None]) -> None:
        self._own.is_current = True
        while (run := jobs.get()) is not None:
            run()


def _is_in_jax(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in ("jax", "jaxlib"):
            return True
        frame = frame.f_back
    return False
