"""Costs of work that tests compare: calls of functions, also in the child of a command, and processor time."""

from __future__ import annotations

import gc
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

from tests.paths import ROOT

PACKAGES = ("dialect_utils", "passes", "relayout")
# Cells of 8 bytes: the calls of this process and of the child, and the length of the text behind them.
_OURS, _CHILDS, _LENGTH = range(3)
_TEXT = 64


class Profile:
    """Calls of Python and C functions (events `call` and `c_call` of sys.setprofile), in memory that a child shares."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1 << 20)
        self._cells = memoryview(self._memory).cast("Q")
        self._process = _OURS
        self._ours: set[str] = set()
        self._childs: set[str] = set()
        os.register_at_fork(after_in_child=self._enter_child)

    @property
    def calls(self) -> int:
        """Returns the calls of this process."""
        return self._cells[_OURS]

    @property
    def calls_of_child(self) -> int:
        """Returns the calls of the child."""
        return self._cells[_CHILDS]

    @property
    def files(self) -> set[str]:
        """Returns the files in which a function of either process ran."""
        text = self._memory[_TEXT : _TEXT + self._cells[_LENGTH]].decode()
        return self._ours | {*text.splitlines()}

    @property
    def modules(self) -> list[str]:
        """Returns the names of those files as modules of the project."""
        paths = [Path(file).relative_to(ROOT) for file in self.files if file.startswith(f"{ROOT}{os.sep}")]
        names = [path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts for path in paths]
        return [".".join(parts) for parts in names if parts[0] in PACKAGES]

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Counts from zero what a `with` block runs; the files are kept."""
        self._cells[_OURS] = self._cells[_CHILDS] = 0
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _enter_child(self) -> None:
        self._process = _CHILDS

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if event not in ("call", "c_call"):
            return
        # Written at once: a child may be killed as soon as it has answered.
        self._cells[self._process] += 1
        code = frame.f_code
        # The body of a module or a class is no function, and neither is a comprehension in it.
        is_function = code.co_flags & CO_OPTIMIZED and (code.co_name[0] != "<" or code.co_name == "<lambda>")
        if event == "call" and is_function:
            self._add_file(code.co_filename)

    def _add_file(self, name: str) -> None:
        if self._process == _OURS:
            self._ours.add(name)
        elif name not in self._childs:
            self._childs.add(name)
            line, end = f"{name}\n".encode(), _TEXT + self._cells[_LENGTH]
            self._memory[end : end + len(line)] = line
            self._cells[_LENGTH] += len(line)


def calls_of_child(work: Callable[[], object]) -> int:
    """Returns how many functions the child calls that some work forks, those written in C included."""
    profile = Profile()
    with profile.measuring():
        work()
    assert profile.calls_of_child
    return profile.calls_of_child


def least_seconds(work: Callable[[], object], runs: int = 3) -> float:
    """Returns the least processor time of some runs of a piece of work: other work on the machine only adds to it."""
    times = []
    gc.disable()
    try:
        for _ in range(runs):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times)
