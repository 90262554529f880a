"""Constants: NaN, negative numbers, and operations that round."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from operator import add, mul, sub
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import by_opcode
from dialect_utils.verdict.rules.arrays import FOLDED, ROUNDED_CONSTANT
from dialect_utils.verdict.rules.formats import has, is_nan, value_of
from dialect_utils.verdict.terms.constants import folded, rounds_to

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms


def are_nan(terms: Terms, first: Term, second: Term) -> bool:
    """Is true for two constants all of whose elements are NaN, which are equal up to their bits."""
    shape, bits = first.shape, [terms.constant_bits(each) for each in (first, second)]
    if terms.strategy.keeps_bits or None in bits or not isinstance(shape, ArrayShape) or shape != second.shape:
        return False
    if not all(is_nan(shape.element_type, each or 0) for each in bits):
        return False
    terms.step(FOLDED, first, second)
    return True


def is_rounded_function(terms: Terms, first: Term, second: Term) -> bool:
    """Is true for a function of constants and a constant to which an engine may round it; adds the step."""
    before, after = (first, second) if first.kind == "each" else (second, first)
    bits, operands = terms.constant_bits(after), [*map(terms.constant_bits, before.operands)]
    known = [each for each in operands if each is not None]
    if bits is None or before.kind != "each" or len(known) < len(operands) or first.shape != second.shape:
        return False
    shapes = {operand.shape for operand in before.operands}
    if shapes != {before.shape} or not rounds_to(before.label, before.array.element_type, known, bits):
        return False
    terms.step(ROUNDED_CONSTANT, before, after)
    return True


def negative(terms: Terms, term: Term) -> Term | None:
    """Returns -c for a negative constant c or -0; None for other terms and for infinities."""
    bits, kind = terms.constant_bits(term), term.array.element_type
    value = None if bits is None or not has(kind, "opposites") else value_of(kind, bits)
    is_negative = (isinstance(value, Fraction) and value < 0) or str(value) == "-0.0"
    opposite = folded("negate", kind, ((kind, bits),)) if bits is not None and is_negative else None
    return None if opposite is None else terms.literal(kind, opposite, term.array.dimensions)


# The exact results of operations whose result is the nearest number.
_EXACT: Mapping[str, Callable[..., Fraction | None]] = by_opcode(
    {"add": add, "subtract": sub, "multiply": mul, "divide": lambda x, y: x / y if y else None, "convert": Fraction}
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
