"""A float of 16 bits rounded twice, by way of f32 as the definitions do, is the same float rounded once.

So the translation to solvers rounds once. Solvers decide these operations for all operands. The others, quotients and
products of bf16, follow from f32 having at least 2 p + 2 digits for p digits of the format (Figueroa, "When is double
rounding innocuous?", 1995), also of subnormal results: a product has 2 p digits, and a quotient is no nearer to a tie.
"""

from __future__ import annotations

from dialect_utils.layout import ELEMENT_TYPES
from tests.rules import translation
from tests.rules.script import Script
from tests.rules.solvers import Answer, decide, solver_for

LEMMAS = (
    *(("f16", opcode, 2) for opcode in ("add", "subtract", "multiply")),
    *(("bf16", opcode, 2) for opcode in ("add", "subtract")),
    ("f16", "sqrt", 1),
    ("bf16", "sqrt", 1),
)


def rounded_twice(name: str, opcode: str, count: int) -> Script:
    """Returns the script that has operands for which an operation in f32, then rounded, differs from the operation."""
    kind, wide, script = ELEMENT_TYPES[name], ELEMENT_TYPES["f32"], Script()
    operands = [script.variable(variable, kind) for variable in "xy"[:count]]
    once = translation.each(script, opcode, operands)
    inner = translation.each(script, opcode, [translation.convert(script, wide, each) for each in operands])
    twice = translation.convert(script, kind, inner)
    script.require(f"(not {translation.is_same(script, once, twice, 'nan')})")
    return script


def answer(name: str, opcode: str, count: int, limit_s: float) -> Answer:
    """Returns what a solver says of a lemma."""
    script = rounded_twice(name, opcode, count)
    return decide(script, solver_for(script), limit_s)
