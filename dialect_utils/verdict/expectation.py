"""Compares outputs with expected ones: how far they are off, and by how much they may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isinf
from typing import Any

import numpy as np

from dialect_utils.execution import Array
from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import Trait, has
from dialect_utils.verdict.outcome import Tolerance, different_elements

BITS = Tolerance()
# The share of the largest output of a program by which any output may be off.
_OF_PROGRAM = 1e-6
_NARROW_BITS = 16
# With a larger error nothing is left of the output that could be compared.
_MOST_OWN_ERROR = 0.5


@dataclass(frozen=True, slots=True)
class Precision:
    """The precision of a program: the share of an output's largest element by which the output may be off, and why."""

    share: float
    reason: str


_NARROW_SUMS = Precision(2.0**-5, "sums of 16 bits")
_NARROW_OPERANDS = Precision(2.0**-6, "operands of 16 bits")
_SINGLE = Precision(2.0**-17, "sums of f32")
# The TPU compiler computes f64 in pairs of f32, which have 48 bits.
_DOUBLE = Precision(2.0**-33, "pairs of f32")


def precision_of(module: Module) -> Precision:
    """Returns the precision that a compiler's dump shows: the types of its sums, and of its products' operands."""
    found = _SINGLE
    for operation in module.operations():
        opcode = operation.opcode
        if has(opcode, Trait.CONTRACTS) or has(opcode, Trait.COMBINES):
            if _has_narrow(value.shape for value in operation.results):
                return _NARROW_SUMS
            if has(opcode, Trait.CONTRACTS) and _has_narrow(value.shape for value in operation.operands):
                found = _NARROW_OPERANDS
    return found


def _has_narrow(shapes: Any) -> bool:
    types = [leaf.element_type for shape in shapes for leaf in shape.arrays()]
    return any(each.is_floating and each.bits <= _NARROW_BITS for each in types)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The tolerance of one output, and the reason for it; no reason for a tolerance that the user gave."""

    tolerance: Tolerance
    reason: str = ""


def allowances(precision: Precision, results: Sequence[ArrayShape], expected: Sequence[Array]) -> list[Allowance]:
    """Returns the tolerance of each output: a share of its largest element, and a little of the program's largest."""
    scales = [_largest_finite(array, shape.element_type) for array, shape in zip(expected, results, strict=True)]
    least = _OF_PROGRAM * max(scales, default=0.0)
    return [_allowance(precision, shape.element_type, least) for shape in results]


def _allowance(precision: Precision, kind: ElementType, least: float) -> Allowance:
    part = kind.part if kind.is_complex else kind
    if not part.is_floating:
        return Allowance(BITS)
    if part.name == "f64" and precision is _SINGLE:
        precision = _DOUBLE
    if part.bits <= _NARROW_BITS:
        precision = max(precision, Precision(_unit(part), f"results of {part}"), key=lambda each: each.share)
    return Allowance(Tolerance(of_largest=precision.share, absolute=least), precision.reason)


def _unit(kind: ElementType) -> float:
    """Returns the distance of 1 and the next number of a type."""
    return float(2.0 ** -FLOAT_FORMATS[kind.name].mantissa_bits)


def _largest_finite(array: Array, kind: ElementType) -> float:
    """Returns the largest finite magnitude, 0 for other types than floats and where there is none."""
    if not kind.is_inexact:
        return 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        magnitudes = np.abs(_wide(array, kind))
    return float(magnitudes[np.isfinite(magnitudes)].max(initial=0.0))


def _wide(array: Array, kind: ElementType) -> Any:
    return array.astype(np.complex128 if kind.is_complex else np.float64)


def allow_own_error(allowance: Allowance, output: Array, exact: Array, kind: ElementType) -> Allowance:
    """Returns an allowance of at least twice the rounding error of an output; `exact` is the output without rounding.

    The expected output may be as far off on the other side.
    """
    tolerance = allowance.tolerance
    if tolerance.of_largest is None or not output.size:
        return allowance
    error = 2 * _share(_wide(output, kind), _wide(exact, kind), kind)[0]
    if not tolerance.of_largest < error < _MOST_OWN_ERROR:
        return allowance
    return Allowance(replace(tolerance, of_largest=error), "twice the program's own rounding error")


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of two arrays.

    `equal`: equal within the allowance. `absolute` and `relative` are the largest differences (relative to the larger
    magnitude of the two elements) with their indices, `worst` the largest difference as a share of the largest expected
    element; all are None where all bits are equal. The difference of a finite and a non-finite element is infinite.
    """

    equal: bool
    differing: int
    elements: int
    absolute: tuple[float, tuple[int, ...]] | None = None
    relative: tuple[float, tuple[int, ...]] | None = None
    worst: tuple[float, tuple[int, ...]] | None = None
    allowance: Allowance = Allowance(BITS)

    def __str__(self) -> str:
        if self.absolute is None or self.relative is None or self.worst is None:
            return "equal bits"
        parts = [f"{self.differing} of {self.elements} elements differ"]
        for what, (value, index) in (("absolute", self.absolute), ("relative", self.relative)):
            parts.append(f"largest {what} difference {value:.3g} at [{','.join(map(str, index))}]")
        tolerance, reason = self.allowance.tolerance, self.allowance.reason
        if tolerance.of_largest is not None:
            parts.append(f"{self.worst[0]:.2g} of the largest element")
        answer = "as expected" if self.equal else "not as expected"
        told = f" ({reason})" if reason else ""
        return ", ".join(parts) if tolerance == BITS else f"{answer}, {tolerance}{told}: {', '.join(parts)}"

    def row(self) -> dict[str, object]:
        """Returns its values for JSON; an infinite difference is a text."""
        described: dict[str, object] = {"equal": self.equal, "differing": self.differing}
        if self.allowance.tolerance.of_largest is not None:
            described |= {"allowed": self.allowance.tolerance.of_largest, "reason": self.allowance.reason}
        for what, found in (("absolute", self.absolute), ("relative", self.relative), ("of_largest", self.worst)):
            value = None if found is None else {"difference": found[0], "index": found[1]}
            if found is not None and isinf(found[0]):
                value = {"difference": str(found[0]), "index": found[1]}
            described[what] = value
        return described


def measure(actual: Array, expected: Array, element_type: ElementType, allowance: Allowance) -> Distance:
    """Returns the distance of two arrays of one type and the same dimensions; NaNs are equal."""
    differs = different_elements(actual, expected, element_type)
    if not differs.any():
        return Distance(True, 0, differs.size, allowance=allowance)
    tolerance = allowance.tolerance
    equal = tolerance != BITS and not different_elements(expected, actual, element_type, tolerance).any()
    x, y = _wide(actual, element_type), _wide(expected, element_type)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        absolute = np.where(differs, np.abs(x - y), 0.0)
        absolute = np.where(np.isnan(absolute), np.inf, absolute)
        largest = np.maximum(np.abs(x), np.abs(y))
        relative = np.where(absolute == 0, 0.0, absolute / largest)
        relative = np.where(np.isnan(relative), np.inf, relative)
    worst = _share(x, y, element_type)
    return Distance(equal, int(differs.sum()), differs.size, _largest(absolute), _largest(relative), worst, allowance)


def _share(actual: Any, expected: Any, kind: ElementType) -> tuple[float, tuple[int, ...]]:
    """Returns the largest difference as a share of the largest finite expected element, and its index."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(
            np.isnan(actual) & np.isnan(expected) | (actual == expected), 0.0, np.abs(actual - expected)
        )
    difference = np.where(np.isnan(difference), np.inf, difference)
    value, index = _largest(difference)
    scale = _largest_finite(expected, kind)
    return (value / scale if scale else np.inf if value else 0.0), index


def _largest(values: Any) -> tuple[float, tuple[int, ...]]:
    index = tuple(int(i) for i in np.unravel_index(int(values.argmax()), values.shape))
    return float(values[index]), index
