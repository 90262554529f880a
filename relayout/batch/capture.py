"""Runs a unit, keeps what it prints, and prints that."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TextIO, cast

from dialect_utils.text import PrintableStream
from relayout.batch.unit import Result, Unit, Work
from relayout.console import DONE, WRONG_COMMAND, Console, UsageError
from relayout.output import write_output


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
