from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from jaxlib._hlo import hlo_module_from_text

from dialect_utils.hlo import decode_float, format_scalar, parse_scalar
from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.hlo.verification.literals import literal_problem
from dialect_utils.layout import ELEMENT_TYPES, parse_shape

NUMPY_NAMES = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16"}
SMALL = [name for name in FLOAT_FORMATS if ELEMENT_TYPES[name].bits <= 8]


def numpy_type(name: str) -> np.dtype[np.generic]:
    long_name = NUMPY_NAMES.get(name, f"float{name[1:].replace('e', '_e', 1)}")
    return np.dtype(getattr(ml_dtypes, long_name, None) or long_name)


@pytest.mark.parametrize("name", [*SMALL, "f16", "bf16"])
def test_every_value_of_the_narrow_types(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    dtype = numpy_type(name)
    for bits in range(0, 1 << element_type.bits, 1 if name in SMALL else 37):
        with np.errstate(invalid="ignore"):
            (value,) = np.array([bits], dtype=f"u{dtype.itemsize}").view(dtype).astype(np.float64)
        decoded = decode_float(name, bits)
        if np.isfinite(value) and value:
            assert decoded == Fraction(float(value))
        else:
            np.testing.assert_equal(float(decoded), float(value))
        assert parse_scalar(element_type, format_scalar(element_type, bits)) == bits


@pytest.mark.parametrize("name", [*SMALL, "f16", "bf16"])
@given(number=st.floats(-600, 600) | st.floats(-1e-3, 1e-3))
def test_decimals_round_as_in_ml_dtypes(name: str, number: float) -> None:
    if name == "f8e8m0fnu":
        number = abs(number)
    dtype = numpy_type(name)
    with np.errstate(over="ignore"):
        rounded = np.array([number]).astype(np.float32 if name == "f16" else np.float64).astype(dtype)
    # XLA rejects a number that does not fit; ml_dtypes saturates, or gives inf or NaN.
    if abs(number) > float(ml_dtypes.finfo(dtype).max) or (name == "f8e8m0fnu" and number < 2.0**-127):
        return
    assert parse_scalar(ELEMENT_TYPES[name], repr(number)) == int(rounded.view(f"u{dtype.itemsize}")[0])


@pytest.mark.parametrize(
    ("number", "bits"), [("5.877471754111438e-39", 0), ("5.9e-39", 1), ("1.1754943508222875e-38", 1), ("1.7e-38", 1)]
)
def test_the_least_numbers_without_a_mantissa_are_rounded_as_xla_rounds(number: str, bits: int) -> None:
    """XLA of jaxlib 0.10.2 prints 5.9e-39 as 1.2e-38, and so does ml_dtypes."""
    assert parse_scalar(ELEMENT_TYPES["f8e8m0fnu"], number) == bits
    assert int(np.array([float(number)]).astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)[0]) == bits


@pytest.mark.parametrize(
    ("name", "text", "bits"),
    [
        # Above the middle of two numbers; rounded to f32 first, exactly in the middle.
        ("f16", "16744.000016744", 0x7416),
        ("bf16", "7.305267509338799e-14", 0x29A4),
        ("f8e5m2", "208.00000020800002", 0x5B),
        ("bf16", "-3.39e+38", 0xFF7F),
    ],
)
def test_bf16_and_f16_are_rounded_by_way_of_f32(name: str, text: str, bits: int) -> None:
    assert parse_scalar(ELEMENT_TYPES[name], text) == bits


@pytest.mark.parametrize("name", [name for name in FLOAT_FORMATS if name != "f64"])
def test_decimals_between_two_numbers_are_read_as_xla_reads_them(name: str) -> None:
    texts = list(_between(name))
    lines = "".join(f"  v{i} = {name}[] constant({text})\n" for i, text in enumerate(texts))
    result = ", ".join([f"{name}[]"] * len(texts))
    names = ", ".join(f"v{i}" for i in range(len(texts)))
    module = f"HloModule m\nENTRY e {{\n{lines}  ROOT t = ({result}) tuple({names})\n}}\n"
    printed = re.findall(r"= \S+ constant\(([^)]*)\)", hlo_module_from_text(module).to_string())
    element_type = ELEMENT_TYPES[name]
    assert [parse_scalar(element_type, text) for text in texts] == [parse_scalar(element_type, x) for x in printed]


def _between(name: str) -> Iterator[str]:
    """Yields decimals in and next to the middle of neighbouring numbers of a type."""
    random, form = Random(0), FLOAT_FORMATS[name]
    for _ in range(40):
        low = random.randrange(0, (1 << (form.exponent_bits + form.mantissa_bits)) - 2)
        pair = decode_float(name, low), decode_float(name, low + 1)
        if name == "f8e8m0fnu" and low < 2:
            continue
        if all(isinstance(number, Fraction) for number in pair):
            middle = float((Fraction(pair[0]) + Fraction(pair[1])) / 2)
            yield from (repr(middle * (1 + distance)) for distance in (0, 1e-9, -1e-9, 1e-12, -1e-12))


EDGES = "0 0.0 -0.0 1 -1 1e-50 -1e-50 1e50 -1e50 1e400 -1e400 1e-400 inf -inf nan -nan 5. .5 -.5 00012 1e 1_0 +1 0x1p3"
INTEGERS = "9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616 infinity"


@pytest.mark.parametrize("name", FLOAT_FORMATS)
def test_the_range_of_a_type_is_that_of_xla(name: str) -> None:
    """A number is in range if it rounds to a finite one, by way of f32 for bf16 and f16."""
    random, shape = Random(1), parse_shape(f"{name}[]")
    largest = float(ml_dtypes.finfo(numpy_type(name)).max)
    near = [largest * random.choice([1.0, 1.0001, 1.0005, 1.002, random.uniform(0.9, 1.2), 2.0]) for _ in range(50)]
    texts = [*EDGES.split(), *INTEGERS.split(), *(repr(random.choice([1, -1]) * value) for value in near)]
    accepted = 0
    for text in texts:
        read = read_by_xla(name, text)
        assert (literal_problem(text, shape) is None) == (read is not None), text
        accepted += read is not None
        # XLA prints the least number of this type, 5.877e-39, as 5.9e-39, which it reads as the next one.
        if read is not None and not (name == "f8e8m0fnu" and abs(float(text)) < 1e-38):
            assert parse_scalar(ELEMENT_TYPES[name], text) == parse_scalar(ELEMENT_TYPES[name], read), text
    assert 10 < accepted < len(texts)


@pytest.mark.parametrize("name", ["s8", "u8", "s32", "u32", "u64"])
def test_the_range_of_an_integer_type_is_that_of_xla(name: str) -> None:
    """Only u64 takes negative numbers, whose bits stay."""
    kind, half = ELEMENT_TYPES[name], 1 << (ELEMENT_TYPES[name].bits - 1)
    for value in (-2 * half - 1, -half - 1, -half, -1, 0, half - 1, half, 2 * half - 1, 2 * half):
        read = read_by_xla(name, str(value))
        assert (literal_problem(str(value), parse_shape(f"{name}[]")) is None) == (read is not None), value
        if read is not None:
            assert parse_scalar(kind, str(value)) == parse_scalar(kind, read) == value % (2 * half)
        else:
            with pytest.raises(ValueError, match="does not fit"):
                parse_scalar(kind, str(value))


def read_by_xla(name: str, text: str) -> str | None:
    try:
        module = hlo_module_from_text(f"HloModule m\nENTRY e {{\n  ROOT c = {name}[] constant({text})\n}}\n")
    except RuntimeError:
        return None
    return str(module.to_string()).split("constant(")[1].split("\n")[0].rpartition(")")[0]


@given(st.integers(0, 2**32 - 1))
def test_f32(bits: int) -> None:
    text = format_scalar(ELEMENT_TYPES["f32"], bits)
    assert parse_scalar(ELEMENT_TYPES["f32"], text) == bits
    if "nan" not in text:
        assert int(np.array([float(text)]).astype(np.float32).view(np.uint32)[0]) == bits


@given(st.sampled_from(sorted(ELEMENT_TYPES)), st.data())
def test_every_type_comes_back(name: str, data: st.DataObject) -> None:
    element_type = ELEMENT_TYPES[name]
    bits = data.draw(st.integers(0, (1 << element_type.bits) - 1))
    assert parse_scalar(element_type, format_scalar(element_type, bits)) == bits


def test_examples() -> None:
    cases = [
        ("f32", 0x3DCCCCCD, "0.1"),
        ("f32", 0x80000000, "-0.0"),
        ("f32", 0x7F800000, "inf"),
        ("f32", 0xFF800000, "-inf"),
        ("f32", 0x7FC00000, "nan"),
        ("f32", 0xFF800001, "-nan(0x1)"),
        ("bf16", 0x3DCD, "0.10009765625"),
        ("pred", 1, "true"),
        ("s4", 0x8, "-8"),
        ("u64", 2**64 - 1, "18446744073709551615"),
        ("s64", 2**63, "-9223372036854775808"),
        ("c64", 0x4000_0000_3F80_0000, "(1, 2)"),
    ]
    for name, bits, text in cases:
        assert format_scalar(ELEMENT_TYPES[name], bits) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s8", "128"),
        ("u8", "-1"),
        ("f16", "65520"),
        ("f8e4m3fn", "464.00001"),
        ("f8e8m0fnu", "0"),
        ("f8e8m0fnu", "-1"),
        ("c64", "1"),
        ("f32", "x"),
        ("f32", "1_0"),
    ],
)
def test_literals_that_do_not_fit_are_rejected(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_scalar(ELEMENT_TYPES[name], text)


def test_bits_that_do_not_fit_are_rejected() -> None:
    with pytest.raises(ValueError, match="8 bits"):
        format_scalar(ELEMENT_TYPES["s8"], 256)
