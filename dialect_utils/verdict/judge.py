"""Judges the results of two programs on the same data, and the checks that a module makes itself.

No engine implements `check.expect_*` custom calls outside StableHLO's own test tools, so they are evaluated with
numpy. Source: StableHLO's reference interpreter (stablehlo/tests/CheckOps.cpp, stablehlo/reference/Element.cpp);
the custom calls carry no tolerance, so the interpreter's own tolerances apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dialect_utils.execution import Array, ExecutionError
from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.cause import PADDING, SELF_CHECK, Cause
from dialect_utils.verdict.comparator import DECIDING, Comparator, Finding
from dialect_utils.verdict.dataflow import array_sources
from dialect_utils.verdict.differences import Counterexample, Mask, Tolerance, different_elements
from dialect_utils.verdict.outcome import Answer
from dialect_utils.verdict.runs import HigherPrecision, Results

if TYPE_CHECKING:
    from dialect_utils.verdict.rounding.scale import Scale

_BY_SEVERITY: tuple[Answer, ...] = ("equal", "agrees", "close", "unknown", "different")


@dataclass(frozen=True, slots=True)
class Judge:
    """The judge of results: the comparator of outputs, and the checks that the module itself makes."""

    comparator: Comparator
    checks: Sequence[SelfCheck]
    # Nobody requested the interpreter by name: it abstains where results depend on rounding.
    is_interpreter_optional: bool

    def finding(self, results: Results) -> Finding:
        """Judges the results on one set of data; outputs that the scale of the original's error decides stay open."""
        found = self._of_outputs(results, None)
        if found.answer == "different":
            return found
        expected, zeros = results.expected, results.zeros
        leaks = self.comparator.differences(zeros, results.poison)
        if leaks:
            cause = Cause(leaks[0].output, str(results.data), PADDING)
            reason = "padding reaches a result: it changes with what padding holds"
            return Finding("different", reason, leaks[0], cause=cause)
        checked = self._self_checks(expected, zeros)
        if checked.answer == "different":
            return replace(checked, cause=Cause(None, str(results.data), SELF_CHECK))
        exact = results.data.kind not in DECIDING or not self.comparator.differences(expected, zeros)
        return replace(found, reason="; ".join(filter(None, [checked.reason, found.reason])), exact=exact)

    def _of_outputs(self, results: Results, scales: Callable[[int], Scale] | None) -> Finding:
        flushes = results.engine == "xla"
        return self.comparator.find(results.data, results.expected, results.zeros, scales, flushes=flushes)

    def keeps_promises(self, results: Results) -> bool:
        """Is true where no padding reaches a result, and every check of the module that held before still holds."""
        leaks = self.comparator.differences(results.zeros, results.poison)
        return not leaks and self._self_checks(results.expected, results.zeros).answer != "different"

    def differing(self, results: Results) -> list[int]:
        """Returns the outputs with a bit that differs; for sums in the interpreter see `is_heard`."""
        flushes = results.engine == "xla"
        outputs = self.comparator.differing_outputs(results.data, results.expected, results.zeros, flushes=flushes)
        return [output for output in outputs if self.is_heard(results, output)]

    def is_heard(self, results: Results, output: int) -> bool:
        """Is false for sums that the interpreter rounds coarsely, unless the interpreter was requested."""
        return not self._abstains(results) or self.comparator.is_guaranteed(output, results.data)

    def _abstains(self, results: Results) -> bool:
        return results.engine == "interpreter" and self.is_interpreter_optional

    def joined(self, results: Sequence[Results], widened: HigherPrecision) -> Finding:
        """Judges the results on all sets of data."""
        findings = [self.finding(each) for each in results]
        if all(finding.answer != "different" for finding in findings):
            findings = self.decided(results, findings, widened)
        return joined(findings)

    def decided(
        self, results: Sequence[Results], findings: Sequence[Finding], widened: HigherPrecision
    ) -> list[Finding]:
        """Decides outputs that depend on the scale of the original's error, which costs another compilation."""
        open_sets = [number for number, finding in enumerate(findings) if finding.undecided]
        if not open_sets or self._abstains(results[0]):
            # The interpreter rounds each addition of narrow floats; XLA sums them in f32.
            return list(findings)
        try:
            samples = widened([results[number].data for number in open_sets])
        except ExecutionError as error:
            reason = f"the scale of the original's error cannot be found: {error.message}"
            example = self._threshold_of(results, findings)
            return [Finding("unknown", reason, example, findings[open_sets[0]].differing)]
        decided = list(findings)
        for number, widened_runs in zip(open_sets, samples, strict=True):
            found = self._of_outputs(results[number], self.scales(results[number].expected, widened_runs))
            decided[number] = replace(found, exact=findings[number].exact)
        return decided

    def _threshold_of(self, results: Sequence[Results], findings: Sequence[Finding]) -> Counterexample | None:
        """Returns the first undecided difference in an output that rounding may flip, or None."""
        for each, finding in zip(results, findings, strict=True):
            for example in self.comparator.differences(each.expected, each.zeros):
                if example.output in finding.undecided and self.comparator.may_flip(example.output):
                    return example
        return None

    def scales(self, expected: Sequence[Array], widened_runs: Sequence[Sequence[Array]]) -> Callable[[int], Scale]:
        """Returns a function from an output to its scale on one set of data."""
        from dialect_utils.verdict.rounding.scale import Scale

        types = self.comparator.element_types
        return lambda output: Scale.of(types[output], expected[output], [run[output] for run in widened_runs])

    def _self_checks(self, expected: Sequence[Array], actual: Sequence[Array]) -> Finding:
        count = 2 * len(self.checks)
        if not count:
            return Finding()
        before, after = (self._failed_checks(outputs[-count:]) for outputs in (expected, actual))
        broken = sorted(set(after) - set(before))
        if broken:
            return Finding("different", f"check {broken[0]} of the module holds before and fails after")
        if before:
            kinds = ", ".join(f"check {i} ({self.checks[i].kind})" for i in before)
            return Finding("agrees", f"the module's own {kinds} fails in both modules")
        return Finding()

    def _failed_checks(self, operands: Sequence[Array]) -> list[int]:
        """Returns the positions of the checks that fail; `operands` lists the operands of all checks in order."""
        pairs = zip(self.checks, operands[::2], operands[1::2], strict=True)
        return [position for position, (check, *pair) in enumerate(pairs) if check.fails(*pair)]


def joined(findings: Sequence[Finding]) -> Finding:
    """Returns the most severe finding, with the tolerated differences of all sets of data.

    Of several differences it prefers a difference of normal numbers to one of zeros and subnormal numbers, and any to a
    few units in the last place.
    """

    def severity(finding: Finding) -> tuple[int, bool, bool]:
        is_rounding = finding.cause is not None and finding.cause.ulps is not None
        return _BY_SEVERITY.index(finding.answer), not _is_flushed(finding), not is_rounding

    worst = max(findings, key=severity)
    if worst.answer == "different" or (worst.answer == "unknown" and worst.counterexample is not None):
        return worst
    differing = frozenset[int]().union(*(finding.differing for finding in findings))
    reasons = list(dict.fromkeys(each.reason for each in findings if each.reason))
    if len(reasons) > 1:
        reasons[1:] = [f"the same on {len(reasons) - 1} other sets"]
    return replace(
        worst,
        reason="; ".join(reasons),
        differing=differing,
        exact=all(finding.exact for finding in findings),
        remarks=dict(each for finding in findings[::-1] for each in finding.remarks.items()),
    )


def _is_flushed(finding: Finding) -> bool:
    """Is true where the element that a finding shows is 0, -0 or a subnormal number of 32 bits in both programs."""
    values = finding.counterexample.values if finding.counterexample else ()
    try:
        return bool(values) and all(abs(complex(value)) < float(np.finfo(np.float32).tiny) for value in values)
    except ValueError:
        # A truth value.
        return False


def also(found: Finding, remark: str) -> Finding:
    """Returns a finding whose reason begins with a remark."""
    return replace(found, reason="; ".join(filter(None, [remark, found.reason])))


_PREFIX = "check."
_KINDS = ("expect_eq", "expect_close", "expect_almost_eq")
_CLOSE_ULP = 3
_ALMOST = 0.001


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """One self-check: its kind (`expect_eq`, ...), its operands, and the shape of both."""

    kind: str
    operands: tuple[Value, ...]
    shape: ArrayShape

    def fails(self, actual: Array, expected: Array) -> bool:
        """Is true where values of the operands do not satisfy the check."""
        return bool(_violations(self.kind, self.shape.element_type, actual, expected).any())


def self_checks(module: Module) -> list[SelfCheck]:
    """Returns the checks of a module in order.

    Raises DiagnosticError for an unknown check and for a check outside the entry.
    """
    return [_self_check(operation) for operation in module.operations() if (operation.callee or "").startswith(_PREFIX)]


def compared_arrays(module: Module) -> list[tuple[Value, ArrayShape]]:
    """Returns the arrays that are compared, each with its source: outputs and operands of the module's own checks."""
    checked = [operand for check in self_checks(module) for operand in check.operands]
    return [each for value in (*module.entry.results, *checked) for each in array_sources(value)]


def checks_of_both(first: Module, last: Module) -> list[SelfCheck]:
    """Returns the checks of the first of two forms of a module; raises DiagnosticError where the kinds differ."""
    ours, theirs = self_checks(first), self_checks(last)
    if [check.kind for check in ours] != [check.kind for check in theirs]:
        raise DiagnosticError(f"one module makes {len(ours)} checks of its own, the other {len(theirs)}, or others")
    return ours


def _self_check(operation: Operation) -> SelfCheck:
    kind = (operation.callee or "").removeprefix(_PREFIX)
    operands = tuple(operation.operands)
    shapes = [value.shape for value in operands]
    if not operation.function.is_entry:
        raise DiagnosticError("a check outside the entry cannot be evaluated", operation.location)
    if kind not in _KINDS or len(shapes) != 2 or operation.results or not isinstance(shapes[0], ArrayShape):
        raise DiagnosticError(f"the check {operation.callee} is not known", operation.location)
    return SelfCheck(kind, operands, shapes[0])


def _violations(kind: str, element_type: ElementType, actual: Array, expected: Array) -> Mask:
    if kind == "expect_close":
        return different_elements(actual, expected, element_type, Tolerance(ulp=_CLOSE_ULP))
    if kind == "expect_almost_eq":
        return _far_elements(element_type, actual, expected)
    # A NaN equals no number here, and zeros of both signs are equal.
    unequal: Mask = actual != expected
    return unequal


def _far_elements(element_type: ElementType, actual: Array, expected: Array) -> Mask:
    if element_type.is_complex:
        part = element_type.part
        return _far_elements(part, actual.real, expected.real) | _far_elements(part, actual.imag, expected.imag)
    x, y = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = (np.abs(x - y) <= _ALMOST) & (np.signbit(x) == np.signbit(y))
    far: Mask = ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
    return far
