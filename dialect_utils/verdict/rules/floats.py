"""Rules of floats: they hold in IEEE arithmetic for every number, both zeros, infinities and NaN."""

from __future__ import annotations

from dialect_utils.ops import named
from dialect_utils.verdict.rules.conditions import (
    FLOAT,
    INTEGER,
    OPPOSITES,
    REAL,
    SIGN,
    SIGNED,
    Doublings,
    Has,
    Lacks,
    Scale,
    part_of,
)
from dialect_utils.verdict.rules.rule import Rule, bits, nan

COMMUTED = Rule(
    "commuted",
    "A float sum or product rounds one exact number, which does not depend on the order of its two operands.",
    (nan("add(x, y) = add(y, x)", FLOAT), nan("multiply(x, y) = multiply(y, x)", FLOAT)),
    wrong=("add(add(x, y), z) = add(x, add(y, z))", "divide(x, y) = divide(y, x)"),
    domain=(FLOAT,),
)
NEUTRAL = Rule(
    "neutral",
    "x * 1, x / 1 and x + (-0.0) are x, for both zeros too (x + 0.0 is not: -0.0 + 0.0 is 0.0).",
    (
        nan("multiply(x, 1) -> x", FLOAT),
        nan("divide(x, 1) -> x", FLOAT),
        bits("divide(x, 1) -> x", INTEGER),
        nan("add(x, -0.0) -> x", SIGN),
    ),
    wrong=("add(x, 0.0) = x", "subtract(x, -0.0) = x"),
    examples=("subtract(x, 0.0) = x", "multiply(1, highest) = highest", "multiply(highest, 1) = highest"),
    domain=(FLOAT,),
)
NEGATION = Rule(
    "negation",
    "A sign is no part of rounding: it passes through products and quotients, and twice it cancels.",
    (
        bits("negate(negate(x)) -> x", OPPOSITES),
        nan("subtract(x, y) -> add(x, negate(y))", OPPOSITES),
        nan("multiply(negate(x), y) -> negate(multiply(x, y))", OPPOSITES),
        nan("multiply(x, negate(y)) = negate(multiply(x, y))", OPPOSITES),
        # Without a NaN 0 / 0 is some number, whose sign is not that of the operands.
        nan("divide(negate(x), y) -> negate(divide(x, y))", OPPOSITES, Has("nan")),
        nan("divide(x, negate(y)) -> negate(divide(x, y))", OPPOSITES, Has("nan")),
        bits("abs(negate(x)) -> abs(x)", OPPOSITES),
        bits("abs(abs(x)) -> abs(x)", OPPOSITES),
        bits("abs(abs(x)) -> abs(x)", SIGNED),
    ),
    wrong=(
        "negate(add(x, y)) = add(negate(x), negate(y))",
        "subtract(x, y) = negate(subtract(y, x))",
        "multiply(0, -3) = 0",
    ),
    examples=(
        "multiply(negate(x), negate(y)) = multiply(x, y)",
        "multiply(x, -1) = negate(x)",
        "multiply(x, -3) = negate(multiply(x, 3))",
        "subtract(x, -3) = add(x, 3)",
    ),
    domain=(OPPOSITES,),
)
POWERS_OF_TWO = Rule(
    "powers-of-two",
    "Multiplying by a power of two only moves the exponent: dividing by 2^k is multiplying by 2^-k, doubling is x + x.",
    (
        nan("divide(x, c) -> multiply(x, divide(1, c))", Scale("c")),
        nan("add(x, x) -> multiply(x, 2)", FLOAT),
        nan("multiply(multiply(x, c), d) -> multiply(x, multiply(c, d))", Doublings("c", "d")),
    ),
    wrong=("divide(x, 3) = multiply(x, 0.3333333)", "multiply(multiply(x, 2), 0.5) = x"),
    examples=("divide(x, 4) = multiply(x, 0.25)", "multiply(multiply(x, 2), 4) = multiply(x, 8)"),
    domain=(Has("infinities"), FLOAT),
)
REMAINDER = Rule(
    "remainder-twice",
    "A remainder is smaller than the divisor, so its remainder is itself.",
    (
        bits("remainder(remainder(x, y), y) -> remainder(x, y)", INTEGER),
        nan("remainder(remainder(x, y), y) -> remainder(x, y)", FLOAT),
    ),
    wrong=("remainder(remainder(x, 5), 7) = remainder(x, 7)",),
    examples=("remainder(remainder(x, 7), 7) = remainder(x, 7)",),
    domain=(REAL, Lacks("pred")),
)
# Roundings to whole numbers.
_ROUNDINGS = sorted(named("floor ceil round-nearest-even round-nearest-afz"))
WHOLE = Rule(
    "whole-numbers",
    "Rounding to whole numbers changes nothing a second time, nor does it change a converted integer.",
    (
        # A format without NaN and infinities saturates: 7.5 is the result of ceil(7.5) in f6e2m3fn.
        *(
            nan(f"{outer}({inner}(x)) -> {inner}(x)", OPPOSITES, Has("nan"))
            for outer in _ROUNDINGS
            for inner in _ROUNDINGS
        ),
        *(
            nan(f"{outer}(convert[U](x)) -> convert[U](x)", INTEGER, Has("opposites", "U"), Has("nan", "U"))
            for outer in _ROUNDINGS
        ),
    ),
    wrong=("floor(ceil(x)) = floor(x)",),
    domain=(OPPOSITES,),
)
PARTS = Rule(
    "complex-parts",
    "A complex number is its real and its imaginary part.",
    (
        bits("real(complex(x, y)) -> x", part_of("T", "U")),
        bits("imag(complex(x, y)) -> y", part_of("T", "U")),
        bits("complex(real(x), imag(x)) -> x", part_of("U", "T")),
    ),
    wrong=("real(complex(x, y)) = y",),
    domain=(FLOAT,),
)
MIRRORED_EXTREMES = Rule(
    "negated-extremes",
    "A change of sign turns the order of floats around, both zeros and infinities included; NaN stays NaN.",
    (
        nan("negate(maximum(x, y)) -> minimum(negate(x), negate(y))", OPPOSITES),
        nan("negate(minimum(x, y)) -> maximum(negate(x), negate(y))", OPPOSITES),
    ),
    wrong=("negate(maximum(x, y)) = maximum(negate(x), negate(y))",),
    examples=("negate(minimum(negate(x), y)) = maximum(x, negate(y))",),
    domain=(OPPOSITES,),
)
