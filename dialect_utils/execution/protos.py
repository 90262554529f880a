"""Serialized HLO: protos to text and back, by jaxlib in a worker process."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field

from dialect_utils.execution.errors import ExecutionError
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Conversion, Worker
from dialect_utils.io.protos import MalformedProtoError, find_proto
from dialect_utils.text import Diagnostic, DiagnosticError


def hlo_proto_to_text(data: bytes, name: str = "<proto>", timeout: float = DEFAULT_TIMEOUT_SECONDS) -> str:
    """Returns the HLO text of a serialized module in any message that `find_proto` knows, constants in full.

    `name` is the file's name in diagnostics, `timeout` is in seconds. Raises DiagnosticError for
    bytes that are none of these.
    """
    try:
        module = bytes(find_proto(data).module)
    except MalformedProtoError as error:
        raise DiagnosticError(Diagnostic(f"{name}: is no serialized HLO module: {error}")) from None
    try:
        return _convert("proto-to-text", module, timeout).decode()
    except ExecutionError as error:
        raise ExecutionError(error.failure, f"{name}: {error.message}") from None


def hlo_text_to_proto(text: str, timeout: float = DEFAULT_TIMEOUT_SECONDS) -> bytes:
    """Returns the serialized HloModuleProto of HLO text; raises ExecutionError where jaxlib refuses it."""
    return _convert("text-to-proto", text.encode("utf-8", "replace"), timeout)


@dataclass(slots=True)
class _Converter(threading.local):
    """The worker that converts for this thread: a directory of protos must not start one for each of them."""

    worker: Worker = field(default_factory=Worker)
    process: int = field(default_factory=os.getpid)


CONVERTER = _Converter()


def _convert(conversion: Conversion, data: bytes, timeout: float) -> bytes:
    if CONVERTER.process != os.getpid():
        # After a fork the worker belongs to the other process.
        CONVERTER.worker, CONVERTER.process = Worker(), os.getpid()
    CONVERTER.worker.timeout = timeout
    return CONVERTER.worker.convert(conversion, data)
