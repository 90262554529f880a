"""Recorded executions: the inputs, and often the results, that a snapshot holds in addition to its module.

`--xla_dump_hlo_snapshots` writes HloSnapshot, `--xla_dump_hlo_unoptimized_snapshots` HloUnoptimizedSnapshot
(xla/service/hlo.proto), which has the inputs of every partition and no results. Both hold arrays as LiteralProto
(xla/xla_data.proto).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.arrays import Array, from_bits
from dialect_utils.io.protos import BYTES, VARINT, Field, MalformedProtoError, find_proto, read_fields
from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import DiagnosticError

_ARGUMENTS, _RESULT = 2, 3
_PARTITIONS, _PARTITION_ARGUMENTS, _PARTITION_DESCRIPTORS = 2, 1, 2
# LiteralProto: shape = 1, tuple_literals = 10. ShapeProto: element_type = 2, dimensions = 3, tuple_shapes = 4,
# layout = 5, is_dynamic_dimension = 6. LayoutProto: minor_to_major = 1.
_SHAPE, _TUPLE_LITERALS = 1, 10
_ELEMENT_TYPE, _DIMENSIONS, _LAYOUT, _DYNAMIC = 2, 3, 5, 6
_MINOR_TO_MAJOR = 1
_TUPLE = 13
# PrimitiveType by its number, and the field of LiteralProto that holds its elements.
_STORED = {
    1: ("pred", 2),
    **{2: ("s8", 15), 3: ("s16", 17), 4: ("s32", 4), 5: ("s64", 5), 6: ("u8", 3), 7: ("u16", 16)},
    **{8: ("u32", 6), 9: ("u64", 7), 10: ("f16", 11), 11: ("f32", 8), 12: ("f64", 9), 15: ("c64", 12)},
    **{16: ("bf16", 13), 18: ("c128", 18), 19: ("f8e5m2", 19), 20: ("f8e4m3fn", 20), 21: ("s4", 21)},
    **{22: ("u4", 22), 23: ("f8e4m3b11fnuz", 23), 24: ("f8e5m2fnuz", 24), 25: ("f8e4m3fnuz", 25), 26: ("s2", 26)},
    **{27: ("u2", 27), 28: ("f8e4m3", 28), 29: ("f8e3m4", 29), 30: ("s1", 30), 31: ("u1", 31)},
    **{32: ("f4e2m1fn", 32), 33: ("f8e8m0fnu", 33)},
}
# The elements of these types are varints; those of all others are plain bytes.
_VARINTS = ("pred", "s32", "s64", "u32", "u64")
_BYTE = 8
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Recorded:
    """The inputs of one execution and, where they were recorded, its results; tuples are flattened.

    With several partitions the leading dimension of every input counts the partitions.
    """

    inputs: tuple[Array, ...]
    results: tuple[Array, ...] | None = None


def read_recorded(data: bytes, name: str) -> Recorded | None:
    """Returns the execution that a snapshot records, or None for other bytes.

    Raises DiagnosticError for damaged literals and literals that are not arrays; `name` is the file's name in it.
    """
    try:
        found = find_proto(data)
    except MalformedProtoError:
        return None
    try:
        if found.message == "HloSnapshot":
            results = _messages(found.around, _RESULT)
            return Recorded(_literals(_messages(found.around, _ARGUMENTS)), _literals(results) if results else None)
        return _of_partitions(found.around) if found.message == "HloUnoptimizedSnapshot" else None
    except ValueError as error:  # numpy raises it, too, for ranks and sizes beyond its limits
        raise DiagnosticError(f"{name}: the recorded execution is damaged: {error}") from None


def _messages(message: memoryview, number: int) -> list[memoryview]:
    """Returns the values of all fields of one number."""
    return [field.bytes for field in read_fields(message) if field.number == number]


def _of_partitions(message: memoryview) -> Recorded:
    partitions = _messages(message, _PARTITIONS)
    if any(field.number == _PARTITION_DESCRIPTORS for partition in partitions for field in read_fields(partition)):
        raise MalformedProtoError("the inputs are described, but not there")
    inputs = [_literals(_messages(partition, _PARTITION_ARGUMENTS)) for partition in partitions]
    if len(inputs) == 1:
        return Recorded(inputs[0])
    shapes = [[(array.shape, array.dtype) for array in arrays] for arrays in inputs]
    if any(each != shapes[0] for each in shapes):
        raise MalformedProtoError("the partitions have inputs of different shapes")
    return Recorded(tuple(np.stack(parts) for parts in zip(*inputs, strict=True)))


def _literals(messages: Sequence[memoryview]) -> tuple[Array, ...]:
    return tuple(array for message in messages for array in read_literal(message))


def read_literal(data: memoryview, depth: int = 0) -> list[Array]:
    """Returns the arrays of a LiteralProto, tuples flattened; raises MalformedProtoError for other bytes."""
    if depth > _DEEPEST:
        raise MalformedProtoError("its tuples nest too deep")
    fields = list(read_fields(data))
    shape = [field for part in fields if part.number == _SHAPE for field in read_fields(part.bytes)]
    kind = next((field.integer for field in shape if field.number == _ELEMENT_TYPE), 0)
    if kind == _TUPLE:
        parts = (field.bytes for field in fields if field.number == _TUPLE_LITERALS)
        return [array for part in parts for array in read_literal(part, depth + 1)]
    if kind not in _STORED or _STORED[kind][0] not in ELEMENT_TYPES:
        raise MalformedProtoError(f"a literal has the element type {kind}, which is none of an array")
    if any(_integers([field]).any() for field in shape if field.number == _DYNAMIC):
        raise MalformedProtoError("a literal has dynamic dimensions")
    name, number = _STORED[kind]
    dimensions = [int(size) for size in _integers([field for field in shape if field.number == _DIMENSIONS])]
    layout = [field for part in shape if part.number == _LAYOUT for field in read_fields(part.bytes)]
    order = [int(dim) for dim in _integers([field for field in layout if field.number == _MINOR_TO_MAJOR])]
    elements = _elements([field for field in fields if field.number == number], ELEMENT_TYPES[name])
    return [_in_order(elements, ELEMENT_TYPES[name], dimensions, order)]


def _in_order(elements: Array, kind: ElementType, dimensions: Sequence[int], order: Sequence[int]) -> Array:
    """Returns the array with elements in the order of its layout."""
    order = order or list(range(len(dimensions)))[::-1]
    if sorted(order) != list(range(len(dimensions))):
        raise MalformedProtoError(f"a literal of rank {len(dimensions)} has the minor_to_major {order}")
    if min(dimensions, default=0) < 0 or prod(dimensions) != len(elements):
        raise MalformedProtoError(f"a literal of {kind.name}{list(dimensions)} has {len(elements)} elements")
    major_first = order[::-1]
    array = elements.reshape([dimensions[dim] for dim in major_first])
    return np.ascontiguousarray(array.transpose(np.argsort(major_first))).reshape(dimensions)


def _elements(fields: Sequence[Field], kind: ElementType) -> Array:
    if kind.name in _VARINTS:
        return _integers(fields).astype(dtype_of(kind))
    data = b"".join(bytes(field.value) for field in fields if not isinstance(field.value, int))
    if kind.bits < _BYTE:
        # One byte per element, as in memory (xla/literal.cc, LiteralBase::Piece::WriteToProto).
        return from_bits(np.frombuffer(data, np.uint8), kind)
    if len(data) % kind.storage_bytes:
        raise MalformedProtoError(f"a literal of {kind.name} has {len(data)} bytes")
    return np.frombuffer(data, dtype_of(kind))


def _integers(fields: Sequence[Field]) -> NDArray[np.int64]:
    """Returns the integers of a repeated field, packed or not, as 64 bits each."""
    parts = [_varints(field.bytes) if field.wire_type == BYTES else _one(field) for field in fields]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _one(field: Field) -> NDArray[np.int64]:
    if field.wire_type != VARINT:
        raise MalformedProtoError(f"field {field.number} holds no integers")
    return np.array([field.integer], np.uint64).view(np.int64)


def _varints(data: memoryview) -> NDArray[np.int64]:
    """Returns the varints of a packed list."""
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw < 0x80)
    if not len(raw):
        return np.zeros(0, np.int64)
    if not len(ends) or ends[-1] != len(raw) - 1:
        raise MalformedProtoError("an integer is cut short")
    starts = np.concatenate([[0], ends[:-1] + 1])
    position = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    if position.max() > 9:
        raise MalformedProtoError("an integer has more than 64 bits")
    parts = (raw & np.uint8(0x7F)).astype(np.uint64) << (7 * position).astype(np.uint64)
    return np.add.reduceat(parts, starts).view(np.int64)
