"""Bits of element types: the special ones, and random ones."""

from __future__ import annotations

import random
from functools import cache

from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ElementType

_EXHAUSTIVE_BITS = 4


@cache
def special_bits(element_type: ElementType) -> tuple[int, ...]:
    """Returns the bits near the ends of every range: zeros, ones, subnormals, infinities, NaNs, largest integers."""
    width = element_type.bits
    if width <= _EXHAUSTIVE_BITS:
        return tuple(range(1 << width))
    top = 1 << (width - 1)
    found = {0, 1, 2, 3, top - 1, top, top + 1, (1 << width) - 1, (1 << width) - 2, width, width - 1}
    if element_type.is_floating:
        form = FLOAT_FORMATS[element_type.name]
        unit = 1 << form.mantissa_bits
        exponents = (0, 1, form.bias - 1, form.bias, form.bias + 1, (1 << form.exponent_bits) - 2)
        magnitudes = {exponent * unit + more for exponent in exponents for more in (0, 1, unit // 2, unit - 1)}
        infinity = ((1 << form.exponent_bits) - 1) * unit
        magnitudes |= {infinity, infinity + 1, infinity + unit // 2, infinity + unit - 1}
        found |= magnitudes | {top | each for each in magnitudes}
    return tuple(sorted(each & ((1 << width) - 1) for each in found))


def random_bits(element_type: ElementType, rng: random.Random) -> int:
    """Returns special bits, bits near an exponent that is not far from 1, or any bits."""
    form = FLOAT_FORMATS.get(element_type.name)
    style = rng.random()
    if style < 0.3:
        return rng.choice(special_bits(element_type))
    if style < 0.6 and form is not None and form.specials == "ieee":
        exponent = rng.randint(max(form.bias - 9, 0), form.bias + 9) << form.mantissa_bits
        return (exponent | rng.getrandbits(form.mantissa_bits) | rng.getrandbits(1) << (element_type.bits - 1)) & (
            (1 << element_type.bits) - 1
        )
    if style < 0.6:
        return rng.randint(-9, 9) & ((1 << element_type.bits) - 1)
    return rng.getrandbits(element_type.bits)
