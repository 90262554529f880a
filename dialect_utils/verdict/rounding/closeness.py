"""Decides whether results are close: within a few units in the last place of a run in higher precision.

That run is the original in 64 bits without the original's roundings (`stablehlo/rewrites/widening.py`). Both programs
are compared with it, so that a program which loses digits is not close, whichever of the two it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from dialect_utils.execution import Array, ExecutionError
from dialect_utils.ir import Module
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.floats import (
    Numbers,
    digits,
    epsilon,
    largest,
    moderate,
    most_ulps,
    smallest_normal,
    ulps_of,
    wide,
    without_subnormals,
)
from dialect_utils.verdict.comparator import Finding
from dialect_utils.verdict.differences import Mask
from dialect_utils.verdict.judge import Judge
from dialect_utils.verdict.outcome import Closeness
from dialect_utils.verdict.runs import Results, Runs, Unrounded

# Terms of a sum nearly overflow above this share of the largest number.
_NEARLY = 1 / 16
# Data whose numbers say how large an output ordinarily is.
_ORDINARY = "random"


def close_finding(runs: Runs, judge: Judge, found: Finding) -> Finding | None:
    """Returns the finding `close` in place of a difference that was found, or None where results are not close.

    Runs both programs again, and the original in higher precision.
    """
    kinds = judge.comparator.element_types
    try:
        # One engine flushes subnormal numbers, and another does not.
        flushed = [replace(each, arrays=[*map(without_subnormals, each.arrays)]) for each in runs.data]
        # Products of very large numbers overflow in one order and not in another.
        calm = [replace(each, arrays=[*map(moderate, each.arrays)]) for each in flushed]
        results = replace(runs, data=[*runs.data, *flushed, *calm]).compared()
        if not all(judge.keeps_promises(each) for each in results):
            return None
        outputs = frozenset(output for each in results for output in judge.differing(each))
        if not outputs or any(not kinds[output].is_inexact for output in outputs):
            return None
        measured = results[len(runs.data) : -len(calm)]
        exact = replace(runs, data=[each.data for each in measured]).unrounded()
    except ExecutionError:
        return None
    measures = [
        _of_output(
            kinds[output].part if kinds[output].is_complex else kinds[output],
            [
                _Sample.of(*each, output)
                for each in zip(measured, results[-len(calm) :], exact, strict=True)
                if judge.is_heard(each[0], output)
            ],
        )
        for output in sorted(outputs)
    ]
    close = [each for each in measures if each is not None]
    if len(close) < len(measures):
        return None
    return Finding("close", "", found.counterexample, outputs, closeness=max(close))


@dataclass(frozen=True, slots=True)
class _Sample:
    """One output on one set of data: of both programs, and of the higher-precision run.

    `moves`: the largest change of the higher-precision run where the inputs move by about one unit in the last place
    of the largest number of their array. `depends_on_nan`: the elements that NaN among the inputs changes;
    `depends_on_special`: those that NaN or an infinity among the inputs changes. `overflows`: those that are NaN or
    infinite in one program alone, but not on the same data without very large and very small numbers.
    """

    first: Numbers
    second: Numbers
    exact: Numbers
    moves: Numbers
    depends_on_nan: Mask
    depends_on_special: Mask
    overflows: Mask
    is_ordinary: bool

    @classmethod
    def of(cls, results: Results, calm: Results, unrounded: Unrounded, output: int) -> _Sample:
        """Returns the numbers of an output; complex ones as two parts."""
        programs = results.expected, results.zeros
        others = unrounded.exact, unrounded.numbers, unrounded.finite
        with np.errstate(invalid="ignore"):
            first, second, exact, numbers, finite = (_numbers(each[output]) for each in (*programs, *others))
            moves = np.abs(np.stack([_numbers(each[output]) for each in unrounded.near]) - exact)
            pair = _numbers(calm.expected[output]), _numbers(calm.zeros[output])
        moves = np.where(np.isfinite(moves), moves, 0.0).max(axis=0)
        depends = ~_are_same(exact, numbers), ~_are_same(exact, finite)
        # Beyond the range of 64 bits the original is the best known reference.
        exact = np.where(np.isfinite(exact), exact, first)
        overflows = (np.isfinite(first) != np.isfinite(second)) & np.isfinite(pair[0]) & np.isfinite(pair[1])
        return cls(first, second, exact, moves, *depends, overflows, results.data.kind == _ORDINARY)

    @property
    def is_finite(self) -> Mask:
        """Is true for the elements that are finite in both programs."""
        found: Mask = np.isfinite(self.first) & np.isfinite(self.second)
        return found

    @property
    def size(self) -> float:
        """Returns the largest magnitude among the elements that are finite."""
        return float(np.abs(self.exact[self.is_finite]).max(initial=0.0))


def _numbers(array: Array) -> Numbers:
    """Returns the numbers of an array in 64 bits, the parts of complex ones along a first dimension."""
    return np.stack([array.real, array.imag]).astype(np.float64) if np.iscomplexobj(array) else wide(array)


def _are_same(x: Numbers, y: Numbers) -> Mask:
    found: Mask = (x == y) | (np.isnan(x) & np.isnan(y))
    return found


def _of_output(element_type: ElementType, samples: Sequence[_Sample]) -> Closeness | None:
    """Returns how close an output is on all data, in units of each element or, if that fails, of the largest."""
    if any(_is_special_in_one(each, element_type).any() for each in samples):
        return None
    ordinary = max((each.size for each in samples if each.is_ordinary), default=0.0)
    of_each = [ulps_of(each.exact, element_type) for each in samples]
    of_largest = [np.maximum(ulps_of(max(each.size, ordinary), element_type), each.moves) for each in samples]
    most = most_ulps(element_type)
    for is_of_largest, units in ((False, of_each), (True, of_largest)):
        farthest = max(_error(sample, unit, element_type) for sample, unit in zip(samples, units, strict=True))
        if farthest <= most:
            return Closeness(is_of_largest, ceil(farthest))
    return None


def _error(sample: _Sample, units: Numbers, element_type: ElementType) -> float:
    """Returns the largest distance of both programs from the exact result; an engine may flush subnormal numbers."""
    with np.errstate(all="ignore"):
        distances = [np.abs(values - sample.exact) for values in (sample.first, sample.second)]
        errors = np.maximum(0.0, np.maximum(*distances) - smallest_normal(element_type)) / units
    return float(errors[sample.is_finite].max(initial=0.0))


def _is_special_in_one(sample: _Sample, element_type: ElementType) -> Mask:
    """Is true for a NaN or infinity of one program that the other program's result does not excuse.

    The opposite infinity excuses nothing. NaN excuses an infinity, unless it comes from NaN among the inputs. A number
    excuses both where an intermediate result overflows: the number is above the square root of the largest number of
    its type, or a sum of terms that nearly overflow, and depends on no NaN or infinity among the inputs, or both are
    numbers on more moderate data.
    """
    x, y = sample.first, sample.second
    are_finite = np.isfinite(x) | np.isfinite(y)
    is_large = np.abs(np.where(np.isfinite(x), x, y)) >= largest(element_type) ** 0.5
    is_large |= sample.moves >= epsilon(element_type) * largest(element_type) * _NEARLY
    overflows = sample.overflows | (is_large & ~sample.depends_on_special)
    is_excused = np.where(are_finite, overflows, ~sample.depends_on_nan & ~(np.isinf(x) & np.isinf(y)))
    found: Mask = ~sample.is_finite & ~_are_same(x, y) & ~is_excused
    return found


def narrows(original: Module, rewrite: Module) -> bool:
    """Is true where a rewrite computes with narrower floats than the original, which the reals cannot show."""
    return _fewest_digits(rewrite) < _fewest_digits(original)


def _fewest_digits(module: Module) -> int:
    kinds = {array.element_type for value in module.values() for array in value.shape.arrays()}
    return min((digits(kind) for kind in kinds if kind.is_floating), default=0)
