"""Reads and writes the literals of scalars; XLA reads a written literal back to the same bits.

Source: xla/hlo/parser/hlo_parser.cc (ParseDenseLiteral, SetValueInLiteral): a decimal is read
as a double and rounded to the type; `nan(0x...)` carries a payload. The small floating-point
types are decoded by their definition in ml_dtypes' README and xla/xla_data.proto.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import frexp, isinf, isnan

from dialect_utils.layout import ElementType
from dialect_utils.text import without_comments

_SPECIAL = re.compile(r"-?(nan|inf)(?:\((0x[0-9a-fA-F]+)\))?", re.ASCII)
# The numbers of XLA's lexer: no plus, no hexadecimal digits, and no point in front without a minus.
_INTEGER = re.compile(r"(?P<sign>-?)(?P<digits>\d+)", re.ASCII)
_MOST_DIGITS = 20
_DECIMAL = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|-\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
_COMPLEX = re.compile(r"\(\s*([^\s,()]+(?:\(0x\w+\))?)\s*,\s*([^\s,()]+(?:\(0x\w+\))?)\s*\)", re.ASCII)
_COMPLEX_ELEMENT = re.compile(r"\([^(){}]*(?:\(0x\w+\)[^(){}]*)*\)", re.ASCII)
_ELEMENT = re.compile(r"[\w.+\-]+(?:\(0x\w+\))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """The bit fields of a floating-point type.

    `specials` names the encodings that are not finite numbers: `ieee` (inf and NaN at the top exponent),
    `fn` (NaN at all ones only), `fnuz` (NaN at what would be -0), `finite` (none) or `e8m0`
    (no sign, NaN at all ones).
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: str


FLOAT_FORMATS = {
    "f64": FloatFormat(11, 52, 1023, "ieee"),
    "f32": FloatFormat(8, 23, 127, "ieee"),
    "bf16": FloatFormat(8, 7, 127, "ieee"),
    "f16": FloatFormat(5, 10, 15, "ieee"),
    "f8e5m2": FloatFormat(5, 2, 15, "ieee"),
    "f8e4m3": FloatFormat(4, 3, 7, "ieee"),
    "f8e3m4": FloatFormat(3, 4, 3, "ieee"),
    "f8e4m3fn": FloatFormat(4, 3, 7, "fn"),
    "f8e4m3b11fnuz": FloatFormat(4, 3, 11, "fnuz"),
    "f8e5m2fnuz": FloatFormat(5, 2, 16, "fnuz"),
    "f8e4m3fnuz": FloatFormat(4, 3, 8, "fnuz"),
    "f8e8m0fnu": FloatFormat(8, 0, 127, "e8m0"),
    "f6e2m3fn": FloatFormat(2, 3, 1, "finite"),
    "f6e3m2fn": FloatFormat(3, 2, 3, "finite"),
    "f4e2m1fn": FloatFormat(2, 1, 1, "finite"),
}


_E8M0_LEAST = 2.0**-127
# XLA's Literal::Set casts a double to these types through float, so 16744.000016744 is read as a tie.
_BY_WAY_OF_F32 = ("bf16", "f16")
_LARGEST_F32 = float.fromhex("0x1.fffffep127")


# Passes make many constants of few values.
@lru_cache(maxsize=1 << 10)
def format_scalar(element_type: ElementType, bits: int) -> str:
    """Returns the literal of a scalar with these bits, as it is in `constant(...)`.

    Integers are two's complement, a complex number has its real part in the low half (XLA does
    not keep a NaN's payload in one). Raises ValueError where the bits do not fit the type.
    """
    if not 0 <= bits < 1 << element_type.bits:
        raise ValueError(f"{bits:#x} does not fit the {element_type.bits} bits of {element_type}")
    if element_type.name == "pred":
        return "true" if bits else "false"
    if element_type.is_complex:
        part = element_type.part
        real, imaginary = bits & ((1 << part.bits) - 1), bits >> part.bits
        return f"({_format_float(part.name, real)}, {_format_float(part.name, imaginary)})"
    if element_type.is_floating:
        return _format_float(element_type.name, bits)
    sign = 1 << (element_type.bits - 1)
    return str(bits - 2 * sign if element_type.is_signed and bits & sign else bits)


def bits_of_one(element_type: ElementType) -> int:
    """Returns the bits of 1, those of -1 for s1; raises KeyError for complex types."""
    if not element_type.is_inexact:
        return 1
    written = FLOAT_FORMATS[element_type.name]
    return written.bias << written.mantissa_bits


def parse_scalar(element_type: ElementType, text: str) -> int:
    """Returns the bits of a scalar literal, the inverse of `format_scalar`; raises ValueError.

    A decimal is read as a double and rounded to nearest, ties to even, as XLA does.
    """
    text = text.strip()
    name = element_type.name
    if name == "pred":
        # XLA reads pred from integers too.
        return {"true": 1, "false": 0}[text] if text in ("true", "false") else int(int(text) != 0)
    if element_type.is_complex:
        match = _COMPLEX.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a complex number (real, imaginary)")
        part = element_type.part
        return _parse_float(part.name, match[1]) | _parse_float(part.name, match[2]) << part.bits
    if element_type.is_floating:
        return _parse_float(name, text)
    value, (low, high) = int(text), integer_range(element_type)
    if not low <= value <= high:
        raise ValueError(f"{value} does not fit {name}")
    return value & ((1 << element_type.bits) - 1)


def integer_range(element_type: ElementType) -> tuple[int, int]:
    """Returns the least and the largest integer that the literal of an integer type may be."""
    low, high = element_type.integer_range
    # XLA's lexer reads a negative number as an int64, whose bits it keeps.
    return -(1 << 63) if element_type.name == "u64" else low, high


def splat_scalar(element_type: ElementType, count: int, text: str) -> int | None:
    """Returns the bits that all `count` elements of a literal text have, or None where they differ.

    None for an elided literal `{...}` too.
    """
    code = without_comments(text)
    pattern = _COMPLEX_ELEMENT if element_type.is_complex else _ELEMENT
    elements = pattern.findall(code)
    if len(elements) != count or "..." in code:
        return None
    try:
        found = {parse_scalar(element_type, element) for element in set(elements)}
    except ValueError:
        return None
    return found.pop() if len(found) == 1 else None


def decode_float(name: str, bits: int) -> Fraction | float:
    """Returns the exact value of a float's bits; inf, -inf and nan as floats, and -0.0."""
    form = FLOAT_FORMATS[name]
    mantissa = bits & ((1 << form.mantissa_bits) - 1)
    exponent = (bits >> form.mantissa_bits) & ((1 << form.exponent_bits) - 1)
    negative = form.specials != "e8m0" and bool(bits >> (form.exponent_bits + form.mantissa_bits))
    special = _special(form, negative, exponent, mantissa)
    if special is not None:
        return special
    if form.specials == "e8m0":
        return Fraction(2) ** (exponent - form.bias)
    fraction = mantissa + (1 << form.mantissa_bits if exponent else 0)
    value = fraction * Fraction(2) ** (max(exponent, 1) - form.bias - form.mantissa_bits)
    if negative:
        return -value if value else -0.0
    return value


def _special(form: FloatFormat, negative: bool, exponent: int, mantissa: int) -> float | None:
    top = exponent == (1 << form.exponent_bits) - 1
    full = mantissa == (1 << form.mantissa_bits) - 1
    nan, infinity = float("nan"), float("-inf") if negative else float("inf")
    if form.specials == "ieee":
        return (nan if mantissa else infinity) if top else None
    if form.specials in ("fn", "e8m0"):
        return nan if top and full else None
    if form.specials == "fnuz":
        return nan if negative and not exponent and not mantissa else None
    return None


def _format_float(name: str, bits: int) -> str:
    value = decode_float(name, bits)
    if isinstance(value, float):
        if isnan(value):
            form = FLOAT_FORMATS[name]
            sign = "-" if form.specials != "e8m0" and bits >> (form.exponent_bits + form.mantissa_bits) else ""
            payload = bits & ((1 << form.mantissa_bits) - 1)
            quiet = 1 << (form.mantissa_bits - 1) if form.mantissa_bits else 0
            # Without a payload XLA makes the quiet NaN; only IEEE types have any other.
            return f"{sign}nan" if form.specials != "ieee" or payload == quiet else f"{sign}nan({payload:#x})"
        if isinf(value):
            return "inf" if value > 0 else "-inf"
        return "-0.0"
    exact = float(value)
    if Fraction(exact) != value:
        raise ValueError(f"{value} is not a double")
    if name == "f32":
        for digits in range(6, 17):
            text = f"{exact:.{digits}g}"
            # XLA reads a double and rounds it; the round trip has to go the same way.
            if struct.unpack("<f", struct.pack("<f", float(text)))[0] == exact:
                return _tidy(text)
        return _tidy(repr(exact))
    # A double's shortest text reads back to it, and so to the narrower value that it is exactly.
    return _tidy(repr(exact))


def _parse_float(name: str, text: str) -> int:
    form = FLOAT_FORMATS[name]
    match = _SPECIAL.fullmatch(text)
    negative = text.startswith("-")
    sign = negative << (form.exponent_bits + form.mantissa_bits)
    if match is None:
        return _encode(form, name, _double(text))
    top = ((1 << form.exponent_bits) - 1) << form.mantissa_bits
    full = (1 << form.mantissa_bits) - 1
    if form.specials == "ieee":
        if match[1] == "inf":
            return sign | top
        return sign | top | (int(match[2], 16) if match[2] else 1 << (form.mantissa_bits - 1))
    if form.specials == "fnuz":
        return 1 << (form.exponent_bits + form.mantissa_bits)
    if form.specials == "finite" and match[1] == "nan":
        # XLA converts it, without an error, to a zero of the other sign.
        return (not negative) << (form.exponent_bits + form.mantissa_bits)
    # XLA converts an infinity to the type's NaN, and in a type without NaN to the largest number.
    return (0 if form.specials == "e8m0" else sign) | top | full


def parse_integer(text: str) -> int | None:
    """Returns the integer that a text is, None for any other text; more than 20 digits give 10^20, beyond all types.

    Python takes long for thousands of digits, or refuses them.
    """
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, digits = match["sign"], match["digits"].lstrip("0") or "0"
    return int(sign + (digits if len(digits) <= _MOST_DIGITS else "1" + "0" * _MOST_DIGITS))


def _double(text: str) -> float:
    """Returns the number that XLA's lexer reads; raises ValueError."""
    integer = parse_integer(text)
    if integer is not None:
        # XLA's lexer reads an integer of 64 bits; an integer beyond s64 becomes negative.
        if not -(1 << 63) <= integer < 1 << 64:
            raise ValueError(f"{text[:40]} does not fit 64 bits")
        # XLA prints -0.0 as `-0`, but reads `-0` as +0.0; here `-0` is -0.0, the number that was printed.
        return float(text) if integer < 1 << 63 else float(integer - (1 << 64))
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is not a number")
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:40]} does not fit f64")
    return number


def _encode(form: FloatFormat, name: str, value: float) -> int:
    """Rounds a double to nearest, ties to even; bf16 and f16 by way of f32, as XLA's parser does."""
    if name in _BY_WAY_OF_F32 and abs(value) <= _LARGEST_F32:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    negative = str(value).startswith("-")
    if value == 0:
        if form.specials == "e8m0":
            raise ValueError(f"{name} has no zero")
        has_negative_zero = negative and form.specials != "fnuz"
        return has_negative_zero << (form.exponent_bits + form.mantissa_bits)
    if negative and form.specials == "e8m0":
        raise ValueError(f"{name} has no negative numbers")
    if form.specials == "e8m0" and _E8M0_LEAST < value < 2 * _E8M0_LEAST:
        return 1  # between the two least numbers XLA sees a subnormal f32 and rounds it up
    exponent = frexp(value)[1] - 1 + form.bias
    if form.specials != "e8m0":
        exponent = max(exponent, 1)
    quantum = Fraction(2) ** (exponent - form.bias - form.mantissa_bits)
    # A mantissa rounded up to the next power of two carries into the exponent by itself.
    magnitude = ((exponent - 1) << form.mantissa_bits) + round(abs(Fraction(value)) / quantum)
    limit = form.exponent_bits + form.mantissa_bits
    if form.specials == "e8m0":
        magnitude = max(magnitude, 0)
    if form.specials == "finite":
        magnitude = min(magnitude, (1 << limit) - 1)
    if magnitude >= 1 << limit or isinstance(decode_float(name, magnitude), float):
        raise ValueError(f"{value} does not fit {name}")
    # fnuz types have no negative zero.
    keeps_sign = magnitude != 0 or form.specials != "fnuz"
    return magnitude | ((negative and keeps_sign) << limit)


def _tidy(text: str) -> str:
    return text.removesuffix(".0")
