"""Terms of a wider type that are conversions of terms of a narrower one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType
from dialect_utils.ops import named
from dialect_utils.verdict.proof.algebra.chains import distributed
from dialect_utils.verdict.rules.arrays import FOLDED, SPLAT
from dialect_utils.verdict.rules.conversions import EXACT, LOSSLESS
from dialect_utils.verdict.rules.formats import has, has_whole_ends, is_lossless, is_nan
from dialect_utils.verdict.terms.constants import folded

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# Operations that commute with every conversion that loses nothing.
_SIGNS = named("negate abs")
# Operations whose results are whole numbers, which commute where the largest numbers of the narrower type are whole.
_WHOLE = named("ceil floor round-nearest-afz round-nearest-even sign")
# Operations of any number of operands, which commute with a conversion that loses nothing.
_JOINED, _OF_BITS = named("maximum minimum"), named("and or xor")
_LOOKED_THROUGH = _SIGNS | _WHOLE | _JOINED | _OF_BITS | {"select"}
# Operations around a conversion that are looked through.
_DEEPEST = 40


def converted(terms: Terms, element_type: ElementType, operand: Term) -> Term:
    """Returns a conversion as it is written."""
    return terms.each_as_is("convert", element_type, [operand])


def original(terms: Terms, element_type: ElementType, term: Term, depth: int = _DEEPEST) -> Term | None:
    """Returns the term of a type of which a term is the lossless conversion; None where there is none."""
    wide = term.array.element_type
    if wide == element_type or not depth or not is_lossless(element_type, wide):
        return None
    key = term, element_type
    if key not in terms.originals:
        terms.originals[key] = None
        terms.originals[key] = _original(terms, element_type, term, depth - 1)
    return terms.originals[key]


def source_type(term: Term) -> ElementType | None:
    """Returns the type of the first converted part of a term, None where the term has no conversion."""
    for _ in range(_DEEPEST):
        if term.kind == "each" and term.label == "convert":
            return term.operands[0].array.element_type
        if term.kind != "splat" and not (term.kind == "each" and term.label in _LOOKED_THROUGH):
            return None
        parts = term.operands[term.label == "select" :]
        # A constant is of any type that holds it.
        term = next((part for part in parts if part.kind not in ("constant", "splat")), parts[0])
    return None


def _original(terms: Terms, element_type: ElementType, term: Term, depth: int) -> Term | None:
    wide, sizes = term.array.element_type, term.array.dimensions
    bits = terms.constant_bits(term)
    if bits is not None:
        return _constant(terms, element_type, term, bits)
    if term.kind == "splat":
        inner = original(terms, element_type, term.operands[0], depth)
        if inner is None:
            return None
        found = terms.splat(inner, sizes)
        terms.certify(SPLAT, converted(terms, wide, found), terms.splat(converted(terms, wide, inner), sizes))
        return found
    if term.kind != "each":
        return None
    if term.label == "convert":
        return _of_conversion(terms, element_type, term)
    return _of_operation(terms, element_type, term, depth)


def _constant(terms: Terms, element_type: ElementType, term: Term, bits: int) -> Term | None:
    """Returns a constant of a narrower type with the same value."""
    wide = term.array.element_type
    narrow = folded("convert", element_type, ((wide, bits),))
    back = None if narrow is None else folded("convert", wide, ((element_type, narrow),))
    if narrow is None or back is None:
        return None
    if back != bits and not (is_nan(wide, bits) and is_nan(wide, back)):
        return None
    found = terms.literal(element_type, narrow, term.array.dimensions)
    scalar = terms.literal(element_type, narrow, ())
    if term.kind == "splat":
        whole = terms.splat(converted(terms, wide, scalar), term.array.dimensions)
        terms.certify(SPLAT, converted(terms, wide, found), whole)
    terms.step(FOLDED, converted(terms, wide, scalar), terms.literal(wide, bits, ()))
    return found


def _of_conversion(terms: Terms, element_type: ElementType, term: Term) -> Term | None:
    """Returns the operand of a conversion, converted to the narrower type where it has one that is narrower still."""
    (inner,) = term.operands
    source, wide = inner.array.element_type, term.array.element_type
    if source == element_type:
        return inner
    if not is_lossless(source, element_type) or "pred" in (source.name, element_type.name):
        return None
    terms.step(LOSSLESS, converted(terms, wide, converted(terms, element_type, inner)), term)
    return terms.each("convert", element_type, [inner])


def _of_operation(terms: Terms, element_type: ElementType, term: Term, depth: int) -> Term | None:
    """Returns an operation on narrower operands that computes the same numbers."""
    label, wide = term.label, term.array.element_type
    if not isinstance(label, str) or not _is_exact(label, element_type, wide):
        return None
    fixed = label == "select"
    found = [original(terms, element_type, part, depth) for part in term.operands[fixed:]]
    originals = [each for each in found if each is not None]
    if len(originals) < len(found):
        return None
    if label in _JOINED or label in _OF_BITS:
        distributed(terms, EXACT, label, label, originals, lambda part: converted(terms, wide, part))
        return terms.each(label, element_type, originals)
    operands = [*term.operands[:fixed], *originals]
    wider = [*term.operands[:fixed], *(converted(terms, wide, each) for each in originals)]
    narrow = terms.each_as_is(label, element_type, operands)
    terms.step(EXACT, converted(terms, wide, narrow), terms.each_as_is(label, wide, wider))
    return terms.each(label, element_type, operands)


def _is_exact(label: str, narrow: ElementType, wide: ElementType) -> bool:
    """Is true for an operation that gives the same number in a type and in a wider one."""
    if label == "select":
        return True
    if label in _SIGNS:
        return wide.is_floating and narrow.is_floating and has(narrow, "sign") and has(wide, "sign")
    if label in _WHOLE:
        return wide.is_floating and has_whole_ends(narrow)
    if label in _OF_BITS:
        return narrow.is_integral and wide.is_integral
    return label in _JOINED and (wide.is_floating or (narrow.is_integral and wide.is_integral))
