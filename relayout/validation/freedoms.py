"""The freedoms of a compiler with floats: a pass that changes bits by these makes no mistake."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.verdict import Verdict
from dialect_utils.verdict.differences import Counterexample
from dialect_utils.verdict.field.conventions import WITHOUT_NAN
from dialect_utils.verdict.rules.formats import is_lossless


def is_other_rounding(verdict: Verdict) -> bool:
    """Is true for a difference of modules that are equal over the reals: x / c as x * (1 / c), for example.

    A number for a NaN is another rounding only where the equality assumes nothing about NaN.
    """
    open_ = [each for each in verdict.proved if not each.is_equal]
    example = verdict.counterexample
    if not open_ or not isinstance(example, Counterexample):
        return False
    reals = [each.over_reals for each in open_]
    assumed = {name for each in reals if each is not None for name in each.conventions}
    has_nan = any("nan" in value.lower() for value in map(str, example.values))
    return all(each is not None and bool(each.is_equal) for each in reals) and not (has_nan and assumed & WITHOUT_NAN)


def without_roundings(first: Module, last: Module) -> tuple[Sequence[Module], int]:
    """Returns both modules without conversions to a narrower float and back, and how many the last one lacks."""
    if not isinstance(first, HloModule) or not isinstance(last, HloModule):
        return (first, last), 0
    forms = first.clone(), last.clone()
    counts = [*map(_drop_roundings, forms)]
    return forms, max(0, counts[0] - counts[1])


def _drop_roundings(module: HloModule) -> int:
    count = 0
    for item in instructions(module, "convert"):
        inner = item.operands[0]
        source = inner.operands[0] if inner.opcode == "convert" else inner
        types = [_float_of(each.shape) for each in (source, inner, item)]
        wide, narrow, back = types
        if wide is None or narrow is None or wide != back or is_lossless(wide, narrow):
            continue
        Ops(item).finish(source)
        count += 1
    return count


def _float_of(shape: Shape) -> ElementType | None:
    """Returns the element type of an array of floats, None for other shapes."""
    return shape.element_type if isinstance(shape, ArrayShape) and shape.element_type.is_floating else None
