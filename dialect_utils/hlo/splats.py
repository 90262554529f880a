"""Reads constants all of whose elements are one value."""

from __future__ import annotations

import re

from dialect_utils.hlo.tokens import without_comments
from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.layout.float_bits import try_float_bits

_SEPARATORS = re.compile(r"[\s{},]+")


def try_splat_bits(shape: Shape, literal: str) -> int | None:
    """Returns the bits that every element of a literal has, or None where they differ or are not known.

    Elided literals (`{...}`), complex numbers, NaNs and the types of 8 bits and fewer that are
    floating point give None.
    """
    if not isinstance(shape, ArrayShape) or "(" in literal or "..." in literal:
        return None
    elements = {text for text in _SEPARATORS.split(without_comments(literal)) if text}
    return _bits(shape.element_type, elements.pop()) if len(elements) == 1 else None


def _bits(element_type: ElementType, text: str) -> int | None:
    if element_type.name == "pred":
        return {"true": 1, "false": 0, "1": 1, "0": 0}.get(text)
    try:
        if element_type.is_integral:
            return int(text) & ((1 << element_type.bits) - 1)
        return try_float_bits(element_type, float(text))
    except ValueError:
        return None
