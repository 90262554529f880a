"""The wire format of protocol buffers: messages as lists of fields (protobuf.dev/programming-guides/encoding)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}
# 64 bits, seven a byte.
_LONGEST_VARINT = 10
_UINT64 = (1 << 64) - 1


class MalformedProtoError(ValueError):
    """Bytes that are no message, or end within one."""


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
        """Returns what a string, a message or a packed list holds; raises MalformedProtoError for an integer."""
        if self.wire_type != BYTES or isinstance(self.value, int):
            raise MalformedProtoError(f"field {self.number} has no length")
        return self.value


def read_fields(data: memoryview) -> Iterator[Field]:
    """Yields the fields of a message in order; raises MalformedProtoError where the bytes are none."""
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
