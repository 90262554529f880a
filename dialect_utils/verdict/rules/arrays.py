"""Rules that the replay checks by a procedure: constants, repeated scalars, and sums of many elements."""

from __future__ import annotations

from dialect_utils.verdict.rules.conditions import REAL
from dialect_utils.verdict.rules.rule import Rule

FOLDED = Rule(
    "constants",
    "An operation on constants has one result, rounded once, where the definition leaves nothing to the engine.",
    wrong=("add(2, 3) = 6",),
    examples=(
        "add(2, 3) = 5",
        "divide(7, 2) = divide(7, 2)",
        "multiply(maximum(2, 3), 2) = 6",
        "multiply(0, 3) = 0",
        "subtract(3, 3) = 0",
        "compare[LT](2, 3) = true",
        "select(compare[LT](2, 3), x, y) = x",
    ),
    domain=(REAL,),
)
# The name of a step that takes an elementwise operation on arrays that each repeat one scalar to the scalars.
SPLAT = "splat"
ONE_SUM = Rule(
    "one-sum", "The engine chooses the order in which one reduction by a commutative operation takes its elements."
)
CONVERTED_MOVEMENT = Rule("converted", "A movement of converted arrays is the converted movement of the arrays.")
CONVERTED_EXTREME = Rule(
    "converted-extreme",
    "An extreme, or a bitwise reduction, of numbers of a wider type is that of the narrower numbers.",
)
CONVERTED_FUNCTION = Rule(
    "converted-function",
    "A reduction by a function that commutes with a conversion computes, step by step, the conversions of the values.",
)
DOT_PRECISION = Rule("dot-precision", "The engine chooses the precision of a sum of products at DEFAULT precision.")
EXCESS_PRECISION = Rule("excess-precision", "The engine may keep the sums of a reduction in a wider type.")
FUNCTION_ROUNDING = Rule("function-rounding", "The engine chooses how exactly a function such as a sine is rounded.")
MIXED_PRECISION = Rule(
    "mixed-precision", "An operation on floats of several types is computed in the widest type, and rounded once."
)
PARTS_OF_BITS = Rule(
    "parts-of-bits", "Bits that are read as smaller elements are those of shifts; larger elements join shifted bits."
)
