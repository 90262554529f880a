"""Judges the steps of a compilation: by their texts where these decide, else as `relayout check` does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import TYPE_CHECKING

from dialect_utils.io.files import decode
from dialect_utils.io.inputs import LEFT_OUT, Input
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.printing import format_nameless
from passes.framework.pipeline import verify
from relayout.elided import compare_forms, is_elided_in_both
from relayout.validation.reduced import reduced_pair, text_for_people
from relayout.validation.result import TEXT, StepResult
from relayout.validation.steps import Step

if TYPE_CHECKING:
    from dialect_utils.execution import SavedArray, Worker
    from dialect_utils.verdict import Options, Verdict

# Modules that were read last: the next step begins with one of them.
_KEPT = 2
# The most lines of a difference that a result holds, and the most lines of a text that are compared for it.
_MOST_LINES, _MOST_COMPARED = 400, 20_000
# Lines of a difference beside those that changed.
_CONTEXT = 2


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
        is_whole_text = not any(LEFT_OUT in text for text in texts)
        if is_whole_text and texts[0] == texts[1]:
            return StepResult.of(step, "equal", methods=(TEXT,), said=("the same text",))
        before, after = self._module(step.before), self._module(step.after)
        if is_whole_text and format_nameless(before) == format_nameless(after):
            said = ("the texts differ in names and metadata only",)
            return StepResult.of(step, "equal", methods=(TEXT,), said=said)
        options = replace(self.options, proof_seconds=proof_seconds, inputs=self.inputs_of(before))
        assume_equal = self.is_elided_equal and is_elided_in_both(before, after)
        return _result(step, compare_forms([before, after], options, self.worker, assume_equal=assume_equal))

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
        assumptions=verdict.assumptions,
        said=tuple(said),
    )


def _place(error: DiagnosticError) -> str:
    location = error.diagnostics[0].location
    if location is None:
        return ""
    line, column = location.source.line_and_column(location.span.start)
    return f"{location.source.name}:{line}:{column}:"
