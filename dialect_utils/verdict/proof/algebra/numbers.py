"""Constants: the exact numbers of bits, operations on them, and the neutral elements of reductions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import Trait, by_opcode, has, with_trait
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.formats import (
    float_bits,
    has as has_property,
    highest_bits,
    is_nan,
    lowest_bits,
    number_bits,
    sign_bit,
    value_of,
)
from dialect_utils.verdict.terms.constants import folded

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

__all__ = [
    "are_nan",
    "highest_bits",
    "is_exact",
    "is_idempotent",
    "is_rounded",
    "negative",
    "neutral_bits",
    "number_bits",
    "value_of",
]

# Maximum and minimum.
_EXTREMES = with_trait(Trait.IDEMPOTENT | Trait.BOUNDED)
# The neutral elements of integers and truth values; -1 has only ones.
_NEUTRAL = by_opcode({"add": 0, "or": 0, "xor": 0, "and": -1, "multiply": 1})


def neutral_bits(opcode: str, element_type: ElementType) -> int | None:
    """Returns the bits of the neutral element, which a reduction may combine any number of times, or None."""
    if opcode in _EXTREMES:
        return lowest_bits(element_type) if opcode == "maximum" else highest_bits(element_type)
    if element_type.is_floating:
        return sign_bit(element_type) if opcode == "add" else float_bits(element_type, 1.0)
    if element_type.is_complex:
        return None
    return _NEUTRAL[opcode] % (1 << element_type.bits)


def is_idempotent(opcode: str, element_type: ElementType, bits: int | None) -> bool:
    """Is true where combining an initial value twice equals combining it once: +0 in a sum, any in a maximum."""
    if has(opcode, Trait.IDEMPOTENT) or (bits is not None and bits == neutral_bits(opcode, element_type)):
        return True
    if bits is None or opcode != "add":
        return False
    return bits == 0 if element_type.is_complex else value_of(element_type, bits) == 0


def is_exact(opcode: str, element_type: ElementType) -> bool:
    """Is true where a reduction does not depend on how its elements are grouped."""
    if opcode in _EXTREMES:
        return not element_type.is_complex
    return element_type.is_integral or element_type.name == "pred"


def are_nan(terms: Terms, first: Term, second: Term) -> bool:
    """Is true for two constants all of whose elements are NaN, which are equal up to their bits."""
    shape, bits = first.shape, [terms.constant_bits(each) for each in (first, second)]
    if terms.keeps_bits or None in bits or not isinstance(shape, ArrayShape) or shape != second.shape:
        return False
    if not all(is_nan(shape.element_type, each or 0) for each in bits):
        return False
    terms.step(FOLDED, first, second)
    return True


def negative(terms: Terms, term: Term) -> Term | None:
    """Returns -c for a negative constant c or -0; None for other terms and for infinities."""
    bits, kind = terms.constant_bits(term), term.array.element_type
    value = None if bits is None or not has_property(kind, "opposites") else value_of(kind, bits)
    is_negative = (isinstance(value, Fraction) and value < 0) or str(value) == "-0.0"
    opposite = folded("negate", kind, ((kind, bits),)) if bits is not None and is_negative else None
    return None if opposite is None else terms.literal(kind, opposite, term.array.dimensions)


# The exact results of operations whose result is the nearest number.
_EXACT: Mapping[str, Callable[..., Fraction | None]] = by_opcode(
    {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y if y else None,
        "convert": lambda x: x,
    }
)


def is_rounded(opcode: Hashable, result: ElementType, kind: ElementType, bits: Sequence[int]) -> bool:
    """Is true for an operation on finite floats that rounds; `bits` are the bits of the operands and the result."""
    if result.name == "pred" or not (kind.is_floating or result.is_floating):
        return False
    values = [*(value_of(kind, each) for each in bits[:-1]), value_of(result, bits[-1])]
    if not all(isinstance(value, Fraction | int) for value in values):
        return False
    *operands, found = (Fraction(value or 0) for value in values)
    if opcode == "sqrt":
        return found * found != operands[0]
    return opcode in _EXACT and _EXACT[str(opcode)](*operands) != found
