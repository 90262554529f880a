"""Diagnostics in the form of C compilers: place, message, source line, caret, notes and hints."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dialect_utils.text.source import Location, Source, Span

Severity = Literal["error", "warning", "note"]

# Long lines (dumps have lines of several thousand characters) are cut to this width around the caret.
_EXCERPT_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Says what is wrong and where; `hint` proposes an edit."""

    message: str
    location: Location | None = None
    severity: Severity = "error"
    hint: str | None = None
    notes: tuple[Diagnostic, ...] = ()


class DiagnosticError(Exception):
    """Is raised for bad input; carries every diagnostic that was found."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        if isinstance(diagnostics, Diagnostic):
            diagnostics = (diagnostics,)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(render(d) for d in self.diagnostics))


def error_at(source: Source, span: Span, message: str, hint: str | None = None) -> DiagnosticError:
    """Returns a `DiagnosticError` with one error at a span of a source."""
    return DiagnosticError(Diagnostic(message, Location(source, span), hint=hint))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name most like `name`, or None where none is close."""
    matches = difflib.get_close_matches(name, list(known), n=1)
    return matches[0] if matches else None


def render(diagnostic: Diagnostic) -> str:
    """Formats a diagnostic as `file:line:col: severity: message`, an excerpt, notes and the hint."""
    lines = []
    if diagnostic.location is None:
        lines.append(f"{diagnostic.severity}: {diagnostic.message}")
    else:
        source, span = diagnostic.location.source, diagnostic.location.span
        number, column = source.line_and_column(span.start)
        lines.append(f"{source.name}:{number}:{column}: {diagnostic.severity}: {diagnostic.message}")
        lines.extend(_excerpt(source.line(number), column - 1, span.end - span.start))
    lines.extend(render(note) for note in diagnostic.notes)
    if diagnostic.hint is not None:
        lines.append(f"hint: {diagnostic.hint}")
    return "\n".join(lines)


def _excerpt(line: str, start: int, length: int) -> list[str]:
    length = max(1, min(length, len(line) - start))
    cut = 0
    if len(line) > _EXCERPT_WIDTH:
        cut = max(0, min(start - _EXCERPT_WIDTH // 4, len(line) - _EXCERPT_WIDTH))
        line = line[cut : cut + _EXCERPT_WIDTH]
    length = max(1, min(length, len(line) - (start - cut)))
    # A tab stays a tab so that the caret stands under its character.
    indent = "".join("\t" if char == "\t" else " " for char in line[: start - cut])
    indent += " " * (start - cut - len(indent))
    return [f"  {line}", f"  {indent}^{'~' * (length - 1)}"]
