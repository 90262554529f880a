"""Reduction by a command of the user's: it exits with 0 for each module that still shows a failure.

The command runs beside the process of `relayout`, outside of the sandbox, which has the processes in
relayout/supervisor/programs.py. This module is the side of the sandboxed child.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dialect_utils import processes
from dialect_utils.io.files import encode
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.reduction import Reduction
from relayout.supervisor.host import CANDIDATES, current

# Exit codes of a shell for a command that it cannot run (POSIX).
_NOT_RUN = {126: "cannot be executed", 127: "is not found"}
# Added to the limit of a run, for the time in which a process starts and ends.
_MARGIN_SECONDS = 5.0


class TimeIsUpError(Exception):
    """Raised when the time of a reduction is used up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run: its exit code, negative for a signal, None for a run that exceeded its time limit."""

    code: int | None

    def __str__(self) -> str:
        if self.code is None:
            return "exceeds the time limit of a run"
        return _NOT_RUN.get(self.code, processes.describe_exit(self.code))


@dataclass(frozen=True, slots=True)
class Kept:
    """The property that a reduced file has: so many of the runs of a command on it exit with 0."""

    command: str
    successes: int
    runs: int

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {"oracle": self.command, "successes": self.successes, "runs": self.runs}

    def __str__(self) -> str:
        runs = "" if self.runs == 1 else f" in {self.successes} of {self.runs} runs"
        return f"the command exits with 0{runs}"


@dataclass(slots=True)
class Oracle:
    """A command, the limit of one run in seconds, and the number of runs of which one has to exit with 0.

    `deadline` is a value of `time.monotonic`.
    """

    command: str
    repeat: int
    seconds: float
    deadline: float
    # The texts that were tried, with the answer to each.
    _known: dict[str, bool] = field(default_factory=dict)

    def reduce(self, module: Module, trials: int, keep: Callable[[Module], None]) -> Module:
        """Returns a smaller module that the command accepts; gives each smallest module so far to `keep`.

        Raises DiagnosticError where the command does not accept the module itself.
        """
        try:
            self._check_first(module)
        except TimeIsUpError:
            message = "the time is used up before the first run of the command of --oracle has ended"
            raise DiagnosticError(Diagnostic(message, hint="--timeout SECONDS gives the reduction more")) from None
        keep(module)

        def shows(candidate: Sequence[Module]) -> bool:
            is_accepted = self._accepts(candidate[0])
            if is_accepted:
                keep(candidate[0])
            return is_accepted

        reduction = Reduction((module.clone(),), shows, trials)
        # The smallest module so far is a result, too.
        with suppress(TimeIsUpError):
            reduction.run()
        return reduction.modules[0]

    def measure(self, module: Module) -> Kept:
        """Runs the command as often as for a candidate, and counts the runs that exit with 0; at least one is made."""
        self.deadline = float("inf")
        codes = [self._run(module).code for _ in range(self.repeat)]
        return Kept(self.command, codes.count(0), self.repeat)

    def _check_first(self, module: Module) -> None:
        outcomes = []
        for _ in range(self.repeat):
            outcomes.append(self._run(module))
            if outcomes[-1].code == 0:
                self._known[module.text()] = True
                return
            if outcomes[-1].code in _NOT_RUN:
                break
        last = outcomes[-1]
        hint = "it has to exit with 0 where the failure shows: `! program {}` turns the answer of a program"
        if last.code is None:
            hint = "--run-timeout SECONDS gives it more time"
        elif last.code in _NOT_RUN:
            hint = "it runs by sh in the directory of relayout: write a program of this directory as ./program"
        runs = "" if len(outcomes) == 1 else f" in the last of {len(outcomes)} runs"
        message = f"there is nothing to reduce: for the whole module the command of --oracle {last}{runs}"
        raise DiagnosticError(Diagnostic(message, hint=hint))

    def _accepts(self, module: Module) -> bool:
        """Is true where one of the runs exits with 0; a module that was tried before is not run again."""
        text = module.text()
        if text not in self._known:
            self._known[text] = any(self._run(module).code == 0 for _ in range(self.repeat))
        return self._known[text]

    def _run(self, module: Module) -> Outcome:
        """Runs the command once; raises TimeIsUpError where the time of the reduction ends before the run."""
        host = current()
        assert host is not None  # a command works in a sandboxed child, which has a host
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeIsUpError
        limit = min(self.seconds, left)
        pid = host.test(CANDIDATES[module.dialect], encode(module.text()))
        try:
            with processes.waiting(limit + _MARGIN_SECONDS):
                code = host.wait_for(pid, limit)
        finally:
            host.kill(pid)
        if code is None and limit < self.seconds:
            raise TimeIsUpError
        return Outcome(code)
