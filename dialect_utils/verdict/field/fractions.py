"""Constants as the fractions that they were before they were rounded."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dialect_utils.hlo.text.literals import FLOAT_FORMATS, decode_float
from dialect_utils.layout import ElementType


@lru_cache(maxsize=4096)
def simplest_fraction(element_type: ElementType, bits: int) -> Fraction | None:
    """Returns the simplest number that rounds to a float's bits, or None for what is not finite.

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
