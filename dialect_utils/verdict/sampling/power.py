"""Measures the power of a check: injects faults into the original and counts those that the data detects."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from dialect_utils.execution import Array, ExecutionError, Program, prepare
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.judge import Judge
from dialect_utils.verdict.outcome import Power
from dialect_utils.verdict.rounding.scale import Scale
from dialect_utils.verdict.runs import HigherPrecision, Runs
from dialect_utils.verdict.sampling.faults import Mutant, choose_mutants

# The most faults to name that the data does not detect.
_TOLD = 3
# The most operations of programs that are compiled together.
_MOST_OPERATIONS = 5000

Outputs = Sequence[Sequence[Array]]


@dataclass(frozen=True, slots=True)
class Trial:
    """The measurement of the faults that the data of a check detects.

    `runs` execute the original and faulty forms of it. `expected` has the original's outputs, and `widened` runs it in
    higher precision. No further faults are injected after `end`, a value of `time.monotonic`, and no proof starts after
    `proofs_end`, a value of `time.process_time`.
    """

    original: Module
    judge: Judge
    runs: Runs
    expected: Outputs
    widened: HigherPrecision
    end: float
    proofs_end: float
    _samples: list[list[list[Array]]] = field(default_factory=list)

    def measure(self, count: int) -> Power | None:
        """Injects `count` faults; returns None where no fault fits the original, or none can be executed."""
        results = [(mutant.planted, seen) for mutant, seen in self._judged(choose_mutants(self.original, count))]
        if not results:
            return None
        missed = [planted for planted, seen in results if not seen]
        return Power(len(results) - len(missed), len(results), tuple(dict.fromkeys(missed))[:_TOLD])

    def _judged(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, bool]]:
        """Yields the faults that a check should detect, and whether the data detects them."""
        size = max(1, _MOST_OPERATIONS // len(list(self.original.operations())))
        for start in range(0, len(mutants), size):
            if start and time.monotonic() > self.end:
                return
            made = list(self._made(mutants[start : start + size]))
            try:
                first, *found = self.runs.of_others([self.runs.programs[0], *(program for _, _, program in made)])
            except ExecutionError:
                # No time is left, or the worker process does not start.
                return
            if first is None or self._try_see(first) is not False:
                # If compiled together with faulty forms, even the original may have other results.
                return
            for (mutant, module, _), outputs in zip(made, found, strict=True):
                is_seen = None if outputs is None else self._try_see(outputs)
                may_be_harmless = is_seen is False and not any(
                    self.judge.comparator.differences(*pair) for pair in zip(first, outputs or (), strict=True)
                )
                if may_be_harmless and time.process_time() > self.proofs_end:
                    # Faults that come later are left out, too: otherwise only seen ones would count.
                    return
                if is_seen is not None and not (may_be_harmless and self._is_harmless(module)):
                    yield mutant, is_seen

    def _made(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Module, Program]]:
        """Yields the faulty modules, except those that no engine can execute."""
        for mutant in mutants:
            module = mutant.plant(self.original)
            try:
                program = None if module is None else prepare(module, "planted mistake")
            except DiagnosticError:
                continue
            if module is not None and program is not None:
                yield mutant, module, program

    def _is_harmless(self, planted: Module) -> bool:
        """Is true where the faulty module is proved to be equal to the original."""
        modules = [self.original, planted]
        seconds = self.proofs_end - time.process_time()
        return prove(modules, seconds=seconds).answer == "equal"

    def _try_see(self, found: Outputs) -> bool | None:
        """Returns whether the outputs show a difference; None where only a scale that is not known could tell."""
        try:
            find = partial(self.judge.comparator.find, flushes=self.runs.engine == "xla")
            sets = list(zip(self.runs.data, self.expected, found, strict=True))
            first = [find(*each, None) for each in sets]
            if any(finding.answer == "different" for finding in first):
                return True
            return any(
                finding.undecided and find(*each, self._scales(number)).answer == "different"
                for number, (finding, each) in enumerate(zip(first, sets, strict=True))
            )
        except ExecutionError:
            return None

    def _scales(self, number: int) -> Callable[[int], Scale]:
        """Returns the scales of the outputs on one set of data; all faults are compared with the same runs."""
        if not self._samples:
            self._samples.extend(self.widened(self.runs.data))
        return self.judge.scales(self.expected[number], self._samples[number])
