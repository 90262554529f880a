"""Elementwise operations in normal form: equal ones, as far as the rules know, become one term."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra import comparisons, conversions, floats, lattice, ring
from dialect_utils.verdict.proof.algebra.numbers import folded, is_rounded
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.floats import PARTS
from dialect_utils.verdict.terms.constants import folded as by_definition

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# The ring needs integers of at least two bits.
_NARROWEST = 2


def build(terms: Terms, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
    """Returns the term of an elementwise operation on arrays of the same dimensions.

    `label` is an opcode, or a tuple whose first part is one where attributes count.
    """
    found = None
    if isinstance(label, str):
        found = _build(terms, label, element_type, operands)
    elif isinstance(label, tuple) and label[0] == "ring":
        found = ring.rebuilt(terms, label, operands)
    elif isinstance(label, tuple) and label[0] == "compare" and len(label) == _COMPARE_PARTS:
        found = comparisons.build_compare(terms, label[1], label[2], operands)
    elif isinstance(label, tuple) and label[0] == "bitcast-convert" and len(label) == len(("opcode", "type")):
        bits = terms.constant_bits(operands[0])
        if bits is not None:
            found = terms.literal(element_type, bits, operands[0].array.dimensions)
            terms.step(FOLDED, terms.each_as_is(label, element_type, operands), found)
    return terms.each_as_is(label, element_type, operands) if found is None else found


# compare, direction, whether NaN is ordered
_COMPARE_PARTS = 3


def _build(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    known = _folded(terms, opcode, element_type, operands)
    if known is not None:
        return known
    if opcode == "select":
        return comparisons.build_select(terms, element_type, operands)
    if opcode == "convert":
        return conversions.build(terms, element_type, operands)
    if opcode == "is-finite":
        return conversions.build_finite(terms, operands[0])
    if opcode in ("real", "imag", "complex"):
        return _parts(terms, opcode, element_type, operands)
    return _of_numbers(terms, opcode, element_type, operands)


def _of_numbers(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns arithmetic and logic in normal form, or None where nothing is known of them."""
    if element_type.is_integral and element_type.bits >= _NARROWEST:
        found = ring.build(terms, opcode, element_type, operands)
        if found is None:
            found = lattice.build(terms, opcode, element_type, operands)
        return floats.build_integer(terms, opcode, operands) if found is None else found
    if element_type.name == "pred" or element_type.is_floating:
        found = lattice.build(terms, opcode, element_type, operands)
        if found is None and element_type.is_floating:
            found = floats.build(terms, opcode, element_type, operands)
        return found
    return None


def _folded(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    values = [terms.constant_bits(operand) for operand in operands]
    types = {operand.array.element_type for operand in operands}
    known = tuple(value for value in values if value is not None)
    if not values or len(known) < len(values) or len(types) > 1:
        return None
    kind = types.pop()
    bits = folded(opcode, element_type, kind, known)
    if bits is None:
        bits = by_definition(opcode, element_type, tuple((kind, each) for each in known))
        # A rounded constant is another number over the reals, so constants are rounded only where nothing else helps.
        if bits is None or (is_rounded(opcode, element_type, kind, (*known, bits)) and not terms.may_choose()):
            return None
    found = terms.literal(element_type, bits, operands[0].array.dimensions)
    terms.step(FOLDED, terms.each_as_is(opcode, element_type, operands), found)
    return found


def _parts(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns the part of a complex number that is made of parts, or the number that its parts make."""
    first, second = operands[0], operands[-1]
    if first.kind != "each":
        return None
    found = None
    if opcode != "complex" and first.label == "complex":
        found = first.operands[opcode == "imag"]
    if opcode == "complex" and (first.label, second.label) == ("real", "imag") and second.kind == "each":
        found = first.operands[0] if first.operands == second.operands else None
    if found is None or found.array.element_type != element_type:
        return None
    terms.step(PARTS, terms.each_as_is(opcode, element_type, operands), found)
    return found
