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
        "convert[x](convert[s8](x)) = x",
        "convert[s8](convert[f64](convert[s32](x))) = convert[s8](convert[s32](x))",
    ),
    ("s32", "f32", "u8", "bf16", "f16"),
)


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
    return None


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
