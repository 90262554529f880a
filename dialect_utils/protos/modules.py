"""Which message around an HLO module some bytes are, and where the module is in them (xla/service/hlo.proto)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dialect_utils.protos.wire import BYTES, Field, MalformedProtoError, read_fields

Message = Literal["HloModuleProto", "HloProto", "HloSnapshot", "HloUnoptimizedSnapshot"]

# HloModuleProto: name = 1, computations = 3. HloProto: hlo_module = 1, buffer_assignment = 3. HloSnapshot: hlo = 1,
# arguments = 2, result = 3, execution_platform = 4. HloUnoptimizedSnapshot: hlo_module = 1, partitions = 2.
_FIRST = 1
_COMPUTATIONS = 3
_PARTITIONS = 2
# Field 1 of wire type 2; a module's name does not begin with a line feed.
_FIRST_TAG = _FIRST << 3 | BYTES


@dataclass(frozen=True, slots=True)
class Found:
    """A message that holds a module: which one, the HloModuleProto in it, and the fields around that."""

    message: Message
    module: memoryview
    around: tuple[Field, ...] = ()


def find_proto(data: bytes) -> Found:
    """Finds the HloModuleProto in serialized bytes; raises MalformedProtoError where they hold none."""
    around: tuple[Field, ...] = ()
    view = memoryview(data)
    for depth in range(3):
        fields = tuple(read_fields(view))
        first = next((field.bytes for field in fields if field.number == _FIRST), memoryview(b""))
        if not first or first[0] != _FIRST_TAG:
            _check_module(fields)
            return Found(_message(depth, around), view, around)
        around, view = around or fields, first
    raise MalformedProtoError("the module is wrapped in more messages than any that is known")


def _check_module(fields: tuple[Field, ...]) -> None:
    if not any(field.number == _COMPUTATIONS and field.wire_type == BYTES for field in fields):
        raise MalformedProtoError("a serialized HloModuleProto has computations, these bytes have none")


def _message(depth: int, around: tuple[Field, ...]) -> Message:
    if depth == 1:
        has_inputs = any(field.number == _PARTITIONS for field in around)
        return "HloUnoptimizedSnapshot" if has_inputs else "HloProto"
    return "HloModuleProto" if depth == 0 else "HloSnapshot"


def is_proto_of_module(data: bytes) -> bool:
    """Is true for bytes in which `find_proto` finds a module."""
    try:
        find_proto(data)
    except MalformedProtoError:
        return False
    return True
