"""Decides whether results are close: within a few units in the last place of a run in higher precision.

That run is the original in 64 bits without the original's roundings (`stablehlo/rewrites/widening.py`). Both programs
are compared with it, so that a program which loses digits is not close, whichever of the two it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from dialect_utils.execution import Array, Engine, ExecutionError, Worker
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import element_type_of
from dialect_utils.verdict.judge import Compared, Judge
from dialect_utils.verdict.outcome import Closeness, Mask
from dialect_utils.verdict.runs import Runs
from dialect_utils.verdict.sampling import DataSet
from dialect_utils.verdict.ulps import Numbers, digits, largest, smallest_normal, ulps_of

# A rewrite may be this many times as far off as the original, and by this many units more.
_FACTOR = 3.0
_ULPS = 4.0
# Neither program may be farther off: six bits, or half of the digits of a type with fewer than twelve.
_MOST_ULPS = 64.0
# Data whose numbers say how large an output ordinarily is.
_ORDINARY = "random"
# Data on which sums may overflow in one order and not in another.
_OVERFLOWING = "saturated"


def closeness(runs: Runs, judge: Judge, worker: Worker, engine: Engine) -> Closeness | None:
    """Runs both programs and the original in higher precision; returns None where the results are not close."""
    runs = replace(runs, data=[_without_subnormals(each) for each in runs.data])
    try:
        expected, rewritten = runs.original_on(worker, engine), runs.rewrite_on(worker, engine)
        results = [Compared(*each) for each in zip(runs.data, expected, rewritten, strict=True)]
        if not all(judge.keeps_promises(each) for each in results):
            return None
        differing = judge.differing(engine, results)
        exact = runs.unrounded(worker, engine) if differing else []
    except ExecutionError:
        return None
    runs_of = list(zip(results, exact, strict=bool(differing)))
    kinds = judge.comparator.element_types
    found = [
        _of_output(
            kinds[output], [_sample(*each, output) for each in runs_of if judge.is_heard(engine, output, each[0].data)]
        )
        for output in sorted(differing)
    ]
    close = [each for each in found if each is not None]
    return max(close) if close and len(close) == len(found) else None


def _without_subnormals(data: DataSet) -> DataSet:
    """Returns data with zeros for subnormal numbers, which one engine flushes and another does not."""
    return replace(data, arrays=[_flushed(array) for array in data.arrays])


def _flushed(array: Array) -> Array:
    kind = element_type_of(array.dtype)
    if not kind.is_floating:
        return array
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(array.astype(np.float64)) < smallest_normal(kind), np.zeros_like(array), array)


@dataclass(frozen=True, slots=True)
class _Sample:
    """One output on one set of data: of both programs, and of the higher-precision run.

    `moves`: the largest change of the higher-precision run where the inputs move by about one unit in the last place
    of the largest number of their array.
    """

    first: Numbers
    second: Numbers
    exact: Numbers
    moves: Numbers
    is_ordinary: bool

    @property
    def is_finite(self) -> Mask:
        """Is true for the elements that are finite in both programs."""
        found: Mask = np.isfinite(self.first) & np.isfinite(self.second)
        return found

    @property
    def size(self) -> float:
        """Returns the largest magnitude among the elements that are finite."""
        return float(np.abs(self.exact[self.is_finite]).max(initial=0.0))


def _sample(compared: Compared, runs: Sequence[Sequence[Array]], output: int) -> _Sample:
    programs = compared.expected, compared.rewritten.zeros
    with np.errstate(invalid="ignore"):
        first, second, exact, *near = (each[output].astype(np.float64) for each in (*programs, *runs))
        # Beyond the range of 64 bits the original is the best that is known.
        exact = np.where(np.isfinite(exact), exact, first)
        moves = np.abs(np.stack(near) - exact)
    moves = np.where(np.isfinite(moves), moves, 0.0).max(axis=0)
    return _Sample(first, second, exact, moves, compared.data.kind == _ORDINARY)


def _of_output(kind: ElementType, samples: Sequence[_Sample]) -> Closeness | None:
    """Returns how close an output is on all data, in units of each element or, if that fails, of the largest."""
    if not kind.is_floating or any(_leaves_range(each, kind).any() for each in samples):
        return None
    ordinary = max((each.size for each in samples if each.is_ordinary), default=0.0)
    of_each = [ulps_of(each.exact, kind) for each in samples]
    of_largest = [_of_largest(each, kind, ordinary) for each in samples]
    for is_of_largest, units in ((False, of_each), (True, of_largest)):
        own, other = (max(map(_error, samples, units, [kind] * len(units), [i] * len(units))) for i in (0, 1))
        most = min(_MOST_ULPS, 2.0 ** (digits(kind) // 2))
        if own <= most and other <= min(most, _FACTOR * own + _ULPS):
            return Closeness(is_of_largest, ceil(max(own, other)))
    return None


def _of_largest(sample: _Sample, kind: ElementType, ordinary: float) -> Numbers:
    """Returns the units of an output as a whole.

    A unit is one unit in the last place of the largest number in the output, on this data or on ordinary data, or the
    change of the exact result after such a change of the inputs, whichever is more.
    """
    unit = ulps_of(np.asarray(max(sample.size, ordinary)), kind)
    return np.maximum(unit, sample.moves)


def _error(sample: _Sample, units: Numbers, kind: ElementType, program: int) -> float:
    """Returns the largest distance of a program from the exact result; an engine may flush subnormal numbers."""
    values = (sample.first, sample.second)[program]
    with np.errstate(invalid="ignore"):
        errors = np.maximum(0.0, np.abs(values - sample.exact) - smallest_normal(kind)) / units
    return float(errors[sample.is_finite].max(initial=0.0))


def _leaves_range(sample: _Sample, kind: ElementType) -> Mask:
    """Is true for elements that are a number in one program, and NaN or an infinity in the other.

    A large number may be NaN or an infinity in the other program, where an intermediate result overflows. So may an
    infinity be NaN, but not the infinity of the other sign. Large is above the square root of the largest number of the
    type; a number that moves by so much with the inputs counts as large.
    """
    limit = largest(kind) ** 0.5
    x, y = sample.first, sample.second
    is_small: Mask = ((np.abs(x) < limit) | (np.abs(y) < limit)) & (sample.moves < limit)
    are_opposite: Mask = np.isinf(x) & (x == -y)
    return ~sample.is_finite & (is_small | are_opposite)
