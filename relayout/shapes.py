"""What `explain`, `index` and `bitcast` share: shapes as people type them, one a line on standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from dialect_utils.files import STANDARD_INPUT, decode
from dialect_utils.layout import ArrayShape, Shape, read_shape
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.console import DONE, Console, print_json


def read_typed_shape(text: str, name: str, console: Console) -> Shape:
    """Reads a shape and shows its notes; raises DiagnosticError."""
    shape, notes = read_shape(text, name)
    console.diagnose(notes)
    return shape


def read_typed_array(text: str, name: str, console: Console) -> ArrayShape:
    """Reads an array's shape and shows its notes; raises DiagnosticError for tuples, tokens and the like."""
    shape = read_typed_shape(text, name, console)
    if not isinstance(shape, ArrayShape):
        raise DiagnosticError(Diagnostic(f"expected an array shape, found {shape}"))
    return shape


def input_lines() -> Iterator[tuple[str, str]]:
    """Yields (name for diagnostics, text) of every line of standard input that is not blank."""
    for number, line in enumerate(sys.stdin.buffer, start=1):
        text = decode(line).strip()
        if text:
            yield f"<stdin> line {number}", text


def named_arguments(arguments: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields (name for diagnostics, text) of every argument; `-` stands for standard input's lines."""
    for argument in arguments:
        if argument == STANDARD_INPUT:
            yield from input_lines()
        else:
            yield "<argument>", argument


@contextmanager
def values_checked() -> Iterator[None]:
    """Turns the errors of the layout functions about values into diagnostics."""
    try:
        yield
    except (IndexError, ValueError) as error:
        raise DiagnosticError(Diagnostic(str(error))) from error


def print_each(
    items: Iterable[tuple[str, str]], work: Callable[[str, str], None], console: Console, *, json: bool
) -> int:
    """Does the work on every (name, text); one that fails is diagnosed and the others go on."""
    status = DONE
    for name, text in items:
        failed = partial(_print_failure, text) if json else None
        status = max(status, console.attempt(partial(_done, work, name, text), failed))
    return status


def _done(work: Callable[[str, str], None], name: str, text: str) -> int:
    with values_checked():
        work(name, text)
    return DONE


def _print_failure(text: str, message: str) -> None:
    print_json({"input": text, "error": message})
