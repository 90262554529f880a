"""Constants as residues."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.constants import as_array
from dialect_utils.hlo.text.literals import FLOAT_FORMATS, decode_float
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.verdict.field import arithmetic as field
from dialect_utils.verdict.field import functions, integers
from dialect_utils.verdict.field.arithmetic import P, Q
from dialect_utils.verdict.field.values import ROUNDS, Real, Value, where, whole_reals
from dialect_utils.verdict.proof.terms import Term

if TYPE_CHECKING:
    from dialect_utils.verdict.field.lift import Lift


# Different numbers in one constant whose fractions are looked for.
_MOST_FRACTIONS = 4096


def constant(lift: Lift, term: Term) -> Value:
    """Returns the exact values of a constant."""
    kind = term.array.element_type
    if isinstance(term.label, int):
        raw: NDArray[Any] = np.frombuffer(term.label.to_bytes(kind.storage_bytes, "little"), np.uint8)
        array = as_array(raw.tobytes(), kind, ())
    else:
        assert isinstance(term.label, bytes)  # so constants are made
        array = as_array(term.label, kind, term.array.dimensions)
    if kind.name == "pred":
        return whole_reals(array.astype(np.uint64))
    if not kind.is_floating:
        return integers.known(array.astype(np.int64), kind)
    numbers = array.astype(np.float64)
    if np.isnan(numbers).any():
        return lift.random(term.array, lift.hash(term))
    finite = np.where(np.isinf(numbers), 0.0, numbers)
    found = _fractions(kind, array) if lift.has_fractions else None
    if found is None:
        first, second = (field.dyadic(finite, prime)[..., None].repeat(ROUNDS, axis=-1) for prime in (P, Q))
        found = Real(first, second)
    for is_positive in (True, False):
        there = np.isinf(numbers) & ((numbers > 0) == is_positive)
        found = where(there, functions.infinity(is_positive), found)
    return found


def _fractions(kind: ElementType, array: NDArray[Any]) -> Real | None:
    """Returns the fractions that the numbers of a constant round; None where a constant has too many numbers."""
    values, places = np.unique(as_bits(array), return_inverse=True)
    if values.size > _MOST_FRACTIONS:
        return None
    fractions = [simplest_fraction(kind, int(bits)) or Fraction(0) for bits in values]
    try:
        residues = [np.array([field.rational(each, prime) for each in fractions], np.uint64) for prime in (P, Q)]
    except ValueError:
        # A denominator is a multiple of a prime.
        return None
    first, second = (each[places.reshape(array.shape)][..., None].repeat(ROUNDS, axis=-1) for each in residues)
    return Real(first, second)


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
    scale = Fraction(2) ** _binary_exponent(abs(value))
    low, high = sorted(abs(value + Fraction(each)) / (2 * scale) for each in neighbours)
    found = scale * (1 if abs(value) == scale else _simplest_between(low, high))
    return -found if value < 0 else found


def _binary_exponent(value: Fraction) -> int:
    """Returns the power of two that is not above a positive number whose denominator is one."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Returns the fraction of the least denominator that is above one positive number and below another."""
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        # Between n and n + 1 / k, which is at most n + 1.
        return whole + Fraction(1, (1 / (high - whole)).__floor__() + 1)
    return whole + 1 / _simplest_between(1 / (high - whole), 1 / (low - whole))
