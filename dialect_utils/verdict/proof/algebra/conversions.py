"""Conversions that lose nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra.rule import Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

LOSSLESS = Rule(
    "convert-lossless",
    "A conversion into a type that holds every value of its operand's may be left out before another conversion; "
    "but not of integers by way of a float into integers that do not hold them: floats saturate, integers wrap around.",
    (
        "convert[x](convert[f64](x)) = x",
        "convert[f32](convert[f64](x)) = convert[f32](x)",
    ),
    (
        "convert[x](convert[s4](x)) = x",
        "convert[s8](convert[f64](convert[s32](x))) = convert[s8](convert[s32](x))",
    ),
    ("s32", "f32", "u8", "bf16", "f16"),
)


NARROWED = Rule(
    "convert-narrower",
    "The low bits of an integer are those of its wider forms; those of sums, products and bitwise operations are what "
    "these make of low bits.",
    (
        "convert[s8](convert[s16](x)) = convert[s8](x)",
        "convert[s8](add(x, y)) = add(convert[s8](x), convert[s8](y))",
        "convert[s8](xor(x, y)) = xor(convert[s8](x), convert[s8](y))",
    ),
    ("convert[s8](maximum(x, y)) = maximum(convert[s8](x), convert[s8](y))",),
    ("s32", "u32", "s64"),
)
EXACT = Rule(
    "convert-exact",
    "Extremes and choices round nothing, nor do signs of floats (-128 has none in s8): the narrower type will do.",
    (
        "convert[x](negate(convert[f64](x))) = negate(x)",
        "convert[x](abs(convert[f64](x))) = abs(x)",
        "convert[x](maximum(convert[f64](x), convert[f64](y))) = maximum(x, y)",
        "convert[x](select(p, convert[f64](x), convert[f64](y))) = select(p, x, y)",
    ),
    (
        "convert[x](minimum(convert[f64](x), convert[f64](y))) = maximum(x, y)",
        "convert[s8](negate(convert[f32](convert[s8](x)))) = negate(convert[s8](x))",
    ),
    ("f32", "bf16", "f16"),
)

_SIGNS, _EXTREMES = frozenset({"negate", "abs"}), frozenset({"maximum", "minimum"})
_OF_BITS = frozenset({"and", "or", "xor"})


def build(terms: Terms, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns a conversion in normal form, or None where nothing is known of it."""
    (operand,) = operands
    source = operand.array.element_type
    if source == element_type:
        return operand
    if operand.kind == "each" and operand.label == "convert":
        inner = operand.operands[0]
        if _may_be_left_out(inner.array.element_type, source, element_type):
            terms.note(LOSSLESS)
            return terms.each("convert", element_type, [inner])
        if inner.array.element_type.is_integral and _is_narrowing(source, element_type):
            terms.note(NARROWED)
            return terms.each("convert", element_type, [inner])
    return _within(terms, element_type, operand) if operand.kind == "each" else None


def _is_narrowing(source: ElementType, target: ElementType) -> bool:
    return source.is_integral and target.is_integral and target.bits <= source.bits


def _within(terms: Terms, element_type: ElementType, operand: Term) -> Term | None:
    """Returns an operation on converted operands, where it is the same as on the operands; None for others."""
    label, source = operand.label, operand.array.element_type
    if _is_narrowing(source, element_type) and (label in _OF_BITS or operand in terms.polynomials):
        terms.note(NARROWED)
        parts = [terms.each("convert", element_type, [part]) for part in operand.operands]
        return terms.each(label, element_type, parts)
    is_choice = label == "select"
    is_exact = source.is_floating and (label in _EXTREMES or (label in _SIGNS and element_type.is_floating))
    if not is_choice and not is_exact:
        return None
    originals = [_original(terms, element_type, part) for part in operand.operands[is_choice:]]
    found = [part for part in originals if part is not None]
    if len(found) < len(originals):
        return None
    terms.note(EXACT)
    return terms.each(label, element_type, [*operand.operands[:is_choice], *found])


def _original(terms: Terms, element_type: ElementType, part: Term) -> Term | None:
    """Returns a term of a type of which another one is the lossless conversion; None where there is none."""
    if part.kind != "each" or part.label != "convert" or not is_lossless(element_type, part.array.element_type):
        return None
    return part.operands[0] if part.operands[0].array.element_type == element_type else None


def _may_be_left_out(inner: ElementType, source: ElementType, target: ElementType) -> bool:
    """Is true where a conversion from one type by way of a second into a third is one from the first."""
    if not is_lossless(inner, source):
        return False
    is_by_float = inner.is_integral and source.is_floating and target.is_integral
    return not is_by_float or is_lossless(inner, target)


@lru_cache(maxsize=1024)
def is_lossless(source: ElementType, target: ElementType) -> bool:
    """Is true where every value of one type is one of the other, and a NaN stays one."""
    if source.is_complex or target.is_complex or target.name == "pred":
        return source == target
    digits = _integer_digits(source)
    target_form = FLOAT_FORMATS.get(target.name)
    if digits is not None:
        if target_form is not None:
            return (
                target_form.specials == "ieee"
                and digits <= target_form.mantissa_bits + 1
                and (digits < 1 << (target_form.exponent_bits - 1))
            )
        wider = _integer_digits(target)
        return wider is not None and digits <= wider and (target.is_signed or not source.is_signed)
    form = FLOAT_FORMATS.get(source.name)
    if form is None or target_form is None or target_form.specials != "ieee" or form.specials == "e8m0":
        return False
    # The largest exponent; IEEE types have infinities and NaN at the top one.
    top = (1 << form.exponent_bits) - form.bias - (2 if form.specials == "ieee" else 1)
    bottom = form.bias + form.mantissa_bits
    return (
        form.mantissa_bits <= target_form.mantissa_bits
        and top <= (1 << target_form.exponent_bits) - 2 - target_form.bias
        and bottom <= target_form.bias + target_form.mantissa_bits - 1
    ) or form == target_form


def _integer_digits(element_type: ElementType) -> int | None:
    """Returns how many binary digits an integer's magnitude has, None for other types."""
    if element_type.name == "pred":
        return 1
    if not element_type.is_integral:
        return None
    return element_type.bits - int(element_type.is_signed)
