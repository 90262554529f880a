"""Compares arrays of a run with expected ones: the outputs, and inner values, which another program may hold elsewhere.

A compiler reorders and flattens dimensions, and names of values do not survive it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import Array
from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import element_type_of
from dialect_utils.layout.arrays.floats import wide
from dialect_utils.ops import Trait, has
from dialect_utils.verdict.differences import BITS, Tolerance, different_elements

# The share of the largest output of a program by which any output may be off.
_OF_PROGRAM = 1e-6
_NARROW_BITS = 16
# With a larger error the output has no significant digits to compare.
_MOST_OWN_ERROR = 0.5
# The number of elements of the sorted arrays that are compared first. Sorted arrays differ by at most as much as the
# arrays, whatever the order of their elements.
_QUANTILES = 33
# The most dimensions (sizes above 1) of arrays that are compared in every order of dimensions.
_MOST_DIMENSIONS = 5


@dataclass(frozen=True, slots=True)
class Precision:
    """The precision of a program: the share of an output's largest element by which the output may be off, and why."""

    share: float
    reason: str


# Products and convolutions of XLA:GPU's libraries.
_PRODUCTS = ("__cublas$", "__cudnn$", "__op$")
_NARROW_SUMS = Precision(2.0**-5, "sums of 16 bits")
_NARROW_OPERANDS = Precision(2.0**-6, "operands of 16 bits")
_SINGLE = Precision(2.0**-17, "sums of f32")
# The TPU compiler computes f64 in pairs of f32, which have 48 bits.
_DOUBLE = Precision(2.0**-33, "pairs of f32")


def precision_of(module: Module) -> Precision:
    """Returns the precision that a compiler's dump shows: the types of its sums, and of its products' operands."""
    found = _SINGLE
    for operation in module.operations():
        contracts = has(operation.opcode, Trait.CONTRACTS) or (operation.callee or "").startswith(_PRODUCTS)
        if contracts or has(operation.opcode, Trait.COMBINES):
            if _has_narrow(value.shape for value in operation.results):
                return _NARROW_SUMS
            if contracts and _has_narrow(value.shape for value in operation.operands):
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


def _allowance(precision: Precision, element_type: ElementType, least: float) -> Allowance:
    part = element_type.part if element_type.is_complex else element_type
    if not part.is_floating:
        return Allowance(BITS)
    if part.name == "f64" and precision is _SINGLE:
        precision = _DOUBLE
    if part.bits <= _NARROW_BITS:
        unit = 2.0 ** -FLOAT_FORMATS[part.name].mantissa_bits
        precision = max(precision, Precision(unit, f"results of {part}"), key=lambda each: each.share)
    return Allowance(Tolerance(of_largest=precision.share, absolute=least), precision.reason)


def _largest_finite(array: Array, element_type: ElementType) -> float:
    """Returns the largest finite magnitude, 0 for other types than floats and for an array without finite elements."""
    if not element_type.is_inexact:
        return 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        magnitudes = np.abs(wide(array))
    return float(magnitudes[np.isfinite(magnitudes)].max(initial=0.0))


def allow_own_error(allowance: Allowance, output: Array, exact: Array, element_type: ElementType) -> Allowance:
    """Returns an allowance of at least twice the rounding error of an output; `exact` is the output without rounding.

    The expected output may be as far off on the other side.
    """
    tolerance = allowance.tolerance
    if tolerance.of_largest is None or not output.size:
        return allowance
    error = 2 * _share(wide(output), wide(exact), element_type)[0]
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
        """Returns the distance's values for JSON; an infinite difference is a text."""
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
    x, y = wide(actual), wide(expected)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        absolute = np.where(differs, np.abs(x - y), 0.0)
        absolute = np.where(np.isnan(absolute), np.inf, absolute)
        largest = np.maximum(np.abs(x), np.abs(y))
        relative = np.where(absolute == 0, 0.0, absolute / largest)
        relative = np.where(np.isnan(relative), np.inf, relative)
    worst = _share(x, y, element_type)
    return Distance(equal, int(differs.sum()), differs.size, _largest(absolute), _largest(relative), worst, allowance)


def _share(actual: Any, expected: Any, element_type: ElementType) -> tuple[float, tuple[int, ...]]:
    """Returns the largest difference as a share of the largest finite expected element, and its index."""
    value, index = _largest(_differences(actual, expected))
    scale = _largest_finite(expected, element_type)
    return (value / scale if scale else np.inf if value else 0.0), index


def _largest(values: Any) -> tuple[float, tuple[int, ...]]:
    index = tuple(int(i) for i in np.unravel_index(int(values.argmax()), values.shape))
    return float(values[index]), index


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The elements of an array, some of them sorted, and the largest finite magnitude."""

    values: NDArray[Any]
    quantiles: NDArray[Any]
    largest: float
    is_rounded: bool


@dataclass(slots=True)
class KnownArrays:
    """The arrays of a program, among which an array of another program is looked for in any order of its dimensions.

    An array is known if it differs from one of them by at most `share` of the largest element.
    """

    share: float
    _of_size: dict[int, list[_Numbers]] = field(default_factory=lambda: defaultdict(list))

    def add(self, arrays: Iterable[Array]) -> None:
        """Adds arrays."""
        for array in arrays:
            self._of_size[array.size].append(_numbers(array))

    def distance(self, array: Array) -> float:
        """Returns 0 for a known array, else a lower bound of the distance to the nearest known one.

        The bound is a share of the known array's largest element, infinite where no known array has as many elements.
        """
        candidates = self._of_size.get(array.size, [])
        if not array.size or not candidates:
            return np.inf if array.size else 0.0
        given = _numbers(array)
        differences = _differences(given.quantiles, np.stack([each.quantiles for each in candidates])).max(axis=1)
        bounds = []
        for other, difference in zip(candidates, differences, strict=True):
            limit = _limit(given, other, self.share)
            if difference <= limit:
                difference = _least_difference(given.values, other.values, limit)
            if difference <= limit:
                return 0.0
            bounds.append(difference / other.largest if other.largest else np.inf)
        return float(min(bounds))


def is_close(array: Array, other: Array, share: float) -> bool:
    """Is true for arrays of the same dimensions that differ by at most a share of the largest element of the other."""
    given, wanted = _numbers(array), _numbers(other)
    return bool((_differences(given.values, wanted.values) <= _limit(given, wanted, share)).all())


def is_informative(array: Array) -> bool:
    """Is true for an array with different elements: two arrays of zeros say little about the programs."""
    return bool(array.size and (array != array.flat[0]).any())


def _numbers(array: Array) -> _Numbers:
    element_type = element_type_of(array.dtype)
    values = np.squeeze(wide(array))
    with np.errstate(invalid="ignore", over="ignore"):
        magnitudes = np.abs(values).ravel()
        ordered = np.sort(magnitudes if element_type.is_complex else values.ravel())
    positions = np.linspace(0, ordered.size - 1, _QUANTILES).astype(np.int64)
    largest = float(magnitudes[np.isfinite(magnitudes)].max(initial=0.0))
    quantiles = ordered[positions] if ordered.size else ordered
    return _Numbers(values, quantiles, largest, element_type.is_inexact)


def _differences(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Returns the differences of elements: 0 for two equal infinities or NaNs, infinite for other non-finite ones."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(difference), np.inf, difference)


def _limit(given: _Numbers, other: _Numbers, share: float) -> float:
    return share * other.largest if given.is_rounded or other.is_rounded else 0.0


def _least_difference(a: NDArray[Any], b: NDArray[Any], limit: float) -> float:
    """Returns the largest difference in the first order of dimensions that stays within the limit, or in the best."""
    least = np.inf
    for x, y in _arrangements(a, b):
        least = min(least, float(_differences(x, y).max()))
        if least <= limit:
            break
    return least


def _arrangements(a: NDArray[Any], b: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yields the elements of two arrays, with every order of the dimensions of one of them."""
    yield a.ravel(), b.ravel()
    for fixed, moved in ((a, b), (b, a)):
        if 1 < moved.ndim <= _MOST_DIMENSIONS:
            orders = permutations(range(moved.ndim))
            next(orders)
            yield from ((fixed.ravel(), np.transpose(moved, order).ravel()) for order in orders)
