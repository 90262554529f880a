"""Conversions that lose nothing, and operations that a wider type computes for a narrower one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.ops import named
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.verdict.proof.algebra.chains import distributed
from dialect_utils.verdict.proof.algebra.originals import converted, original
from dialect_utils.verdict.proof.algebra.widening import rounded
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import FUNCTION_ROUNDING
from dialect_utils.verdict.rules.conditions import Doubled
from dialect_utils.verdict.rules.conversions import EXACT, LOSSLESS, NARROWED, WIDER, WIDER_INTEGERS
from dialect_utils.verdict.rules.formats import has, is_lossless

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

_OF_BITS = named("and or xor")
# Operations that are rounded once, and operations of integers that only low bits do not determine.
_ROUNDED, _OF_INTEGERS = named("add subtract multiply divide remainder sqrt"), named("divide remainder")
_SHIFTS = {"shift-right-logical": "unsigned", "shift-right-arithmetic": "signed"}
_DOUBLED = Doubled()
_FUNCTIONS = USES[Choice.FUNCTION_ROUNDING]


def build(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns a conversion in normal form, or None where nothing is known of it."""
    (operand,) = operands
    source = operand.array.element_type
    if source == element_type:
        terms.step(LOSSLESS, converted(terms, element_type, operand), operand)
        return operand
    before = converted(terms, element_type, operand)
    if operand.kind == "each" and operand.label == "convert":
        (inner,) = operand.operands
        if _may_be_left_out(inner.array.element_type, source, element_type):
            return terms.by(LOSSLESS, before, "convert", element_type, [inner])
        if inner.array.element_type.is_integral and _is_narrowing(source, element_type):
            return terms.by(NARROWED, before, "convert", element_type, [inner])
    narrow = original(terms, element_type, operand)
    if narrow is not None:
        once = converted(terms, element_type, narrow)
        terms.step(LOSSLESS, converted(terms, element_type, converted(terms, source, narrow)), once)
        terms.step(LOSSLESS, once, narrow)
        return narrow
    return _within(terms, element_type, operand) if operand.kind == "each" else rounded(terms, element_type, operand)


def build_finite(terms: Terms, operand: Term) -> Term | None:
    """Returns whether a float is finite, asked of the narrower float that it was; None for others."""
    if operand.kind != "each" or operand.label != "convert":
        return None
    (inner,) = operand.operands
    kind, truth = inner.array.element_type, ELEMENT_TYPES["pred"]
    if not kind.is_floating or not is_lossless(kind, operand.array.element_type):
        return None
    return terms.by(EXACT, terms.each_as_is("is-finite", truth, [operand]), "is-finite", truth, [inner])


def _is_narrowing(source: ElementType, target: ElementType) -> bool:
    return source.is_integral and target.is_integral and target.bits <= source.bits


def _within(terms: Terms, element_type: ElementType, operand: Term) -> Term | None:
    """Returns an operation on converted operands, where it is the same as on the operands; None for others."""
    label, source = operand.label, operand.array.element_type
    if _is_narrowing(source, element_type) and (label in _OF_BITS or operand in terms.polynomials):
        return _narrowed(terms, element_type, operand)
    if label == "negate" and has(source, "sign") and has(element_type, "sign"):
        before, (inner,) = converted(terms, element_type, operand), operand.operands
        written = terms.each_as_is("negate", element_type, [converted(terms, element_type, inner)])
        terms.step(EXACT, written, before)
        return terms.each("negate", element_type, [terms.each("convert", element_type, [inner])])
    if _is_computed(label, element_type, source):
        return _computed(terms, element_type, operand, WIDER if source.is_floating else WIDER_INTEGERS)
    if label in _FUNCTIONS and element_type.is_floating and source.is_floating:
        return _computed(terms, element_type, operand, FUNCTION_ROUNDING)
    return None


def _is_computed(label: object, narrow: ElementType, wide: ElementType) -> bool:
    """Is true for an operation that a wider type computes exactly enough for a narrower one."""
    if wide.is_floating:
        return label in _ROUNDED and _DOUBLED.holds({"T": narrow, "U": wide}, {})
    if not narrow.is_integral or not wide.is_integral or not isinstance(label, str):
        return False
    return label in _OF_INTEGERS or (label in _SHIFTS and has(narrow, _SHIFTS[label]))


def _computed(terms: Terms, element_type: ElementType, operand: Term, rule: Rule) -> Term | None:
    """Returns an operation on narrower operands; None where the operands are not conversions of such."""
    found = [original(terms, element_type, part) for part in operand.operands]
    originals = [each for each in found if each is not None]
    if len(originals) < len(found) or (rule is FUNCTION_ROUNDING and not terms.may_choose()):
        return None
    source = operand.array.element_type
    wide = terms.each_as_is(operand.label, source, [converted(terms, source, each) for each in originals])
    return terms.by(rule, converted(terms, element_type, wide), operand.label, element_type, originals)


def _narrowed(terms: Terms, element_type: ElementType, operand: Term) -> Term:
    """Returns a bitwise operation or a polynomial of narrower operands."""
    label, parts = operand.label, operand.operands
    if isinstance(label, str):
        distributed(terms, NARROWED, label, label, parts, lambda part: converted(terms, element_type, part))
    else:
        as_is = [converted(terms, element_type, part) for part in parts]
        terms.step(NARROWED, converted(terms, element_type, operand), terms.each_as_is(label, element_type, as_is))
    return terms.each(label, element_type, [terms.each("convert", element_type, [part]) for part in parts])


def _may_be_left_out(inner: ElementType, source: ElementType, target: ElementType) -> bool:
    """Is true where a conversion from one type by way of a second into a third is one from the first."""
    if not is_lossless(inner, source):
        return False
    is_by_float = not inner.is_floating and source.is_floating and target.is_integral
    return not is_by_float or is_lossless(inner, target)
