"""Rules of integers of n bits: the ring of numbers modulo 2^n, and shifts."""

from __future__ import annotations

from dialect_utils.verdict.rules.conditions import INTEGER, OPPOSITES, SIGNED, UNSIGNED, BelowWidth, PowerOfTwo
from dialect_utils.verdict.rules.rule import Rule, bits, nan

RING = Rule(
    "integer-ring",
    "Integer add, subtract, multiply and negate wrap around, so they are a commutative ring modulo 2^n.",
    (
        bits("add(x, y) = add(y, x)", INTEGER),
        bits("multiply(x, y) = multiply(y, x)", INTEGER),
        bits("add(add(x, y), z) = add(x, add(y, z))", INTEGER),
        bits("multiply(multiply(x, y), z) = multiply(x, multiply(y, z))", INTEGER),
        bits("add(multiply(x, z), multiply(y, z)) = multiply(add(x, y), z)", INTEGER),
        bits("add(x, 0) = x", INTEGER),
        bits("multiply(x, 1) = x", INTEGER),
        bits("subtract(x, x) = 0", INTEGER),
        bits("subtract(x, y) = add(x, negate(y))", INTEGER),
        bits("negate(x) = multiply(x, ones)", INTEGER),
        bits("multiply(x, 0) = 0", INTEGER),
        bits("negate(negate(x)) = x", INTEGER),
    ),
    wrong=("add(multiply(x, z), multiply(y, z)) = multiply(add(x, y), y)", "subtract(x, y) = subtract(y, x)"),
    examples=("multiply(add(x, 3), 2) = add(multiply(x, 2), 6)",),
    domain=(INTEGER,),
)
NOT = Rule(
    "not-as-arithmetic",
    "In two's complement the bits of not x are those of -1 - x.",
    (bits("not(x) -> subtract(ones, x)", INTEGER), bits("xor(x, ones) -> not(x)", INTEGER)),
    wrong=("not(x) = negate(x)",),
    examples=("not(not(x)) = x", "not(add(x, y)) = subtract(not(x), y)"),
    domain=(INTEGER,),
)
SHIFT = Rule(
    "shift-as-product",
    "Shifting left by k bits, k below the width, multiplies by 2^k modulo 2^n.",
    (bits("shift-left(x, c) -> multiply(x, shift-left(1, c))", INTEGER, BelowWidth(("c",))),),
    wrong=("shift-left(x, 3) = multiply(x, 6)",),
    examples=("shift-left(x, 3) = multiply(x, 8)", "shift-left(shift-left(x, 1), 2) = shift-left(x, 3)"),
    domain=(INTEGER,),
)
ABS_SQUARED = Rule(
    "abs-squared",
    "The sign cancels in a square; -2^(n-1) is its own absolute value.",
    (
        bits("multiply(abs(x), abs(x)) -> multiply(x, x)", SIGNED),
        nan("multiply(abs(x), abs(x)) -> multiply(x, x)", OPPOSITES),
    ),
    wrong=("multiply(abs(x), abs(y)) = multiply(x, y)",),
)
HALVED = Rule(
    "unsigned-power-of-two",
    "Dividing an unsigned integer by 2^k drops its last k bits, which are the remainder.",
    (
        bits("divide(x, c) -> shift-right-logical(x, popcnt(subtract(c, 1)))", UNSIGNED, PowerOfTwo("c")),
        bits("remainder(x, c) -> and(x, subtract(c, 1))", UNSIGNED, PowerOfTwo("c")),
    ),
    wrong=("divide(x, 6) = shift-right-logical(x, 3)", "remainder(x, 6) = and(x, 5)"),
    examples=("divide(x, 8) = shift-right-logical(x, 3)", "remainder(x, 8) = and(x, 7)"),
    domain=(UNSIGNED,),
)
SHIFTED_TWICE = Rule(
    "shifted-twice",
    "Shifting right by j and by k bits is shifting by j + k, both below the width; by 0 bits it changes nothing.",
    (
        bits("shift-right-logical(x, 0) -> x", INTEGER),
        bits("shift-right-arithmetic(x, 0) -> x", INTEGER),
        bits(
            "shift-right-logical(shift-right-logical(x, c), d) -> shift-right-logical(x, add(c, d))",
            INTEGER,
            BelowWidth(("c", "d")),
        ),
    ),
    wrong=("shift-right-logical(shift-right-logical(x, 3), 2) = shift-right-logical(x, 6)",),
    examples=("shift-right-logical(shift-right-logical(x, 3), 2) = shift-right-logical(x, 5)",),
    domain=(INTEGER,),
)
