"""Values of constants, by their bits: what integers, predicates and floats are as exact numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dialect_utils.hlo.text.literals import FLOAT_FORMATS, decode_float
from dialect_utils.layout import ElementType
from dialect_utils.ops import Trait, by_opcode, has, named

Number = Fraction | int | float

_EXTREMES = named("maximum minimum")
# The neutral elements of integers and truth values; -1 has only ones.
_NEUTRAL = by_opcode({"add": 0, "or": 0, "xor": 0, "and": -1, "multiply": 1})


@lru_cache(maxsize=4096)
def value_of(element_type: ElementType, bits: int) -> Number | None:
    """Returns the exact number; -0.0, infinities and NaN as floats. None for types that have no numbers."""
    if element_type.name in FLOAT_FORMATS:
        return decode_float(element_type.name, bits)
    if element_type.is_complex:
        return None
    half = 1 << (element_type.bits - 1)
    return bits - 2 * half if element_type.is_signed and bits & half else bits


def is_nan(element_type: ElementType, bits: int) -> bool:
    """Is true for the bits of a NaN."""
    value = value_of(element_type, bits)
    return isinstance(value, float) and value != value


@lru_cache(maxsize=1024)
def infinity_bits(element_type: ElementType, *, negative: bool) -> int | None:
    """Returns the bits of an infinity, or None for types without."""
    form = FLOAT_FORMATS.get(element_type.name)
    if form is None or form.specials != "ieee":
        return None
    top = ((1 << form.exponent_bits) - 1) << form.mantissa_bits
    return top | (int(negative) << (form.exponent_bits + form.mantissa_bits))


def lowest_bits(element_type: ElementType) -> int | None:
    """Returns the bits of what no value is below (NaN aside), or None."""
    if element_type.is_signed:
        return 1 << (element_type.bits - 1)
    if element_type.is_unsigned or element_type.name == "pred":
        return 0
    return infinity_bits(element_type, negative=True)


def highest_bits(element_type: ElementType) -> int | None:
    """Returns the bits of what no value is above (NaN aside), or None."""
    if element_type.is_signed:
        return (1 << (element_type.bits - 1)) - 1
    if element_type.is_unsigned or element_type.name == "pred":
        return (1 << element_type.bits) - 1
    return infinity_bits(element_type, negative=False)


@lru_cache(maxsize=1024)
def float_bits(element_type: ElementType, value: float) -> int | None:
    """Returns the bits of a small exact number (1, -1, 0.5), or None where the type does not have it."""
    from dialect_utils.hlo.text.literals import parse_scalar

    try:
        bits = parse_scalar(element_type, repr(value))
    except ValueError:
        return None
    found = decode_float(element_type.name, bits)
    is_same = found == value and str(float(found)) == str(float(value))
    return bits if is_same else None


def number_bits(element_type: ElementType, value: int) -> int | None:
    """Returns the bits of a whole number in a type that has it, else None."""
    if element_type.is_integral:
        low = -(1 << (element_type.bits - 1)) if element_type.is_signed else 0
        return value % (1 << element_type.bits) if low <= value < low + (1 << element_type.bits) else None
    return float_bits(element_type, float(value)) if element_type.is_floating else None


def sign_bit(element_type: ElementType) -> int | None:
    """Returns the bit that says a float is negative, or None for types whose sign is no bit of its own."""
    form = FLOAT_FORMATS.get(element_type.name)
    if form is None or form.specials in ("e8m0", "fnuz"):
        return None
    return 1 << (form.exponent_bits + form.mantissa_bits)


def exact_log2(element_type: ElementType, bits: int) -> int | None:
    """Returns k where a float is 2^k and so far from the ends of the range that 2^-k is normal, too; else None."""
    value = value_of(element_type, bits)
    form = FLOAT_FORMATS.get(element_type.name)
    if form is None or form.specials != "ieee" or not isinstance(value, Fraction) or value <= 0:
        return None
    top, bottom = value.numerator, value.denominator
    if top & (top - 1) or bottom & (bottom - 1):
        return None
    power = top.bit_length() - bottom.bit_length()
    return power if abs(power) <= form.bias - 1 else None


def neutral_bits(opcode: str, element_type: ElementType) -> int | None:
    """Returns the bits that a reduction by an operation may take any number of times, or None."""
    if opcode in _EXTREMES:
        return lowest_bits(element_type) if opcode == "maximum" else highest_bits(element_type)
    if element_type.is_floating:
        return sign_bit(element_type) if opcode == "add" else float_bits(element_type, 1.0)
    if element_type.is_complex:
        return None
    return _NEUTRAL[opcode] % (1 << element_type.bits)


def is_idempotent(opcode: str, element_type: ElementType, bits: int | None) -> bool:
    """Is true where a reduction that takes an initial value once may take it again: +0 in a sum, any in a maximum."""
    if has(opcode, Trait.IDEMPOTENT) or (bits is not None and bits == neutral_bits(opcode, element_type)):
        return True
    if bits is None or opcode != "add":
        return False
    return bits == 0 if element_type.is_complex else value_of(element_type, bits) == 0


def is_exact(opcode: str, element_type: ElementType) -> bool:
    """Is true where a reduction does not depend on how its elements are grouped."""
    if opcode in _EXTREMES:
        return not element_type.is_complex
    return element_type.is_integral or element_type.name == "pred"
