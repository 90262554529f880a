"""`relayout tune`: searches layouts and rewrites that make a program smaller or faster on a TPU or GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.io.files import STANDARD_INPUT, decode, encode
from dialect_utils.io.inputs import Input
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.processes import announce
from dialect_utils.text import DiagnosticError, read_input
from passes.framework.pipeline import verify
from relayout.batch.unit import Unit
from relayout.command import Command, InputOptions, LimitOptions
from relayout.console import DONE, Console, print_json
from relayout.options import argument, choice, count, excludes, flag, group, option, parsed, usage_error
from relayout.output import STANDARD_OUTPUT, check_uncompressed, output_file, write_output
from relayout.supervisor.host import current

if TYPE_CHECKING:
    from dialect_utils.execution.compilers import FigureCompiler, Figures
    from dialect_utils.stablehlo.module import StableHloModule
    from relayout.supervisor.cache import Selected
    from relayout.tuning.search import Search
    from relayout.tuning.trials import Measured, Objective, Trial

_OBJECTIVES: tuple[Objective, ...] = ("peak", "bytes", "time")
_BUDGET = 20
# Fewer than the processes that a child may have.
_MOST_JOBS = 15
# The time of this process, without that of the compiler.
_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Tune(Command):
    """The search for a better program for a TPU or GPU."""

    examples = (
        "relayout tune examples/attention.mlir --target tpu-v5e --budget 4",
        "relayout tune examples/attention.mlir --target tpu-v5e --objective bytes --budget 4 --json",
    )
    prints_files = True
    rules = (
        excludes(
            "model_only", ("jobs", "trials", "go_on", "no_cache", "inside"), "with --model-only, which compiles nothing"
        ),
        excludes("json", ("width",), "where no page is printed"),
        excludes("output", ("width",), "where no page is printed", value=STANDARD_OUTPUT),
    )

    files: tuple[str, ...] = argument("PROGRAM", "StableHLO in any format; - is standard input", 1)
    selection: InputOptions = group(InputOptions)
    target: str | None = option(
        "TARGET", "the chip to compile for: tpu-v5e, gpu-h100, FILE.txtpb (a GPU's description)"
    )
    objective: Objective = option(
        "OBJECTIVE",
        "make smaller: peak memory, bytes accessed, or the estimated time (default peak)",
        choice(*_OBJECTIVES),
        default=_OBJECTIVES[0],
    )
    budget: int = option("N", f"programs to compile (default {_BUDGET})", count, default=_BUDGET)
    inside: int = option(
        "N", "then change the module inside of the compiler: N programs (TPU, jax 0.12)", count, default=0
    )
    output: str | None = option(
        "OUT", "write the best program, whenever a better one is found: a file or DIR/", str, "-o", "--output"
    )
    trials: str | None = option("FILE", "write the figures of all trials, after each compilation")
    go_on: bool = flag("with --trials: compile nothing that is in FILE", "--resume")
    jobs: int = option("N", "programs to compile at once (default 1)", count, default=1)
    no_cache: bool = flag("compile all programs, and keep no figures")
    model_only: bool = flag("compile nothing: rank the changes by the model, and prove them")
    width: int | None = option("N", "columns of the page (default: the terminal's)", count)
    limits: LimitOptions = group(
        LimitOptions, timeout=f"of the search (default {_SECONDS:g}), and of each compilation (900)"
    )

    def plan(self, console: Console) -> Sequence[Unit]:
        self._check()
        inputs = self.selection.find(self.files, console)
        if len(inputs) > 1:
            hint = "--module NAME and --stage NAME choose one"
            raise usage_error(f"{self.files[0]} has {len(inputs)} modules, and a search changes one", hint)
        target = None if self.output is None else output_file(self.output, f"{inputs[0].stem}.mlir")
        return [Unit((inputs[0],), target, self.limits.timeout or _SECONDS)]

    def _check(self) -> None:
        if parsed(parse_target, self.named_target).platform != "tpu" and self.inside:
            raise usage_error("--inside is for TPUs: XLA:GPU hands over the program as it was before optimization")
        if not self.model_only:
            from dialect_utils.execution.compilers import compilable_target

            parsed(compilable_target, self.named_target)
        if self.go_on and self.trials is None:
            raise usage_error("--resume goes on with a file of trials, and there is none", "--trials FILE names it")
        if self.jobs > _MOST_JOBS:
            raise usage_error(f"--jobs {self.jobs}: at most {_MOST_JOBS} programs are compiled at once")
        if self.no_cache and self.trials is not None:
            raise usage_error("--no-cache has no effect with --trials, whose file is used instead", "leave it out")
        if self.trials is not None and os.path.exists(self.trials) and not (self.go_on or self.force):
            hint = "--resume goes on with it, and --force writes it again"
            raise usage_error(f"--trials {self.trials} is there already", hint)
        if self.output == STANDARD_OUTPUT and self.json:
            raise usage_error("-o - and --json both print on standard output", "-o FILE writes the program")
        if self.output is not None:
            check_uncompressed(self.output)

    @property
    def named_target(self) -> str:
        """Returns the target; raises UsageError without one."""
        if self.target is None:
            raise usage_error("expected a --target", "relayout tune PROGRAM --target tpu-v5e")
        return self.target

    @property
    def may_compile(self) -> bool:
        return not self.model_only

    def work(self, unit: Unit, console: Console) -> int:
        return self._model(unit) if self.model_only else self._search(unit, console)

    def _search(self, unit: Unit, console: Console) -> int:
        [read] = unit.inputs
        from relayout.inner import Inner
        from relayout.tuning.page import tuning_json, tuning_page
        from relayout.tuning.search import Search
        from relayout.tuning.solver import check_installed
        from relayout.tuning.trials import figure_compiler

        # Before any other file is read: a child stores only figures of its own file.
        known = self._cached_figures()
        module = _program(read)
        console.diagnose(devices_of(module).notes_of_compilation)
        check_installed()
        with figure_compiler(self.named_target, self.objective, self.jobs) as compiler:
            search = Search(module, self._measured(compiler, known), self.objective, self.budget, self.inside)
            search.enter = partial(Inner, target=compiler.target, objective=self.objective)
            search.told = partial(self._show_progress, search, unit.target)
            search.waits = announce
            tuning = search.run()
        self._print(tuning.program, {"file": read.path, **tuning_json(tuning)}, tuning_page(tuning, self.width))
        return DONE

    def _model(self, unit: Unit) -> int:
        """Ranks changes by the model, and writes the best one."""
        [read] = unit.inputs
        from relayout.tuning.page import modelled_json, modelled_page
        from relayout.tuning.search import model_changes
        from relayout.tuning.solver import check_installed

        module = _program(read)
        check_installed()
        modelled = model_changes(module, self.named_target, self.objective, self.budget)
        self._write(modelled.program, unit.target)
        page = modelled_page(modelled, self.width)
        self._print(modelled.program, {"file": read.path, **modelled_json(modelled)}, page)
        return DONE

    def _print(self, program: StableHloModule, record: Mapping[str, object], page: str) -> None:
        """Prints a result as the command line wants: the program, JSON, or a page."""
        if self.output == STANDARD_OUTPUT:
            write_output(None, encode(program.text()))
        elif self.json:
            print_json(record)
        else:
            write_output(None, encode(page))

    def _write(self, program: StableHloModule, target: str | None) -> None:
        """Writes the best program to a file that is named."""
        if target is not None and target != STANDARD_OUTPUT:
            write_output(target, encode(program.text()))

    def _cached_figures(self) -> Mapping[str, Figures]:
        """Returns the figures that the cache has for the programs of this file; none with --trials."""
        from relayout.tuning.trials import read_trials

        host = current()
        data = None if host is None or self.trials is not None else host.cached()[0]
        try:
            return {} if data is None else read_trials(data.decode(), "the cache")
        except (DiagnosticError, UnicodeDecodeError):
            return {}

    def _measured(self, compiler: FigureCompiler, known: Mapping[str, Figures]) -> Measured:
        """Returns the figures that are known already, and keeps all of them after each compilation."""
        from relayout.tuning.trials import Measured, read_trials

        measured = Measured(compiler.compile_all, compiler.target, compiler.version, known=dict(known))
        trials = self.trials
        if trials is None:
            if (host := current()) is not None:
                measured.keep = lambda text: host.keep(encode(text))
            return measured
        measured.keep = lambda text: write_output(trials, encode(text))
        if self.go_on:
            measured.known = dict(read_trials(decode(read_input(trials)), trials))
        return measured

    def cached(self, unit: Unit) -> Selected | None:
        from relayout.supervisor.cache import Selected

        [read] = unit.inputs
        files = [read.path, *filter(None, [read.proto])]
        if self.model_only or self.trials is not None or STANDARD_INPUT in files:
            return None
        return Selected(["tune", self.target, read.wanted], files, grows=True)

    def _show_progress(self, search: Search, target: str | None, trial: Trial, is_best: bool) -> None:
        """Prints a trial, and writes the best program, which stays if the command is ended."""
        from relayout.tuning.page import trial_line

        print(trial_line(trial, search.trials[0], is_best=is_best), file=sys.stderr, flush=True)
        if is_best:
            self._write(search.program(trial), target)


def _program(read: Input) -> StableHloModule:
    from passes.dumps.executable import as_program
    from relayout.tuning.changes import as_stablehlo

    module = as_stablehlo(as_program(read.module()))
    verify(module)
    return module
