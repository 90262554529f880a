"""Converts the entry arrays of one module to the entry arrays of another: unchanged, or packed by the index formula.

Packing by the index formula is the oracle of every check: it writes each element to its index in `linear_indices`,
and shares no code with plans and passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution import from_bits, to_bits
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape
from dialect_utils.layout.index.index_map import element_slot_bits, linear_indices, physical_element_count
from dialect_utils.layout.moves.physical import physical_shape
from dialect_utils.ops.sharding import Partition, Sharding
from dialect_utils.text import DiagnosticError


@dataclass(frozen=True, slots=True)
class EntryArray:
    """One array of the entry: its shape in the first module, and the layouts that pack it for the last module.

    Without layouts both modules take the same array. Several layouts apply one after another. With a sharding each
    device of the last module takes a part of the first module's array.
    """

    shape: ArrayShape
    layouts: tuple[ArrayShape, ...] = ()
    sharding: Sharding | None = None

    @property
    def is_padded(self) -> bool:
        """Is true where the last module's array may have padding."""
        sharding, sizes = self.sharding, self.shape.dimensions
        if sharding is None:
            return bool(self.layouts)
        return any(n * size != full for n, size, full in zip(sharding.tiles, sharding.local(sizes), sizes, strict=True))

    def pack(self, array: Array, *, poison: bool) -> Array:
        """Returns the last module's array for an array of the first, with zeros or poison as padding.

        An array with one dimension more than `shape` holds one array for each device.
        """
        if self.sharding is not None:
            return self._split(array, self.sharding, poison=poison)
        if self.layouts and array.ndim > self.shape.rank:
            return np.stack([self.pack(part, poison=poison) for part in array])
        for layout in self.layouts:
            array = pack_by_index(array, layout, layout.element_type.poison_bits if poison else 0)
        return array

    def _split(self, array: Array, sharding: Sharding, *, poison: bool) -> Array:
        """Returns the part of each device, along a leading dimension."""
        kind, sizes = self.shape.element_type, self.shape.dimensions
        bits = to_bits(array, kind)
        width = bits.shape[array.ndim :]
        filling = (kind.poison_bits if poison else 0).to_bytes(bits.itemsize * prod(width), "little")
        parts = np.empty((len(sharding.parts), *sharding.local(sizes), *width), bits.dtype)
        parts[...] = np.frombuffer(filling, bits.dtype).reshape(width)
        for device in range(len(parts)):
            held = sharding.region(device, sizes)
            parts[device, ...][_from_start(held)] = bits[held]
        return from_bits(parts, kind)

    def put_together(self, parts: Array, expected: Array) -> Array:
        """Returns the whole array of the parts of all devices; where devices differ, what is farthest from expected."""
        if self.sharding is None:
            return parts
        kind = self.shape.element_type
        wanted, bits = to_bits(expected, kind), to_bits(parts, kind)
        halves = tuple(range(expected.ndim, wanted.ndim))
        found, is_right = np.array(expected), np.ones(expected.shape, np.bool_)
        for device in range(len(parts)):
            held = self.sharding.region(device, self.shape.dimensions)
            part = _from_start(held)
            own = parts[device, ...][part]
            differs = (bits[device, ...][part] != wanted[held]).any(axis=halves)
            differs &= is_right[held] | _is_farther(own, found[held], expected[held])
            found[held] = np.where(differs, own, found[held])
            is_right[held] &= ~differs
        return found

    def unpack(self, array: Array) -> Array:
        """Returns the first module's array for an array of the last, or one for each device."""
        if self.layouts and array.ndim > physical_shape(self.layouts[-1]).rank:
            return np.stack([self.unpack(part) for part in array])
        for layout in reversed(self.layouts):
            array = unpack_by_index(array, layout)
        return array

    def of_devices(self, count: int) -> ArrayShape:
        """Returns the shape of the first module's array on several devices, stacked along a leading dimension."""
        if count == 1:
            return self.shape
        return ArrayShape(self.shape.element_type, (count, *self.shape.dimensions))


def _is_farther(first: Array, last: Array, expected: Array) -> Array:
    """Is true for the elements whose first value is farther from the expected one than the last, or is no number."""
    kind = np.complex128 if np.iscomplexobj(expected) else np.float64
    values = [each.astype(kind) for each in (first, last, expected)]
    with np.errstate(all="ignore"):
        far, near = (np.abs(each - values[-1]) for each in values[:2])
    return np.asarray((far > near) | np.isnan(far))


def _from_start(region: tuple[slice, ...]) -> tuple[slice, ...]:
    return tuple(slice(each.stop - each.start) for each in region)


class EntryInterface(NamedTuple):
    """The arrays that two modules take, and those that they return, tuples flattened."""

    parameters: list[EntryArray]
    results: list[EntryArray]

    @property
    def shardings(self) -> tuple[list[Sharding], list[Sharding]] | None:
        """Returns the shardings of parameters and results; None where the last module takes whole arrays."""
        found = [[each.sharding for each in side if each.sharding is not None] for side in self]
        return (found[0], found[1]) if any(found) else None


def entry_interface(stages: Sequence[Module], partition: Partition | None = None) -> EntryInterface:
    """Returns the arrays of the entry of several forms of a module, or of one for each device by a partition.

    `stages` are the first module, the ones in between that supply entry layouts, and the last one.
    An array of the same type and dimensions stays unchanged; one with the type and dimensions of
    the physical array of the stage before is packed. Raises DiagnosticError for any other array.
    """
    if partition is not None:
        sides = zip(
            stages[0].entry_layout, stages[-1].entry_layout, partition[:2], ("parameter", "result"), strict=True
        )
        return EntryInterface(*(_parts(*side) for side in sides))
    parameters, results = ([stage.entry_layout[side] for stage in stages] for side in (0, 1))
    return EntryInterface(_matched("parameter", parameters), _matched("result", results))


def _matched(role: str, stages: Sequence[Sequence[Shape]]) -> list[EntryArray]:
    leaves = [[leaf for shape in shapes for leaf in _arrays(shape, role)] for shapes in stages]
    counts = {len(each) for each in leaves}
    if len(counts) > 1:
        message = f"different signatures: {len(leaves[0])} {role}s in one module, {len(leaves[-1])} in the other"
        raise DiagnosticError(message)
    return [_entry_array(f"{role} {i}", chain) for i, chain in enumerate(zip(*leaves, strict=True))]


def _parts(
    wholes: Sequence[Shape], parts: Sequence[Shape], shardings: Sequence[Sharding], role: str
) -> list[EntryArray]:
    """Returns the arrays of one side of the entry, each with its sharding."""
    found, local = ([leaf for shape in shapes for leaf in _arrays(shape, role)] for shapes in (wholes, parts))
    if not len(found) == len(local) == len(shardings):
        raise DiagnosticError(f"different signatures: {len(found)} {role}s, and {len(local)} on each device")
    for number, (whole, part, sharding) in enumerate(zip(found, local, shardings, strict=True)):
        fits = whole.rank == part.rank == len(sharding.tiles) and whole.element_type == part.element_type
        if not fits or sharding.local(whole.dimensions) != part.dimensions:
            raise DiagnosticError(f"the sharding {sharding} of {role} {number} does not make {part} of {whole}")
    return [
        EntryArray(whole.without_layout, sharding=sharding) for whole, sharding in zip(found, shardings, strict=True)
    ]


def _arrays(shape: Shape, role: str) -> list[ArrayShape]:
    if isinstance(shape, TupleShape):
        return [leaf for element in shape.elements for leaf in _arrays(element, role)]
    if isinstance(shape, BufferShape):
        shape = shape.array
    if not isinstance(shape, ArrayShape) or not shape.is_static:
        raise DiagnosticError(f"a {role} of the entry is {shape}, which no input or output can hold")
    return [shape]


def _entry_array(name: str, chain: Sequence[ArrayShape]) -> EntryArray:
    layouts: list[ArrayShape] = []
    before = chain[0]
    for shape in chain[1:]:
        if shape.type_and_dimensions != before.type_and_dimensions:
            if shape.type_and_dimensions != physical_shape(before).type_and_dimensions:
                raise DiagnosticError(f"different signatures: {name} is {before} in one module, {shape} in the other")
            layouts.append(before)
        before = shape
    return EntryArray(chain[0], tuple(layouts))


Array = NDArray[Any]

_BYTE = 8


def pack_by_index(array: Array, shape: ArrayShape, padding_bits: int) -> Array:
    """Returns the physical array of a logical one, with `padding_bits` in every padding element.

    A type that `E(n)` packs becomes u8, least significant bits first.
    """
    element_type = shape.element_type
    bits = to_bits(array, element_type)
    width = bits.shape[array.ndim :]
    slots = np.empty((physical_element_count(shape), *width), bits.dtype)
    # A c128 has two halves.
    filling = padding_bits.to_bytes(bits.itemsize * prod(width), "little")
    slots[...] = np.frombuffer(filling, bits.dtype).reshape(width)
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
    """Returns the logical array of a physical one, without reading its padding."""
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
