"""Says what the results of two programs on the same data show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dialect_utils.execution import Array, Engine, ExecutionError
from dialect_utils.verdict.comparator import Comparator, Finding
from dialect_utils.verdict.data import DataSet
from dialect_utils.verdict.result import Answer
from dialect_utils.verdict.runs import Rewritten
from dialect_utils.verdict.scale import Scale
from dialect_utils.verdict.self_checks import SelfCheck, failed_checks
from dialect_utils.verdict.twin import Twin

_GRAVITY: tuple[Answer, ...] = ("equal", "agrees", "unknown", "different")
# Data that decides, where all bits are equal on it.
_DECIDING = ("carriers", "own")


@dataclass(frozen=True, slots=True)
class Compared:
    """One set of data, and what the original and the rewrite make of it."""

    data: DataSet
    expected: Sequence[Array]
    rewritten: Rewritten


@dataclass(frozen=True, slots=True)
class Judge:
    """What is asked of the results: of each output, and of the checks that the module itself makes."""

    comparator: Comparator
    checks: Sequence[SelfCheck]
    # It was not asked for by name: where its results hang on rounding it says nothing.
    is_interpreter_optional: bool

    def finding(self, engine: Engine, results: Compared) -> Finding:
        """Judges the results on one set of data, those that the scale of the original's error decides left open."""
        expected, zeros = results.expected, results.rewritten.zeros
        found = self.comparator.find(results.data, expected, zeros, None, flushes=engine == "xla")
        if found.answer == "different":
            return found
        leaks = self.comparator.differences(zeros, results.rewritten.poison)
        if leaks:
            return Finding("different", "padding reaches a result: it changes with what padding holds", leaks[0])
        checked = self._self_checks(expected, zeros)
        if checked.answer == "different":
            return checked
        exact = results.data.kind not in _DECIDING or not self.comparator.differences(expected, zeros)
        return replace(found, reason="; ".join(filter(None, [checked.reason, found.reason])), exact=exact)

    def decided(
        self, engine: Engine, results: Sequence[Compared], findings: Sequence[Finding], twin: Twin
    ) -> list[Finding]:
        """Decides what hangs on the scale of the original's error, which costs another compilation."""
        open_sets = [number for number, finding in enumerate(findings) if finding.undecided]
        if not open_sets:
            return list(findings)
        if engine == "interpreter" and self.is_interpreter_optional:
            # It adds up narrow floats one by one, and loses what XLA keeps; what it is exact in, it has judged.
            return list(findings)
        try:
            samples = twin.runs([results[number].data for number in open_sets])
        except ExecutionError as error:
            reason = f"the scale of the original's error cannot be found: {error.message}"
            return [Finding("unknown", reason, None, findings[open_sets[0]].differing)]
        decided = list(findings)
        for number, of_twin in zip(open_sets, samples, strict=True):
            each = results[number]
            scales = self.scales(each.expected, of_twin)
            decided[number] = self.comparator.find(
                each.data, each.expected, each.rewritten.zeros, scales, flushes=engine == "xla"
            )
        return decided

    def scales(self, expected: Sequence[Array], of_twin: Sequence[Sequence[Array]]) -> Callable[[int], Scale]:
        """Returns what gives the scale of an output on one set of data."""
        return partial(self._scale, expected, of_twin)

    def _scale(self, expected: Sequence[Array], of_twin: Sequence[Sequence[Array]], output: int) -> Scale:
        return Scale.of(self.comparator.element_types[output], expected[output], [run[output] for run in of_twin])

    def _self_checks(self, expected: Sequence[Array], actual: Sequence[Array]) -> Finding:
        count = 2 * len(self.checks)
        if not count:
            return Finding()
        before, after = (failed_checks(self.checks, outputs[-count:]) for outputs in (expected, actual))
        broken = sorted(set(after) - set(before))
        if broken:
            return Finding("different", f"check {broken[0]} of the module holds before and fails after")
        if before:
            kinds = ", ".join(f"check {i} ({self.checks[i].kind})" for i in before)
            return Finding("agrees", f"the module's own {kinds} fails in both modules")
        return Finding()


def joined(findings: Sequence[Finding]) -> Finding:
    """Returns what all sets of data show together: the gravest, and what is tolerated in any."""
    worst = max(findings, key=lambda finding: _GRAVITY.index(finding.answer))
    if worst.answer == "different":
        return worst
    differing = frozenset[int]().union(*(finding.differing for finding in findings))
    reasons = list(dict.fromkeys(each.reason for each in findings if each.reason))
    if len(reasons) > 1:
        reasons[1:] = [f"alike on {len(reasons) - 1} other sets"]
    exact = all(finding.exact for finding in findings)
    return replace(worst, reason="; ".join(reasons), differing=differing, exact=exact)


def also(found: Finding, remark: str) -> Finding:
    """Returns a finding whose reason begins with a remark."""
    return replace(found, reason="; ".join(filter(None, [remark, found.reason])))
