"""Physical arrays by the index formula: the oracle of every check.

It puts each element where `linear_indices` says, and shares no code with plans, passes and the
fast packing of the layout package.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import from_bits, to_bits
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.index.index_map import element_slot_bits, linear_indices, physical_element_count
from dialect_utils.layout.moves.physical import physical_shape

Array = NDArray[Any]

_BYTE = 8


def pack_by_index(array: Array, shape: ArrayShape, padding_bits: int) -> Array:
    """Returns the physical array of a logical one, every padding element filled with `padding_bits`.

    A type that `E(n)` packs becomes u8, least significant bits first.
    """
    element_type = shape.element_type
    bits = to_bits(array, element_type)
    width = bits.shape[array.ndim :]
    slots = np.empty((physical_element_count(shape), *width), bits.dtype)
    slots[...] = _filling(padding_bits, bits.dtype, width)
    slots[linear_indices(shape).reshape(-1)] = bits.reshape(-1, *width)
    if not _is_packed(shape):
        return from_bits(slots.reshape(*physical_shape(shape).dimensions, *width), element_type)
    per_byte = _BYTE // element_type.bits
    padded = np.full(-(-len(slots) // per_byte) * per_byte, padding_bits, np.uint8)
    padded[: len(slots)] = slots
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(element_type.bits)
    packed: Array = np.bitwise_or.reduce(padded.reshape(-1, per_byte) << shifts, axis=1)
    return packed.reshape(physical_shape(shape).dimensions)


def unpack_by_index(physical: Array, shape: ArrayShape) -> Array:
    """Returns the logical array in a physical one; padding is not looked at."""
    element_type = shape.element_type
    if _is_packed(shape):
        per_byte = _BYTE // element_type.bits
        shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(element_type.bits)
        slots = (physical.reshape(-1, 1) >> shifts & np.uint8((1 << element_type.bits) - 1)).reshape(-1)
    else:
        bits = to_bits(physical, element_type)
        width = bits.shape[physical.ndim :]
        slots = bits.reshape(prod(physical.shape), *width)
    return from_bits(slots[linear_indices(shape)], element_type)


def _is_packed(shape: ArrayShape) -> bool:
    return element_slot_bits(shape) < _BYTE


def _filling(padding_bits: int, dtype: np.dtype[Any], width: tuple[int, ...]) -> Array:
    """Returns the padding as one element, or as the two halves of a c128."""
    data = padding_bits.to_bytes(dtype.itemsize * prod(width), "little")
    return np.frombuffer(data, dtype).reshape(width)
