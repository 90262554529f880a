"""`relayout validate`: judges each pass of a compilation by the modules that the compiler dumped."""

from __future__ import annotations

import json
import os
import re
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

from dialect_utils.engine_names import STAGES, Stage
from dialect_utils.processes import DEFAULT_MEMORY_BYTES
from relayout.batch.unit import Unit, Work
from relayout.command import BatchOptions, CiOptions, Command, LimitOptions
from relayout.comparison import (
    EXIT_CODES,
    SHARED,
    UNKNOWN,
    WITHOUT_EXECUTION,
    ComparisonOptions,
    comparison_seconds,
    inputs_for,
    most_severe,
    proof_seconds,
)
from relayout.console import Console, print_json
from relayout.options import argument, choice, excludes, flag, group, needs, option, parsed, usage_error
from relayout.output import STANDARD_OUTPUT, output_file
from relayout.reporting.gathering import INDEX
from relayout.validation.compilation import CompilationOptions
from relayout.validation.gathering import LOST, Results, status_of
from relayout.validation.judging import REDUCTION_SECONDS, Judge
from relayout.validation.steps import Step, chosen_steps, find_steps, steps_from_insertion

if TYPE_CHECKING:
    from dialect_utils.execution.passing import PassRunner

_PAGE = ".html"


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ArgumentTypeError(f"{text} is no regular expression: {error}") from None


@dataclass(frozen=True, kw_only=True)
class Validate(Command):
    """The verdict on each pass of a compilation."""

    examples = (
        "relayout validate examples/negate.hlo --target cpu",
        "relayout validate examples/attention.mlir --passes chlo-legalize-to-stablehlo --with jaxlib",
    )
    notes = EXIT_CODES
    lost_status = UNKNOWN
    combine = staticmethod(most_severe)
    shared = SHARED
    rules = (
        WITHOUT_EXECUTION,
        excludes("no_reduce", ("reduced_dir",), "with --no-reduce"),
        needs(("dump",), "target", "inside", "tool", reason="without --target, --inside or --with"),
        needs(("passes",), "tool", "inside", reason="without --with or --inside"),
        needs(("inside",), "passes", reason="without -p SPEC"),
        needs(("at",), "inside", reason="without --inside"),
        excludes("inside", ("target", "resume", "cluster", "tool"), "with --inside, which compiles on this machine"),
        excludes("target", ("resume", "cluster", "tool"), "with --target, which compiles on this machine"),
        excludes("tool", ("resume", "cluster"), "with --with, which runs the passes on this machine"),
    )

    files: tuple[str, ...] = argument(
        "DIR", "dump directories with the modules of all passes; a FILE with --target, or FILEs with --with", "+"
    )
    compilation: CompilationOptions = group(
        CompilationOptions,
        target="compile a FILE, StableHLO or HLO, for cpu, tpu-v5e, gpu-h100 or another chip, and judge that",
        module="judge these programs only: jit_f, module_0003",
    )
    tool: str | None = option(
        "TOOL",
        "run the passes of jaxlib, of a program such as 'my-opt {in} -o {out} --pass-pipeline={pass}', or of a Python "
        "function module:function, and judge each",
        str,
        "--with",
    )
    passes: str | None = option(
        "PIPELINE",
        "with --with: these passes, in MLIR's syntax (default: those of the RUN lines of each FILE); with --inside: "
        "passes of relayout",
        str,
        *("-p", "--passes"),
    )
    inside: str | None = option(
        "TARGET", "compile a FILE with passes inside of the compiler, and judge them and all later passes"
    )
    at: Stage = option("STAGE", f"with --inside: {' or '.join(STAGES)}", choice(*STAGES), default=STAGES[0])
    output: str | None = option(
        "OUT", "write a page, a file or DIR/: a row a step, with the difference of its texts", str, "-o", "--output"
    )
    only: re.Pattern[str] | None = option("REGEX", "judge these passes or pipelines only", _pattern)
    no_reduce: bool = flag("do not search a smaller pair for a step that is different")
    reduced_dir: str | None = option(
        "DIR", "where smaller pairs are written (default: beside the page or the results, if any)"
    )
    comparison: ComparisonOptions = group(ComparisonOptions)
    batch: BatchOptions = group(BatchOptions)
    ci: CiOptions = group(CiOptions)
    limits: LimitOptions = group(LimitOptions, timeout="for each step, all engines together (default 120)")

    @contextmanager
    def prepared(self) -> Iterator[Self]:
        is_made = any(each is not None for each in (self.compilation.target, self.inside, self.tool))
        with self.compilation.folder(is_made=is_made) as folder:
            yield replace(self, compiled=folder)

    def plan(self, console: Console) -> Sequence[Unit]:
        if self.page is not None and not self.page.endswith(_PAGE):
            raise usage_error(f"-o {self.output} is no page", f"-o page{_PAGE}, or -o DIR/")
        if self.tool is not None and self.compiled is not None:
            from dialect_utils.execution.passing import check_tool
            from relayout.validation.running import run_pipelines

            parsed(check_tool, self.tool)
            with self._runner(self.tool) as runner:
                console.diagnose(run_pipelines(self.files, self.passes, runner, self.compiled))
        elif self.inside is not None and self.compiled is not None:
            self._compile_inside(self.inside, self.compiled, console)
        else:
            self.compilation.compile(self.files, self.compiled, console)
        folders = self.files if self.compiled is None else [self.compiled]
        steps = [step for folder in folders for step in self._steps(folder, console, is_alone=len(folders) == 1)]
        return [
            Unit(pair, seconds=comparison_seconds(self.limits, pair) + self._own_seconds, label=each.label)
            for each in parsed(partial(chosen_steps, steps), self.only)
            for pair in [(each.before, each.after)]
        ]

    def _steps(self, folder: str, console: Console, *, is_alone: bool) -> list[Step]:
        found = self.compilation.find(folder, None if self.compiled else console, "steps")
        prefix = "" if is_alone else os.path.basename(os.path.abspath(folder))
        steps = find_steps([replace(each, prefix=prefix) for each in found], folder)
        return steps if self.inside is None else steps_from_insertion(steps)

    @property
    def may_compile(self) -> bool:
        return self.inside is not None

    def _compile_inside(self, target: str, folder: str, console: Console) -> None:
        """Compiles a file with the passes: the steps are judged, so that the passes need no proof before."""
        from passes.framework.pipeline import Pipeline
        from relayout.insertion import insert

        pipeline = parsed(Pipeline.parse, self.passes or "")
        module = self.compilation.program(self.files, "--inside", console)
        console.diagnose(insert(module, target, self.at, pipeline, None, 0.0, ("", folder)).notes)

    def _runner(self, tool: str) -> PassRunner:
        from dialect_utils.execution.passing import SECONDS, PassRunner

        return PassRunner(tool, self.limits.memory or DEFAULT_MEMORY_BYTES, self.limits.timeout or SECONDS)

    @property
    def _own_seconds(self) -> float:
        """Returns the time budget for all searches of a step that is different."""
        return self.reduction_seconds * (1 if self.tool is None else 2)

    @property
    def reduction_seconds(self) -> float:
        """Returns the time budget of the search for a smaller pair."""
        return 0.0 if self.no_reduce else REDUCTION_SECONDS

    @contextmanager
    def open(self, console: Console) -> Iterator[Work]:
        from dialect_utils.execution import Worker

        options = self.comparison.checked(self.limits)
        # A measured power takes as long as the check, for each of a hundred steps.
        options = replace(options, power=options.power or 0)
        with Worker(memory=options.memory) as worker:
            judge = Judge(
                options,
                worker,
                is_shown=self.output is not None,
                inputs_of=partial(inputs_for, self.comparison.inputs, console=console),
                is_elided_equal=self.comparison.assume_elided_equal,
            )
            yield partial(self._judge, judge)

    def _judge(self, judge: Judge, unit: Unit) -> int:
        """Prints the result of one step as JSON, again with a smaller pair if one was found; returns the exit code."""
        step, own = Step.of(unit.label, unit.inputs), self.reduction_seconds
        seconds = proof_seconds(self.limits, unit.seconds - self._own_seconds)
        result = judge.judge(step, seconds)
        print_json(result.as_json())
        if own:
            if self.tool is not None and result.verdict == "different":
                from relayout.validation.running import with_element

                with self._runner(self.tool) as runner:
                    result = with_element(step, result, runner, judge, own)
            reduced = judge.reduced(step, result, own)
            if reduced != result:
                print_json(reduced.as_json())
        return status_of(result, self.comparison)

    @property
    def page(self) -> str | None:
        """Returns the file of the page, `index.html` in a directory, None for no page."""
        return None if self.output is None else output_file(self.output, INDEX)

    def lost(self, unit: Unit, reason: str) -> str:
        return "\n" + json.dumps({LOST: reason}) + "\n"

    def conclusion(self) -> Results:
        named = [each for each in (self.page, self.batch.results) if each not in (None, STANDARD_OUTPUT)]
        beside = next(iter(named), None)
        folder = self.reduced_dir or (None if beside is None else os.path.dirname(beside))
        return Results(self.json, self.comparison, self.page, folder)
