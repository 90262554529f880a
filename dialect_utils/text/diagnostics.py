"""Diagnostics in the form of C compilers: place, message, source line, caret, notes and hints."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dialect_utils.text.printable import printable
from dialect_utils.text.source import Location, Source, Span

Severity = Literal["error", "warning", "note"]

# Long lines (dumps have lines of several thousand characters) are cut to this width around the caret.
_EXCERPT_WIDTH = 160
# From this share of common characters on, a name is taken for a misspelt one (difflib's own choice).
_CLOSE = 0.6


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What is wrong and where; `hint` proposes an edit."""

    message: str
    location: Location | None = None
    severity: Severity = "error"
    hint: str | None = None
    notes: tuple[Diagnostic, ...] = ()


class DiagnosticError(Exception):
    """Bad input: every diagnostic that was found."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        if isinstance(diagnostics, Diagnostic):
            diagnostics = (diagnostics,)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(render(d) for d in self.diagnostics))


def error_at(source: Source, span: Span, message: str, hint: str | None = None) -> DiagnosticError:
    """Returns a `DiagnosticError` with one error at a span of a source."""
    return DiagnosticError(Diagnostic(message, Location(source, span), hint=hint))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name most like `name`, or None where none is close, or two are equally close.

    The dashes that begin an option count for nothing.
    """
    scored = sorted(((_likeness(name, each), each) for each in {*known}), reverse=True)
    close = [(score, each) for score, each in scored if score >= _CLOSE]
    is_clear = len(close) == 1 or (len(close) > 1 and close[0][0] > close[1][0])
    return close[0][1] if is_clear else None


def _likeness(name: str, known: str) -> float:
    return difflib.SequenceMatcher(None, name.lstrip("-"), known.lstrip("-")).ratio()


def render(diagnostic: Diagnostic) -> str:
    """Formats a diagnostic as `file:line:col: severity: message`, an excerpt, notes and the hint.

    What a terminal must not get raw is written as escapes.
    """
    lines = []
    if diagnostic.location is None:
        lines.append(f"{diagnostic.severity}: {printable(diagnostic.message)}")
    else:
        source, span = diagnostic.location.source, diagnostic.location.span
        number, column = source.line_and_column(span.start)
        place = f"{printable(source.name)}:{number}:{column}"
        lines.append(f"{place}: {diagnostic.severity}: {printable(diagnostic.message)}")
        lines.extend(_excerpt(source.line(number), column - 1, span.end - span.start))
    lines.extend(render(note) for note in diagnostic.notes)
    if diagnostic.hint is not None:
        lines.append(f"hint: {printable(diagnostic.hint)}")
    return "\n".join(lines)


def _excerpt(line: str, start: int, length: int) -> list[str]:
    length = max(1, min(length, len(line) - start))
    cut = 0
    if len(line) > _EXCERPT_WIDTH:
        cut = max(0, min(start - _EXCERPT_WIDTH // 4, len(line) - _EXCERPT_WIDTH))
        line = line[cut : cut + _EXCERPT_WIDTH]
    length = max(1, min(length, len(line) - (start - cut)))
    start -= cut
    before, marked = printable(line[:start]), printable(line[start : start + length])
    # A tab stays a tab so that the caret is under its character.
    indent = "".join("\t" if char == "\t" else " " for char in before)
    indent += " " * (start - len(line[:start]))
    return [f"  {before}{marked}{printable(line[start + length :])}", f"  {indent}^{'~' * (max(1, len(marked)) - 1)}"]
