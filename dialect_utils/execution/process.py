"""The worker process as its parent sees it: started when needed, ended in time, started again when it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal

import numpy as np

import dialect_utils
from dialect_utils.execution.arrays import Array
from dialect_utils.execution.errors import ExecutionError, from_crash, from_jaxlib
from dialect_utils.execution.messages import Message, read_message, write_message
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.dtypes import dtype_of, element_type_of
from dialect_utils.text import Source

Engine = Literal["xla", "interpreter"]
Form = Literal["hlo", "stablehlo"]
Conversion = Literal["proto-to-text", "text-to-proto"]

DEFAULT_TIMEOUT_SECONDS = 120.0
# Importing jax on a busy machine takes seconds.
_START_SECONDS = 120.0
_KILL_SECONDS = 5.0
_MODULE = "dialect_utils.execution.worker"


@dataclass(frozen=True, slots=True)
class Program:
    """Is a module to execute: HLO text, StableHLO text, MLIR bytecode or a portable artifact.

    `name` is how diagnostics call the text.
    """

    text: str | bytes
    form: Form
    name: str = "<module>"

    @property
    def source(self) -> Source | None:
        """Returns the text as a source for diagnostics, or None for bytecode."""
        return Source(self.name, self.text) if isinstance(self.text, str) else None


@dataclass(slots=True)
class Worker:
    """Runs modules in a process of its own, one request after another.

    A context manager; without one the process ends with this object or with this process.
    Not to be shared between threads. With `devices` > 1 a program is run by that many replicas,
    each on a host device of its own.
    """

    timeout: float = DEFAULT_TIMEOUT_SECONDS
    devices: int = 1
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _stderr: BinaryIO | None = field(default=None, init=False)
    _finalizer: weakref.finalize[Any, Any] | None = field(default=None, init=False)
    __weakref__: Any = field(init=False, repr=False, compare=False)

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process; a later request starts a new one."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = self._stderr = None

    @property
    def pid(self) -> int | None:
        """Returns the process id, or None where no process runs."""
        return self._process.pid if self._process is not None else None

    def run(
        self,
        program: Program,
        runs: Sequence[Sequence[Array]],
        *,
        engine: Engine = "xla",
        options: Mapping[str, bool | int | str] | None = None,
        timeout: float | None = None,
        with_checks: bool = False,
    ) -> list[list[Array]]:
        """Compiles a program once and runs it on each list of inputs; returns a list of outputs for each.

        Tuples among parameters and results are flattened; sub-byte types take a byte an element.
        On several devices every input and output has a leading dimension that counts them.
        `options` are XLA's debug options by name. `timeout` is in seconds and holds for
        compilation and all runs. `check.*` calls of StableHLO are left out; `with_checks` puts
        their operands behind the outputs. Raises ExecutionError.
        """
        limit = self.timeout if timeout is None else timeout
        request = _request(program, runs, engine, dict(options or {}), limit, with_checks)
        request.header["devices"] = self.devices
        answer = self._exchange(request, limit)
        if answer.header["status"] == "error":
            raise from_jaxlib(answer.header["failure"], answer.header["message"], program.source)
        return _results(answer)

    def convert(self, conversion: Conversion, data: bytes) -> bytes:
        """Converts an HLO module between its text (UTF-8) and a serialized HloModuleProto.

        Raises ExecutionError where jaxlib refuses it.
        """
        header = {"convert": conversion, "timeout": self.timeout}
        answer = self._exchange(Message(header, [data]), self.timeout)
        if answer.header["status"] == "error":
            raise from_jaxlib(answer.header["failure"], answer.header["message"], None)
        return answer.blobs[0]

    def _exchange(self, request: Message, limit: float) -> Message:
        process = self._started()
        assert process.stdin is not None  # opened below
        assert process.stdout is not None
        try:
            write_message(process.stdin.fileno(), request)
            return read_message(process.stdout.fileno(), time.monotonic() + limit)
        except TimeoutError:
            self.close()
            raise ExecutionError(
                "timeout", f"no result after {limit:g} seconds; the worker process was ended"
            ) from None
        except (EOFError, BrokenPipeError, ConnectionError):
            raise self._crash() from None
        except BaseException:
            # The answer to this request must not become the answer to the next one.
            self.close()
            raise

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=_environment(self.devices),
            # Ctrl-C is for this process, which then ends the worker.
            start_new_session=True,
        )
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process, self._stderr)
        self._wait_until_ready(process)
        return process

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None  # a pipe
        try:
            read_message(process.stdout.fileno(), time.monotonic() + _START_SECONDS)
        except TimeoutError:
            self.close()
            raise ExecutionError("timeout", f"the worker process did not start in {_START_SECONDS:g} seconds") from None
        except EOFError:
            raise self._crash() from None

    def _crash(self) -> ExecutionError:
        """Returns the error for a process that ended, with the last lines it wrote."""
        assert self._process is not None  # it was started
        assert self._stderr is not None
        try:
            code = self._process.wait(_KILL_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        self._stderr.seek(0)
        said = self._stderr.read().decode(errors="replace")
        self.close()
        return from_crash(_ending(code), said)


def _ending(code: int | None) -> str:
    if code is None:
        return "closed its output"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _end(process: subprocess.Popen[bytes], stderr: BinaryIO) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout, stderr):
        assert stream is not None  # pipes and a file
        stream.close()
    process.wait()


def _environment(devices: int) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    root = str(Path(dialect_utils.__file__).parent.parent)
    paths = [root, *filter(None, [environment.get("PYTHONPATH")])]
    if devices > 1:
        environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    return environment | {
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join(paths),
    }


def _request(
    program: Program,
    runs: Sequence[Sequence[Array]],
    engine: Engine,
    options: dict[str, Any],
    limit: float,
    with_checks: bool,
) -> Message:
    text = program.text.encode() if isinstance(program.text, str) else program.text
    header = {
        "form": program.form,
        "engine": engine,
        "options": options,
        "checks": with_checks,
        "timeout": limit,
        "runs": [[[element_type_of(array.dtype).name, list(array.shape)] for array in arrays] for arrays in runs],
    }
    return Message(header, [text, *(np.asarray(array).tobytes() for arrays in runs for array in arrays)])


def _results(answer: Message) -> list[list[Array]]:
    blobs = iter(answer.blobs)
    return [
        [
            np.frombuffer(next(blobs), dtype_of(ELEMENT_TYPES[name])).reshape(dimensions).copy()
            for name, dimensions in described
        ]
        for described in answer.header["runs"]
    ]
