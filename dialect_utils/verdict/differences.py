"""Differences between two arrays: the elements that differ, by which tolerance, and the first of them.

Two NaNs are equal whatever their payload and sign: arithmetic specifies neither, and XLA rewrites the bits of bf16
and f8 NaNs even when it only moves data. Zeros of different sign differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import Array, to_bits
from dialect_utils.layout import ElementType
from dialect_utils.text import DiagnosticError


@dataclass(frozen=True, slots=True)
class Place:
    """The origin of an element: an array of the entry and the logical index in it, None for padding."""

    source: str
    index: tuple[int, ...] | None

    def as_json(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return {"source": self.source, "index": None if self.index is None else list(self.index)}

    def __str__(self) -> str:
        return self.source if self.index is None else f"{self.source}[{','.join(map(str, self.index))}]"


@dataclass(frozen=True, slots=True)
class MovedElement:
    """An element of an output that two modules take from different origins."""

    output: int
    index: tuple[int, ...]
    places: tuple[Place, Place]

    def as_json(self) -> dict[str, Any]:
        """Returns the keys of a counterexample; only an execution has bits and values."""
        places = [place.as_json() for place in self.places]
        return {"output": self.output, "index": list(self.index), "bits": None, "values": None, "moved": places}

    def __str__(self) -> str:
        return f"output {self.output} at [{','.join(map(str, self.index))}]: {self.where}"

    @property
    def where(self) -> str:
        """Returns a text with the origin of the element in each module."""
        return f"{self.places[0]} in one module, {self.places[1]} in the other"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The first element in which an output differs.

    `index` is its logical index, `bits` are both bit patterns as hexadecimal numbers, `values`
    both numbers, `differing` the number of the output's `elements` that differ.
    """

    output: int
    index: tuple[int, ...]
    bits: tuple[str, str]
    values: tuple[str, str]
    differing: int
    elements: int
    moved: MovedElement | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns the values by name, tuples as lists."""
        return {
            "output": self.output,
            "index": list(self.index),
            "bits": list(self.bits),
            "values": list(self.values),
            "differing": self.differing,
            "elements": self.elements,
            **({"moved": self.moved.as_json()["moved"]} if self.moved else {}),
        }

    def __str__(self) -> str:
        index = ",".join(map(str, self.index))
        count = f"{self.differing} of {self.elements} elements differ"
        pair = " and ".join(f"{bits} ({value})" for bits, value in zip(self.bits, self.values, strict=True))
        moved = f"; {self.moved.where}" if self.moved and self.moved.index == self.index else ""
        return f"output {self.output} at [{index}]: {pair}; {count}{moved}"


Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest difference with which two elements count as equal.

    `ulp`: units in the last place; `relative`: of the larger magnitude of the two; `of_largest`: of the largest finite
    magnitude in the first array, and `absolute` more. All None: only equal bits.
    """

    ulp: int | None = None
    relative: float | None = None
    of_largest: float | None = None
    absolute: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """Reads `bits`, `ulp:N`, `rel:X` or `of-largest:X`; raises DiagnosticError for anything else."""
        kind, _, number = str(text).partition(":")
        try:
            if text == "bits":
                return cls()
            if kind == "ulp" and int(number) >= 0:
                return cls(ulp=int(number))
            if kind == "rel" and 0 <= float(number) < inf:
                return cls(relative=float(number))
            if kind == "of-largest" and 0 <= float(number) < inf:
                return cls(of_largest=float(number))
        except ValueError:
            pass
        raise DiagnosticError(f"cannot compare by {text!r}", hint="write auto, bits, ulp:N, rel:X or of-largest:X")

    def __str__(self) -> str:
        if self.ulp is not None:
            return f"within {self.ulp} ulp"
        if self.relative is not None:
            return f"within a relative difference of {self.relative:g}"
        return "bits" if self.of_largest is None else f"within {self.of_largest:.2g} of the largest element"


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
    """Returns a mask of the elements in which two arrays of the same element type and dimensions differ."""
    if element_type.is_complex:
        # Units in the last place and NaNs are properties of each part.
        part = element_type.part
        return different_elements(a.real, b.real, part, tolerance) | different_elements(a.imag, b.imag, part, tolerance)
    differs = different_bits(a, b, element_type)
    if not element_type.is_floating or not differs.any():
        return differs
    # Every narrower type is exact in f64; numpy would warn of signaling NaNs.
    with np.errstate(invalid="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
    differs = differs & ~(np.isnan(x) & np.isnan(y))
    if tolerance != BITS:
        differs = differs & ~_is_close(x, y, ulp_distance(a, b, element_type), tolerance)
    return differs


def different_bits(a: Array, b: Array, element_type: ElementType) -> Mask:
    """Returns a mask of the elements whose bits differ, those of NaN included."""
    if element_type.is_complex:
        return different_bits(a.real, b.real, element_type.part) | different_bits(a.imag, b.imag, element_type.part)
    differs: Mask = to_bits(a, element_type) != to_bits(b, element_type)
    return differs


def ulp_distance(a: Array, b: Array, element_type: ElementType) -> NDArray[np.uint64]:
    """Returns the number of values of the type between elements of finite floats, the sign included."""
    # f8e8m0fnu has no sign bit.
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
        limit = tolerance.of_largest * (magnitudes.max() if magnitudes.size else 0.0) + tolerance.absolute
    close: Mask = finite & (difference <= limit)
    return close


def _hexadecimal(value: Array, element_type: ElementType) -> str:
    bits = to_bits(value, element_type).reshape(-1)
    whole = sum(int(part) << (64 * i) for i, part in enumerate(bits))
    return f"0x{whole:0{-(-element_type.bits // 4)}x}"
