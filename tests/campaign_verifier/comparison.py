"""Compares the answers of this verifier and of XLA to one text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from dialect_utils.execution import ExecutionError, Program, Worker
from dialect_utils.hlo import parse_module
from dialect_utils.hlo.verify import find_problems
from dialect_utils.text import DiagnosticError
from tests.campaign_verifier.mutations import Mutant

SECONDS = 20.0
_UNOPTIMIZED: dict[str, bool | int | str] = {"xla_backend_optimization_level": 0}
# XLA's parser, jaxlib's conversion to StableHLO with MLIR's verifier, and the compiler with XLA's verifier.
STAGES = ("read", "converted", "compiled")

Outcome = Literal["both accept", "both refuse", "accepted here", "refused here", "not compared"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The stage at which XLA ends, how (`rejected`, `crash`, `unsupported` or `timeout`), and its message."""

    stage: str
    failure: str
    message: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.failure}: {self.message}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome, this verifier's message (None: it accepts) and XLA's."""

    outcome: Outcome
    ours: str | None
    theirs: Refusal | None


def our_answer(text: str, *, is_lenient: bool | None = None) -> str | None:
    """Returns the first error of the parser and verifier of this project, or None."""
    try:
        found = [each for each in find_problems(parse_module(text), is_lenient=is_lenient) if each.severity == "error"]
    except DiagnosticError as error:
        found = list(error.diagnostics)
    return found[0].message if found else None


def xla_answer(worker: Worker, text: str) -> Refusal | None:
    """Returns where XLA ends, or None where it compiles the text."""
    stage = STAGES[0]
    try:
        worker.convert("text-to-proto", text.encode())
        stage = STAGES[1]
        converted = worker.convert("hlo-to-stablehlo", text.encode()).decode()
        stage = STAGES[2]
        worker.run(Program(converted, "stablehlo", "mutant", 1), [], options=_UNOPTIMIZED, timeout=SECONDS)
    except ExecutionError as error:
        notes = "; ".join(note.message for note in error.diagnostics[0].notes)
        return Refusal(stage, error.failure, f"{error.message}; {notes}".removesuffix("; "))
    except DiagnosticError as error:
        return Refusal(stage, "rejected", error.diagnostics[0].message)
    return None


class Comparer:
    """Compares answers; XLA's answer counts up to the stage at which XLA ends on the text before the mutation."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.of_original = cache(lambda text: xla_answer(worker, text))

    def compare(self, mutant: Mutant) -> Comparison:
        """Returns the outcome for one mutant."""
        ours, theirs = our_answer(mutant.text), xla_answer(self.worker, mutant.text)
        return Comparison(self._outcome(mutant, ours, theirs), ours, theirs)

    def _outcome(self, mutant: Mutant, ours: str | None, theirs: Refusal | None) -> Outcome:
        if theirs is None:
            return "refused here" if ours else "both accept"
        if ours and theirs.failure in ("rejected", "crash"):
            return "both refuse"
        before = self.of_original(mutant.original)
        is_known = before is not None and STAGES.index(before.stage) <= STAGES.index(theirs.stage)
        if is_known or theirs.failure in ("unsupported", "timeout"):
            return "not compared" if ours else "both accept"
        return "accepted here"
