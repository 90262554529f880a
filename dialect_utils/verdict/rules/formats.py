"""Properties of number formats: the sign, the special values, the ends of the range, and exact numbers as bits."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dialect_utils.hlo.text.literals import FLOAT_FORMATS, decode_float, parse_scalar
from dialect_utils.layout import ElementType

Number = Fraction | int | float

# Properties that guards name, for integers, truth values and floats.
PROPERTIES = ("float", "integer", "signed", "unsigned", "pred", "complex", "sign", "opposites", "nan", "infinities")


@lru_cache(maxsize=1024)
def has(element_type: ElementType, name: str) -> bool:
    """Is true where a format has a property.

    `sign`: the top bit of a float is its sign, and flipping it negates every value. `opposites`: every value of a float
    format has its opposite (0 may be its own). `nan` and `infinities`: some bits are a NaN, an infinity.
    """
    form = FLOAT_FORMATS.get(element_type.name)
    specials = None if form is None else form.specials
    found = {
        "float": specials is not None,
        "integer": element_type.is_integral,
        "signed": element_type.is_signed,
        "unsigned": element_type.is_unsigned,
        "pred": element_type.name == "pred",
        "complex": element_type.is_complex,
        "sign": specials in ("ieee", "fn", "finite"),
        "opposites": specials in ("ieee", "fn", "finite", "fnuz"),
        "nan": element_type.is_complex or specials in ("ieee", "fn", "fnuz", "e8m0"),
        "infinities": element_type.is_complex or specials == "ieee",
    }
    return found[name]


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
    """Returns the bits of the lowest value (NaN aside), or None."""
    if element_type.is_signed:
        return 1 << (element_type.bits - 1)
    if element_type.is_unsigned or element_type.name == "pred":
        return 0
    return infinity_bits(element_type, negative=True)


def highest_bits(element_type: ElementType) -> int | None:
    """Returns the bits of the highest value (NaN aside), or None."""
    if element_type.is_signed:
        return (1 << (element_type.bits - 1)) - 1
    if element_type.is_unsigned or element_type.name == "pred":
        return (1 << element_type.bits) - 1
    return infinity_bits(element_type, negative=False)


@lru_cache(maxsize=1024)
def _exact_bits(element_type: ElementType, text: str) -> int | None:
    try:
        bits = parse_scalar(element_type, text)
    except ValueError:
        return None
    found = decode_float(element_type.name, bits)
    return bits if found == float(text) and str(float(found)) == str(float(text)) else None


def float_bits(element_type: ElementType, value: float) -> int | None:
    """Returns the bits of a small exact number (1, -1, 0.5, -0.0), or None where the type does not have it."""
    return _exact_bits(element_type, repr(value))


def number_bits(element_type: ElementType, value: int) -> int | None:
    """Returns the bits of a whole number in a type that has it, else None."""
    if element_type.is_integral:
        low = -(1 << (element_type.bits - 1)) if element_type.is_signed else 0
        return value % (1 << element_type.bits) if low <= value < low + (1 << element_type.bits) else None
    return float_bits(element_type, float(value)) if element_type.name in FLOAT_FORMATS else None


@lru_cache(maxsize=4096)
def word_bits(element_type: ElementType, word: str) -> int | None:
    """Returns the bits of a word of a pattern (`3`, `-0.0`, `lowest`, `ones`, `true`) in a type, else None."""
    if word in ("lowest", "highest"):
        return lowest_bits(element_type) if word == "lowest" else highest_bits(element_type)
    if word in ("zeros", "ones"):
        return None if element_type.name in FLOAT_FORMATS else (word == "ones") * ((1 << element_type.bits) - 1)
    if element_type.name == "pred":
        return {"false": 0, "true": 1}.get(word)
    if element_type.is_integral:
        return None if "." in word else number_bits(element_type, int(word))
    return float_bits(element_type, float(word)) if element_type.name in FLOAT_FORMATS else None


def has_whole_ends(element_type: ElementType) -> bool:
    """Is true where the largest numbers of a float format with infinities are whole (15.5 of f8e3m4 is not)."""
    form = FLOAT_FORMATS.get(element_type.name)
    return form is not None and form.specials == "ieee" and form.bias >= form.mantissa_bits


def mantissa_digits(element_type: ElementType) -> int:
    """Returns how many binary digits a normal float has, the first one included; 0 for other types."""
    form = FLOAT_FORMATS.get(element_type.name)
    return 0 if form is None else form.mantissa_bits + 1


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


def sort_key(element_type: ElementType, bits: int) -> tuple[Number, int]:
    """Returns a key that orders numbers as maximum does: -0 below +0."""
    value = value_of(element_type, bits)
    assert value is not None  # complex numbers are not ordered
    return value, 0 if str(value) == "-0.0" else 1


@lru_cache(maxsize=1024)
def is_lossless(source: ElementType, target: ElementType) -> bool:
    """Is true where a conversion from one type to the other keeps every value, and a NaN stays a NaN."""
    if source.is_complex or target.is_complex or target.name == "pred":
        return source == target
    digits = _integer_digits(source)
    target_form = FLOAT_FORMATS.get(target.name)
    if digits is not None:
        if target_form is not None:
            return (
                target_form.specials == "ieee"
                and digits <= target_form.mantissa_bits + 1
                and (digits < 1 << (target_form.exponent_bits - 1))
            )
        wider = _integer_digits(target)
        return wider is not None and digits <= wider and (target.is_signed or not source.is_signed)
    form = FLOAT_FORMATS.get(source.name)
    if form is None or target_form is None:
        return False
    if form == target_form:
        return True
    if target_form.specials != "ieee" or form.specials == "e8m0":
        return False
    # The largest exponent; IEEE types have infinities and NaN at the top one.
    top = (1 << form.exponent_bits) - form.bias - (2 if form.specials == "ieee" else 1)
    bottom = form.bias + form.mantissa_bits
    return (
        form.mantissa_bits <= target_form.mantissa_bits
        and top <= (1 << target_form.exponent_bits) - 2 - target_form.bias
        and bottom <= target_form.bias + target_form.mantissa_bits - 1
    )


def _integer_digits(element_type: ElementType) -> int | None:
    """Returns how many binary digits an integer's magnitude has, None for other types."""
    if element_type.name == "pred":
        return 1
    if not element_type.is_integral:
        return None
    return element_type.bits - int(element_type.is_signed)
