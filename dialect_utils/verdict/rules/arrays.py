"""Rules that the replay checks by a procedure: constants, repeated scalars, sums, and reductions among devices."""

from __future__ import annotations

from dialect_utils.layout import ElementType
from dialect_utils.ops import EXTREMES, MODULAR, Trait, with_trait
from dialect_utils.verdict.rules.conditions import REAL
from dialect_utils.verdict.rules.formats import is_lossless
from dialect_utils.verdict.rules.rule import Level, Rule

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
# The name of the step f(splat(a), splat(b)) = splat(f(a, b)).
SPLAT = "splat"
ONE_SUM = Rule(
    "one-sum", "The engine chooses the order in which one reduction by a commutative operation takes its elements."
)
PROMOTED = Rule(
    "promoted-reduction",
    "A reduction among devices may be computed in a wider type: exactly for integers, maxima and minima, and for sums "
    "and products of floats where the engine chooses that precision.",
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
CONVOLUTION_PRECISION = Rule(
    "convolution-precision", "The engine chooses the precision of a convolution at DEFAULT precision."
)
EXCESS_PRECISION = Rule("excess-precision", "The engine may keep the sums of a reduction in a wider type.")
PARTS_OF_BITS = Rule(
    "parts-of-bits", "Bits that are read as smaller elements are those of shifts; larger elements join shifted bits."
)
# Operations that combine the arrays of several devices.
REDUCTIONS = with_trait(Trait.COLLECTIVE | Trait.COMBINES)
# Operations whose result is one of the operands.
_EXTREMES = EXTREMES
# Operations whose lower bits depend on the lower bits of the operands only.
_MODULAR = MODULAR
# Operations of floats whose result an engine may keep in a wider type.
_ROUNDED = with_trait(Trait.COMMUTATIVE | Trait.ROUNDS)


def promotion_level(opcode: str, narrow: ElementType, wide: ElementType) -> Level | None:
    """Returns the equality in which a reduction may be computed in a wider type; None for none.

    Integers are computed modulo a power of two, so the conversion to more bits may extend them by zeros or by signs.
    """
    if narrow.is_integral and wide.is_integral:
        is_kept = opcode in _EXTREMES and is_lossless(narrow, wide)
        return "bits" if is_kept or (opcode in _MODULAR and narrow.bits <= wide.bits) else None
    if not (narrow.is_floating and wide.is_floating and is_lossless(narrow, wide)):
        return None
    return "nan" if opcode in _EXTREMES else "order" if opcode in _ROUNDED else None
