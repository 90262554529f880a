"""Pairs of programs that differ, made with knowledge of the field's code: none is told equal over the reals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E, binary, compare, constant, convert, full, reduce, select, unary

SIZES = (3, 4)
X, Y = ex.parameter(0, "f64", SIZES), ex.parameter(1, "f64", SIZES)
TRUE = ex.parameter(2, "pred", SIZES)
WHOLE = ex.parameter(3, "s64", SIZES)
Z = ex.parameter(4, "f64", SIZES)
# The primes that the field once had, and others that a field might have.
P31, Q31 = 2147483579, 1073741789
MERSENNE = (1 << 61) - 1


def number(value: object, kind: str = "f64") -> E:
    return full(kind, value, SIZES)


def exp(x: E) -> E:
    return unary("exponential", x)


def total(x: E) -> E:
    return reduce("add", x, constant("f64", 0), [1])


def doubled(x: E, times: int) -> E:
    """Returns a number times a power of two, by additions."""
    for _ in range(times):
        x = x + x
    return x


def word(x: E) -> E:
    return E("bitcast-convert", "s64", x.dims, (x,))


def halves(x: E) -> E:
    return E("bitcast-convert", "s32", (*x.dims, 2), (x,))


def finite(x: E) -> E:
    return E("is-finite", "pred", x.dims, (x,))


def predicate(x: E) -> E:
    return compare("LT", x, Y)


def of_constants(*values: int) -> E:
    """Returns a number of which only the digest of an array of integers is known."""
    array = ex.array("s64", (len(values),), values)
    return E("custom-call", "f64", SIZES, (X, array), 'custom_call_target="unheard_of"')


CONSTANTS: dict[str, tuple[E, E]] = {
    "2^31 and 69": (X * number(1 << 31), X * number(69)),
    "the prime and 0": (X * number(P31 + 1) + Y, X + Y),
    "multiples of the prime": (X * number(P31 * 4096 + 3) / Y, X * number(3) / Y),
    "half of the prime": (X * number(Q31 + 5) + X, X * number(5) + X),
    "a product of primes": (X * number(P31 * 2097143 + 1) + X, X + X),
    "a Mersenne prime": (X * number(1 << 61), X),
    "a Mersenne prime by doubling": (doubled(X, 61) + Y, X + Y),
    "many doublings": (doubled(X, 200) + Y, doubled(X, 140) + Y),
    "the inverse of a constant": (X * number("0.5"), X * number((P31 + 1) // 2)),
    "an exponent of two": (X * number(2.0**1000), X * number(2.0**940)),
    "a constant below": (X + number(5e-324), X),
    "a difference beyond f32": (X * number(16777217), X * number(16777216)),
    "products of constants": (X * number(46337) * number(46349) * Y, X * number(46337 * 46349 - P31) * Y),
    "a power": (X * X * X * X * X * X * X, X * X * X * X * X * X),
    "a small factor": (total(X * Y) * full("f64", "1.0000001", (3,)), total(X * Y)),
    "a constant divisor": (X / number(P31 + 1) + Y, X + Y),
}

EXPONENTS: dict[str, tuple[E, E]] = {
    "the order of the base": (exp(X * number(Q31)), number(1)),
    "one more than the order": (exp(X * number(Q31 + 1)), exp(X)),
    "the base": (exp(X + number(1)), exp(X) * number(4)),
    "the base squared": (exp(X + number(2)) + Y, exp(X) * number(16) + Y),
    "the root of the base": (exp(X + number("0.5")), exp(X) * number(2)),
    "the inverse of the base": (exp(X - number(1)), exp(X) / number(4)),
    "the base of a logistic": (
        unary("logistic", X + number(1)),
        number(1) / (number(1) + exp(-X) / number(4)),
    ),
    "twice": (exp(exp(X) + exp(X)), exp(exp(X + X))),
    "a quotient": (exp(X / Y), exp(X) / exp(Y)),
    "a product": (exp(X * Y), exp(X) * exp(Y)),
    "a constant factor": (exp(X) * exp(X), exp(X) * number(2)),
    "a negative": (exp(-X), -exp(X)),
    "tanh and a logistic": (unary("tanh", X), unary("logistic", X + X)),
}

FUNCTIONS: dict[str, tuple[E, E]] = {
    "two functions": (unary("sine", X), unary("cosine", X)),
    "roundings": (unary("floor", X), unary("ceil", X)),
    "an even function": (unary("abs", X), X),
    "an odd function": (unary("tan", X), unary("tan", -X)),
    "the sign of a product": (unary("sign", X * Y), unary("sign", X) * Y),
    "a root": (unary("sqrt", X * X), X),
    "roots of different numbers": (unary("sqrt", X) * unary("sqrt", Y), X),
    "the order of operands": (binary("power", X, Y), binary("power", Y, X)),
    "an arc": (binary("atan2", X, Y), binary("atan2", X + X, Y + Y) * number(2)),
    "a logarithm of a product": (unary("log", X * Y), unary("log", X) * unary("log", Y)),
    "the argument": (unary("log", X * number(1 << 31)), unary("log", X * number(69))),
    "a root of 0": (X * unary("rsqrt", number(0)), X * number(0)),
    "a remainder": (binary("remainder", X, Y), binary("remainder", X, -Y)),
}

EXTREMES: dict[str, tuple[E, E]] = {
    "a minimum": (binary("maximum", X, Y), binary("minimum", X, Y)),
    "the negatives": (binary("maximum", X, Y), -binary("maximum", -X, -Y)),
    "the wrong infinity": (binary("maximum", X, number("inf")), X),
    "both infinities": (binary("maximum", X, number("inf")), binary("maximum", X, number("-inf"))),
    "a constant": (binary("maximum", X, number(P31)), binary("maximum", X, number(0))),
    "another set": (binary("maximum", binary("maximum", X, Y), X + Y), binary("maximum", X, Y)),
    "the start of a row": (
        reduce("maximum", X, constant("f64", "-inf"), [1]),
        reduce("maximum", X, constant("f64", 0), [1]),
    ),
    "a sum of extremes": (binary("maximum", X, Y) + binary("minimum", X, Y), X - Y),
}

TRUTH: dict[str, tuple[E, E]] = {
    "the predicate": (select(TRUE, X, Y), select(unary("not", TRUE), X, Y)),
    "the order": (select(compare("LT", X, Y), X, Y), select(compare("LT", Y, X), X, Y)),
    "the sign of a difference": (predicate(X), compare("LT", X * X, Y * Y)),
    "a scaled comparison": (compare("LT", X * number(P31), Y), compare("LT", number(0), Y)),
    "a shifted comparison": (compare("LT", X, Y), compare("LT", X + number(1), Y)),
    "equal and below": (compare("EQ", X, Y), compare("LE", X, Y)),
    "a finite infinity": (finite(X), finite(X + number("inf"))),
    "and, or": (
        select(binary("and", TRUE, predicate(X)), X, Y),
        select(binary("or", TRUE, predicate(X)), X, Y),
    ),
    "exclusive": (
        convert(binary("xor", TRUE, predicate(X)), "f64"),
        convert(TRUE, "f64") + convert(predicate(X), "f64"),
    ),
    "a truth as a number": (convert(TRUE, "f64"), convert(unary("not", TRUE), "f64")),
    "a chosen constant": (select(TRUE, number(P31), X), select(TRUE, number(0), X)),
    "a comparison of converted numbers": (
        compare("LT", convert(X, "s64"), convert(Y, "s64")),
        compare("LT", X, Y),
    ),
    "a comparison of other conversions": (
        compare("LT", convert(X, "s8"), convert(Y, "s8")),
        compare("LT", convert(X, "s16"), convert(Y, "s16")),
    ),
}

INTEGERS: dict[str, tuple[E, E]] = {
    "an integer times the prime": (
        convert(WHOLE * number(P31, "s64"), "f64"),
        convert(WHOLE * number(0, "s64"), "f64"),
    ),
    "an integer that wraps": (
        convert(WHOLE + number(1, "s64"), "f64"),
        convert(WHOLE, "f64") + number(1),
    ),
    "a product that wraps": (convert(WHOLE * WHOLE, "f64"), convert(WHOLE, "f64") * convert(WHOLE, "f64")),
    "a narrower integer": (convert(convert(WHOLE, "s32"), "f64"), convert(WHOLE, "f64")),
    "without a sign": (convert(convert(WHOLE, "u64"), "f64"), convert(WHOLE, "f64")),
    "a rounded number": (convert(convert(X, "s64"), "f64"), X),
    "a counted prime": (
        convert(ex.iota("s64", SIZES, 1), "f64") * X,
        convert(ex.iota("s64", SIZES, 1) + number(P31, "s64"), "f64") * X,
    ),
    "a quotient of the lowest integer": (
        X + convert(binary("divide", ex.iota("s64", SIZES, 1) + number(-(1 << 63), "s64"), number(2, "s64")), "f64"),
        X + convert(binary("divide", ex.iota("s64", SIZES, 1) + number(1 << 62, "s64"), number(1, "s64")), "f64"),
    ),
    "bits of both zeros": (word(X * number(0)), word(X * number("-0.0"))),
    "bits": (word(X), word(X + X)),
    "bits of sums in another order": (word(X + (Y + Z)), word((X + Y) + Z)),
    "halves of sums in another order": (halves(X + (Y + Z)), halves((X + Y) + Z)),
    "halves of a chosen zero": (halves(select(TRUE, X, number(0))), halves(select(TRUE, X, number("-0.0")))),
    "bits of a chosen zero": (word(select(TRUE, X, number(0))), word(select(TRUE, X, number("-0.0")))),
    "bits of elements": (word(X / (Y + Z)), word(ex.reverse(X / (Z + Y), [0]))),
    "integers in another order": (of_constants(3, 5, 7), of_constants(3, 7, 5)),
    "integers of another sum": (of_constants(1, 2), of_constants(2, 1)),
    "a longer array": (of_constants(0), of_constants(0, 0)),
}

ATTACKS = {
    f"{kind}: {name}": pair
    for kind, pairs in {
        "constants": CONSTANTS,
        "exponents": EXPONENTS,
        "functions": FUNCTIONS,
        "extremes": EXTREMES,
        "truth": TRUTH,
        "integers": INTEGERS,
    }.items()
    for name, pair in pairs.items()
}


def decided(first: E, second: E) -> ProofResult:
    parameters = ex.parameters_of(first, second)
    modules = [parse(ex.module(side, parameters=parameters)) for side in (first, second)]
    return try_prove(modules, over_reals=True)


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_is_told_equal(name: str) -> None:
    first, second = ATTACKS[name]
    found = decided(first, second)
    assert found.answer != "equal"
    assert not found.is_equal_over_reals, str(found.outputs[0])


def _minus(x: E) -> E:
    return x - X


def _times(x: E) -> E:
    return Y * x / (X * X + number(1))


def _after_exp(x: E) -> E:
    return exp(x) - exp(-x)


def _picked(x: E) -> E:
    return select(TRUE, x, Y)


@pytest.mark.parametrize("name", [name for name in ATTACKS if ATTACKS[name][0].type == "f64"])
@pytest.mark.parametrize("around", [_minus, _times, _after_exp, _picked, total])
def test_no_attack_inside_of_more_is_told_equal(name: str, around: Callable[[E], E]) -> None:
    first, second = ATTACKS[name]
    assert not decided(around(first), around(second)).is_equal_over_reals
