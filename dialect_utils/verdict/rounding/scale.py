"""Estimates the original's own rounding error, element by element.

The original runs again in higher precision (`stablehlo/rewrites/widening.py`), several times with different random
rounding noise: the spread of these runs is the scale of the rounding error of each element. The scale depends neither
on the rewrite, nor on another output, nor on the size of another element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import Array
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.floats import Numbers, wide
from dialect_utils.verdict.differences import Mask

# A rewrite may be this many times farther off than the higher-precision runs are from their mean.
_FACTOR = 6.0
# Equal errors of 64 elements add up to eight times the sum of random errors.
_ALIKE = 8.0
# The least tolerance, in units in the last place.
_ULPS = 2.0
# `level` is this quantile of the original's distance from the mean, in units of the spread.
_SHARE = 0.9
# A mean may be off by this share of the scale, and by this multiple of the deviation of the runs' means.
_LEAST_LEAN = 0.15
_LEAN_FACTOR = 6.0
_CLIP = 3.0
_FEW_ELEMENTS = 16
# Runs fall into two groups where each is this much narrower than the distance of the groups.
_NARROWER = 0.01
_APART = 8.0
# The most outliers, as a multiple of the outliers of one higher-precision run against the other runs.
_OUTLIERS = 4
_EPSILONS = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7, "c64": 2.0**-23, "c128": 2.0**-52}
_COARSEST = 0.25
# The original has lost all digits where it is this many times farther off than rounding noise, and off by more than
# its whole size: a singular matrix was solved, for example.
_LOST = 1e3


@dataclass(frozen=True, slots=True)
class Scale:
    """The error of one output on one set of data.

    `center` and `spread`: for each element the mean of the higher-precision runs and the largest distance from
    it; `own`: the distance of the original from the mean; `level`: the factor by which the original's error as a
    whole exceeds the spread. `runs` are the higher-precision runs; `stable` is true for elements that are of one
    class (finite, NaN, an infinity) in all runs and in the original, and of which the original has a digit.
    """

    runs: Numbers
    center: Numbers
    spread: Numbers
    own: Numbers
    floor: Numbers
    level: float
    stable: Mask
    factor: float = _FACTOR

    @classmethod
    def of(cls, element_type: ElementType, original: Array, runs: Sequence[Array]) -> Scale:
        """Returns the scale of an output of this type from the results of the higher-precision runs."""
        samples, first = np.stack([*map(wide, runs)]), wide(original)
        with np.errstate(all="ignore"):
            center = samples.mean(axis=0)
            spread = np.abs(samples - center).max(axis=0)
            own = np.abs(first - center)
            floor = _floor(element_type, first)
            stable = _classes(first) == _classes(samples).min(axis=0)
            stable &= _classes(first) == _classes(samples).max(axis=0)
            stable &= ~((own >= np.abs(center)) & (own > _LOST * (spread + floor)))
            ratios = (own / (spread + floor / _ULPS))[stable & np.isfinite(first)]
        level = max(1.0, float(np.quantile(ratios, _SHARE))) if ratios.size else 1.0
        return cls(samples, center, spread, own, floor, level, stable)

    def of_repeated(self) -> Scale:
        """Returns the scale for data that repeats few values: equal elements round equally, and a sum adds that up.

        The higher-precision runs err at random, so their sums grow with the root of the number of elements only.
        """
        return replace(self, factor=_FACTOR * _ALIKE)

    def beyond(self, expected: Array, actual: Array, *, is_saturated: bool) -> Mask:
        """Is true where an element is farther off than rounding explains, or of another class.

        `is_saturated`: the data may overflow inside a sum, so only non-finite elements that become finite count.
        Elements that depend on rounding (thresholds, the largest of many) may flip as often as in the
        higher-precision runs.
        """
        x, y = expected.astype(self.center.dtype), actual.astype(self.center.dtype)
        if is_saturated:
            lost: Mask = self.stable & ~np.isfinite(x) & np.isfinite(y)
            return lost
        wrong = self._off(x, y)
        if wrong.any() and wrong.sum() <= _OUTLIERS * self._outliers(x):
            # The mask of a scalar is no array.
            wrong = np.zeros_like(wrong)
        return wrong

    def flipped(self, expected: Array, actual: Array) -> Mask:
        """Is true where rounding decides between distant values, and the rewrite has a different one.

        The runs fall into two groups there, or some of them are not finite.
        """
        x, y = expected.astype(self.center.dtype), actual.astype(self.center.dtype)
        changed = (_classes(x) != _classes(y)) | self._off(x, y)
        with np.errstate(all="ignore"):
            distance = np.abs(x - y)
        flipped: Mask = changed | (self.stable & (2 * distance > self._gaps()))
        return flipped

    def _gaps(self) -> Numbers:
        """Returns the distance of the two groups into which the runs fall, infinity without such groups."""
        if np.iscomplexobj(self.runs):
            return np.full(self.center.shape, np.inf)
        with np.errstate(all="ignore"):
            runs = np.sort(self.runs, axis=0)
            steps = np.diff(runs, axis=0)
            gap, whole = steps.max(axis=0), runs[-1] - runs[0]
            are_apart = (whole - gap <= _NARROWER * gap) & (gap > _APART * self.floor)
        gaps: Numbers = np.where(are_apart, gap, np.inf)
        return gaps

    def _off(self, x: Numbers, y: Numbers) -> Mask:
        """Is true where a stable element is farther off than rounding explains, or of another class."""
        off: Mask = self.stable & np.where(np.isfinite(x), self.is_far(y), _classes(x) != _classes(y))
        return off

    def is_far(self, y: Numbers) -> Mask:
        """Is true where an element is farther off than rounding explains."""
        with np.errstate(all="ignore"):
            near = np.abs(y - self.center) <= self.own + self.factor * self.level * self.spread + self.floor
        far: Mask = ~near
        return far

    def _outliers(self, original: Numbers) -> int:
        """Returns the largest number of outliers of one run against the other runs; large only for chaotic programs."""
        counts = []
        for number, run in enumerate(self.runs):
            others = np.delete(self.runs, number, axis=0)
            with np.errstate(all="ignore"):
                center = others.mean(axis=0)
                spread, own = np.abs(others - center).max(axis=0), np.abs(original - center)
            rest = replace(self, center=center, spread=spread, own=own)
            counts.append(int((self.stable & np.isfinite(original) & rest.is_far(run)).sum()))
        return max(counts)

    def lean(self, expected: Array, actual: Array) -> str:
        """Describes a bias to one side that no higher-precision run has; empty without a bias."""
        if np.iscomplexobj(self.center):
            return ""
        x, y = expected.astype(np.float64), actual.astype(np.float64)
        used = self.stable & np.isfinite(x) & np.isfinite(y) & (self.spread + self.floor > 0)
        # Equal elements have equal rounding errors.
        count = np.unique(x[used]).size
        if count < _FEW_ELEMENTS:
            return ""
        unit = (self.level * self.spread + self.floor / (4 * _ULPS))[used]
        for sign, what in ((np.sign(self.center[used]), "away from zero"), (np.ones(unit.shape), "upwards")):
            of_runs, of_original, of_rewrite = (
                np.array([_mean((each[used] - self.center[used]) / unit * sign) for each in group])
                for group in (self.runs, [x], [y])
            )
            deviation = max(float(of_runs.std(ddof=1)), 1 / np.sqrt(count))
            allowed = abs(of_original[0]) + max(_LEAST_LEAN, _LEAN_FACTOR * deviation)
            if abs(of_rewrite[0]) > allowed:
                side = (
                    what if of_rewrite[0] > 0 else what.replace("away from", "towards").replace("upwards", "downwards")
                )
                return f"each within rounding, but {unit.size} elements lean {side} as the original's error does not"
        return ""


def _mean(distances: Numbers) -> float:
    return float(np.clip(distances, -_CLIP, _CLIP).mean())


def _floor(element_type: ElementType, values: Numbers) -> Numbers:
    """Returns a few units in the last place for floats, 0 for integers."""
    if not element_type.is_inexact:
        return np.zeros(values.shape)
    tiny = (
        np.finfo(np.float32).tiny
        if element_type.bits <= 64 and element_type.name not in ("f64",)
        else np.finfo(np.float64).tiny
    )
    return _ULPS * _EPSILONS.get(element_type.name, _COARSEST) * np.abs(values) + tiny


def _classes(values: Numbers) -> NDArray[np.int8]:
    """Returns 0 for finite numbers, 1 for NaN, 2 and 3 for the infinities; complex numbers combine both parts."""
    if np.iscomplexobj(values):
        return (4 * _classes(values.real) + _classes(values.imag)).astype(np.int8)
    infinite = np.where(np.isinf(values), np.where(np.signbit(values), 2, 3), 0)
    return np.where(np.isnan(values), 1, infinite).astype(np.int8)
