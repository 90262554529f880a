"""Reads and converts untrusted files in this thread's worker, which MLIR and XLA may crash, fill or keep busy."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from dialect_utils import processes
from dialect_utils.execution.errors import ExecutionError
from dialect_utils.execution.messages import Reading
from dialect_utils.execution.process import Worker
from dialect_utils.io.protos import MalformedProtoError, find_proto
from dialect_utils.text import DiagnosticError, Source

# MLIR keeps the types and constants of all modules that a process has read, so a worker is replaced after so many.
_BYTES_OF_A_WORKER = 64 << 20


@dataclass(slots=True)
class _Converter(threading.local):
    """The worker that converts all files of this thread, and the bytes that it has read."""

    worker: Worker = field(default_factory=Worker)
    process: int = field(default_factory=os.getpid)
    bytes_read: int = 0


CONVERTER = _Converter()


def hlo_proto_to_text(data: bytes, name: str = "<proto>") -> str:
    """Returns the HLO text of a serialized module in any message that `find_proto` knows, constants in full.

    `name` is the file's name in diagnostics. Raises DiagnosticError for other bytes.
    """
    try:
        module = bytes(find_proto(data).module)
    except MalformedProtoError as error:
        raise DiagnosticError(f"{name}: is no serialized HLO module: {error}") from None
    try:
        return _worker().convert("proto-to-text", module).decode()
    except ExecutionError as error:
        raise ExecutionError(error.failure, f"{name}: {error.message}") from None


def hlo_text_to_proto(text: str) -> bytes:
    """Returns the serialized HloModuleProto of HLO text; raises ExecutionError where jaxlib rejects it."""
    return _worker().convert("text-to-proto", text.encode("utf-8", "replace"))


def hlo_to_stablehlo(text: str, name: str = "<hlo>") -> str:
    """Returns the StableHLO text of HLO text; raises ExecutionError, with the file's name, where jaxlib rejects it."""
    return _worker().convert("hlo-to-stablehlo", text.encode("utf-8", "replace"), Source(name, text)).decode()


def stablehlo_to_hlo(bytecode: bytes) -> str:
    """Returns the HLO text of StableHLO bytecode; raises ExecutionError where jaxlib rejects it.

    Layouts of the entry stay if the module lists them, as XLA's importer does; others are lost.
    """
    return _worker().convert("stablehlo-to-hlo", bytecode).decode()


def mlir_to_text(data: bytes, name: str = "<mlir>", timeout: float | None = None) -> bytes:
    """Returns the text of a StableHLO module, text or bytecode, that parses and verifies in the worker.

    `name` is the file's name in diagnostics, `timeout` is in seconds. Raises DiagnosticError with the diagnostics of
    MLIR, ExecutionError with the signal that ended the worker or the limit that it exceeded.
    """
    return _read("mlir", [data], name, timeout)


def kernels_to_json(bodies: Sequence[bytes], name: str = "a kernel") -> bytes:
    """Returns the JSON of `dialect_utils.mosaic.kernel_reader.describe_kernels`; raises errors as `mlir_to_text`."""
    return _read("kernels", bodies, name, None)


def _read(reading: Reading, blobs: Sequence[bytes], name: str, timeout: float | None) -> bytes:
    worker = _worker(timeout)
    if CONVERTER.bytes_read > _BYTES_OF_A_WORKER:
        worker.close()
        CONVERTER.bytes_read = 0
    CONVERTER.bytes_read += sum(map(len, blobs))
    is_new = worker.pid is None
    try:
        return worker.read(reading, blobs, name)
    except ExecutionError as error:
        if error.failure == "crash" and not is_new:
            # Earlier files may have filled or damaged the memory of that worker.
            return _read(reading, blobs, name, timeout)
        raise ExecutionError(error.failure, f"{name}: {error.message}") from None


def _worker(timeout: float | None = None) -> Worker:
    """Returns the worker of this thread."""
    if CONVERTER.process != os.getpid():
        # After a fork the worker belongs to the parent process.
        CONVERTER.worker, CONVERTER.process = Worker(), os.getpid()
    CONVERTER.worker.timeout = processes.worker_seconds if timeout is None else timeout
    return CONVERTER.worker
