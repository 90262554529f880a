"""Elementwise operations in normal form: operations that the rules make equal become one term."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra import comparisons, lattice, ring
from dialect_utils.verdict.proof.algebra.matching import rewritten
from dialect_utils.verdict.proof.algebra.numbers import is_rounded
from dialect_utils.verdict.proof.algebra.widening import rounded
from dialect_utils.verdict.rules import index
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.terms.constants import folded

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# The ring needs integers of at least two bits.
_NARROWEST = 2
_PAIR = 2


def build(terms: Terms, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns the term of an elementwise operation on arrays of the same dimensions.

    `label` is an opcode, or a tuple of the opcode and attributes, such as (compare, LT, False).
    """
    before = terms.each_as_is(label, element_type, operands)
    for simplified in (_folded, comparisons.build, rewritten, _normal, _ordered):
        found = simplified(terms, before)
        if found is not None:
            return found
    return before


def _folded(terms: Terms, before: Term) -> Term | None:
    """Returns the result of an operation on constants, None for other operands."""
    values = [terms.constant_bits(operand) for operand in before.operands]
    known = tuple(value for value in values if value is not None)
    if len(known) < len(values):
        return None
    label, element_type, kind = before.label, before.array.element_type, before.operands[0].array.element_type
    if any(operand.array.element_type != kind for operand in before.operands):
        return None
    bits = folded(label, element_type, tuple((kind, each) for each in known))
    # A rounded constant is another number over the reals, so constants are rounded only where nothing else helps.
    if bits is None or (is_rounded(label, element_type, kind, (*known, bits)) and not terms.may_choose()):
        return None
    found = terms.literal(element_type, bits, before.array.dimensions)
    terms.step(FOLDED, before, found)
    return found


def _normal(terms: Terms, before: Term) -> Term | None:
    """Returns polynomials, lattices and sums in normal form, None for other operations."""
    label, element_type = before.label, before.array.element_type
    if isinstance(label, tuple):
        return ring.rebuilt(terms, label, before.operands) if label[0] == "ring" else None
    if label == "convert":
        (operand,) = before.operands
        return ring.narrowed(terms, before) if operand.kind == "each" else rounded(terms, element_type, operand)
    if not isinstance(label, str):
        return None
    is_ring = element_type.is_integral and element_type.bits >= _NARROWEST
    found = ring.build(terms, label, element_type, before.operands) if is_ring else None
    return lattice.build(terms, label, element_type, before.operands) if found is None else found


def _ordered(terms: Terms, before: Term) -> Term | None:
    """Returns a commutative operation with the earlier term as first operand, None for other operations."""
    if len(before.operands) != _PAIR or before.operands[0].number <= before.operands[1].number:
        return None
    kind = before.array.element_type
    law = index.commutative_law(before.label, kind.name, before.operands[0].array.element_type.name)
    if law is None:
        return None
    found = terms.each_as_is(before.label, kind, before.operands[::-1])
    terms.step(law, before, found)
    return found
