"""XLA's compilers for a target, in processes: their figures, their optimized dump, and the modules of all passes.

A TPU needs the `tpu` extra, a GPU the `gpu` extra, neither needs the device. A program is compiled for as many devices
as it is for, and all figures are those of one device.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.util import find_spec
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dialect_utils import processes, sandbox
from dialect_utils.execution.errors import failed_checks
from dialect_utils.execution.messages import Channel, MalformedMessageError, Message
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.layout.targets.target import Target
from dialect_utils.text import Diagnostic, DiagnosticError

CPU = "cpu"
_END_SECONDS = 5.0
_QUOTING = re.compile(r'\s+(?:File ".*", line \d+|[~^]+$)')
_LOGGED = re.compile(r"WARNING: All log messages|[IW]\d{4} ")
_LAST_LINES, _SUSPECTED = 3, "Suspected Python Code Location:"
_LATE, _MORE_TIME = "no result after", "--timeout SECONDS gives it more"
# A compilation that takes longer is announced.
_SILENT_SECONDS = 5.0
_UNTRIED = "No supported config found"
_WITHOUT_TRITON = "XLA_FLAGS=--xla_gpu_enable_triton_gemm=false leaves products to cuBLAS, which need no trial"
# The memory of a compiler beyond what it needs to start; the limit of a command is below it.
_MEMORY_BYTES = 64_000_000_000
_DIGITS = 8
_LARGEST_DUMP = 1_000_000_000
_NOTHING: Mapping[bytes, bytes] = MappingProxyType({})
# The packages of a platform's compiler, one of which is enough, what it is called, and the extra that installs it.
_PACKAGES = {
    "tpu": (("libtpu",), "the TPU compiler, libtpu,", "relayout[tpu]", " (libtpu has a licence of its own)"),
    "cuda": (
        ("jax_plugins.xla_cuda12", "jax_plugins.xla_cuda13"),
        "the GPU compiler, jax's plug-in for CUDA,",
        "relayout[gpu]",
        "",
    ),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """A compiler's own figures of a compiled program, for one device, in bytes and seconds.

    `accessed` are the bytes that all operations read and write, `seconds` is the estimate `optimal_seconds`, and
    `parameters` and `results` are the layouts of the entry as the compiler chose them. `error` is the compiler's
    message where it rejects the program; then all other fields are empty. XLA:GPU has neither of the first two:
    `FigureCompiler` counts them.
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


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled program: the optimized dump, and the compiler's figures."""

    dump: str
    figures: Figures


def check_installed(target: Target) -> None:
    """Raises DiagnosticError where the compiler of a target is not installed."""
    _check_has_compiler(target)
    modules, name, extra, remark = _PACKAGES[target.platform]
    if not any(map(_is_installed, modules)):
        hint = f"pip install '{extra}'{remark}"
        raise DiagnosticError(Diagnostic(f"{name} is not installed", hint=hint))


def _check_has_compiler(target: Target) -> None:
    if target.platform not in _PACKAGES:
        target.topology(1)  # raises: the chip is known by its description only


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its package
        return False


def known_target(name: str) -> Target | None:
    """Returns a target, None for cpu; raises DiagnosticError for others."""
    if name == CPU:
        return None
    try:
        return parse_target(name)
    except DiagnosticError as error:
        first = error.diagnostics[0]
        raise DiagnosticError(replace(first, hint=f"{first.hint}; or {CPU}") if first.hint else first) from None


def compilable_target(name: str) -> Target | None:
    """Returns a target that has a compiler, installed or not, None for cpu; raises DiagnosticError for others."""
    target = known_target(name)
    if target is not None:
        _check_has_compiler(target)
    return target


def check_target(name: str) -> str:
    """Returns the name of a target, cpu included; raises DiagnosticError for others, and without its compiler."""
    target = known_target(name)
    if target is None:
        return CPU
    check_installed(target)
    return target.name


def _version(target: Target) -> str:
    # Imported here: it parses mail headers.
    from importlib.metadata import version

    module = next(filter(_is_installed, _PACKAGES[target.platform][0]))
    package = module.replace("jax_plugins.xla_", "jax-") + "-pjrt" * module.startswith("jax_plugins")
    described = f", {sha256(target.description.encode()).hexdigest()[:_DIGITS]}" if target.description else ""
    return f"{package} {version(package)}, jaxlib {version('jaxlib')}{described}"


def compile_for(text: str, target: str | Target) -> Compiled:
    """Compiles StableHLO for a target, cpu included. Raises DiagnosticError without its compiler, and if it fails."""
    return compile_inside(text, target, "")[0]


def compile_inside(
    text: str, target: str | Target, stage: str, answers: Mapping[bytes, bytes] = _NOTHING, folder: str = ""
) -> tuple[Compiled, list[bytes]]:
    """Compiles StableHLO by an `InsideCompiler` of its own."""
    with InsideCompiler(target, stage, folder) as compiler:
        return compiler.compile(text, answers)


class InsideCompiler:
    """A process that compiles programs for a target, cpu included, and hands over their modules. A context manager.

    With a `folder`, an absolute path, the compiler writes the module after every pass there. Raises DiagnosticError
    without the compiler.
    """

    def __init__(self, target: str | Target, stage: str, folder: str = "") -> None:
        found = None if target == CPU else parse_target(target)
        if found is not None:
            check_installed(found)
        self._worker = _Worker(found, folder, wants_dump=True, stage=stage)

    def __enter__(self) -> InsideCompiler:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def compile(self, text: str, answers: Mapping[bytes, bytes] = _NOTHING) -> tuple[Compiled, list[bytes]]:
        """Compiles StableHLO, and returns also the modules that the compiler hands over in a stage, as HloModuleProtos.

        `answers` are modules to give back, by `module_key` of the module handed over. Raises DiagnosticError if the
        compiler fails, and where jax calls no passes for the target.
        """
        figures, dump = _compiled_by(self._worker, text, answers)
        if figures.error:
            raise _refused(self._worker.target, figures)
        return Compiled(dump, figures), self._worker.handed


def dump_passes(text: str, target: str, directory: str) -> None:
    """Compiles StableHLO, and writes the module after every pass into a directory.

    A compilation that ends with an error has written the modules of its passes up to there. Raises DiagnosticError
    where it has written none, or for a GPU not the last one, with the compiler's last lines, and where time ran out.
    """
    name = check_target(target)
    chip = None if name == CPU else parse_target(name)
    with closing(_Worker(chip, directory)) as worker:
        figures, _ = _compiled_by(worker, text)
    # XLA:GPU always ends with an error: it may not make machine code.
    needed = "*after_optimizations.txt" if chip is not None and chip.platform == "cuda" else "*"
    if figures.error.startswith(_LATE) or (figures.error and not any(Path(directory).glob(needed))):
        raise _refused(name, figures)


def _compiled_by(worker: _Worker, text: str, answers: Mapping[bytes, bytes] = _NOTHING) -> tuple[Figures, str]:
    """Returns the figures and the dump of one program."""
    worker.begin(text, answers)
    with processes.waiting(processes.compiler_seconds):
        if _first_done([worker], _SILENT_SECONDS) is None:
            processes.announce(f"compiling for {worker.target}, {processes.compiler_seconds:g} s at most")
        return worker.finish()


def _refused(target: str, figures: Figures) -> DiagnosticError:
    """Returns the error for a program that a compiler rejects, with the last lines of its message, or is late with."""
    if figures.error.startswith(_LATE):
        return DiagnosticError(Diagnostic(f"the compiler for {target}: {figures.error}", hint=_MORE_TIME))
    said = shortened(figures.error)
    hint = _WITHOUT_TRITON if _UNTRIED in figures.error else None
    return DiagnosticError(Diagnostic(f"the compiler for {target} refused the module: {said}", hint=hint))


def shortened(error: str) -> str:
    """Returns the last lines of a compiler's message as one line."""
    return " ".join(_told(error)[-_LAST_LINES:])


def _told(text: str) -> list[str]:
    """Returns the lines of a message without those of a log, and of a traceback only the lines that quote no code.

    XLA adds the lines of the program that it suspects, which are the caller's.
    """
    lines = [line for line in text.partition(_SUSPECTED)[0].splitlines() if line.strip() and not _LOGGED.match(line)]
    is_traceback = any(map(_QUOTING.match, lines))
    return [line.strip() for line in lines if not (is_traceback and line[0].isspace())]


class CompilerProcess:
    """A process with the compiler of a platform, which works on one request after another; a crash starts it again.

    With a `folder` the modules of all passes of its one program are written there.
    """

    def __init__(self, platform: str, folder: str = "") -> None:
        self.handed: list[bytes] = []
        self._arguments = (_MEMORY_BYTES, platform, folder)
        self._process: processes.Process | None = None
        self.channel: Channel | None = None
        self._seconds = self.deadline = 0.0

    def send(self, request: Message, seconds: float) -> None:
        """Sends a request to the process, which `finish` then waits for."""
        self.handed, self._seconds = [], seconds
        self.deadline = time.monotonic() + seconds
        if self.channel is None:
            self._process = processes.start(processes.COMPILER, *self._arguments)
            self.channel = Channel(self._process.stdin, self._process.stdout, self._process.stderr)
        if self._process is not None:
            sandbox.limit_cpu_seconds(seconds, self._process.pid)
        # `finish` reports a process that has ended.
        with suppress(TimeoutError, OSError):
            self.channel.send(request, self.deadline)

    def finish(self) -> tuple[Figures, str]:
        """Returns the figures of the program that was sent, and its dump."""
        assert self.channel is not None  # since `begin`
        try:
            answer = self.channel.receive(self.deadline, _LARGEST_DUMP)
            dump, *handed = map(bytes, answer.blobs)
            self.handed = handed
            return Figures.from_json(answer.header), dump.decode()
        except TimeoutError:
            self.close()
            return Figures(error=f"{_LATE} {self._seconds:g} seconds"), ""
        except (EOFError, OSError, MalformedMessageError, TypeError, ValueError):
            last = self.channel.last_words()
            said = _told(last)
            code = None if self._process is None else self._process.wait(_END_SECONDS)
            self.close()
            reason = f"ended: {[*said, *failed_checks(last)][-1]}" if said else processes.describe_exit(code)
            return Figures(error=f"the compiler's process {reason}"), ""

    def close(self) -> None:
        """Ends the process; a later program starts a new one."""
        if self._process is not None:
            self._process.kill()
            for descriptor in (self._process.stdin, self._process.stdout, self._process.stderr):
                os.close(descriptor)
        self._process = self.channel = None


class _Worker(CompilerProcess):
    """A process that compiles one program after another, for the CPU where `target` is None.

    With a `stage` it keeps the modules that the compiler hands over, and gives answers back.
    """

    def __init__(self, target: Target | None, folder: str = "", *, wants_dump: bool = False, stage: str = "") -> None:
        self.target, platform, self._description = CPU, CPU, ""
        if target is not None:
            self.target, platform, self._description = target.name, target.platform, target.description
        self._header = {"target": self.target, "dump": wants_dump, "stage": stage}
        super().__init__(platform, folder)

    def begin(self, text: str, answers: Mapping[bytes, bytes] = _NOTHING) -> None:
        """Sends a program to the process."""
        given = [part for pair in answers.items() for part in pair]
        request = Message(self._header, [text.encode(), self._description.encode(), *given])
        self.send(request, processes.compiler_seconds)


class FigureCompiler:
    """Processes that compile programs for a target, at most `jobs` at once.

    `count` returns the figures with those of a dump in place of the compiler's: its bytes accessed count the body of a
    loop once, and its peak counts temporaries beside main memory. A context manager.
    `version` are the versions that decide the figures: of the compiler's package, jaxlib, and a GPU's description.
    Raises DiagnosticError without the compiler, and for an unknown target.
    """

    def __init__(
        self, target: str | Target, jobs: int = 1, count: Callable[[Figures, str], Figures] | None = None
    ) -> None:
        found = parse_target(target)
        check_installed(found)
        self.target, self.version = found.name, _version(found)
        self._count = count
        self._workers = [_Worker(found, wants_dump=self._count is not None) for _ in range(jobs)]

    def __enter__(self) -> FigureCompiler:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.close()

    def compile_all(self, texts: Sequence[str]) -> Iterator[Figures]:
        """Yields the figures of StableHLO programs in their order."""
        idle, running = list(reversed(self._workers)), dict[_Worker, int]()
        waiting, done = deque(enumerate(texts)), dict[int, tuple[Figures, str]]()
        try:
            for number in range(len(texts)):
                while number not in done:
                    while waiting and idle:
                        worker = idle.pop()
                        running[worker], text = waiting.popleft()
                        with processes.waiting(processes.compiler_seconds):
                            worker.begin(text)
                    with processes.waiting(processes.compiler_seconds):
                        # The one whose time is over first, where none is done.
                        worker = _first_done(running) or min(running, key=lambda each: each.deadline)
                        done[running.pop(worker)] = worker.finish()
                    idle.append(worker)
                figures, dump = done.pop(number)
                if self._count is not None and dump:
                    figures = self._count(figures, dump)
                yield figures
        finally:
            # The caller has stopped early: the next answer would be that of an earlier program.
            for worker in running:
                worker.close()


def _first_done(running: Collection[_Worker], seconds: float = inf) -> _Worker | None:
    """Waits until a worker answers, at most until the time of one is over; all may write to standard error meanwhile.

    Returns None where no worker answers, also after `seconds`.
    """
    poll, by_descriptor = select.poll(), {}
    for worker in running:
        assert worker.channel is not None  # it runs a program
        by_descriptor[worker.channel.answers] = worker
        for descriptor in (worker.channel.answers, worker.channel.errors):
            poll.register(descriptor, select.POLLIN)
    end = min(time.monotonic() + seconds, *(worker.deadline for worker in running))
    while (left := end - time.monotonic()) > 0:
        ready = [descriptor for descriptor, _ in poll.poll(left * 1000)]
        for descriptor in ready:
            if descriptor in by_descriptor:
                return by_descriptor[descriptor]
        for worker in by_descriptor.values():
            assert worker.channel is not None  # as above
            worker.channel.last_words()
    return None
