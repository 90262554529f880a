"""Functions that numpy lacks, of f64 arrays: gamma and error functions and their relatives.

Each is the textbook series, chosen for being plain.
Formulas: Abramowitz and Stegun, 6.3.18 (digamma), 7.1 (error function), 9.6 and 9.7 (Bessel), 23.2 (zeta).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dialect_utils.execution.arrays import Array

# Bernoulli numbers B2, B4, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 12
_SERIES_LIMIT = 25.0


def _lgamma(x: float) -> float:
    return math.inf if math.isinf(x) or (x <= 0 and x == int(x)) else math.lgamma(x)


def _by_element(function: Callable[..., float], count: int) -> Callable[..., Array]:
    """Returns a function of `count` numbers, vectorized: it takes `count` arrays."""
    ufunc = np.frompyfunc(lambda *numbers: function(*map(float, numbers)), count, 1)
    return lambda *arrays: np.asarray(ufunc(*arrays), object).astype(np.float64)


def _digamma(x: float) -> float:
    """Returns the derivative of log gamma: NaN at zero and at negative integers."""
    if math.isnan(x) or x == -math.inf or (x <= 0 and x == int(x)):
        return math.nan
    if x == math.inf:
        return x
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1))
    shifted = sum(1 / (x + i) for i in range(_SHIFT))
    x += _SHIFT
    series = sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    return math.log(x) - 1 / (2 * x) - series - shifted


def _zeta(s: float, q: float) -> float:
    """Returns Hurwitz's zeta function, the sum of (k + q) ** -s, by Euler and Maclaurin."""
    if math.isnan(s) or math.isnan(q) or s < 1:
        return math.nan
    if s == 1:
        return math.inf
    if q <= 0:
        if q == int(q):
            return math.inf if s == int(s) and int(s) % 2 == 0 else math.nan
        if s != int(s):
            return math.nan
    try:
        total = math.fsum((q + k) ** -s for k in range(_SHIFT))
    except (OverflowError, ZeroDivisionError):
        return math.inf
    a = q + _SHIFT
    if a <= 0:
        total = math.fsum((q + k) ** -s for k in range(_SHIFT - math.floor(a) + 1))
        a = q + _SHIFT - math.floor(a) + 1
    total += math.pow(a, 1 - s) / (s - 1) + math.pow(a, -s) / 2
    factor = s
    for k, b in enumerate(_BERNOULLI, 1):
        total += b * factor * math.pow(a, 1 - s - 2 * k) / math.factorial(2 * k)
        factor *= (s + 2 * k - 1) * (s + 2 * k)
    return total


def _polygamma(n: float, x: float) -> float:
    if math.isnan(n) or n < 0 or n != int(n):
        return math.nan
    if n == 0:
        return _digamma(x)
    try:
        return (1 if int(n) % 2 else -1) * math.gamma(n + 1) * _zeta(n + 1, x)
    except OverflowError:
        return math.inf


def _erf_inv(y: float) -> float:
    """Returns x with erf(x) = y, by Newton's steps from a closed approximation."""
    if math.isnan(y) or abs(y) > 1:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if y == 0:
        return y
    logarithm = math.log1p(-y * y)
    part = 2 / (math.pi * 0.147) + logarithm / 2
    x = math.copysign(math.sqrt(max(0.0, math.sqrt(part * part - logarithm / 0.147) - part)), y)
    for _ in range(4):
        error = math.erf(x) - y if abs(x) < 1 else math.copysign(1, y) * (1 - abs(y) - math.erfc(abs(x)))
        x -= error * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return x


def _bessel_i1e(x: float) -> float:
    """Returns exp(-|x|) times the modified Bessel function of order 1."""
    a = abs(x)
    if math.isnan(x) or math.isinf(x):
        return 0.0 * math.copysign(1, x) if math.isinf(x) else x
    if a <= _SERIES_LIMIT:
        total = term = a / 2
        for k in range(1, 100):
            term *= (a / 2) ** 2 / (k * (k + 1))
            total += term
        return math.copysign(total * math.exp(-a), x)
    total = term = 1.0
    for k in range(1, 20):
        term *= -(4 - (2 * k - 1) ** 2) / (k * 8 * a)
        total += term
    return math.copysign(total / math.sqrt(2 * math.pi * a), x)


bessel_i1e = _by_element(_bessel_i1e, 1)
digamma = _by_element(_digamma, 1)
erf = _by_element(math.erf, 1)
erf_inv = _by_element(_erf_inv, 1)
erfc = _by_element(math.erfc, 1)
lgamma = _by_element(_lgamma, 1)
polygamma = _by_element(_polygamma, 2)
zeta = _by_element(_zeta, 2)
