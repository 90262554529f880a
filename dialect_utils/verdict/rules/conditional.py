"""Rules that hold only for data without some values, such as NaN: each equation names the values."""

from __future__ import annotations

from dialect_utils.verdict.rules.conditions import (
    FLOAT,
    INFINITE,
    INTEGER,
    LEFT,
    NAN,
    NEGATIVE_ZERO,
    OPPOSITES,
    RIGHT,
    SIGN,
    ZERO,
    Has,
    Never,
)
from dialect_utils.verdict.rules.rule import Rule, bits, nan

# The sets of values that a proof excludes, from the weakest condition to the strongest one.
EXCLUDED = (
    (NEGATIVE_ZERO,),
    (NAN,),
    (NAN, NEGATIVE_ZERO),
    (NAN, INFINITE),
    (NAN, INFINITE, NEGATIVE_ZERO),
    (ZERO,),
    (NAN, INFINITE, ZERO, NEGATIVE_ZERO),
)
_FINITE = (NAN, INFINITE)
_NUMBERS = (Never("x", (NAN,)), Never("y", (NAN,)))
_HAS_NAN = Has("nan")

ZEROS = Rule(
    "if-zeros",
    "x + 0 is x but for -0; x * 0 is 0 for finite x, and 0 / x for x that is neither 0 nor NaN, but for its sign.",
    (
        nan("add(x, 0) -> x", SIGN, Never("x", (NEGATIVE_ZERO,))),
        bits("multiply(x, 0) -> 0", FLOAT, Never("x", _FINITE), Never(LEFT, (NEGATIVE_ZERO,))),
        bits("divide(0, x) -> 0", FLOAT, _HAS_NAN, Never("x", (NAN, ZERO)), Never(LEFT, (NEGATIVE_ZERO,))),
    ),
    wrong=("add(x, 0) = 0", "multiply(x, 0) = x", "divide(x, 0) = 0", "multiply(x, 1) = 0"),
    domain=(FLOAT,),
)
CANCELLED = Rule(
    "if-cancelled",
    "x - x is 0 for finite x, x / x is 1 if x is not 0, either.",
    (
        bits("add(x, negate(x)) -> 0", OPPOSITES, Never("x", _FINITE)),
        bits("divide(x, x) -> 1", FLOAT, Never("x", (*_FINITE, ZERO))),
        bits("divide(x, x) -> 1", INTEGER, Never("x", (ZERO,))),
        bits("remainder(x, x) -> 0", INTEGER, Never("x", (ZERO,))),
    ),
    wrong=("add(x, negate(y)) = 0", "divide(x, negate(x)) = 1", "divide(x, x) = x", "subtract(x, x) = 1"),
    domain=(OPPOSITES,),
)
SIGNS = Rule(
    "if-signs",
    "A sum of opposites is the opposite of the sum, but for the sign of a zero.",
    (
        nan("add(negate(x), negate(y)) -> negate(add(x, y))", OPPOSITES, Never(RIGHT, (NEGATIVE_ZERO,))),
        nan("negate(add(x, negate(y))) -> add(y, negate(x))", OPPOSITES, Never(LEFT, (NEGATIVE_ZERO,))),
    ),
    wrong=("add(negate(x), negate(y)) = add(x, y)", "negate(add(x, negate(y))) = add(x, negate(y))"),
    domain=(OPPOSITES,),
)
ORDER = Rule(
    "if-ordered",
    "Numbers that are not NaN are equal to themselves, and x <= y where y < x is false.",
    (
        bits("compare[LE](x, y) -> not(compare[LT](y, x))", FLOAT, *_NUMBERS),
        bits("compare[EQ](x, x) -> true", FLOAT, _NUMBERS[0]),
        bits("is-finite(x) -> true", FLOAT, Never("x", _FINITE)),
    ),
    wrong=("compare[LE](x, y) = not(compare[LT](x, y))", "compare[EQ](x, y) = true", "compare[LT](x, y) = true"),
    domain=(FLOAT,),
)
CHOSEN = Rule(
    "if-chosen",
    "The larger of two numbers that are not NaN is their maximum; where both are zeros, x must not be -0.",
    (
        bits("select(compare[LT](x, y), y, x) -> maximum(x, y)", SIGN, *_NUMBERS, Never("x", (NEGATIVE_ZERO,))),
        bits("select(compare[LT](x, y), x, y) -> minimum(x, y)", SIGN, *_NUMBERS, Never("x", (NEGATIVE_ZERO,))),
        bits("select(compare[LE](x, y), y, x) -> maximum(x, y)", SIGN, *_NUMBERS, Never("y", (NEGATIVE_ZERO,))),
        bits("select(compare[LE](x, y), x, y) -> minimum(x, y)", SIGN, *_NUMBERS, Never("y", (NEGATIVE_ZERO,))),
        nan("select(compare[EQ](x, y), x, y) -> y", SIGN, Never("x", (NEGATIVE_ZERO,)), Never("y", (NEGATIVE_ZERO,))),
    ),
    wrong=(
        "select(compare[LT](x, y), y, x) = minimum(x, y)",
        "select(compare[LT](x, y), x, y) = maximum(x, y)",
        "select(compare[LE](x, y), x, y) = maximum(x, y)",
        "select(compare[EQ](x, y), y, x) = y",
    ),
    domain=(SIGN,),
)
ENDS = Rule(
    "if-bounded",
    "No number is above infinity, so a maximum with it is infinity; a maximum of x and a minimum of x and y is x.",
    (
        bits("maximum(x, highest) -> highest", FLOAT, _NUMBERS[0]),
        bits("minimum(x, lowest) -> lowest", FLOAT, _NUMBERS[0]),
        bits("maximum(x, minimum(x, y)) -> x", FLOAT, *_NUMBERS),
        bits("minimum(x, maximum(x, y)) -> x", FLOAT, *_NUMBERS),
    ),
    wrong=("maximum(x, lowest) = lowest", "minimum(x, highest) = highest", "maximum(x, minimum(x, y)) = y"),
    domain=(FLOAT,),
)
