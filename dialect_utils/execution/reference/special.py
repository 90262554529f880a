"""Functions that numpy lacks, of f64 arrays: SciPy's, with XLA's results at the poles (xla/hlo/builder/lib/math.cc)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dialect_utils.execution.arrays import Array


def _of_scipy(name: str) -> Callable[..., Array]:
    """Returns a function of SciPy, which is imported on first use: most programs need none."""

    def function(*arrays: Array) -> Array:
        from scipy import special

        return np.asarray(getattr(special, name)(*arrays), np.float64)

    return function


erf, erfc = map(_of_scipy, ("erf", "erfc"))
_bessel_i1e, _digamma, _erf_inv, _gamma, _log_gamma, _zeta = map(
    _of_scipy, ("i1e", "psi", "erfinv", "gamma", "gammaln", "zeta")
)


def bessel_i1e(x: Array) -> Array:
    """Returns exp(-|x|) times the modified Bessel function of order 1, which keeps the sign of a zero."""
    return np.copysign(_bessel_i1e(x), x)


def erf_inv(y: Array) -> Array:
    """Returns x with erf(x) = y, which keeps the sign of a zero."""
    return np.copysign(_erf_inv(y), y)


def lgamma(x: Array) -> Array:
    """Returns the logarithm of the magnitude of gamma."""
    return np.where(np.isinf(x), np.inf, _log_gamma(x))


def _is_pole(x: Array) -> Array:
    """Is true at zero and at negative integers."""
    return np.asarray((x <= 0) & (x == np.floor(x)))


def digamma(x: Array) -> Array:
    """Returns the derivative of log gamma."""
    return np.where(_is_pole(x), np.nan, _digamma(x))


def zeta(s: Array, q: Array) -> Array:
    """Returns Hurwitz's zeta function, the sum of (k + q) ** -s."""
    at_pole = np.where(s % 2 == 0, np.inf, np.nan)
    return np.where(np.isnan(s), np.nan, np.where(_is_pole(q) & (s > 1), at_pole, _zeta(s, q)))


def polygamma(n: Array, x: Array) -> Array:
    """Returns derivative number n of digamma."""
    derivative = np.where(n % 2 == 0, -1, 1) * _gamma(n + 1) * zeta(n + 1, x)
    return np.where((n < 0) | (n != np.floor(n)), np.nan, np.where(n == 0, digamma(x), derivative))
