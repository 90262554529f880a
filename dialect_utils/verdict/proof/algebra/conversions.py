"""Conversions that lose nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra.chains import distributed
from dialect_utils.verdict.rules.conversions import EXACT, LOSSLESS, NARROWED
from dialect_utils.verdict.rules.formats import has, is_lossless

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

_SIGNS, _EXTREMES = frozenset({"negate", "abs"}), frozenset({"maximum", "minimum"})
_OF_BITS = frozenset({"and", "or", "xor"})


def build(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns a conversion in normal form, or None where nothing is known of it."""
    (operand,) = operands
    source = operand.array.element_type
    if source == element_type:
        terms.step(LOSSLESS, terms.each_as_is("convert", element_type, operands), operand)
        return operand
    if operand.kind == "each" and operand.label == "convert":
        (inner,) = operand.operands
        before = terms.each_as_is("convert", element_type, operands)
        if _may_be_left_out(inner.array.element_type, source, element_type):
            return terms.by(LOSSLESS, before, "convert", element_type, [inner])
        if inner.array.element_type.is_integral and _is_narrowing(source, element_type):
            return terms.by(NARROWED, before, "convert", element_type, [inner])
    return _within(terms, element_type, operand) if operand.kind == "each" else None


def _is_narrowing(source: ElementType, target: ElementType) -> bool:
    return source.is_integral and target.is_integral and target.bits <= source.bits


def _within(terms: Terms, element_type: ElementType, operand: Term) -> Term | None:
    """Returns an operation on converted operands, where it is the same as on the operands; None for others."""
    label, source = operand.label, operand.array.element_type
    if _is_narrowing(source, element_type) and (label in _OF_BITS or operand in terms.polynomials):
        return _narrowed(terms, element_type, operand)
    is_choice = label == "select"
    is_sign = label in _SIGNS and element_type.is_floating and has(element_type, "opposites")
    if not is_choice and not (source.is_floating and (label in _EXTREMES or is_sign)):
        return None
    originals = [_original(terms, element_type, part) for part in operand.operands[is_choice:]]
    found = [part for part in originals if part is not None]
    if len(found) < len(originals):
        return None
    if label in _EXTREMES:
        return _extreme(terms, str(label), element_type, operand, found)
    before = terms.each_as_is("convert", element_type, [operand])
    return terms.by(EXACT, before, label, element_type, [*operand.operands[:is_choice], *found])


def _extreme(terms: Terms, opcode: str, element_type: ElementType, operand: Term, originals: Sequence[Term]) -> Term:
    """Returns the extreme of terms of which an operand is the extreme after a conversion."""
    source, narrow = operand.array.element_type, terms.each_as_is(opcode, element_type, originals)
    distributed(terms, EXACT, opcode, opcode, originals, lambda part: terms.each_as_is("convert", source, [part]))
    twice = terms.each_as_is("convert", element_type, [terms.each_as_is("convert", source, [narrow])])
    once = terms.each_as_is("convert", element_type, [narrow])
    terms.step(LOSSLESS, twice, once)
    terms.step(LOSSLESS, once, narrow)
    return terms.each(opcode, element_type, originals)


def _narrowed(terms: Terms, element_type: ElementType, operand: Term) -> Term:
    """Returns a bitwise operation or a polynomial of narrower operands."""
    label, parts = operand.label, operand.operands
    if isinstance(label, str):
        distributed(
            terms, NARROWED, label, label, parts, lambda part: terms.each_as_is("convert", element_type, [part])
        )
    else:
        as_is = [terms.each_as_is("convert", element_type, [part]) for part in parts]
        before = terms.each_as_is("convert", element_type, [operand])
        terms.step(NARROWED, before, terms.each_as_is(label, element_type, as_is))
    return terms.each(label, element_type, [terms.each("convert", element_type, [part]) for part in parts])


def _original(terms: Terms, element_type: ElementType, part: Term) -> Term | None:
    """Returns a term of a type of which another one is the lossless conversion; None where there is none."""
    if part.kind != "each" or part.label != "convert" or not is_lossless(element_type, part.array.element_type):
        return None
    return part.operands[0] if part.operands[0].array.element_type == element_type else None


def _may_be_left_out(inner: ElementType, source: ElementType, target: ElementType) -> bool:
    """Is true where a conversion from one type by way of a second into a third is one from the first."""
    if not is_lossless(inner, source):
        return False
    is_by_float = not inner.is_floating and source.is_floating and target.is_integral
    return not is_by_float or is_lossless(inner, target)
