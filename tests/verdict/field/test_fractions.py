"""The simplest number that rounds to a constant: it rounds to it, and no simpler one does."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dialect_utils.hlo.text.literals import decode_float, parse_scalar
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.field.constants import simplest_fraction


@pytest.mark.parametrize(
    ("kind", "text", "fraction"),
    [
        ("f32", "0.1", Fraction(1, 10)),
        ("f32", "0.333333343", Fraction(1, 3)),
        ("f32", "-0.00130208337", Fraction(-1, 768)),
        ("f32", "1.02", Fraction(51, 50)),
        ("f64", "0.1", Fraction(1, 10)),
        ("bf16", "0.0009765625", Fraction(1, 1024)),
        ("f16", "65504", Fraction(65504)),
        ("f32", "16777217", Fraction(16777216)),
        ("f32", "0", Fraction(0)),
        ("f32", "-0", Fraction(0)),
        ("f32", "inf", None),
        ("f32", "nan", None),
    ],
)
def test_what_a_constant_was_before_it_was_rounded(kind: str, text: str, fraction: Fraction | None) -> None:
    element_type = ELEMENT_TYPES[kind]
    assert simplest_fraction(element_type, parse_scalar(element_type, text)) == fraction


@given(st.sampled_from(["f32", "f16", "bf16", "f64"]), st.integers(0, (1 << 63) - 1))
def test_it_is_nearer_to_the_constant_than_to_its_neighbours(kind: str, bits: int) -> None:
    element_type = ELEMENT_TYPES[kind]
    bits %= 1 << (element_type.bits - 1)
    value, found = decode_float(kind, bits), simplest_fraction(element_type, bits)
    if found is None or not isinstance(value, Fraction):
        return
    for other in (bits - 1, bits + 1):
        neighbour = decode_float(kind, other) if other >= 0 else -decode_float(kind, 1)
        if isinstance(neighbour, Fraction):
            assert abs(found - value) < abs(found - neighbour)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(-20, 20))
def test_small_fractions_are_found_and_scale_with_powers_of_two(top: int, bottom: int, power: int) -> None:
    f32 = ELEMENT_TYPES["f32"]
    expected = Fraction(top, bottom) * Fraction(2) ** power
    assert simplest_fraction(f32, parse_scalar(f32, repr(float(expected)))) == expected
