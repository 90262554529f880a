"""The sandboxed child: plans a command and works on its units, one after another, until its parent ends it."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

from dialect_utils import processes, sandbox
from dialect_utils.io.files import STANDARD_INPUT, is_url
from dialect_utils.io.inputs import Input
from dialect_utils.processes import DEFAULT_MEMORY_BYTES
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.text.input_file import note_reads, read_from
from relayout.batch.unit import Unit, Work
from relayout.command import Command, Job, worked
from relayout.console import DONE, WRONG_COMMAND, Console, UsageError
from relayout.options import texts_in, values_of
from relayout.process import leave_session
from relayout.supervisor.host import Host, MalformedFrameError, from_json, to_json, use_host, use_streams

# The most that is printed and written for one input.
DEFAULT_OUTPUT_BYTES = 2_000_000_000
# The memory that reading, rewriting and printing a module takes, by the bytes of its file.
_MEMORY_PER_BYTE = 100
# Variables for colours, widths and languages. A file must not find keys and tokens in the environment.
_KEPT = (*processes.INHERITED, "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES", "PYTHONIOENCODING")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a child: its memory in bytes, and what it may reach.

    `is_online` permits the network, for a command that names URLs. Without `is_closed` the child may use files,
    programs and the network, because the user trusts the passes.
    """

    memory: int = DEFAULT_MEMORY_BYTES
    output: int = DEFAULT_OUTPUT_BYTES
    is_online: bool = False
    is_closed: bool = True
    reads_input: bool = False

    @classmethod
    def of(cls, command: Command) -> Limits:
        """Returns the limits that a command line sets, or that its FILEs need."""
        values = values_of(command)
        named = list(texts_in(values.values()))
        return cls(
            memory=command.limits.memory or DEFAULT_MEMORY_BYTES,
            output=command.limits.max_output or DEFAULT_OUTPUT_BYTES,
            is_online=any(map(is_url, named)),
            is_closed=not values.get("no_sandbox", False),
            reads_input=STANDARD_INPUT in named or command.files == (),
        )

    def enough_for(self, units: Sequence[Unit], *, may_be_online: bool) -> Limits:
        """Returns the limits for units that are known: memory for the largest file, and the network for URLs.

        `may_be_online`: the user gave a list of files, which may hold URLs.
        """
        inputs = [each for unit in units for each in unit.inputs]
        memory = max([self.memory, *(_MEMORY_PER_BYTE * each.size for each in inputs)])
        is_online = self.is_online or (may_be_online and any(is_url(each.path) for each in inputs))
        return replace(self, memory=memory, is_online=is_online)


def serve(
    connection: socket.socket, words: int, parent: int, job: Job, limits: Limits, *, is_planner: bool, empty: int
) -> NoReturn:
    """Serves the parent in a process just forked; `words` takes what libraries write. Never returns.

    `empty` is the descriptor of an empty directory.
    """
    try:
        terminals = _terminals()
        os.dup2(words, 1)
        os.dup2(words, 2)
        with contextlib.suppress(EOFError, BrokenPipeError, ConnectionError):
            sandbox.die_with_parent(parent)
            if not limits.reads_input:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            leave_session({connection.fileno(), words, empty})
            sandbox.prefer_as_victim()
            host = Host(connection)
            use_streams(host, set() if job.keeps_results else terminals)
            _serve(host, job, limits, empty, is_planner=is_planner)
    except BaseException:
        # Imported here: it is for errors of this program.
        import traceback

        os.write(words, traceback.format_exc().encode("utf-8", "backslashreplace"))
        os._exit(1)
    os._exit(0)


def _terminals() -> set[str]:
    """Returns which streams of the command are terminals, and keeps their width in the environment."""
    terminals = {name for name in ("stdout", "stderr") if getattr(sys, name).isatty()}
    if "stdout" in terminals:
        import shutil

        os.environ["COLUMNS"] = str(shutil.get_terminal_size().columns)
    return terminals


def _serve(host: Host, job: Job, limits: Limits, empty: int, *, is_planner: bool) -> None:
    use_host(host)
    processes.use_parent(host)
    gc.enable()
    console = Console(job.command.traceback, job.colour)
    enter_directory = _confine(limits, console, empty)
    if job.command.limits.timeout:
        processes.compiler_seconds = processes.worker_seconds = job.command.limits.timeout
    command = _planned(host, job, console) if is_planner else job.command
    if command is None:
        return
    enter_directory()
    note_reads(host.reads)
    with ExitStack() as stack:
        work = _opened(stack, command, console)
        while True:
            unit = parse_unit(host.next_unit())
            host.known.update(each.path for each in unit.inputs)
            host.send_done(worked(work, unit, job, console).header)


def _confine(limits: Limits, console: Console, empty: int) -> Callable[[], None]:
    """Enters the sandbox; returns a function that leaves the working directory, which only planning needs."""
    sandbox.mark_sandboxed()
    if not limits.is_closed:
        sandbox.limit_memory(limits.memory)
        return lambda: None
    if not limits.is_online:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        os.environ.clear()
        os.environ.update(kept)
    sandbox.hide_other_processes()
    directory = os.getcwd()
    sys.path[:] = [directory if each == "" else each for each in sys.path]
    sandbox.limit_resources(limits.memory)
    unprotected = sandbox.enter_sandbox(is_online=limits.is_online)
    if unprotected is not None:
        message = f"the process that reads files is not kept from files and network: {unprotected}"
        console.diagnose([Diagnostic(message, severity="warning")])

    def enter_directory() -> None:
        read_from(directory)
        os.fchdir(empty)

    return enter_directory


def _planned(host: Host, job: Job, console: Console) -> Command | None:
    """Sends the units of a command, or the exit code where there are none; returns the command for units, or None."""
    units: list[Unit] = []

    def plan() -> int:
        units.extend(job.command.plan(console))
        return DONE

    try:
        status = console.attempt(plan)
    except UsageError as error:
        console.diagnose(error.diagnostics)
        status = WRONG_COMMAND
    if status != DONE or not units:
        host.send_done({"status": status})
        return None
    host.send_plan(format_plan(units))
    return job.planned(units).command


def _opened(stack: ExitStack, command: Command, console: Console) -> Work:
    """Returns the function that works on a unit; if the command cannot start, every unit reports the error."""
    try:
        return stack.enter_context(command.open(console))
    except DiagnosticError as error:
        return partial(_report, error, console)


def _report(error: DiagnosticError, console: Console, unit: Unit) -> int:
    raise UsageError(error.diagnostics) from error


# Frames of plans and units


def format_plan(units: Sequence[Unit]) -> bytes:
    """Returns the bytes of a PLAN frame."""
    return to_json({"units": list(map(_described, units))})


def parse_plan(data: bytes | bytearray) -> list[Unit]:
    """Returns the units of a PLAN frame; raises MalformedFrameError for other values than `format_plan` writes."""
    try:
        return [_unit(each) for each in from_json(data)["units"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MalformedFrameError(f"a plan with {error!r}") from None


def format_unit(unit: Unit) -> bytes:
    """Returns the bytes of a UNIT frame: a line of JSON, and the bytes of the inputs that were read already."""
    contents = [each.content for each in unit.inputs]
    sizes = [None if content is None else len(content) for content in contents]
    header = {**_described(unit), "known": unit.known, "sizes": sizes}
    return b"\n".join([to_json(header), b"".join(filter(None, contents))])


def parse_unit(data: bytes) -> Unit:
    """Returns the unit of a UNIT frame."""
    line, _, contents = data.partition(b"\n")
    header = from_json(line)
    unit, inputs = _unit(header), []
    for read, size in zip(unit.inputs, header["sizes"], strict=True):
        inputs.append(read if size is None else replace(read, content=contents[:size]))
        contents = contents[size or 0 :]
    return replace(unit, inputs=tuple(inputs), known=header["known"])


def _described(unit: Unit) -> dict[str, Any]:
    return {
        "inputs": [
            [each.path, each.inner, each.prefix, each.kind, each.proto, each.within, each.wanted]
            for each in unit.inputs
        ],
        "target": unit.target,
        "seconds": unit.seconds,
        "label": unit.label,
    }


def _unit(described: dict[str, Any]) -> Unit:
    inputs = tuple(map(_input, described["inputs"]))
    seconds = float(described["seconds"])
    if not 0 < seconds < math.inf:
        raise ValueError(f"a time limit of {seconds} seconds")
    return Unit(inputs, _optional_text(described["target"]), seconds, label=str(described["label"]))


def _input(described: list[Any]) -> Input:
    path, inner, prefix, kind, proto, within, wanted = described
    known: Any = _optional_text(kind)
    return Input(
        str(path), str(inner), str(prefix), known, _optional_text(proto), str(within), wanted=tuple(map(str, wanted))
    )


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)
