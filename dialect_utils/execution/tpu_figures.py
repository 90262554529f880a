"""The TPU compiler's figures of many programs, from one process that compiles all of them.

`FigureCompiler` needs the `tpu` extra but no TPU. Run as a program, this module compiles the StableHLO of each request
for the topology that its argument names.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict, dataclass, field
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


@dataclass(slots=True)
class FigureCompiler:
    """A process that compiles one program after another for one core of a TPU; it starts again after a crash.

    A context manager. Raises DiagnosticError without libtpu, and for an unknown target.
    """

    target: str
    _process: processes.Process | None = field(default=None, init=False)
    _channel: Channel | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.target = parse_target(self.target).name
        check_installed()

    def __enter__(self) -> FigureCompiler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process; a later program starts a new one."""
        if self._process is not None:
            self._process.kill()
            for descriptor in (self._process.stdin, self._process.stdout, self._process.stderr):
                os.close(descriptor)
        self._process = self._channel = None

    def compile(self, text: str) -> Figures:
        """Returns the figures of a StableHLO program."""
        channel, deadline = self._started(), time.monotonic() + _SECONDS
        try:
            with processes.waiting(_SECONDS):
                channel.send(Message({}, [text.encode()]), deadline)
                answer = channel.receive(deadline, 0)
            return Figures.from_json(answer.header)
        except TimeoutError:
            self.close()
            return Figures(error=f"no result after {_SECONDS:g} seconds")
        except (EOFError, OSError, MalformedMessageError, TypeError):
            said = channel.last_words()[-_LAST_CHARACTERS:]
            self.close()
            return Figures(error=f"the compiler's process ended: {said}")

    def _started(self) -> Channel:
        if self._channel is None:
            self._process = processes.start(processes.TPU_FIGURES, TOPOLOGIES[self.target])
            self._channel = Channel(self._process.stdin, self._process.stdout, self._process.stderr)
        return self._channel


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
