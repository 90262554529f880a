"""Units of a batch: plain values that go from process to process, and the streams that a unit prints to."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TextIO, cast

from dialect_utils.io.files import STANDARD_INPUT
from dialect_utils.io.inputs import Input
from dialect_utils.text import DiagnosticError, PrintableStream
from relayout.console import DONE, WRONG_COMMAND, Console, UsageError
from relayout.output import write_output


@dataclass(frozen=True, slots=True)
class Unit:
    """One part of a batch: a module, or two to compare, and the file its output goes to (None: standard output).

    `known` is the content for which there is a result already.
    """

    inputs: tuple[Input, ...]
    target: str | None = None
    known: str = ""

    @property
    def name(self) -> str:
        """Returns what results call it."""
        return " and ".join(each.name for each in self.inputs)

    def with_standard_input(self) -> Unit:
        """Returns the unit with what another process could not read."""
        if all(each.path != STANDARD_INPUT for each in self.inputs):
            return self
        return self.with_contents()

    def with_contents(self) -> Unit:
        """Returns the unit with the bytes of its inputs; one that cannot be read stays, and is an error of the work."""
        return replace(self, inputs=tuple(map(_with_content, self.inputs)))

    def content(self) -> str:
        """Returns the SHA-256 of the bytes of the inputs, or nothing where they were not read."""
        # Imported here, as it is slow to load: most batches keep no results.
        from hashlib import sha256

        contents = [each.content for each in self.inputs if each.content is not None]
        if len(contents) < len(self.inputs):
            return ""
        return " ".join(sha256(content).hexdigest() for content in contents)


def _with_content(read: Input) -> Input:
    try:
        return replace(read, content=read.data())
    except DiagnosticError:
        return read


# What a command does with one unit: prints its results and its diagnostics, and returns its exit code.
Work = Callable[[Unit], int]


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with every unit: a command with its options, and how diagnostics look.

    With `keeps_results` a unit whose content is known is left alone.
    """

    command: str
    arguments: Namespace
    colour: str = "never"
    keeps_results: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What one unit gave: its exit code, what it printed, and how many seconds it took.

    `ends_batch` is set where the command itself is wrong, so that no other unit can succeed. Where results are kept,
    `content` identifies what was read, and `is_known` says that nothing was done for it.
    """

    status: int
    output: bytes = b""
    diagnostics: bytes = b""
    seconds: float = 0.0
    ends_batch: bool = False
    content: str = ""
    is_known: bool = False


def kept(work: Work, unit: Unit, console: Console) -> Result:
    """Runs a unit, unless there is a result for its content already; the result says what its content is."""
    unit = unit.with_contents()
    content = unit.content()
    if content and content == unit.known:
        return Result(DONE, content=content, is_known=True)
    return replace(captured(work, unit, console), content=content)


def captured(work: Work, unit: Unit, console: Console) -> Result:
    """Runs a unit in this process; what it prints is in the result, and nowhere else."""
    start = perf_counter()
    with _captured_streams() as (output, diagnostics):
        try:
            status, ends_batch = work(unit), False
        except UsageError as error:
            console.diagnose(error.diagnostics)
            status, ends_batch = WRONG_COMMAND, True
    return Result(status, output.getvalue(), diagnostics.getvalue(), perf_counter() - start, ends_batch)


@contextmanager
def _captured_streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    streams = sys.stdout, sys.stderr
    output, diagnostics = io.BytesIO(), io.BytesIO()
    texts = [
        io.TextIOWrapper(into, encoding=stream.encoding, errors=stream.errors, write_through=True)
        for into, stream in zip((output, diagnostics), streams, strict=True)
    ]
    # As the command line has it: results are printable, diagnostics are when they are made.
    sys.stdout, sys.stderr = cast(TextIO, PrintableStream(texts[0])), texts[1]
    try:
        yield output, diagnostics
    finally:
        sys.stdout, sys.stderr = streams
        for text in texts:
            text.detach()


def show(result: Result) -> None:
    """Prints what a unit printed elsewhere."""
    if result.diagnostics:
        sys.stderr.flush()
        sys.stderr.buffer.write(result.diagnostics)
        sys.stderr.flush()
    if result.output:
        write_output(None, result.output)


def with_share(arguments: Namespace, share: int | None) -> Namespace:
    """Returns the arguments for one of several processes: without the FILEs, and with no more memory than its share.

    `share` is in bytes; what --memory says comes first.
    """
    shared = Namespace(**{**vars(arguments), "files": []})
    if getattr(arguments, "memory", 0) is None and share is not None:
        # Imported here: only what executes modules has such a limit.
        from dialect_utils.execution import DEFAULT_MEMORY_BYTES

        shared.memory = min(DEFAULT_MEMORY_BYTES, share)
    return shared
