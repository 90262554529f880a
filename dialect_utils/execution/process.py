"""The parent's side of a worker process: starts it on demand, enforces time limits, restarts it after a crash."""

from __future__ import annotations

import logging
import os
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from dialect_utils import processes, sandbox
from dialect_utils.engine_names import DEFAULT_ENGINE, Engine
from dialect_utils.execution.arrays import Array
from dialect_utils.execution.errors import ExecutionError, Stage, from_crash, from_jaxlib
from dialect_utils.execution.messages import (
    EXECUTES,
    PRINTED_FILE,
    Channel,
    Conversion,
    Executable,
    MalformedMessageError,
    Message,
    Program,
    Reading,
    Rewriting,
    are_dimensions,
    decode_results,
    diagnostics_from_json,
    encode_request,
)
from dialect_utils.processes import DEFAULT_MEMORY_BYTES
from dialect_utils.text import DiagnosticError, Source

_REWRITTEN: dict[Rewriting, str] = {
    "widen": "widened",
    "unround": "unrounded",
    "order": "ordered",
    "repeat": "repeated",
    "observe": "observed",
    "round": "with rounded operands",
    "join": "joined",
}

DEFAULT_TIMEOUT_SECONDS = 120.0
_KILL_SECONDS = 5.0
_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class Worker:
    """A separate process that runs modules, one request after another.

    A context manager; otherwise the process ends with this object or with this process. Not to be shared between
    threads. With `devices` > 1 each program runs on that many replicas, one per host device. `memory` is in bytes,
    beyond those that the process needs to start. `fuses`: XLA may round a product and a sum once. docs/security.md
    describes the process's sandbox.
    """

    timeout: float = field(default_factory=lambda: processes.worker_seconds)
    devices: int = 1
    memory: int = DEFAULT_MEMORY_BYTES
    fuses: bool = False
    _process: processes.Process | None = field(default=None, init=False)
    _others: dict[int, Worker] = field(default_factory=dict, init=False)
    _channel: Channel | None = field(default=None, init=False)
    _finalizer: weakref.finalize[Any, Any] | None = field(default=None, init=False)
    __weakref__: Any = field(init=False, repr=False, compare=False)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def of_devices(self, devices: int) -> Worker:
        """Returns a worker for a number of devices: this one, or another one that is kept until this one is closed."""
        if devices == self.devices:
            return self
        return self._others.setdefault(devices, Worker(self.timeout, devices, self.memory, self.fuses))

    def close(self) -> None:
        """Ends the process, and those of `of_devices`; a later request starts a new one."""
        for other in self._others.values():
            other.close()
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = self._channel = None

    @property
    def pid(self) -> int | None:
        """Returns the process id, or None where no process runs."""
        return self._process.pid if self._process is not None else None

    def run(
        self,
        program: Program,
        runs: Sequence[Sequence[Array]],
        *,
        engine: Engine = DEFAULT_ENGINE,
        options: Mapping[str, bool | int | str] | None = None,
        timeout: float | None = None,
        with_checks: bool = False,
    ) -> list[list[Array]]:
        """Compiles a program once and runs it on each list of inputs; returns a list of outputs for each.

        Tuples among parameters and results are flattened; an element of a sub-byte type takes a byte. On several
        devices the leading dimension of every input and output counts the devices. `options` are XLA's debug options
        by name; the engine `reference` has `flushes`, with which arithmetic counts subnormal numbers as zeros.
        `timeout`, in seconds, covers compilation and all runs. `check.*` calls of StableHLO are removed;
        `with_checks` appends their operands to the outputs. Raises ExecutionError.
        """
        limit = self.timeout if timeout is None else timeout
        return self._run(program, runs, engine, dict(options or {}), limit, with_checks)

    def _run(
        self,
        program: Program | None,
        runs: Sequence[Sequence[Array]],
        engine: Engine,
        options: dict[str, Any],
        limit: float,
        with_checks: bool,
    ) -> list[list[Array]]:
        request = encode_request(program, runs, engine, options, limit, with_checks)
        request.header["devices"] = self.devices
        answer = self._answer(request, limit, None if program is None else program.source)
        try:
            return decode_results(answer, len(runs))
        except MalformedMessageError as error:
            raise self._malformed(error) from None

    def compile(self, program: Program) -> Executable:
        """Compiles a program for the engine `xla` and returns it, for `run_loaded` and for later workers.

        Raises ExecutionError.
        """
        request = encode_request(program, [], "xla", {}, self.timeout, with_checks=False)
        request.header.update(compile=True, devices=self.devices)
        answer = self._answer(request, self.timeout, program.source)
        return Executable(self._text(answer), answer.header.get("interface"))

    def dump_passes(
        self, program: Program, options: Mapping[str, bool | int | str] | None = None
    ) -> list[tuple[str, str]]:
        """Compiles a program for the engine `xla`; returns the module after each pass that changes it, in order.

        Each has its name, as of a file in a dump directory, and its text. Raises ExecutionError.
        """
        request = encode_request(program, [], "xla", dict(options or {}), self.timeout, with_checks=False)
        request.header.update(dump=True, devices=1)
        printed = self._text(self._answer(request, self.timeout, program.source)).decode(errors="replace")
        return [(found["name"], found["text"]) for found in PRINTED_FILE.finditer(printed)]

    def load(self, executable: Executable) -> None:
        """Loads the result of `compile` by a worker of the same jaxlib, on such a processor; raises ExecutionError."""
        header = {"load": executable.interface, "engine": "xla", "timeout": self.timeout, "devices": self.devices}
        self._answer(Message(header, [executable.data]), self.timeout)

    def run_loaded(self, arrays: Sequence[Array]) -> list[Array]:
        """Runs the program of the last `compile` or `load`; as `run` otherwise."""
        return self._run(None, [arrays], "xla", {}, self.timeout, with_checks=False)[0]

    def convert(self, conversion: Conversion, data: bytes, source: Source | None = None) -> bytes:
        """Converts a module between HLO text (UTF-8), a serialized HloModuleProto, and StableHLO.

        Raises ExecutionError where jaxlib rejects it, at its location in the source.
        """
        header = {"convert": conversion, "timeout": self.timeout}
        return self._text(self._answer(Message(header, [data]), self.timeout, source))

    def read(self, reading: Reading, blobs: Sequence[bytes], name: str) -> bytes:
        """Returns the module or the kernels of a file, as text; diagnostics call the file `name`.

        `mlir`: the text of a StableHLO module, from text or bytecode. `kernels`: the JSON of
        `dialect_utils.mosaic.kernel_reader.describe_kernels`. Raises DiagnosticError where MLIR rejects the file,
        ExecutionError where the process ends or exceeds its time limit.
        """
        answer = self._answer(Message({"read": reading, "name": name, "timeout": self.timeout}, blobs), self.timeout)
        text = self._text(answer)
        if "diagnostics" not in answer.header:
            return text
        try:
            source = Source(name, text.decode("utf-8", "surrogateescape"))
            found = diagnostics_from_json(answer.header["diagnostics"], source)
        except MalformedMessageError as error:
            raise self._malformed(error) from None
        raise DiagnosticError(found)

    def rewrite(self, rewriting: Rewriting, program: Program, **options: int) -> tuple[Program, tuple[int, ...]]:
        """Returns a program rewritten by `dialect_utils.stablehlo.rewrites`, in StableHLO, and numbers about it.

        `widen`: the number of noise elements. `order` (option `nan_first`): the number of operations with an open
        order, and of sorts that are not stable. `observe` (options `first`, `most_elements`, `iterations`): the number
        of additional results, and of all values that could be additional results. `round` (option `operands`, a bit for
        each): for each product whose operands a TPU may round, the number of the first equal product. `unround`,
        `repeat` (option `count`): no numbers. Raises ExecutionError.
        """
        return self._rewritten(rewriting, [program], options)

    def join(self, programs: Sequence[Program]) -> tuple[Program, tuple[int, ...]]:
        """Returns a StableHLO program with the results of several programs of one dialect, one after another.

        Also returns the numbers of the programs that it contains: the first, and all others that are valid and have
        the types of the first. Raises ExecutionError.
        """
        return self._rewritten("join", programs, {})

    def _rewritten(
        self, rewriting: Rewriting, programs: Sequence[Program], options: Mapping[str, int]
    ) -> tuple[Program, tuple[int, ...]]:
        program = programs[0]
        header = {"rewrite": rewriting, "options": options, "dialect": program.dialect, "timeout": self.timeout}
        message = Message(header, [each.data for each in programs])
        answer = self._answer(message, self.timeout, program.source)
        text, numbers = self._text(answer), answer.header.get("numbers")
        if not isinstance(numbers, list) or not are_dimensions(numbers):
            raise self._malformed("a module without its numbers")
        name = f"{program.name} ({_REWRITTEN[rewriting]})"
        return Program(text.decode(), "stablehlo", name, program.partitions), tuple(numbers)

    def _text(self, answer: Message) -> bytes:
        if len(answer.blobs) != 1:
            raise self._malformed(f"{len(answer.blobs)} texts")
        return answer.blobs[0]

    def _answer(self, request: Message, limit: float, source: Source | None = None) -> Message:
        answer, stage = self._exchange(request, limit)
        header = answer.header
        if header.get("status") == "ok":
            return answer
        failure, message = header.get("failure"), header.get("message")
        if failure in ("rejected", "unsupported") and isinstance(message, str):
            raise from_jaxlib(failure, message, source, stage)
        raise self._malformed("neither results nor an error")

    def _exchange(self, request: Message, limit: float) -> tuple[Message, Stage]:
        """Returns the answer to a request, and the last stage that the worker reported."""
        channel = self._started()
        deadline = time.monotonic() + limit
        stage: Stage = "read" if "engine" not in request.header else "compiled"
        try:
            with processes.waiting(limit):
                if self._process is not None:
                    sandbox.limit_cpu_seconds(limit, self._process.pid)
                channel.send(request, deadline)
                answer = channel.receive(deadline, self.memory)
                if answer.header.get("status") == EXECUTES:
                    stage = "executed"
                    answer = channel.receive(deadline, self.memory)
            return answer, stage
        except TimeoutError:
            self.close()
            message = f"no result after {limit:g} seconds, while the module was {stage}; the worker process was ended"
            raise ExecutionError("timeout", message) from None
        except (EOFError, BrokenPipeError, ConnectionError):
            raise self._crash(stage) from None
        except MalformedMessageError as error:
            raise self._malformed(error) from None
        except BaseException:
            # The answer to this request must not become the answer to the next one.
            self.close()
            raise

    def _started(self) -> Channel:
        if self._process is not None and self._process.wait(0) is None and self._channel is not None:
            return self._channel
        self.close()
        process = processes.start(processes.WORKER, self.memory, self.devices, int(self.fuses))
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process, os.getpid())
        self._channel = Channel(process.stdin, process.stdout, process.stderr)
        with processes.waiting(processes.START_SECONDS):
            self._wait_until_ready(self._channel)
        return self._channel

    def _wait_until_ready(self, channel: Channel) -> None:
        try:
            ready = channel.receive(time.monotonic() + processes.START_SECONDS, 0)
        except TimeoutError:
            self.close()
            raise ExecutionError(
                "timeout", f"the worker process did not start in {processes.START_SECONDS:g} seconds"
            ) from None
        except EOFError:
            raise self._crash("begun") from None
        except BaseException:
            self.close()
            raise
        _warn_unprotected(ready.header.get("unprotected"))

    def _crash(self, stage: Stage) -> ExecutionError:
        """Returns the error for a process that ended, with the last lines it wrote."""
        assert self._process is not None  # it was started
        assert self._channel is not None
        code = self._process.wait(_KILL_SECONDS)
        said = self._channel.last_words()
        self.close()
        return from_crash(processes.describe_exit(code), stage, said, self.memory)

    def _malformed(self, what: object) -> ExecutionError:
        """Ends the process and returns the error for an answer that is not valid."""
        self.close()
        return ExecutionError("crash", f"the worker process sent no answer, but {what}; it was ended")


@cache
def _warn_unprotected(reason: str | None) -> None:
    """Warns once per process that a worker runs without the system's protection."""
    if reason is not None:
        _LOGGER.warning("warning: the worker process is not kept from files and network: %s", reason)


def _end(process: processes.Process, owner: int) -> None:
    if os.getpid() != owner:
        # After a fork the process and its pipes belong to the parent.
        return
    process.kill()
    for descriptor in (process.stdin, process.stdout, process.stderr):
        os.close(descriptor)
