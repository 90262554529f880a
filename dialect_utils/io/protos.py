"""HLO modules in serialized protocol buffers: the wire format, and the message that holds the module.

Sources: protobuf.dev/programming-guides/encoding for the wire format, xla/service/hlo.proto for the messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}
# 64 bits, seven a byte.
_LONGEST_VARINT = 10
_UINT64 = (1 << 64) - 1

Message = Literal["HloModuleProto", "HloProto", "HloSnapshot", "HloUnoptimizedSnapshot"]

# HloModuleProto: name = 1, computations = 3, id = 5. HloProto: hlo_module = 1, buffer_assignment = 3.
# HloSnapshot: hlo = 1, arguments = 2, result = 3, execution_platform = 4.
# HloUnoptimizedSnapshot: hlo_module = 1, partitions = 2.
_FIRST = 1
_COMPUTATIONS, MODULE_ID, _DEVICE_ASSIGNMENT = 3, 5, 15
_PARTITIONS = 2
# Each computation is a field; a large module has thousands. The limit is one second of work.
MOST_FIELDS = 1_000_000
# Field 1 of wire type 2; a module's name does not begin with a line feed.
_FIRST_TAG = _FIRST << 3 | BYTES


class MalformedProtoError(ValueError):
    """Bytes that are not a valid message."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its number, its wire type, and its number or bytes."""

    number: int
    wire_type: int
    value: int | memoryview

    @property
    def integer(self) -> int:
        """Returns a varint's value; raises MalformedProtoError for other fields."""
        if not isinstance(self.value, int):
            raise MalformedProtoError(f"field {self.number} is no integer")
        return self.value

    @property
    def bytes(self) -> memoryview:
        """Returns the bytes of a string, a message or a packed list; raises MalformedProtoError for an integer."""
        if self.wire_type != BYTES or isinstance(self.value, int):
            raise MalformedProtoError(f"field {self.number} has no length")
        return self.value


def read_fields(data: memoryview) -> Iterator[Field]:
    """Yields the fields of a message in order; raises MalformedProtoError for other bytes."""
    position = 0
    while position < len(data):
        tag, position = read_varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise MalformedProtoError("a field has the number 0")
        if wire_type == VARINT:
            value, position = read_varint(data, position)
            yield Field(number, wire_type, value)
            continue
        if wire_type == BYTES:
            size, position = read_varint(data, position)
        elif wire_type in _FIXED_SIZES:
            size = _FIXED_SIZES[wire_type]
        else:
            raise MalformedProtoError(f"field {number} has the wire type {wire_type}")
        if size > len(data) - position:
            raise MalformedProtoError(f"field {number} is cut short")
        yield Field(number, wire_type, data[position : position + size])
        position += size


def read_varint(data: memoryview, position: int) -> tuple[int, int]:
    """Returns the integer at a position, and the position after it; raises MalformedProtoError."""
    value = 0
    for count, byte in enumerate(data[position : position + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value & _UINT64, position + count + 1
    raise MalformedProtoError("an integer is cut short")


def write_varint(value: int) -> bytes:
    """Returns the bytes of an integer of 64 bits, for `read_varint`."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def module_key(data: bytes) -> bytes:
    """Returns the SHA-256 of an HloModuleProto without its id, which counts the modules of a process."""
    return sha256(write_fields(field for field in read_fields(memoryview(data)) if field.number != MODULE_ID)).digest()


def has_device_assignment(data: bytes) -> bool:
    """Is true for an HloModuleProto that names the devices on which it runs."""
    return any(field.number == _DEVICE_ASSIGNMENT for field in read_fields(memoryview(data)))


def write_fields(fields: Iterable[Field]) -> bytes:
    """Returns the message of fields, for `read_fields`."""
    found = bytearray()
    for field in fields:
        found += write_varint(field.number << 3 | field.wire_type)
        if isinstance(field.value, int):
            found += write_varint(field.value)
            continue
        found += write_varint(len(field.value)) if field.wire_type == BYTES else b""
        found += field.value
    return bytes(found)


@dataclass(frozen=True, slots=True)
class Found:
    """A message that holds a module: its kind, the HloModuleProto in it, and the outermost message."""

    message: Message
    module: memoryview
    around: memoryview


def find_proto(data: bytes) -> Found:
    """Finds the HloModuleProto in serialized bytes; raises MalformedProtoError for bytes without one."""
    outer = view = memoryview(data)
    for depth in range(3):
        first, has_computations = _looked_through(view)
        if not first or first[0] != _FIRST_TAG:
            if not has_computations:
                raise MalformedProtoError("a serialized HloModuleProto has computations, these bytes have none")
            return Found(_message(depth, outer), view, outer)
        view = first
    raise MalformedProtoError("the module is wrapped in more messages than any that is known")


def _looked_through(view: memoryview) -> tuple[memoryview, bool]:
    """Returns the first field 1 of a message, and whether the message has a field for computations."""
    # All fields together would take fifty times the memory of the file.
    first, has_computations = None, False
    for count, field in enumerate(read_fields(view)):
        if count == MOST_FIELDS:
            raise MalformedProtoError(f"a message has more than {MOST_FIELDS} fields")
        if field.number == _FIRST and first is None:
            first = field.bytes
        has_computations |= field.number == _COMPUTATIONS and field.wire_type == BYTES
    return first or memoryview(b""), has_computations


def _message(depth: int, outer: memoryview) -> Message:
    if depth == 1:
        has_inputs = any(field.number == _PARTITIONS for field in read_fields(outer))
        return "HloUnoptimizedSnapshot" if has_inputs else "HloProto"
    return "HloModuleProto" if depth == 0 else "HloSnapshot"


def is_proto_of_module(data: bytes) -> bool:
    """Is true for bytes in which `find_proto` finds a module."""
    try:
        find_proto(data)
    except MalformedProtoError:
        return False
    return True
