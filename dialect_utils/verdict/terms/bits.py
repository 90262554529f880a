"""Parts of the bits of elements, and elements joined of narrower ones, by definition: arithmetic on whole numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol, TypeVar

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.verdict.rules import Definition

V = TypeVar("V")
PARTS_OF_BITS = Definition(
    "parts-of-bits", "Bits that are read as smaller elements are those of shifts; larger elements join shifted bits."
)


class Scalars(Protocol[V]):
    """The maker of scalar terms."""

    def literal(self, element_type: ElementType, bits: int, dimensions: tuple[int, ...]) -> V:
        """Returns a constant."""

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[V]) -> V:
        """Returns an operation."""

    def reread(self, operand: V, element_type: ElementType, /) -> V:
        """Returns the bits of a scalar as another type."""


def part_of_bits(scalars: Scalars[V], item: V, old: ElementType, new: ElementType, position: int) -> V:
    """Returns part i of an element's bits: `convert(x >> i * bits)`, a function of x if no integer is as wide as x."""
    wide, narrow = _unsigned(old), _unsigned(new)
    if wide is None or narrow is None:
        return scalars.each(("part", position), new, [item])
    value = item if wide == old else scalars.reread(item, wide)
    if position:
        count = scalars.literal(wide, position * new.bits, ())
        value = scalars.each("shift-right-logical", wide, (value, count))
    low = scalars.each("convert", narrow, [value])
    return low if narrow == new else scalars.reread(low, new)


def joined_bits(scalars: Scalars[V], items: Sequence[V], old: ElementType, new: ElementType) -> V:
    """Returns joined elements: the `or` of `x_i << i * bits`, a function of them if no integer is as wide."""
    wide, narrow = _unsigned(new), _unsigned(old)
    if wide is None or narrow is None:
        return scalars.each("joined", new, items)
    values = [scalars.each("convert", wide, [x if narrow == old else scalars.reread(x, narrow)]) for x in items]
    counts = [scalars.literal(wide, i * old.bits, ()) for i in range(len(values))]
    shifted = [scalars.each("shift-left", wide, pair) for pair in zip(values[1:], counts[1:], strict=True)]
    total = scalars.each("or", wide, [values[0], *shifted])
    return total if wide == new else scalars.reread(total, new)


def _unsigned(kind: ElementType) -> ElementType | None:
    """Returns the unsigned integer as wide as an integer or a float; None for other types."""
    is_number = kind.is_integral or kind.is_floating
    return ELEMENT_TYPES.get(f"u{kind.bits}") if is_number and not kind.is_complex else None
