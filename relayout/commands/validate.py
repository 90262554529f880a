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
from typing import Self

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
from relayout.options import argument, excludes, flag, group, option, parsed, usage_error
from relayout.output import STANDARD_OUTPUT
from relayout.validation.compilation import NEEDS_TARGET, CompilationOptions
from relayout.validation.gathering import LOST, Results
from relayout.validation.judging import REDUCTION_SECONDS, Judge
from relayout.validation.steps import Step, chosen_steps, find_steps

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
        "relayout validate examples/negate.hlo --target cpu --only fusion-wrapper -o page.html",
    )
    notes = EXIT_CODES
    lost_status = UNKNOWN
    combine = staticmethod(most_severe)
    shared = SHARED
    rules = (
        WITHOUT_EXECUTION,
        excludes("no_reduce", ("reduced_dir",), "with --no-reduce"),
        NEEDS_TARGET,
        excludes("target", ("resume", "cluster"), "with --target, which compiles on this machine"),
    )

    files: tuple[str, ...] = argument(
        "DIR", "dump directories with the modules of all passes; a FILE with --target", "+"
    )
    compilation: CompilationOptions = group(
        CompilationOptions,
        target="compile a FILE, StableHLO or HLO, for cpu, tpu-v5e, gpu-h100 or another chip, and judge that",
        module="judge these programs only: jit_f, module_0003",
    )
    output: str | None = option(
        "OUT", "write a page: a row a step, with the difference of its texts", str, "-o", "--output"
    )
    only: re.Pattern[str] | None = option("REGEX", "judge these passes or pipelines only", _pattern)
    no_reduce: bool = flag("do not search a smaller pair for a step that is different")
    reduced_dir: str | None = option("DIR", "where smaller pairs are written (default: beside the page or the results)")
    comparison: ComparisonOptions = group(ComparisonOptions)
    batch: BatchOptions = group(BatchOptions)
    ci: CiOptions = group(CiOptions)
    limits: LimitOptions = group(LimitOptions, timeout="for each step, all engines together (default 120)")

    @contextmanager
    def prepared(self) -> Iterator[Self]:
        with self.compilation.folder() as folder:
            yield replace(self, compiled=folder)

    def plan(self, console: Console) -> Sequence[Unit]:
        if self.output is not None and not self.output.endswith(_PAGE):
            raise usage_error(f"-o {self.output} is no page", f"-o page{_PAGE}")
        self.compilation.compile(self.files, self.compiled, console)
        folders = self.files if self.compiled is None else [self.compiled]
        steps = [step for folder in folders for step in self._steps(folder, console, is_alone=len(folders) == 1)]
        return [
            Unit(pair, seconds=comparison_seconds(self.limits, pair) + self.reduction_seconds, label=each.label)
            for each in parsed(partial(chosen_steps, steps), self.only)
            for pair in [(each.before, each.after)]
        ]

    def _steps(self, folder: str, console: Console, *, is_alone: bool) -> list[Step]:
        found = self.compilation.find(folder, console, "steps")
        prefix = "" if is_alone else os.path.basename(os.path.abspath(folder))
        return find_steps([replace(each, prefix=prefix) for each in found], folder)

    @property
    def reduction_seconds(self) -> float:
        """Returns the time budget of the search for a smaller pair."""
        return 0.0 if self.no_reduce else REDUCTION_SECONDS

    @contextmanager
    def open(self, console: Console) -> Iterator[Work]:
        # Imported here: --help and wrong commands work without numpy and jaxlib.
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
        result = judge.judge(step, proof_seconds(self.limits, unit.seconds - own))
        print_json(result.as_json())
        if own:
            reduced = judge.reduced(step, result, own)
            if reduced != result:
                print_json(reduced.as_json())
        return self.comparison.exit_code(result.verdict, result.up_to)

    def lost(self, unit: Unit, reason: str) -> str:
        return "\n" + json.dumps({LOST: reason}) + "\n"

    def conclusion(self) -> Results:
        named = [each for each in (self.output, self.batch.results) if each not in (None, STANDARD_OUTPUT)]
        folder = self.reduced_dir or os.path.dirname(next(iter(named), None) or "")
        return Results(self.json, self.comparison, self.output, folder)
