"""Conventions: an equality that needs one names it, and an equality that does not names none."""

from __future__ import annotations

import re

import pytest

from dialect_utils.verdict.field.constants import Heights
from dialect_utils.verdict.field.degree import Size, chance_of_a_round
from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E, binary, compare, convert, full, select, unary

SIZES = (3, 4)
X, Y, Z = (ex.parameter(i, "f32", SIZES) for i in range(3))
P = ex.parameter(3, "pred", SIZES)
WHOLE = ex.parameter(4, "s32", SIZES)


def number(value: object) -> E:
    return full("f32", value, SIZES)


def truth(value: str) -> E:
    return full("pred", value, SIZES)


def decided(first: E, second: E, seed: int | None = None) -> ProofResult:
    parameters = ex.parameters_of(first, second)
    modules = [parse(ex.module(side, parameters=parameters)) for side in (first, second)]
    return try_prove(modules, over_reals=True, field_seed=seed)


QUOTIENT, ROOT, CONVERSIONS, NOT_NAN = "x/x = 1", "sqrt(x) squared = x", "float conversions", "no NaN"
INFINITY = "infinity is a number"
NAMED: dict[str, tuple[E, E, set[str]]] = {
    "a number over itself": (X / X, number(1), {QUOTIENT}),
    "a quotient times the divisor": (X / Y * Y, X, {QUOTIENT}),
    "a root": (unary("sqrt", X) * unary("sqrt", X), X, {ROOT}),
    "a reciprocal root": (unary("rsqrt", X) * unary("rsqrt", X) * X, number(1), {ROOT}),
    "a narrower float": (convert(convert(X, "bf16"), "f32") + Y + Z, X + (Y + Z), {CONVERSIONS}),
    "a rounded integer": (
        convert(convert(WHOLE, "f32"), "f64"),
        convert(WHOLE, "f64"),
        {CONVERSIONS},
    ),
    "what is finite": (select(E("is-finite", "pred", SIZES, (X,)), X + Y + Z, X), X + (Y + Z), {"is-finite"}),
    "a number that equals itself": (select(compare("EQ", X, X), X, Y), X, {NOT_NAN}),
    "an opposite": (compare("LE", X, Y), unary("not", compare("LT", Y, X)), {NOT_NAN}),
    "an infinity": ((X + number("inf")) * Y, X * Y + number("inf") * Y, {INFINITY}),
    "an infinity inside": (unary("tanh", X - number("inf")) + Y + Z, unary("tanh", X - number("inf")) + (Y + Z), set()),
    "not a number": ((X + number("nan")) + Y, X + (number("nan") + Y), {"NaN is a number"}),
    "two": (X / Y * unary("sqrt", Y) * unary("sqrt", Y), X, {QUOTIENT, ROOT}),
    "an order of sums": (X + Y + Z, X + (Y + Z), set()),
    "what both have": ((X / Y + unary("sqrt", Z)) + Z, X / Y + (unary("sqrt", Z) + Z), set()),
    "a known divisor": (X / number(3) + Y + Z, X * number("0.333333343") + (Y + Z), set()),
    "an identity": (binary("maximum", X, number("-inf")) + Y + Z, X + (Y + Z), set()),
    "a wider float": (convert(convert(X, "f64"), "f32") + Y + Z, X + (Y + Z), set()),
    "a positive divisor": (unary("logistic", X), number(1) / (unary("exponential", -X) + number(1)), {QUOTIENT}),
    "truth": (convert(P, "f32") * X + Y + Z, select(P, X, number(0)) + (Y + Z), set()),
}


@pytest.mark.parametrize("name", NAMED)
def test_an_equality_names_the_conventions_that_it_needs(name: str) -> None:
    first, second, expected = NAMED[name]
    found = decided(first, second).outputs[0].over_reals
    assert found is not None
    assert found.is_equal
    assert {*found.conventions} == expected
    assert found.as_json()["conventions"] == [*found.conventions]
    named = f"; conventions: {', '.join(found.conventions)})" if expected else ")"
    assert re.fullmatch(r"equal over the reals \(error below 1e-\d+" + re.escape(named) + ".*", str(found))


def test_the_line_of_a_verdict_names_the_conventions() -> None:
    found = decided(X / Y * Y + Z, X + Z).outputs[0]
    assert "conventions: x/x = 1)" in str(found)


@pytest.mark.parametrize("bits", [100, 10**6, 10**12])
def test_the_error_includes_the_divisors_of_coefficients(bits: int) -> None:
    by_degree = chance_of_a_round(Size(1, 0), 0)
    found = chance_of_a_round(Size(1, 0), bits) - by_degree
    # A coefficient of 2 * bits bits has so many prime divisors above 2^59.
    assert found >= 2 * bits / 60 / 4.4e14
    assert chance_of_a_round(Size(3, bits), 0) > found


def test_constants_and_sums_enlarge_the_error() -> None:
    heights = Heights()
    before = heights.bits
    heights.see(1000)
    heights.divide_by_power(500)
    heights.divide_by(3 * 4)
    heights.divide_by(5)
    assert heights.bits >= 1000 + 500 + 2 + 3 > before


SAME = (X / Y * Y, X)


def test_a_seed_repeats_a_comparison_and_without_one_each_is_new() -> None:
    first, second, other = (decided(*SAME, seed).outputs[0].as_json()["over_reals"] for seed in (5, 5, 6))
    assert first == second
    assert first["seed"] == "0x5" != other["seed"]
    seeds = {decided(*SAME).outputs[0].as_json()["over_reals"]["seed"] for _ in range(5)}
    assert len(seeds) == 5
