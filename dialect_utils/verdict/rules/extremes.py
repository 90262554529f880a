"""Rules of maximum, minimum, and, or, xor: operations that take their operands in any order and any number."""

from __future__ import annotations

from dialect_utils.verdict.rules.conditions import (
    LOGICAL,
    NEVER_NAN,
    OPPOSITES,
    REAL,
    SIGNED,
    AtMost,
    Has,
    Ordered,
)
from dialect_utils.verdict.rules.rule import Equation, Rule, bits, nan

_PRED = Has("pred")

EXTREMES = Rule(
    "max-min",
    "Maximum and minimum order -0 below +0 and give NaN for a NaN (IEEE 754-2019), so they are a lattice's operations.",
    (
        nan("maximum(x, y) = maximum(y, x)", REAL),
        nan("minimum(x, y) = minimum(y, x)", REAL),
        nan("maximum(maximum(x, y), z) = maximum(x, maximum(y, z))", REAL),
        nan("minimum(minimum(x, y), z) = minimum(x, minimum(y, z))", REAL),
        nan("maximum(x, x) = x", REAL),
        nan("minimum(x, x) = x", REAL),
        nan("maximum(x, lowest) -> x", REAL),
        nan("minimum(x, highest) -> x", REAL),
        nan("maximum(x, minimum(y, z)) = minimum(maximum(x, y), maximum(x, z))", REAL),
        nan("minimum(x, maximum(y, z)) = maximum(minimum(x, y), minimum(x, z))", REAL),
        bits("maximum(x, minimum(x, y)) -> x", REAL, NEVER_NAN),
        bits("minimum(x, maximum(x, y)) -> x", REAL, NEVER_NAN),
    ),
    wrong=("maximum(x, minimum(y, x)) = minimum(x, y)", "maximum(x, 0) = maximum(x, 1)"),
    examples=(
        "minimum(x, minimum(y, x)) = minimum(y, x)",
        "minimum(minimum(x, 3), 2) = minimum(x, 2)",
        "maximum(maximum(x, y), minimum(x, y)) = maximum(x, y)",
    ),
    domain=(REAL,),
)
ABSORBING = Rule(
    "max-min-absorbing",
    "An integer is never above the largest one (a float may be NaN).",
    (bits("maximum(x, highest) -> highest", LOGICAL), bits("minimum(x, lowest) -> lowest", LOGICAL)),
    wrong=("maximum(x, 0) = 0",),
    domain=(SIGNED,),
)
CLAMP = Rule(
    "clamp",
    "clamp is minimum(maximum(x, low), high); constant bounds in order may be taken in either order (NaN stays NaN).",
    (
        nan("clamp(y, x, z) -> minimum(maximum(x, y), z)", REAL),
        nan("maximum(minimum(x, d), c) -> minimum(maximum(x, c), d)", REAL, Ordered("c", "d")),
    ),
    wrong=("maximum(y, minimum(x, z)) = clamp(y, x, z)", "maximum(5, minimum(x, 1)) = clamp(5, x, 1)"),
    examples=(
        "maximum(1, minimum(x, 5)) = clamp(1, x, 5)",
        "minimum(5, maximum(x, 1)) = clamp(1, x, 5)",
        "clamp(1, clamp(1, x, 5), 5) = clamp(1, x, 5)",
    ),
    domain=(REAL,),
)
BITWISE = Rule(
    "bitwise",
    "And, or and xor work bit by bit: commutative, associative, with identities; and, or are idempotent, xor cancels.",
    (
        bits("and(x, y) = and(y, x)", LOGICAL),
        bits("or(x, y) = or(y, x)", LOGICAL),
        bits("xor(x, y) = xor(y, x)", LOGICAL),
        bits("and(and(x, y), z) = and(x, and(y, z))", LOGICAL),
        bits("or(or(x, y), z) = or(x, or(y, z))", LOGICAL),
        bits("xor(xor(x, y), z) = xor(x, xor(y, z))", LOGICAL),
        bits("and(x, x) = x", LOGICAL),
        bits("or(x, x) = x", LOGICAL),
        bits("xor(x, x) = zeros", LOGICAL),
        bits("xor(x, zeros) = x", LOGICAL),
        bits("xor(x, ones) = not(x)", LOGICAL),
        bits("or(x, zeros) -> x", LOGICAL),
        bits("and(x, ones) -> x", LOGICAL),
        bits("and(x, zeros) -> zeros", LOGICAL),
        bits("or(x, ones) -> ones", LOGICAL),
        bits("and(x, or(x, y)) -> x", LOGICAL),
        bits("or(x, and(x, y)) -> x", LOGICAL),
    ),
    wrong=("or(x, ones) = x", "xor(x, x) = x"),
    examples=("xor(xor(x, y), y) = x",),
    domain=(LOGICAL,),
)
BOOLEAN = Rule(
    "boolean",
    "On truth values multiply and minimum are and, add and maximum are or; complements and De Morgan's laws hold.",
    (
        bits("not(not(p)) -> p"),
        bits("not(and(p, q)) -> or(not(p), not(q))"),
        bits("not(or(p, q)) -> and(not(p), not(q))"),
        bits("and(p, not(p)) -> false"),
        bits("or(p, not(p)) -> true"),
        bits("multiply(p, q) -> and(p, q)"),
        bits("minimum(p, q) -> and(p, q)"),
        bits("add(p, q) -> or(p, q)"),
        bits("maximum(p, q) -> or(p, q)"),
        bits("compare[EQ](p, q) -> not(xor(p, q))"),
    ),
    wrong=("not(and(p, q)) = and(not(p), not(q))", "and(p, or(p, q)) = q"),
    examples=("and(p, or(p, q)) = p", "xor(not(p), q) = not(xor(p, q))", "compare[NE](p, q) = xor(p, q)"),
    domain=(_PRED,),
)


def _nearest() -> tuple[Equation, ...]:
    """Returns the equations of two comparisons of one number with constants c <= d."""
    found = []
    for text in ("compare[LT](x, {})", "compare[LT]({}, x)"):
        for form in (text, f"not({text})"):
            first, second = form.format("c"), form.format("d")
            # x < c and not c < x bound x from above: of two such bounds the lower one implies the other one.
            is_below = (text.index("x") < text.index("{")) != (form != text)
            both, any_of = (first, second) if is_below else (second, first)
            found.append(bits(f"and({first}, {second}) -> {both}", REAL, AtMost("c", "d")))
            found.append(bits(f"or({first}, {second}) -> {any_of}", REAL, AtMost("c", "d")))
    return tuple(found)


BOUNDS = Rule(
    "nearest-bound",
    "Of two constant bounds on one side of a number an and keeps the nearer one, an or the other.",
    _nearest(),
    wrong=("and(compare[LT](x, 3), compare[LT](x, 5)) = compare[LT](x, 5)",),
    examples=(
        "and(compare[LT](x, 3), compare[LT](x, 5)) = compare[LT](x, 3)",
        "or(compare[LT](x, 3), compare[LT](x, 5)) = compare[LT](x, 5)",
        "and(compare[LT](1, x), compare[LT](2, x)) = compare[LT](2, x)",
    ),
    domain=(REAL,),
)
SIZE = Rule(
    "abs-as-extreme",
    "Of a number and its opposite the maximum is the absolute value: 0.0 of both zeros, NaN of NaN; of integers, too.",
    (
        nan("maximum(x, negate(x)) -> abs(x)", OPPOSITES),
        bits("maximum(x, negate(x)) -> abs(x)", SIGNED),
        nan("minimum(x, negate(x)) -> negate(abs(x))", OPPOSITES),
        bits("minimum(x, negate(x)) -> negate(abs(x))", SIGNED),
    ),
    wrong=("maximum(x, negate(y)) = abs(x)", "minimum(x, negate(x)) = abs(x)"),
    examples=("minimum(negate(x), x) = negate(abs(x))",),
)
