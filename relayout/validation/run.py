"""Validates a compilation in this process: that of a dump directory, or of a module that it has compiled."""

from __future__ import annotations

import re
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dialect_utils.io.inputs import find_inputs
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.validation.compilation import dump_module
from relayout.validation.judging import Judge
from relayout.validation.result import Validation
from relayout.validation.steps import chosen_steps, find_steps

if TYPE_CHECKING:
    from dialect_utils.verdict import Options

# The longest search for a smaller pair that shows the difference of one step.
REDUCTION_SECONDS = 60.0


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
    with TemporaryDirectory(prefix="relayout-validate-") as folder:
        dump_module(module, target, folder)
        return validate_directory(folder, judged)


def _pattern(only: str | None) -> re.Pattern[str] | None:
    try:
        return None if only is None else re.compile(only)
    except re.error as error:
        raise DiagnosticError(Diagnostic(f"{only} is no regular expression: {error}")) from None
