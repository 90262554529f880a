"""Judges the steps of a compilation: by their texts where these decide, else as `relayout check` does."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import TYPE_CHECKING

from dialect_utils.io.files import decode, encode, parse_bytes
from dialect_utils.io.inputs import LEFT_OUT, Input, find_inputs
from dialect_utils.io.temporary import temporary_directory
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.printing import format_nameless, format_short
from passes.framework.pipeline import SUFFIX, verify
from relayout.elided import compare_forms, is_elided_in_both
from relayout.findings import Finder, is_kept, reduce_finding
from relayout.validation.compilation import dump_module
from relayout.validation.steps import (
    FAILED,
    FAILED_PASS,
    TEXT,
    Reduced,
    Step,
    StepResult,
    Validation,
    chosen_steps,
    find_steps,
)

if TYPE_CHECKING:
    from dialect_utils.execution import SavedArray, Worker
    from dialect_utils.ops.sharding import Partition
    from dialect_utils.verdict import Cause, Options, Verdict
    from relayout.findings import Crash

# Modules that were read last: the next step begins with one of them.
_KEPT = 2
# The most lines of a difference that a result holds, and the most lines of a text that are compared for it.
_MOST_LINES, _MOST_COMPARED = 400, 20_000
# Lines of a difference beside those that changed.
_CONTEXT = 2
# The longest search for a smaller pair that shows the difference of one step.
REDUCTION_SECONDS = 60.0


def _no_inputs(module: Module) -> tuple[SavedArray, ...] | None:
    return None


@dataclass(slots=True)
class Judge:
    """A judge of steps: the options and the worker of each comparison.

    `is_shown`: results hold the difference of the texts. `inputs_of` returns the user's inputs for a module, None: the
    inputs are random. `is_elided_equal`: constants that both modules elide under one name and shape have equal values.
    """

    options: Options
    worker: Worker
    is_shown: bool = False
    inputs_of: Callable[[Module], tuple[SavedArray, ...] | None] = _no_inputs
    is_elided_equal: bool = False
    _modules: dict[str, Module] = field(default_factory=dict, init=False)

    def judge(self, step: Step, proof_seconds: float) -> StepResult:
        """Returns the verdict on a step; modules that cannot be read or compared make it `unknown`."""
        start = time.perf_counter()
        try:
            result = self._judged(step, proof_seconds)
        except DiagnosticError as error:
            said = " ".join(filter(None, [_place(error), error.diagnostics[0].message]))
            result = StepResult.of(step, "unknown", said=(said,))
        if self.is_shown:
            result = replace(result, difference=self._difference(step))
        return replace(result, seconds=round(time.perf_counter() - start, 3))

    def reduced(self, step: Step, result: StepResult, seconds: float) -> StepResult:
        """Returns the result with a smaller pair where the step is different; the search ends after so many seconds."""
        if result.verdict != "different" or step.is_whole:
            return result
        modules = self._module(step.before), self._module(step.after)
        return replace(result, reduced=reduced_pair(modules, self.options, self.worker, seconds))

    def _judged(self, step: Step, proof_seconds: float) -> StepResult:
        texts = step.before.data(), step.after.data()
        reason = next((text for text in texts if text.startswith(encode(FAILED_PASS))), None)
        if reason is not None:
            said = (decode(reason).removeprefix(FAILED_PASS).strip(),)
            return StepResult.of(step, "unknown", methods=(FAILED,), said=said)
        # A proto has the constants that the text beside it leaves out.
        files = [each.with_constants().data() for each in (step.before, step.after)]
        has_constants = not any(LEFT_OUT in file for file in files)
        if has_constants and files[0] == files[1]:
            return StepResult.of(step, "equal", methods=(TEXT,), said=("the same text",))
        from dialect_utils.verdict.partition import compare_parts, makes_parts

        before, after = self._module(step.before), self._module(step.after)
        if has_constants and format_nameless(before) == format_nameless(after):
            said = ("the texts differ in names and metadata only",)
            return StepResult.of(step, "equal", methods=(TEXT,), said=said)
        options = replace(self.options, proof_seconds=proof_seconds, inputs=self.inputs_of(before))
        assume_equal = self.is_elided_equal and is_elided_in_both(before, after)
        if makes_parts(before, after):

            def compare(partition: Partition) -> Verdict:
                return compare_forms([before, after], replace(options, partition=partition), self.worker)

            return _result(step, compare_parts(before, after, compare))
        verdict = compare_forms([before, after], options, self.worker, assume_equal=assume_equal)
        if verdict.verdict != "different":
            return _result(step, verdict)
        return self._of_difference(step, verdict, [before, after], options)

    def _of_difference(self, step: Step, verdict: Verdict, modules: Sequence[Module], options: Options) -> StepResult:
        """Returns `different`, or a weaker answer where a freedom of the compiler with floats explains the bits."""
        from relayout.validation.freedoms import is_other_rounding, without_roundings

        found = _result(step, verdict)
        forms, count = without_roundings(*modules)
        if count and options.precision == "default":
            again = _result(step, compare_forms(forms, options, self.worker))
            if again.verdict in ("equal", "agrees", "close"):
                roundings = f"excess precision: {count} rounding{'s' * (count != 1)} to narrower floats left out"
                answer = "close" if again.verdict == "close" else "agrees"
                return replace(again, verdict=answer, assumptions=(*again.assumptions, roundings))
        return replace(found, verdict="close") if is_other_rounding(verdict) else found

    def _module(self, read: Input) -> Module:
        """Returns a module, verified; the last ones are kept."""
        found = self._modules.pop(read.path, None)
        if found is None:
            found = read.with_constants().module()
            verify(found)
        self._modules[read.path] = found
        while len(self._modules) > _KEPT:
            del self._modules[next(iter(self._modules))]
        return found

    def _difference(self, step: Step) -> str:
        """Returns the lines that changed, without metadata where other parts of readable modules changed, too."""
        before, after = step.before.data(), step.after.data()
        if before == after:
            return ""
        try:
            found = text_difference(*(text_for_people(self._module(each)) for each in (step.before, step.after)))
        except DiagnosticError:
            found = ""
        return found or text_difference(decode(before), decode(after))


def text_difference(before: str, after: str) -> str:
    """Returns the lines in which two texts differ, as `diff -u` does; of a long difference the first ones."""
    first, second = (text.splitlines()[:_MOST_COMPARED] for text in (before, after))
    lines = list(unified_diff(first, second, lineterm="", n=_CONTEXT))[2:]
    left_out = len(lines) - _MOST_LINES
    if left_out > 0:
        lines[_MOST_LINES:] = [f"... {left_out} more lines"]
    return "\n".join(lines)


def _result(step: Step, verdict: Verdict) -> StepResult:
    _, *said = verdict.lines(("before the pass", "after it"))
    return StepResult.of(
        step,
        verdict.verdict,
        methods=verdict.methods,
        up_to=verdict.choices,
        conditions=verdict.conditions,
        how=verdict.cause.how if verdict.cause and verdict.verdict == "different" else "",
        assumptions=verdict.assumptions,
        said=tuple(said),
    )


def _place(error: DiagnosticError) -> str:
    location = error.diagnostics[0].location
    if location is None:
        return ""
    line, column = location.source.line_and_column(location.span.start)
    return f"{location.source.name}:{line}:{column}:"


def reduced_pair(modules: Sequence[Module], options: Options, worker: Worker, seconds: float) -> Reduced | None:
    """Returns a smaller pair that differs for the same cause, None where the pair shows no cause to keep.

    The search ends after so many seconds with the smallest pair so far.
    """
    end = time.monotonic() + seconds
    finder = Finder(worker, "different", options=replace(options, power=0))
    try:
        found = finder.find(modules)
        if found is None:
            return None

        def find(candidate: Sequence[Module]) -> Cause | Crash | None:
            return finder.find(candidate) if time.monotonic() < end else None

        small = reduce_finding(modules, found, find)
    except DiagnosticError:
        return None
    suffix = f".{SUFFIX[modules[0].dialect]}"
    for texts in (map(text_for_people, small), (module.text() for module in small)):
        before, after = texts
        shown = _shown(before, after, finder)
        if shown is not None and is_kept(found, shown, small):
            return Reduced(before, after, suffix, str(shown))
    return None


def text_for_people(module: Module) -> str:
    """Returns the text of a module without metadata."""
    return format_short(module, keep=("backend_config", "names"))


def _shown(before: str, after: str, finder: Finder) -> Cause | Crash | None:
    """Returns the difference that two texts show once they are read again."""
    try:
        return finder.find([parse_bytes(encode(text), "<reduced>") for text in (before, after)])
    except DiagnosticError:
        return None


@dataclass(frozen=True, slots=True)
class Judged:
    """How steps are judged: the options of each comparison, and a regular expression for the passes to judge.

    `reduces`: a step that is different gets a smaller pair. `is_elided_equal`: constants that both modules of a step
    elide under one name and shape have equal values.
    """

    options: Options
    only: str | None = None
    reduces: bool = True
    is_elided_equal: bool = False


def validate_directory(folder: str, judged: Judged) -> Validation:
    """Judges the steps in a dump directory, each as `relayout.check` does.

    Raises DiagnosticError for a directory without steps.
    """
    from dialect_utils.execution import Worker

    options = judged.options
    steps = chosen_steps(find_steps(find_inputs([folder]).modules, folder), _pattern(judged.only))
    results = []
    with Worker(memory=options.memory) as worker:
        judge = Judge(options, worker, is_shown=True, is_elided_equal=judged.is_elided_equal)
        for step in steps:
            found = judge.judge(step, options.proof_seconds)
            results.append(judge.reduced(step, found, REDUCTION_SECONDS) if judged.reduces else found)
    return Validation(tuple(results))


def validate_module(module: Module, target: str, judged: Judged) -> Validation:
    """Compiles a module and judges each pass, as `validate_directory` does."""
    with temporary_directory() as folder:
        dump_module(module, target, folder)
        return validate_directory(folder, judged)


def _pattern(only: str | None) -> re.Pattern[str] | None:
    try:
        return None if only is None else re.compile(only)
    except re.error as error:
        raise DiagnosticError(f"{only} is no regular expression: {error}") from None
