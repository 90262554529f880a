"""Rules that the replay checks by a procedure: constants, repeated scalars, and sums of many elements."""

from __future__ import annotations

from dialect_utils.verdict.rules.conditions import REAL
from dialect_utils.verdict.rules.rule import Rule

FOLDED = Rule(
    "constants",
    "Integer operations, comparisons, and float operations that need no rounding have one result.",
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
