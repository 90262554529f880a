"""`relayout reduce`: shrinks a difference, a crash, or any failure that a command of the user's finds.

The command runs beside the process of `relayout`, outside of the sandbox, which has the processes in
relayout/supervisor/programs.py. `Oracle` is the side of the sandboxed child.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dialect_utils import processes
from dialect_utils.io.files import encode, function_of, read_module
from dialect_utils.io.inputs import named_input
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.base import Pass
from passes.framework.pipeline import SUFFIX, Pipeline, verify
from relayout.batch.unit import Unit
from relayout.command import Command, LimitOptions, function_option
from relayout.console import DONE, Console, print_json
from relayout.findings import Crash, Find, Finder, is_kept, reduce_finding
from relayout.options import argument, choice, count, excludes, group, needs, option, usage_error
from relayout.output import is_directory, write_output
from relayout.pipelines import PipelineOptions, needs_passes
from relayout.reduction import DEFAULT_TRIALS, Reduction
from relayout.supervisor.host import CANDIDATES, current
from relayout.supervisor.programs import PLACEHOLDER

if TYPE_CHECKING:
    from dialect_utils.verdict import Cause

_FINDINGS = {"different": "difference", "crash": "crash"}
_SECONDS = 3600.0
# The compilation and the run of a module of ordinary size, by a program that starts JAX.
_RUN_SECONDS = 120
_LETTERS = (".a", ".b")
_NAME = "reduced"


def _prefix(output: str) -> str:
    """Returns the begin of the files' names: of `red.hlo` it is `red`, of a directory `DIR/reduced`."""
    if is_directory(output):
        return os.path.join(output, _NAME)
    stem, ending = os.path.splitext(output)
    return stem if ending in [f".{each}" for each in SUFFIX.values()] else output


@dataclass(frozen=True, kw_only=True)
class Reduce(Command):
    """The search for smaller modules that still differ, or fail."""

    examples = (
        "sed 's/negate(/abs(/' examples/negate.hlo | relayout reduce examples/negate.hlo - -o small",
        "relayout reduce examples/negate.hlo --oracle 'grep -q negate {}' -o small --json",
    )
    notes = """Prints the command that shows what is left, and the cause that was kept; writes OUT, or OUT.a.* and
OUT.b.*. A difference stays in the same output, on the same kind of data, and of a similar size.

The command of --oracle runs by sh in this directory, with your rights, without a sandbox. TMPDIR is a directory that is
removed after each run, with the processes that the run left. A run that exceeds its limit does not count.

exit codes:
  0  reduced, and the files show the cause that the line `kept:` names
  1  nothing to reduce: no difference, no crash, or no exit code 0 of the command; or the input is wrong
  2  the command is wrong, or a file is missing"""
    endings = tuple(f"{letter}.{suffix}" for letter in ("", *_LETTERS) for suffix in SUFFIX.values())
    rules = (
        needs(("repeat", "run_timeout"), "oracle", reason="without --oracle COMMAND"),
        excludes(
            "oracle",
            ("passes", "keep", "pipelines", "verify_each", "no_sandbox"),
            "with --oracle, whose command decides what stays",
        ),
        needs_passes(),
    )

    files: tuple[str, ...] = argument("FILE", "two modules; one with -p, --keep crash or --oracle", "+")
    function: str | None = function_option()
    pipeline: PipelineOptions = group(PipelineOptions)
    keep: str = option("KEEP", "what stays: different (default) or crash", choice(*_FINDINGS), default="different")
    output: str = option(
        "OUT",
        "the file of the smaller module, of two NAME.a.hlo and NAME.b.hlo; a directory for both: DIR/",
        _prefix,
        *("-o", "--output"),
        default=_NAME,
    )
    trials: int = option("N", "ask so often at most (500)", count, default=DEFAULT_TRIALS)
    oracle: str | None = option(
        "COMMAND", "keep what makes this command of sh exit with 0; {} in it is the path of the module to try"
    )
    repeat: int = option("N", "with --oracle: 0 in one of N runs suffices (default 1)", count, default=1)
    run_timeout: int = option(
        "SECONDS", f"with --oracle: the limit of each run (default {_RUN_SECONDS})", count, default=_RUN_SECONDS
    )
    limits: LimitOptions = group(
        LimitOptions, timeout="for the reduction, without the time of execution (default 3600)"
    )

    def plan(self, console: Console) -> Sequence[Unit]:
        self._check_oracle()
        return [Unit(tuple(map(named_input, self.files)), seconds=self.limits.timeout or _SECONDS)]

    def _check_oracle(self) -> None:
        """Raises UsageError for several FILEs with --oracle, and for a command that does not see the module."""
        if self.oracle is None:
            return
        if len(self.files) != 1:
            raise usage_error(f"--oracle is about one FILE, not {len(self.files)}")
        if PLACEHOLDER not in self.oracle:
            hint = f"write it where the command takes a path: --oracle './shows_bug {PLACEHOLDER}'"
            raise usage_error(f"the command of --oracle has no {PLACEHOLDER}, so it would not see the module", hint)

    def work(self, unit: Unit, console: Console) -> int:
        if self.oracle is not None:
            return self._reduce_by_command(self.oracle, console)
        pipeline = self.pipeline.read()
        console.diagnose(pipeline.notes)
        # One module alone may crash an engine; a difference is between two.
        wanted = {1} if self.pipeline.passes else {1, 2} if self.keep == "crash" else {2}
        if len(self.files) not in wanted:
            hint = "two FILEs, or one FILE -p SPEC, or one FILE --keep crash"
            raise usage_error(f"expected {' or '.join(map(str, sorted(wanted)))} FILEs", hint)
        from dialect_utils.execution import DEFAULT_TIMEOUT_SECONDS, Worker

        modules = [read_module(file, function_of(self.function)) for file in self.files]
        for module in modules:
            verify(module)
        with Worker(DEFAULT_TIMEOUT_SECONDS) as worker:
            finder = Finder(worker, self.keep, self.pipeline.verify_each)
            if not self.pipeline.passes:
                return self._reduce_modules(modules, finder)
            return self._reduce_pass(modules[0], pipeline, finder)

    def _reduce_by_command(self, command: str, console: Console) -> int:
        """Reduces a module for which the command of --oracle exits with 0; the output holds the smallest one so far."""
        deadline = time.monotonic() + (self.limits.timeout or _SECONDS)
        oracle = Oracle(command, self.repeat, self.run_timeout, deadline)
        module = read_module(self.files[0], function_of(self.function))
        verify(module)
        files: list[str] = []

        def keep(candidate: Module) -> None:
            written = _write(self.output, [""], [candidate])
            if not files:
                message = f"{written[0]} holds the smallest module so far; Ctrl-C ends the reduction and leaves it"
                console.diagnose([Diagnostic(message, severity="note")])
                files.extend(written)

        oracle.reduce(module, self.trials, keep)
        kept = oracle.measure(read_module(files[0]))
        if not kept.successes:
            message = f"{files[0]} does not show the failure again: {kept}"
            raise DiagnosticError(message, hint="a higher --repeat N asks more often")
        return self._report(files, command.replace(PLACEHOLDER, shlex.quote(files[0])), kept)

    def _reduce_modules(self, modules: Sequence[Module], finder: Finder) -> int:
        """Reduces two modules that differ, or one or two modules that crash an engine."""
        found = finder.find(modules)
        if found is None:
            from dialect_utils.verdict.entry import entry_interface

            # It raises DiagnosticError for modules that cannot be compared.
            entry_interface(modules)
            subject = "two modules show" if len(modules) > 1 else "module shows"
            raise DiagnosticError(f"the {subject} no {_FINDINGS[self.keep]} to reduce")
        files, kept = self._reduced(modules, found, finder.find)
        verb = "check" if len(files) > 1 else "run"
        return self._report(files, f"relayout {verb} {' '.join(map(shlex.quote, files))}", kept)

    def _reduce_pass(self, module: Module, pipeline: Pipeline, finder: Finder) -> int:
        first = _first_pass(module, pipeline, finder)
        if first is None:
            raise DiagnosticError(f"no pass of the pipeline makes a {_FINDINGS[self.keep]} to reduce")
        step, before, found = first
        files, kept = self._reduced([before], found, lambda candidate: finder.find_in(step, candidate[0]))
        verb = "opt" if isinstance(found, Crash) and found.of_pass else "check"
        return self._report(files, f"relayout {verb} {shlex.quote(files[0])} -p {shlex.quote(str(step))}", kept)

    def _reduced(self, modules: Sequence[Module], found: Cause | Crash, find: Find) -> tuple[list[str], Cause | Crash]:
        """Writes smaller modules; returns the files and the finding that they show, read again.

        Raises DiagnosticError where this is not the finding of the modules.
        """
        small = reduce_finding(modules, found, find, self.trials)
        files = _write(self.output, _LETTERS if len(small) > 1 else [""], small)
        written = [read_module(file) for file in files]
        shown = find(written)
        if shown is None or not is_kept(found, shown, written):
            raise DiagnosticError(f"the reduced files show {shown or 'nothing'}, not {found}")
        return files, shown

    def _report(self, files: Sequence[str], command: str, kept: Cause | Crash | Kept) -> int:
        if self.json:
            found = {"file": self.files[0], "reduced": list(files), "command": command, "kept": kept.as_json()}
            print_json(found)
        else:
            print(command)
            print(f"  kept: {kept}")
        return DONE


def _first_pass(module: Module, pipeline: Pipeline, finder: Finder) -> tuple[Pass, Module, Cause | Crash] | None:
    """Returns the first pass with a finding, the module before it, and the finding."""
    for step in pipeline.passes:
        found = finder.find_in(step, module)
        if found is not None:
            return step, module, found
        module = step.run(module).module
    return None


def _write(prefix: str, letters: Sequence[str], modules: Sequence[Module]) -> list[str]:
    """Writes `PREFIX.hlo`, or `PREFIX.a.hlo` and `PREFIX.b.hlo`; returns the names."""
    files = [f"{prefix}{letter}.{SUFFIX[module.dialect]}" for letter, module in zip(letters, modules, strict=True)]
    for file, module in zip(files, modules, strict=True):
        write_output(file, module.text().encode())
    return files


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
            raise DiagnosticError(message, hint="--timeout SECONDS gives the reduction more") from None
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
        raise DiagnosticError(message, hint=hint)

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
