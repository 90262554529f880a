"""Rules of comparisons and selects."""

from __future__ import annotations

from dialect_utils.verdict.rules.conditions import (
    FLOAT,
    INTEGER,
    NEVER_NAN,
    OPPOSITES,
    REAL,
    SIGNED,
    Condition,
    Has,
    Lacks,
    NotHighest,
    lossless,
    same_width,
)
from dialect_utils.verdict.rules.rule import Equation, Rule, bits, nan

_PRED = Has("pred")
_ALL = ("EQ", "NE", "LT", "LE", "GT", "GE")
_ORDERS = ("", " TOTAL")
_NUMBER = (INTEGER, FLOAT)


def _of_orders(text: str, *guard: Condition) -> tuple[Equation, ...]:
    """Returns an equation for the partial order of floats and for the total one."""
    return tuple(bits(text.replace("]", f"{order}]"), *guard) for order in _ORDERS)


MIRRORED = Rule(
    "compare-mirrored",
    "x < y and y > x are one question; of numbers that are never NaN x >= y is what x < y is not.",
    (
        *_of_orders("compare[GT](x, y) -> compare[LT](y, x)", REAL),
        *_of_orders("compare[GE](x, y) -> compare[LE](y, x)", REAL),
        *_of_orders("compare[EQ](x, y) = compare[EQ](y, x)"),
    ),
    wrong=("compare[GT](x, y) = compare[LT](x, y)", "compare[LE](x, y) = compare[LT](x, y)"),
    domain=(REAL,),
)
NEGATED = Rule(
    "compare-negated",
    "Equal and not equal are opposites for all numbers, below and not below for those that are never NaN.",
    (
        *_of_orders("compare[NE](x, y) -> not(compare[EQ](x, y))"),
        bits("compare[LE](x, y) -> not(compare[LT](y, x))", REAL, NEVER_NAN),
        bits("compare[LE TOTAL](x, y) -> not(compare[LT TOTAL](y, x))", REAL),
    ),
    wrong=("not(compare[LT](x, y)) = compare[GT](x, y)",),
    examples=("not(compare[EQ](x, y)) = compare[NE](x, y)", "not(compare[LT](x, y)) = compare[GE](x, y)"),
    domain=(NEVER_NAN,),
)
ITSELF = Rule(
    "compare-itself",
    "Nothing is below itself; an integer equals itself (a NaN does not).",
    _of_orders("compare[LT](x, x) -> false", REAL),
    wrong=("compare[LE](x, x) = false",),
    examples=("compare[GT](x, x) = false",),
    domain=(REAL,),
)
ITSELF_INTEGER = Rule(
    "compare-itself-integer",
    "An integer equals itself.",
    (
        bits("compare[EQ](x, x) -> true", NEVER_NAN),
        bits("compare[LE](x, x) -> true", NEVER_NAN),
        bits("compare[EQ TOTAL](x, x) -> true", REAL),
        bits("compare[LE TOTAL](x, x) -> true", REAL),
    ),
    wrong=("compare[EQ](x, x) = false",),
    examples=("compare[GE](x, x) = true", "compare[NE](x, x) = false"),
    domain=(NEVER_NAN,),
)
EXTREME = Rule(
    "compare-extreme",
    "x is below a minimum where it is below each part, below a maximum of itself and others where it is below these.",
    tuple(
        equation
        for each in _NUMBER
        for equation in (
            bits("compare[LT](x, minimum(y, z)) -> and(compare[LT](x, y), compare[LT](x, z))", each),
            bits("compare[LE](x, minimum(y, z)) -> and(compare[LE](x, y), compare[LE](x, z))", each),
            bits("compare[LT](maximum(y, z), x) -> and(compare[LT](y, x), compare[LT](z, x))", each),
            bits("compare[LE](maximum(y, z), x) -> and(compare[LE](y, x), compare[LE](z, x))", each),
            bits("compare[LT](x, maximum(x, y)) -> compare[LT](x, y)", each),
            bits("compare[LT](minimum(x, y), x) -> compare[LT](y, x)", each),
        )
    ),
    wrong=("compare[GE](maximum(x, y), y) = compare[GE](x, y)", "compare[LT](x, minimum(y, z)) = compare[LT](x, y)"),
    examples=(
        "and(compare[LT](x, 3), compare[GT](1, x)) = compare[LT](x, minimum(3, 1))",
        "compare[GT](maximum(x, y), y) = compare[GT](x, y)",
        "compare[GT](maximum(x, y), x) = compare[GT](y, x)",
        "compare[LT](minimum(x, y), y) = compare[LT](x, y)",
    ),
    domain=(REAL, Lacks("pred")),
)
SELECT = Rule(
    "select",
    "A select takes its first or second array whole, whatever they hold.",
    (
        bits("select(p, x, x) -> x"),
        bits("select(not(p), x, y) = select(p, y, x)"),
        bits("select(true, x, y) -> x"),
        bits("select(false, x, y) -> y"),
        bits("select(p, select(p, x, y), z) -> select(p, x, z)"),
        bits("select(p, x, select(p, y, z)) -> select(p, x, z)"),
    ),
    wrong=("select(p, x, y) = select(p, y, x)", "select(p, select(q, x, y), z) = select(p, x, z)"),
    domain=(REAL,),
)
SELECT_EXTREME = Rule(
    "select-extreme",
    "The larger of two integers is their maximum, the smaller one their minimum (floats may be NaN, or zeros).",
    (
        bits("select(compare[LT](x, y), y, x) -> maximum(x, y)", INTEGER),
        bits("select(compare[LT](x, y), x, y) -> minimum(x, y)", INTEGER),
    ),
    wrong=("select(compare[LT](x, y), y, z) = maximum(x, y)", "select(compare[LT](x, y), x, y) = maximum(x, y)"),
    examples=("select(compare[GE](x, y), y, x) = minimum(x, y)", "select(compare[GE](x, 0), x, 0) = maximum(x, 0)"),
    domain=(INTEGER,),
)
SELECT_PREDICATE = Rule(
    "select-predicate",
    "A select of a constant truth value is an and or an or.",
    (
        bits("select(p, q, false) -> and(p, q)"),
        bits("select(p, true, q) -> or(p, q)"),
        bits("select(p, false, q) -> and(not(p), q)"),
        bits("select(p, q, true) -> or(not(p), q)"),
    ),
    wrong=("select(p, q, true) = or(p, q)",),
    examples=("select(p, true, false) = p", "select(p, false, true) = not(p)"),
    domain=(_PRED,),
)
CONVERTED = Rule(
    "compare-converted",
    "A conversion that loses nothing keeps the order, and what is equal.",
    tuple(
        bits(f"compare[{each}](convert[U](x), convert[U](y)) -> compare[{each}](x, y)", REAL, lossless())
        for each in _ALL
    ),
    wrong=("compare[LT](convert[s8](x), convert[s8](y)) = compare[LT](x, y)",),
    domain=(REAL,),
)
NEGATIVES = Rule(
    "compare-negatives",
    "A change of both signs turns the order of floats around.",
    tuple(
        bits(f"compare[{each}](negate(x), negate(y)) -> compare[{each}](y, x)", OPPOSITES)
        for each in ("LT", "LE", "EQ")
    ),
    wrong=("compare[LT](negate(x), negate(y)) = compare[LT](x, y)",),
    examples=("compare[EQ](negate(x), negate(y)) = compare[EQ](x, y)",),
    domain=(OPPOSITES,),
)
ENDS = Rule(
    "compare-with-ends",
    "Nothing is below the lowest number; below the next integer is only the lowest, below the highest all others.",
    (
        bits("compare[LT](x, lowest) -> false", INTEGER),
        bits("compare[EQ](x, highest) -> not(compare[LT](x, highest))", INTEGER),
        bits("compare[EQ](x, lowest) -> compare[LT](x, add(lowest, 1))", INTEGER),
    ),
    wrong=("compare[LE](x, lowest) = false",),
    examples=("compare[LT](x, highest) = compare[NE](x, highest)", "compare[LE](x, lowest) = compare[EQ](x, lowest)"),
    domain=(INTEGER,),
)
NEXT = Rule(
    "compare-with-next",
    "Of integers x > c is x >= c + 1, where c is not the largest one.",
    (
        bits("compare[LT](c, x) -> not(compare[LT](x, add(c, 1)))", INTEGER, NotHighest("c")),
        bits("compare[LT](highest, x) -> false", INTEGER),
    ),
    wrong=("compare[GT](x, 2) = compare[GE](x, 2)",),
    examples=("compare[GT](x, 2) = compare[GE](x, 3)", "compare[LE](x, 2) = compare[LT](x, 3)"),
    domain=(INTEGER,),
)
DIFFERENCES = Rule(
    "compare-differences",
    "Two integers are equal where the same added to both is.",
    (bits("compare[EQ](subtract(x, y), 0) = compare[EQ](x, y)", INTEGER),),
    wrong=("compare[EQ](add(x, y), 0) = compare[EQ](x, y)", "compare[EQ](multiply(x, 2), 4) = compare[EQ](x, 2)"),
    examples=("compare[EQ](add(x, z), add(y, z)) = compare[EQ](x, y)", "compare[NE](add(x, 3), 5) = compare[NE](x, 2)"),
    domain=(INTEGER,),
)
TRUTH = Rule(
    "compare-truth",
    "A truth value as a number is 0 or 1.",
    (
        bits("compare[EQ](convert[T](p), 1) -> p", INTEGER),
        bits("compare[EQ](convert[T](p), 1) -> p", OPPOSITES),
        bits("compare[EQ](convert[T](p), 0) -> not(p)", INTEGER),
        bits("compare[EQ](convert[T](p), 0) -> not(p)", OPPOSITES),
    ),
    wrong=("compare[EQ](convert[s32](p), convert[s32](false)) = p",),
    examples=(
        "compare[NE](convert[s32](p), convert[s32](false)) = p",
        "compare[EQ](convert[f32](p), convert[f32](true)) = p",
    ),
)
# The signed integer that orders the bits of floats as their total order does.
_KEY = "select(compare[LT]({0}, 0), xor({0}, highest), {0})"
_KEYS = ", ".join(_KEY.format(f"bitcast-convert[U]({each})") for each in "xy")
_KEYS_OF_BITS = f"{_KEY.format('x')}, {_KEY.format('y')}"
TOTAL_ORDER = Rule(
    "compare-total",
    "The total order of floats is that of their bits as signed integers, where those of negative floats are flipped "
    "below the sign.",
    (
        *(
            bits(f"compare[{each} TOTAL](x, y) -> compare[{each}]({_KEYS})", FLOAT, Has("signed", "U"), same_width())
            for each in ("LT", "EQ")
        ),
        bits(f"select(compare[LT](x, 0), subtract(highest, x), x) -> {_KEY.format('x')}", SIGNED),
    ),
    wrong=(
        "compare[LT](x, y) = compare[LT TOTAL](bitcast-convert[f32](x), bitcast-convert[f32](y))",
        f"compare[LT]({_KEYS_OF_BITS}) = compare[LT](bitcast-convert[f32](x), bitcast-convert[f32](y))",
        f"compare[LT]({_KEYS_OF_BITS.replace('0)', '1)')}) = "
        "compare[LT TOTAL](bitcast-convert[f32](x), bitcast-convert[f32](y))",
    ),
    domain=(SIGNED,),
)
CASES = Rule(
    "cases",
    "At every index a predicate is true or false: expressions that are equal in both cases are equal.",
    (
        *(bits("negate(select(p, x, y)) = select(p, negate(x), negate(y))", each) for each in _NUMBER),
        *(nan("add(select(p, x, y), z) = select(p, add(x, z), add(y, z))", each) for each in _NUMBER),
        *(nan("add(select(p, x, y), select(p, y, x)) = add(x, y)", each) for each in _NUMBER),
        bits("select(p, select(q, x, y), y) = select(and(p, q), x, y)"),
        bits("select(p, select(q, x, y), select(q, y, x)) = select(q, select(p, x, y), select(p, y, x))"),
    ),
    wrong=(
        "negate(select(p, x, y)) = select(p, negate(y), negate(x))",
        "add(select(p, x, y), select(q, y, x)) = add(x, y)",
        "select(p, select(q, x, y), y) = select(or(p, q), x, y)",
    ),
    domain=(REAL, Lacks("pred")),
)
