"""Sizes of arrays in bytes: the true size, and the answers of XLA's functions.

XLA's functions disagree with the definition and with each other (docs/layouts.md, section "Sizes");
each one is here under XLA's name, with its quirk. Sources: xla/shape_util.cc (ByteSizeOf, ArraySize)
and xla/layout_util.cc (MaxSplitSize). `tpu.allocation_bytes` is the allocation of the TPU runtime.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

from dialect_utils.layout.index.index_map import (
    element_slot_bits,
    physical_element_count,
    require_bounded,
)
from dialect_utils.layout.layout import COMBINE, MATCH
from dialect_utils.layout.shape import ArrayShape

_BYTE = 8


def allocated_elements(shape: ArrayShape) -> int:
    """Returns the element slots that a layout allocates, padded to `L(n)`; raises ValueError if unbounded."""
    alignment = shape.effective_layout.tail_padding_alignment_in_elements
    return round_up(physical_element_count(shape), alignment)


def byte_size(shape: ArrayShape) -> int:
    """Returns the bytes that an array spans under its layout: every tile, `E(n)` and `L(n)` applied.

    Split configs do not count: the size is that of all splits together. Raises ValueError for an
    unbounded dimension.
    """
    return _bytes(allocated_elements(shape) * element_slot_bits(shape))


def padding_fraction(shape: ArrayShape) -> float:
    """Returns the share of slots without an element, from 0 to 1 (0: no slots); raises ValueError if unbounded."""
    slots = allocated_elements(shape)
    return (slots - shape.element_count) / slots if slots else 0.0


def xla_byte_size(shape: ArrayShape) -> int | None:
    """Returns ShapeUtil::ArraySize, which XLA calls the size in bytes.

    ArraySize applies the first tile only, takes the largest split of a split dimension, and ignores `L(n)`
    and splits without tiles. Returns None where the first tile combines dimensions, which ArraySize does
    not support. Raises ValueError for an unbounded dimension.
    """
    require_bounded(shape)
    layout = shape.effective_layout
    if not layout.tiles:
        return byte_size_of(shape)
    tile = layout.tiles[0].dimensions[::-1]
    if COMBINE in tile:
        return None
    sizes = [max_split_size(shape, dim) for dim in layout.minor_to_major]
    sizes += [1] * (len(tile) - len(sizes))
    covered = [size if t == MATCH else round_up(size, t) for size, t in zip(sizes, tile, strict=False)]
    elements = round_up(prod(covered + sizes[len(tile) :]), layout.tail_padding_alignment_in_elements)
    return _bytes(elements * element_slot_bits(shape))


def byte_size_of(shape: ArrayShape) -> int:
    """Returns ShapeUtil::ByteSizeOf: the bytes of the elements, no tile applied; raises ValueError if unbounded."""
    require_bounded(shape)
    return _bytes(shape.element_count * element_slot_bits(shape))


def max_split_size(shape: ArrayShape, dim: int) -> int:
    """Returns LayoutUtil::MaxSplitSize: the longest piece, in elements, of a logical dimension."""
    layout = shape.effective_layout
    size = shape.dimensions[dim]
    for split in layout.split_configs:
        if layout.major_to_minor[split.dimension] == dim:
            bounds = (0, *split.split_indices, size)
            return max(b - a for a, b in pairwise(bounds))
    return size


def _bytes(bits: int) -> int:
    return -(-bits // _BYTE)


def round_up(value: int, multiple: int) -> int:
    """Returns the least multiple that is not below a value."""
    return -(-value // multiple) * multiple
