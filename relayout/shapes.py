"""Shapes as arguments of `explain`, `index` and `bitcast`, or one per line on standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

from dialect_utils.io.files import STANDARD_INPUT, decode, display_name
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.processes import waiting
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span
from passes.framework.spec import Text
from relayout.console import DONE, FAILED, Console, print_failure
from relayout.supervisor.host import begin_item


def typed(text: str) -> Text:
    """Returns an argument as a source that diagnostics can point to."""
    return Text(Source("<argument>", text), Span(0, len(text)))


def read_typed_shape(text: Text, console: Console) -> Shape:
    """Reads a shape and prints its notes; raises DiagnosticError."""
    piece = text.stripped()
    try:
        shape, notes = read_shape(str(piece))
    except DiagnosticError as error:
        raise DiagnosticError(_placed(diagnostic, piece) for diagnostic in error.diagnostics) from None
    console.diagnose(_placed(note, piece) for note in notes)
    return shape


def _placed(diagnostic: Diagnostic, piece: Text) -> Diagnostic:
    """Returns a diagnostic about a shape's text with its location in the argument or line."""
    span = piece.span if diagnostic.location is None else diagnostic.location.span.shifted(piece.span.start)
    return replace(diagnostic, location=Location(piece.source, span))


def read_typed_array(text: Text, console: Console) -> ArrayShape:
    """Reads an array's shape and prints its notes; raises DiagnosticError for tuples and other shapes."""
    shape = read_typed_shape(text, console)
    if not isinstance(shape, ArrayShape):
        raise text.stripped().error(f"expected an array shape, found {shape}")
    return shape


def input_lines() -> Iterator[Text]:
    """Yields every non-blank line of standard input as soon as the line is read."""
    for number in count(1):
        with waiting(None):
            data = sys.stdin.buffer.readline()
        if not data:
            return
        line = decode(data).rstrip("\r\n")
        if line.strip():
            yield Text(Source(display_name(STANDARD_INPUT), line, number), Span(0, len(line))).stripped()


def named_arguments(arguments: Iterable[str]) -> Iterator[Text]:
    """Yields every argument; `-` stands for the lines of standard input."""
    for argument in arguments:
        if argument == STANDARD_INPUT:
            yield from input_lines()
        else:
            yield typed(argument)


def _done(work: Callable[[Text], None], text: Text) -> int:
    """Works on a text; raises DiagnosticError with a location, also for errors of the layout functions."""
    try:
        work(text)
    except DiagnosticError as error:
        placed = (d if d.location is not None else _placed(d, text) for d in error.diagnostics)
        raise DiagnosticError(placed) from error
    except (IndexError, ValueError) as error:
        raise text.error(str(error)) from error
    return DONE


def print_each(items: Iterable[Text], work: Callable[[Text], None], console: Console, *, json: bool) -> int:
    """Works on every text; one that fails is diagnosed, and the rest are still worked on."""
    status = None
    for text in items:
        begin_item(str(text))
        failed = partial(print_failure, {"input": str(text)}) if json else None
        status = max(status or DONE, console.attempt(partial(_done, work, text), failed))
    if status is None:
        console.diagnose([Diagnostic("<stdin>: holds no shape")])
        return FAILED
    return status
