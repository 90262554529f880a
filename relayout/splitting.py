"""Files that hold several modules, separated by `// -----` as in MLIR's tests."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dialect_utils.io.files import decode, encode
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source

_SEPARATOR = re.compile(r"^// -----[^\n]*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One module's text: its bytes, its offset in the file, and the separator line after it."""

    data: bytes
    start: int
    separator: bytes


def split_input(data: bytes) -> list[Chunk]:
    """Splits a text at its separator lines; the chunks and separators joined are the text."""
    text = decode(data)
    chunks, start = [], 0
    for match in _SEPARATOR.finditer(text):
        chunks.append(Chunk(encode(text[start : match.start()]), start, encode(match[0])))
        start = match.end()
    return [*chunks, Chunk(encode(text[start:]), start, b"")]


def relocate(error: DiagnosticError, whole: Source, chunk: Chunk) -> DiagnosticError:
    """Returns the error with the places in a chunk moved to their places in the file."""
    text = decode(chunk.data)
    return DiagnosticError(
        relocate_diagnostic(diagnostic, whole, text, chunk.start) for diagnostic in error.diagnostics
    )


def relocate_diagnostic(diagnostic: Diagnostic, whole: Source, text: str, start: int) -> Diagnostic:
    """Moves a diagnostic from the source with this text to `whole`, `start` characters further on."""
    location = diagnostic.location
    if location is not None and location.source.text == text:
        location = Location(whole, location.span.shifted(start))
    notes = tuple(relocate_diagnostic(note, whole, text, start) for note in diagnostic.notes)
    return replace(diagnostic, location=location, notes=notes)
