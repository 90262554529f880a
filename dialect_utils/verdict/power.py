"""Measures what the data of a check would have seen: mistakes are planted in the original and run on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dialect_utils.execution import Array, ExecutionError, Program, prepare
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.comparator import Comparator
from dialect_utils.verdict.data import DataSet
from dialect_utils.verdict.mutants import Mutant, choose_mutants
from dialect_utils.verdict.ports import entry_ports
from dialect_utils.verdict.proof import try_prove
from dialect_utils.verdict.result import Planted, Power
from dialect_utils.verdict.scale import Scale

# So many places are told where a mistake would not be seen.
_TOLD = 3

Execute = Callable[[Program], Sequence[Sequence[Array]]]


@dataclass(frozen=True, slots=True)
class Trial:
    """What planted mistakes are measured with.

    `execute` runs a program on all sets of data; `expected` is what the original gives, `scale` how far
    its own error reaches on a set, in an output.
    """

    original: Module
    comparator: Comparator
    data: Sequence[DataSet]
    expected: Sequence[Sequence[Array]]
    execute: Execute
    scale: Callable[[int, int], Scale]
    flushes: bool

    def measure(self, count: int) -> Power | None:
        """Plants so many mistakes; returns None where none fits the original or none can be executed."""
        results = [(mutant.planted, seen) for mutant, seen in self._judged(choose_mutants(self.original, count))]
        if not results:
            return None
        missed = [planted for planted, seen in results if not seen]
        return Power(len(results) - len(missed), len(results), tuple(_distinct(missed))[:_TOLD])

    def _judged(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, bool]]:
        for mutant in mutants:
            planted = mutant.plant(self.original)
            if planted is None:
                continue
            try:
                is_seen = self._is_seen(self.execute(prepare(planted, "planted mistake")))
                if is_seen or not self._is_none(planted):
                    yield mutant, is_seen
            except (DiagnosticError, ExecutionError):
                # A mistake that no engine accepts is none that a check has to see.
                continue

    def _is_none(self, planted: Module) -> bool:
        """Is true where what was planted is proved to be no mistake."""
        modules = [self.original, planted]
        return try_prove(modules, *entry_ports(modules)).answer == "equal"

    def _is_seen(self, found: Sequence[Sequence[Array]]) -> bool:
        pairs = list(zip(self.data, self.expected, found, strict=True))
        first = [self.comparator.find(*pair, None, flushes=self.flushes) for pair in pairs]
        if any(finding.answer == "different" for finding in first):
            return True
        for number, (finding, pair) in enumerate(zip(first, pairs, strict=True)):
            if finding.undecided:
                scales = _scales_of(self.scale, number)
                if self.comparator.find(*pair, scales, flushes=self.flushes).answer == "different":
                    return True
        return False


def _scales_of(scale: Callable[[int, int], Scale], number: int) -> Callable[[int], Scale]:
    return lambda output: scale(number, output)


def _distinct(planted: Sequence[Planted]) -> list[Planted]:
    return list(dict.fromkeys(planted))
