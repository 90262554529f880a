"""Modules that check themselves: what their `check.expect_*` calls mean, evaluated with numpy.

No engine knows these custom calls outside StableHLO's own test tools. What each means is in
StableHLO's reference interpreter (stablehlo/tests/CheckOps.cpp, stablehlo/reference/Element.cpp);
its custom calls take no tolerance, so the interpreter's own hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialect_utils.execution import Array
from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.difference import Mask, Tolerance, different_elements

_PREFIX = "check."
_KINDS = ("expect_eq", "expect_close", "expect_almost_eq")
_CLOSE_ULP = 3
_ALMOST = 0.001


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """One check: its kind (`expect_eq`, ...), what it compares, and of which shape both are."""

    kind: str
    operands: tuple[Value, ...]
    shape: ArrayShape

    def fails(self, actual: Array, expected: Array) -> bool:
        """Is true where the check's operands have values that do not satisfy it."""
        return bool(_violations(self.kind, self.shape.element_type, actual, expected).any())


def self_checks(module: Module) -> list[SelfCheck]:
    """Returns the checks of a module in order.

    Raises DiagnosticError for a check that is not known or is outside the entry.
    """
    return [_self_check(operation) for operation in module.operations() if (operation.callee or "").startswith(_PREFIX)]


def checks_of_both(first: Module, last: Module) -> list[SelfCheck]:
    """Returns the checks that two forms of a module make; raises DiagnosticError where they differ in kind."""
    ours, theirs = self_checks(first), self_checks(last)
    if [check.kind for check in ours] != [check.kind for check in theirs]:
        message = f"one module makes {len(ours)} checks of its own, the other {len(theirs)}, or others"
        raise DiagnosticError(Diagnostic(message))
    return ours


def failed_checks(checks: Sequence[SelfCheck], operands: Sequence[Array]) -> list[int]:
    """Returns the positions of the checks that fail; `operands` are those of all checks in a row."""
    pairs = zip(checks, operands[::2], operands[1::2], strict=True)
    return [position for position, (check, *pair) in enumerate(pairs) if check.fails(*pair)]


def _self_check(operation: Operation) -> SelfCheck:
    kind = (operation.callee or "").removeprefix(_PREFIX)
    operands = tuple(operation.operands)
    shapes = [value.shape for value in operands]
    if not operation.function.is_entry:
        raise DiagnosticError(Diagnostic("a check outside the entry cannot be evaluated", operation.location))
    if kind not in _KINDS or len(shapes) != 2 or operation.results or not isinstance(shapes[0], ArrayShape):
        raise DiagnosticError(Diagnostic(f"the check {operation.callee} is not known", operation.location))
    return SelfCheck(kind, operands, shapes[0])


def _violations(kind: str, element_type: ElementType, actual: Array, expected: Array) -> Mask:
    if kind == "expect_close":
        return different_elements(actual, expected, element_type, Tolerance(ulp=_CLOSE_ULP))
    if kind == "expect_almost_eq":
        return _far_elements(element_type, actual, expected)
    # A NaN equals nothing here, and zeros of both signs are equal.
    unequal: Mask = actual != expected
    return unequal


def _far_elements(element_type: ElementType, actual: Array, expected: Array) -> Mask:
    if element_type.is_complex:
        part = ElementType(f"f{element_type.bits // 2}", element_type.bits // 2)
        return _far_elements(part, actual.real, expected.real) | _far_elements(part, actual.imag, expected.imag)
    x, y = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = (np.abs(x - y) <= _ALMOST) & (np.signbit(x) == np.signbit(y))
    far: Mask = ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))
    return far
