"""Where two arrays differ: by bits, by units in the last place, or by a relative difference.

Two NaNs are equal whatever their payload and sign: arithmetic promises neither, and XLA rewrites
the bits of bf16 and f8 NaNs even where it only moves data. Zeros of different sign differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import Array, to_bits
from dialect_utils.layout import ElementType
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.result import Counterexample

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Which elements count as equal.

    `ulp`: units in the last place; `relative`: of the larger magnitude of the two; `of_largest`:
    of the largest finite magnitude in the first array. All None: only equal bits.
    """

    ulp: int | None = None
    relative: float | None = None
    of_largest: float | None = None

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """Reads `bits`, `ulp:N` or `rel:X`; raises DiagnosticError for anything else."""
        kind, _, number = str(text).partition(":")
        try:
            if text == "bits":
                return cls()
            if kind == "ulp":
                return cls(ulp=_natural(number))
            if kind == "rel":
                return cls(relative=_positive(number))
        except ValueError:
            pass
        raise DiagnosticError(Diagnostic(f"cannot compare by {text!r}", hint="write auto, bits, ulp:N or rel:X"))

    def __str__(self) -> str:
        if self.ulp is not None:
            return f"within {self.ulp} ulp"
        if self.relative is not None:
            return f"within a relative difference of {self.relative:g}"
        return "bits" if self.of_largest is None else f"within {self.of_largest:.1g} of the largest magnitude"


BITS = Tolerance()


def first_difference(
    output: int, a: Array, b: Array, element_type: ElementType, tolerance: Tolerance = BITS
) -> Counterexample | None:
    """Returns the first element, in row-major order, in which two arrays differ, or None."""
    return first_of(output, a, b, element_type, different_elements(a, b, element_type, tolerance))


def first_of(output: int, a: Array, b: Array, element_type: ElementType, differs: Mask) -> Counterexample | None:
    """Returns the first element, in row-major order, of those in which two arrays differ, or None."""
    if not differs.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(int(differs.argmax()), differs.shape))
    pair = (a[index], b[index])
    bits = (_hexadecimal(np.asarray(value), element_type) for value in pair)
    return Counterexample(
        output, index, (next(bits), next(bits)), (str(pair[0]), str(pair[1])), int(differs.sum()), differs.size
    )


def different_elements(a: Array, b: Array, element_type: ElementType, tolerance: Tolerance = BITS) -> Mask:
    """Returns where two arrays of the same element type and dimensions differ."""
    if element_type.is_complex:
        # ulp, NaNs and the like are a matter of each part.
        part = _FLOATS[element_type.bits // 2]
        return different_elements(a.real, b.real, part, tolerance) | different_elements(a.imag, b.imag, part, tolerance)
    differs: Mask = to_bits(a, element_type) != to_bits(b, element_type)
    if not element_type.is_floating or not differs.any():
        return differs
    # Every narrower type is exact in f64; numpy would warn of signaling NaNs.
    with np.errstate(invalid="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
    differs = differs & ~(np.isnan(x) & np.isnan(y))
    if tolerance != BITS:
        differs = differs & ~_is_close(x, y, ulp_distance(a, b, element_type), tolerance)
    return differs


def ulp_distance(a: Array, b: Array, element_type: ElementType) -> NDArray[np.uint64]:
    """Returns how many values of the type are between elements of finite floats, the sign included."""
    # f8e8m0fnu is a bare exponent.
    sign = np.uint64(0 if element_type.name == "f8e8m0fnu" else 1 << (element_type.bits - 1))
    x, y = (to_bits(array, element_type).astype(np.uint64) for array in (a, b))
    opposite = (x & sign) != (y & sign)
    p, q = x & ~sign, y & ~sign
    distance: NDArray[np.uint64] = np.where(opposite, p + q, np.maximum(p, q) - np.minimum(p, q))
    return distance


def _is_close(x: Array, y: Array, ulp: NDArray[np.uint64], tolerance: Tolerance) -> Mask:
    finite: Mask = np.isfinite(x) & np.isfinite(y)
    if tolerance.ulp is not None:
        return finite & (ulp <= tolerance.ulp)
    with np.errstate(invalid="ignore"):
        difference = np.abs(x - y)
    if tolerance.relative is not None:
        limit: Any = tolerance.relative * np.maximum(np.abs(x), np.abs(y))
    else:
        assert tolerance.of_largest is not None  # the only field left
        magnitudes = np.abs(x[np.isfinite(x)])
        limit = tolerance.of_largest * (magnitudes.max() if magnitudes.size else 0.0)
    close: Mask = finite & (difference <= limit)
    return close


def _hexadecimal(value: Array, element_type: ElementType) -> str:
    bits = to_bits(value, element_type).reshape(-1)
    whole = sum(int(part) << (64 * i) for i, part in enumerate(bits))
    return f"0x{whole:0{-(-element_type.bits // 4)}x}"


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _positive(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


_FLOATS = {32: ElementType("f32", 32), 64: ElementType("f64", 64)}
