"""Gathers the results of `relayout validate`: prints lines, writes smaller pairs and the page, and sums up."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from typing import Any

from dialect_utils.io.files import encode
from relayout.batch.unit import Unit
from relayout.command import Gatherer, Result
from relayout.comparison import ComparisonOptions
from relayout.console import FAILED
from relayout.output import write_output
from relayout.validation.steps import FAILED as FAILED_METHOD, Reduced, Step, StepResult, Validation

# The key of a line that says why the process of a unit was lost.
LOST = "lost"


def status_of(found: StepResult, comparison: ComparisonOptions) -> int:
    """Returns the exit code of a step: a pass that makes no module has failed."""
    return FAILED if found.methods == (FAILED_METHOD,) else comparison.exit_code(found.verdict, found.up_to)


@dataclass(slots=True)
class Results(Gatherer[StepResult]):
    """The results of all steps so far, the file of the page, and the folder of smaller pairs, None for none."""

    comparison: ComparisonOptions = field(default_factory=ComparisonOptions)
    page: str | None = None
    folder: str | None = None

    def read(self, unit: Unit, result: Result) -> StepResult | None:
        if result.ends_batch:
            return None
        found = _read(Step.of(unit.label, unit.inputs), result.output)
        if found.reduced is not None and not found.reduced.files and self.folder is not None:
            found = replace(found, reduced=self._write(found.file_stem, found.reduced, self.folder))
        return found

    def text(self, found: StepResult) -> str:
        is_first_of_program = not self.found or self.found[-1].program != found.program
        return "\n".join([*([f"{found.program}:"] if is_first_of_program else []), found.line, ""])

    def status(self, found: StepResult, result: Result) -> int:
        return result.status if result.is_known else status_of(found, self.comparison)

    def end(self) -> None:
        found = Validation(tuple(self.found))
        if not found.results:
            return
        if not self.is_json:
            write_output(None, encode("\n".join(["", *found.lines]) + "\n"))
        if self.page is not None:
            from relayout.validation.page import html_page

            os.makedirs(os.path.dirname(self.page) or os.curdir, exist_ok=True)
            write_output(self.page, encode(html_page(found)))

    def _write(self, stem: str, pair: Reduced, folder: str) -> Reduced:
        files = tuple(os.path.join(folder, f"{stem}{letter}{pair.suffix}") for letter in (".a", ".b"))
        os.makedirs(folder or os.curdir, exist_ok=True)
        for file, text in zip(files, (pair.before, pair.after), strict=True):
            write_output(file, encode(text))
        return replace(pair, files=files)


def _read(step: Step, output: bytes) -> StepResult:
    """Returns the result that a unit printed; a step without one is unknown."""
    said: dict[str, Any] = {}
    try:
        for line in output.splitlines():
            said.update(json.loads(line) if line else {})
        return _lost(step, said) if LOST in said else StepResult.from_json(said)
    except (TypeError, ValueError):
        return StepResult.of(step, "unknown", said=("the process that judged it sent no result",))


def _lost(step: Step, said: dict[str, Any]) -> StepResult:
    """Returns the result of a step whose process was lost: unknown, unless only the reduction of a pair was lost."""
    reason = str(said.pop(LOST))
    if not said:
        return StepResult.of(step, "unknown", said=(reason,))
    found = StepResult.from_json(said)
    return replace(found, said=(*found.said, f"not reduced: {reason}"))
