"""The TPU compiler's figures of many programs, from one or more processes that compile all of them.

`FigureCompiler` needs the `tpu` extra but no TPU. Run as a program, this module compiles the StableHLO of each request
for the topology that its argument names.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

from dialect_utils import processes, sandbox
from dialect_utils.execution.messages import Channel, MalformedMessageError, Message, read_message, write_message
from dialect_utils.execution.tpu_compiler import TOPOLOGIES, check_installed, compile_module, memory_figures
from dialect_utils.layout.targets.tpu import parse_target

_SECONDS = 900.0
_LAST_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Figures:
    """The TPU compiler's own figures of a compiled program, in bytes and seconds.

    `accessed` are the bytes that all operations read and write, `seconds` is the estimate `optimal_seconds`, and
    `parameters` and `results` are the layouts of the entry as the compiler chose them. `error` is the compiler's
    message where it rejects the program; then all other fields are empty.
    """

    peak: int = 0
    argument: int = 0
    output: int = 0
    alias: int = 0
    temp: int = 0
    accessed: int = 0
    seconds: float = 0.0
    parameters: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    error: str = ""

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Figures:
        """Returns figures from the object that `asdict` made; raises TypeError for other names."""
        lists = {name: tuple(map(str, value.get(name, ()))) for name in ("parameters", "results")}
        return cls(**{**value, **lists})


def compiler_version() -> str:
    """Returns the versions that decide the figures: those of libtpu and jaxlib."""
    # Imported here: it parses mail headers.
    from importlib.metadata import version

    check_installed()
    return f"libtpu {version('libtpu')}, jaxlib {version('jaxlib')}"


class _Worker:
    """A process that compiles one program after another; it starts again after a crash."""

    def __init__(self, topology: str) -> None:
        self._topology = topology
        self._process: processes.Process | None = None
        self.channel: Channel | None = None
        self.deadline = 0.0

    def begin(self, text: str) -> None:
        """Sends a program to the process, which `finish` then waits for."""
        self.deadline = time.monotonic() + _SECONDS
        if self.channel is None:
            self._process = processes.start(processes.TPU_FIGURES, self._topology)
            self.channel = Channel(self._process.stdin, self._process.stdout, self._process.stderr)
        # `finish` reports a process that has ended.
        with suppress(TimeoutError, OSError):
            self.channel.send(Message({}, [text.encode()]), self.deadline)

    def finish(self) -> Figures:
        """Returns the figures of the program that was sent."""
        assert self.channel is not None  # since `begin`
        try:
            return Figures.from_json(self.channel.receive(self.deadline, 0).header)
        except TimeoutError:
            self.close()
            return Figures(error=f"no result after {_SECONDS:g} seconds")
        except (EOFError, OSError, MalformedMessageError, TypeError):
            said = self.channel.last_words()[-_LAST_CHARACTERS:]
            self.close()
            return Figures(error=f"the compiler's process ended: {said}")

    def close(self) -> None:
        """Ends the process; a later program starts a new one."""
        if self._process is not None:
            self._process.kill()
            for descriptor in (self._process.stdin, self._process.stdout, self._process.stderr):
                os.close(descriptor)
        self._process = self.channel = None


class FigureCompiler:
    """Processes that compile programs for one core of a TPU, at most `jobs` at once.

    A context manager. Raises DiagnosticError without libtpu, and for an unknown target.
    """

    def __init__(self, target: str, jobs: int = 1) -> None:
        self.target = parse_target(target).name
        check_installed()
        self._workers = [_Worker(TOPOLOGIES[self.target]) for _ in range(jobs)]

    def __enter__(self) -> FigureCompiler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.close()

    def compile_all(self, texts: Sequence[str]) -> Iterator[Figures]:
        """Yields the figures of StableHLO programs in their order."""
        idle, running = list(reversed(self._workers)), dict[_Worker, int]()
        waiting, done = deque(enumerate(texts)), dict[int, Figures]()
        try:
            for number in range(len(texts)):
                while number not in done:
                    while waiting and idle:
                        worker = idle.pop()
                        running[worker], text = waiting.popleft()
                        with processes.waiting(_SECONDS):
                            worker.begin(text)
                    with processes.waiting(_SECONDS):
                        worker = _first_done(running)
                        done[running.pop(worker)] = worker.finish()
                    idle.append(worker)
                yield done.pop(number)
        finally:
            # The caller has stopped early: the next answer would be that of an earlier program.
            for worker in running:
                worker.close()


def _first_done(running: Iterable[_Worker]) -> _Worker:
    """Waits until a worker answers, or its time is over; all may write to standard error meanwhile."""
    poll, by_descriptor = select.poll(), {}
    for worker in running:
        assert worker.channel is not None  # it runs a program
        by_descriptor[worker.channel.answers] = worker
        for descriptor in (worker.channel.answers, worker.channel.errors):
            poll.register(descriptor, select.POLLIN)
    first = min(by_descriptor.values(), key=lambda worker: worker.deadline)
    while (left := first.deadline - time.monotonic()) > 0:
        ready = [descriptor for descriptor, _ in poll.poll(left * 1000)]
        for descriptor in ready:
            if descriptor in by_descriptor:
                return by_descriptor[descriptor]
        for worker in by_descriptor.values():
            assert worker.channel is not None  # as above
            worker.channel.last_words()
    return first


def _figures(text: str, topology: str) -> Figures:
    try:
        compiled = compile_module(text, topology)
    except Exception as error:  # jaxlib raises errors of several kinds, and MLIR its own
        return Figures(error=str(error))
    memory = memory_figures(compiled.get_compiled_memory_stats())
    costs = compiled.cost_analysis()
    return Figures(
        peak=memory.get("peak", 0),
        argument=memory["argument"],
        output=memory["output"],
        alias=memory["alias"],
        temp=memory["temp"],
        accessed=round(costs.get("bytes accessed", 0.0)),
        seconds=float(costs.get("optimal_seconds", 0.0)),
        parameters=tuple(map(str, compiled.get_parameter_layouts())),
        results=tuple(map(str, compiled.get_output_layouts())),
    )


def _serve(topology: str) -> None:
    # Libraries print to standard output.
    answers = os.dup(1)
    os.dup2(2, 1)
    while True:
        try:
            request = read_message(0)
        except EOFError:
            return
        write_message(answers, Message(asdict(_figures(request.blobs[0].decode(), topology)), []))


if __name__ == "__main__":
    if parent := int(sys.argv[1]):
        sandbox.die_with_parent(parent)
    _serve(sys.argv[2])
