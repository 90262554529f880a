"""Serialized HLO: protos to text and back, by jaxlib in a worker process."""

from __future__ import annotations

from dialect_utils.execution.errors import ExecutionError
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Worker
from dialect_utils.text import Diagnostic, DiagnosticError

# Field 1 of wire type 2 begins HloModuleProto (its name), and also HloProto and HloSnapshot,
# whose first field is the next message (xla/service/hlo.proto).
_FIRST_FIELD = 0x0A
_LONGEST_VARINT = 10


def hlo_proto_to_text(data: bytes, name: str = "<proto>", timeout: float = DEFAULT_TIMEOUT_SECONDS) -> str:
    """Returns the HLO text of a serialized HloModuleProto, HloProto or HloSnapshot, constants in full.

    `name` is the file's name in diagnostics, `timeout` is in seconds. Raises DiagnosticError for
    bytes that are none of these.
    """
    module = _innermost(data, name)
    try:
        with Worker(timeout) as worker:
            return worker.convert("proto-to-text", module).decode()
    except ExecutionError as error:
        raise ExecutionError(error.failure, f"{name}: {error.message}") from None


def hlo_text_to_proto(text: str, timeout: float = DEFAULT_TIMEOUT_SECONDS) -> bytes:
    """Returns the serialized HloModuleProto of HLO text; raises ExecutionError where jaxlib refuses it."""
    with Worker(timeout) as worker:
        return worker.convert("text-to-proto", text.encode())


def _innermost(data: bytes, name: str) -> bytes:
    """Returns the HloModuleProto, without the messages around it."""
    while True:
        first = _first_field(data, name)
        # A module's name does not begin with a line feed.
        if not first or first[0] != _FIRST_FIELD:
            return data
        data = first


def _first_field(data: bytes, name: str) -> bytes:
    length = 0
    for position in range(1, min(len(data), _LONGEST_VARINT + 1)):
        length |= (data[position] & 0x7F) << (7 * (position - 1))
        if data[position] < 0x80:
            start = position + 1
            if start + length <= len(data):
                return data[start : start + length]
            break
    raise DiagnosticError(Diagnostic(f"{name}: begins like a serialized HLO module, but is cut short"))
