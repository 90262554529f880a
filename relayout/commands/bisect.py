"""`relayout validate --bisect`: finds the pass of XLA:CPU after which a module computes something else."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input
from dialect_utils.text import Diagnostic, nearest
from passes.framework.pipeline import verify
from relayout import __version__
from relayout.batch.unit import Unit, Work
from relayout.bisection.gathering import Bisection, Rows
from relayout.command import BatchOptions, CiOptions, Command, InputOptions, LimitOptions, files_or_input
from relayout.comparison import inputs_for
from relayout.console import DONE, FAILED, Console, print_json
from relayout.options import argument, count, excludes, flag, group, option, usage_error
from relayout.output import text_files, write_output
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE

if TYPE_CHECKING:
    from dialect_utils.execution import Worker
    from dialect_utils.ir import Module
    from dialect_utils.verdict import Options

_UNKNOWN = 3
_EXIT_CODES = {"nowhere": DONE, "unknown": _UNKNOWN}
_TRIALS = 60
# A reduction tries many modules.
_LEAST_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class Bisect(Command):
    """The search for the wrong pass of XLA:CPU, for each module."""

    examples = (
        "relayout validate --bisect examples/attention.mlir",
        "relayout validate --bisect examples/negate.hlo --disable algsimp --json",
    )
    notes = """The definition is that of the reference engine (relayout run --engine reference), on the data of `check`.

exit codes:
  0  XLA:CPU computes what each module defines
  1  it computes something else: the lines name the pass, or code generation, or the conversion before all passes
  3  unknown: a module cannot be executed by both, or only rounding decides
  2  the command is wrong, or a file cannot be read"""
    lost_status = _UNKNOWN
    rules = (
        excludes("disable", ("no_reduce", "trials", "output"), "with --disable, which searches nothing"),
        excludes("no_reduce", ("trials", "output"), "with --no-reduce"),
        excludes("inputs", ("seeds",), "with --inputs, which gives the data"),
        excludes("inputs", ("trials", "output", "no_reduce"), "with --inputs, which fit no smaller module"),
    )

    files: tuple[str, ...] = argument("FILE", "modules in any format, or dump directories", "*")
    selection: InputOptions = group(InputOptions)
    batch: BatchOptions = group(BatchOptions)
    ci: CiOptions = group(CiOptions)
    disable: str | None = option("PASS,...", "only compare, with these passes of XLA:CPU disabled; no search")
    inputs: str | None = option("NPZ", "inputs in0, in1, ... or by names, in place of chosen ones")
    seeds: int = option("N", "how often each kind of data is drawn", count, default=1)
    trials: int = option("N", f"modules to try for a smaller one (default {_TRIALS})", count, default=_TRIALS)
    no_reduce: bool = flag("search no smaller module that shows the difference")
    output: str | None = option("OUT", "write the smaller module; a directory for several FILEs", str, "-o", "--output")
    limits: LimitOptions = group(LimitOptions, timeout="for each FILE, without the time of execution")

    def plan(self, console: Console) -> Sequence[Unit]:
        if self.disable is not None and not self.disabled:
            raise usage_error("--disable names no pass", "--disable algsimp")
        inputs = self.selection.find(files_or_input(self.files), console)
        if self.inputs is not None and len(inputs) > 1:
            raise usage_error(f"--inputs are those of one FILE, not of {len(inputs)}")
        files = {} if self.output is None else text_files(inputs, self.output)
        return [Unit((each,), files.get(each.path), self._seconds(each)) for each in inputs]

    @property
    def disabled(self) -> tuple[str, ...]:
        """Returns the passes of --disable."""
        return tuple(name for each in (self.disable or "").split(",") if (name := each.strip()))

    def _seconds(self, read: Input) -> float:
        return self.limits.timeout or max(_LEAST_SECONDS, self.limits.seconds([read], CHECKING_SECONDS_PER_MEGABYTE))

    @contextmanager
    def open(self, console: Console) -> Iterator[Work]:
        from dialect_utils.execution import DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_SECONDS, Worker
        from dialect_utils.verdict import Options

        options = Options(seeds=self.seeds, memory=self.limits.memory or DEFAULT_MEMORY_BYTES, power=0)
        start = partial(Worker, DEFAULT_TIMEOUT_SECONDS, memory=options.memory)
        with start() as worker, start(fuses=True) as fusing:
            yield _Runner(self, console, worker, fusing, options).attempt

    def lost(self, unit: Unit, reason: str) -> str:
        return json.dumps(Bisection(unit.inputs[0].path, "unknown", reason=reason).as_json()) + "\n"

    def conclusion(self) -> Rows:
        return Rows(self.json, self.disable)


@dataclass(frozen=True, slots=True)
class _Runner:
    """The bisection of one file, with the workers that all files share; one fuses products with sums."""

    command: Bisect
    console: Console
    worker: Worker
    fusing: Worker
    options: Options

    def attempt(self, unit: Unit) -> int:
        [read] = unit.inputs
        modules: list[Module] = []
        codes: list[int] = []

        def run() -> int:
            modules.append(read.with_constants().module())
            verify(modules[0])
            codes.append(self._run(unit, modules[0]))
            return codes[0]

        status = self.console.attempt(run, lambda reason: print(self.command.lost(unit, reason), end="", flush=True))
        if codes:
            return codes[0]
        return _UNKNOWN if modules else status

    def _run(self, unit: Unit, module: Module) -> int:
        [read] = unit.inputs
        # Imported here: one loads jaxlib, the other parses mail headers.
        from importlib.metadata import version

        from relayout.bisection.judging import Bisector, operation_of, reduced

        options = replace(self.options, inputs=inputs_for(self.command.inputs, module, self.console))
        disabled = self.command.disabled
        bisector = Bisector(module, options, self.worker, read.name, fusing=self.fusing)
        if disabled:
            self.console.diagnose(_unseen(disabled, {each.step for each in bisector.stages()} - {""}, read.name))
        found, small = bisector.run(disabled), module
        if not self.command.no_reduce and options.inputs is None and not disabled:
            small, found = reduced(bisector, found, self.command.trials)
        found = replace(
            found,
            file=read.path,
            operation=operation_of(small, found.output),
            operations=sum(1 for _ in small.operations()),
            reduced=self._write(unit.target, small, found),
            versions={"jaxlib": version("jaxlib"), "relayout": __version__},
        )
        print_json(found.as_json())
        return _EXIT_CODES.get(found.place, FAILED)

    def _write(self, target: str | None, small: Module, found: Bisection) -> str | None:
        """Writes the smaller module where -o names a file or a directory; returns its name."""
        if found.cause is None or target is None:
            return None
        write_output(target, encode(small.text()))
        return target


def _unseen(disabled: Sequence[str], seen: Collection[str], name: str) -> Iterator[Diagnostic]:
    """Yields a note for each pass that changes nothing when it is not disabled: XLA ignores unknown names."""
    for each in disabled:
        if each not in seen:
            like = nearest(each, seen)
            hint = f"{like} changes it" if like else f"these do: {', '.join(sorted(seen))}" if seen else None
            yield Diagnostic(f"no pass {each} of XLA:CPU changes {name}", severity="note", hint=hint)
