"""Constants as residues, and bounds on the sizes of their numerators and denominators."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.constants import as_array
from dialect_utils.hlo.text.literals import FLOAT_FORMATS, decode_float
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.verdict.field import functions, integers
from dialect_utils.verdict.field.conventions import Convention
from dialect_utils.verdict.field.derived import made
from dialect_utils.verdict.field.values import Real, Value, where, whole_reals
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.rules.formats import value_of
from dialect_utils.verdict.rules.matching import constant_bits

if TYPE_CHECKING:
    from dialect_utils.verdict.field.lift import Lift


# The most distinct numbers of one constant whose fractions are looked for.
_MOST_FRACTIONS = 4096
# Types of at least eight significant bits. With fewer bits a number is far from its fraction (5/3 becomes 7/4).
_ROUNDED = frozenset({"f64", "f32", "f16", "bf16"})
# The significant bits of f64, the type with the most.
_MANTISSA_BITS = 53


class Heights:
    """The bits of the largest numerator of the constants so far, and of their common denominator."""

    def __init__(self) -> None:
        # Integers have up to 64 bits.
        self._numerator = 64
        self._power = 1
        self._denominators: set[int] = set()

    def see(self, bits: int) -> None:
        """Records the bits of a numerator."""
        self._numerator = max(self._numerator, bits)

    def divide_by_power(self, exponent: int) -> None:
        """Records the denominator 2^exponent."""
        self._power = max(self._power, exponent)

    def divide_by(self, denominator: int) -> None:
        """Records a denominator as a power of two and an odd part."""
        twos = (denominator & -denominator).bit_length() - 1
        self.divide_by_power(twos)
        if denominator >> twos > 1:
            self._denominators.add(denominator >> twos)

    @property
    def bits(self) -> int:
        """Returns the bits of any constant's numerator over the common denominator."""
        return self._numerator + self._power + sum(each.bit_length() for each in self._denominators)


def constant(lift: Lift, term: Term) -> Value:
    """Returns the exact values of a constant."""
    element_type = term.array.element_type
    if isinstance(term.label, int):
        raw: NDArray[Any] = np.frombuffer(term.label.to_bytes(element_type.storage_bytes, "little"), np.uint8)
        array = as_array(raw.tobytes(), element_type, ())
    else:
        assert isinstance(term.label, bytes)  # constants hold bits or bytes
        array = as_array(term.label, element_type, term.array.dimensions)
    if element_type.name == "pred":
        return whole_reals(lift.draw, array.astype(np.uint64))
    if element_type.is_integral:
        return integers.known(lift.draw, array.astype(np.int64), element_type)
    if element_type.is_complex:
        parts = [
            _exact(lift, np.where(np.isfinite(each), each, 0.0).astype(np.float64)) for each in (array.real, array.imag)
        ]
        if not np.isfinite(array).all():
            lift.special[term] = frozenset({Convention.NAN})
            return lift.random(term.array, lift.hash(term))
        return functions.complex_of(*parts)
    if isinstance(term.label, int) and (element_type, term.label) in lift.derived:
        formula = lift.derived[element_type, term.label]
        return made(formula, lambda each: _finite(lift, each[0], each[1]))
    numbers = array.astype(np.float64)
    if np.isnan(numbers).any():
        lift.special[term] = frozenset({Convention.NAN})
        return lift.random(term.array, lift.hash(term))
    is_infinite = np.isinf(numbers)
    finite = np.where(is_infinite, 0.0, numbers)
    found = (_fractions(lift, element_type, array) if lift.has_fractions else None) or _exact(lift, finite)
    if not is_infinite.any():
        return found
    lift.special[term] = frozenset({Convention.INFINITY})
    for is_positive in (True, False):
        there = is_infinite & ((numbers > 0) == is_positive)
        found = where(there, functions.infinity(lift.draw, is_positive, array.shape), found)
    return found


def exponent_of(term: Term) -> Fraction | None:
    """Returns the finite number that all elements of a constant of floats have, None for other terms."""
    bits, kind = constant_bits(term), term.array.element_type
    value = None if bits is None or kind.is_complex else value_of(kind, bits)
    return Fraction(value) if value is not None and isfinite(value) else None


def _finite(lift: Lift, element_type: ElementType, bits: int) -> Real:
    """Returns a finite float as the simplest fraction that rounds to it."""
    raw = bits.to_bytes(element_type.storage_bytes, "little")
    array = as_array(raw, element_type, ())
    return _fractions(lift, element_type, array) or _exact(lift, array.astype(np.float64))


def _exact(lift: Lift, numbers: NDArray[np.float64]) -> Real:
    """Returns finite floats, each of which is a whole number times a power of two."""
    _, exponents = np.frexp(numbers)
    lift.heights.see(_MANTISSA_BITS + max(0, int(exponents.max(initial=0))))
    lift.heights.divide_by_power(_MANTISSA_BITS + max(0, -int(exponents.min(initial=0))))
    return Real(lift.draw, lift.draw.first.dyadic(numbers), lift.draw.second.dyadic(numbers))


def _fractions(lift: Lift, element_type: ElementType, array: NDArray[Any]) -> Real | None:
    """Returns the fractions that the numbers of a constant round; None where a constant has too many numbers."""
    values, places = np.unique(as_bits(array), return_inverse=True)
    if values.size > _MOST_FRACTIONS or element_type.name not in _ROUNDED:
        return None
    fractions = [simplest_fraction(element_type, int(bits)) or Fraction(0) for bits in values]
    try:
        residues = [moduli.rationals(fractions) for moduli in (lift.draw.first, lift.draw.second)]
    except ValueError:
        # One of the primes divides a denominator.
        return None
    for each in fractions:
        lift.heights.see(each.numerator.bit_length())
        lift.heights.divide_by(each.denominator)
    first, second = (each[:, places.reshape(array.shape)] for each in residues)
    return Real(lift.draw, first, second)


@lru_cache(maxsize=4096)
def simplest_fraction(element_type: ElementType, bits: int) -> Fraction | None:
    """Returns the simplest number that rounds to a float's bits, or None for infinities and NaN.

    That is a power of two times the fraction of the least denominator between 1 and 2. Different numbers of a type
    have different fractions: no number rounds to both.
    """
    value = decode_float(element_type.name, bits) if element_type.name in FLOAT_FORMATS else None
    if not isinstance(value, Fraction):
        return Fraction(0) if value == 0 else None
    neighbours = [decode_float(element_type.name, bits + step) for step in (-1, 1)]
    if value == 0 or not all(isinstance(each, Fraction) or each == 0 for each in neighbours):
        return value
    # The power of two that is not above the number, whose denominator is a power of two.
    scale = Fraction(2) ** (abs(value.numerator).bit_length() - value.denominator.bit_length())
    low, high = sorted(abs(value + Fraction(each)) / (2 * scale) for each in neighbours)
    found = scale * (1 if abs(value) == scale else _simplest_between(low, high))
    return -found if value < 0 else found


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Returns the fraction of the least denominator that is above one positive number and below another."""
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        # Between n and n + h, with h <= 1, it is n + 1/k for the least k with 1/k < h.
        return whole + Fraction(1, (1 / (high - whole)).__floor__() + 1)
    return whole + 1 / _simplest_between(1 / (high - whole), 1 / (low - whole))
