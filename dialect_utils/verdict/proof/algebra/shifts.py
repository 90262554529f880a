"""Unsigned integers: division by powers of two, and shifts of shifts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.verdict.proof.algebra.rule import Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

_SHIFT = "shift-right-logical"
HALVED = Rule(
    "unsigned-power-of-two",
    "Dividing an unsigned integer by 2^k drops its last k bits, which are the remainder.",
    ("divide(x, 8) = shift-right-logical(x, 3)", "remainder(x, 8) = and(x, 7)"),
    ("divide(x, 6) = shift-right-logical(x, 3)", "remainder(x, 6) = and(x, 5)"),
    ("u8", "u32"),
)
SHIFTED_TWICE = Rule(
    "shifted-twice",
    "Shifting right by j and by k bits is shifting by j + k, both below the width.",
    ("shift-right-logical(shift-right-logical(x, 3), 2) = shift-right-logical(x, 5)",),
    ("shift-right-logical(shift-right-logical(x, 3), 2) = shift-right-logical(x, 6)",),
    ("u8", "s8", "s32", "u32", "s64"),
)


def build(terms: Terms, opcode: str, operands: Sequence[Term]) -> Term | None:
    """Returns a division, remainder or shift by a constant in normal form; None where nothing is known of it."""
    left, right = operands[0], operands[-1]
    kind, bits = left.array.element_type, terms.constant_bits(right)
    if bits is None:
        return None
    if opcode in ("divide", "remainder") and kind.is_unsigned and bits and not bits & (bits - 1):
        terms.note(HALVED)
        if opcode == "remainder":
            return terms.each("and", kind, (left, terms.literal(kind, bits - 1, left.array.dimensions)))
        return terms.each(_SHIFT, kind, (left, terms.literal(kind, bits.bit_length() - 1, left.array.dimensions)))
    if opcode != _SHIFT or left.kind != "each" or left.label != _SHIFT:
        return None
    first = terms.constant_bits(left.operands[1])
    if first is None or max(first, bits, first + bits) >= kind.bits:
        return None
    terms.note(SHIFTED_TWICE)
    return terms.each(_SHIFT, kind, (left.operands[0], terms.literal(kind, first + bits, left.array.dimensions)))
