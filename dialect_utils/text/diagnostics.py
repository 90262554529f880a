"""Source text, its comments and spans, and diagnostics in the form of C compilers.

A diagnostic has a location, a message, the source line, a caret and a hint.
"""

from __future__ import annotations

import difflib
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TextIO

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# Smaller sizes than this round to less than 100.
_LEAST_OF_100 = 99.95
_LINE_BREAK = re.compile(r"\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range `[start, end)` of character offsets."""

    start: int
    end: int

    def shifted(self, offset: int) -> Span:
        """Returns the span moved right by `offset` characters."""
        return Span(self.start + offset, self.end + offset)


@dataclass(frozen=True)
class Source:
    """A text, the name under which diagnostics mention it, and the number of its first line."""

    name: str
    text: str
    first_line: int = 1

    @cached_property
    def _line_starts(self) -> array[int]:
        # An array takes 8 bytes for each line, a list 40; a line may be a single byte.
        starts = array("q", [0])
        starts.extend(match.end() for match in _LINE_BREAK.finditer(self.text))
        return starts

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Returns the line's number and the 1-based column of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return self.first_line + line - 1, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Returns the text of a line, by its number, without its line ending."""
        start = self._line_starts[number - self.first_line]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")

    def offset(self, line: int, column: int) -> int:
        """Returns the character offset of a line, by its number, and a 1-based column, clamped to the text."""
        line = min(max(line - self.first_line + 1, 1), len(self._line_starts))
        return min(self._line_starts[line - 1] + max(column, 1) - 1, len(self.text))


@dataclass(frozen=True, slots=True)
class Location:
    """A span of one source."""

    source: Source
    span: Span


def elided(text: str, most: int = 60) -> str:
    """Returns a text shortened for display: of a text of more than `most` lines, the first and the last ones."""
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= most:
        return "\n".join(lines)
    half = most // 2
    return "\n".join([*lines[:half], f"... {len(lines) - 2 * half} more lines ...", *lines[-half:]])


# C0 except tab and line feed, DEL and C1; directional marks, embeddings, overrides and isolates (Unicode TR 9); line
# and paragraph separators; surrogates, which stand for bytes that are not UTF-8.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Returns the text with control and directional characters escaped as in Python's literals."""
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


class PrintableStream:
    """A text stream that writes printable text only, in the characters of its encoding; `buffer` takes raw bytes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes a text and returns the number of its characters."""
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(printable(text).encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def kind_of(value: object) -> str:
    """Returns the kind of a value with its article: `an int`, `a numpy.ndarray`, `None`.

    >>> kind_of(3)
    'an int'
    """
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def format_bytes(count: int) -> str:
    """Returns a size for people: `1.5 MiB`; below 1024 it is exact."""
    size, unit = float(count), 0
    while abs(size) >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{_three_digits(size, unit)} {_UNITS[unit]}"


def _three_digits(size: float, unit: int) -> str:
    # Three digits of 1000 and more would be 1e+03, and those of 99.96 would be 1e+02.
    return f"{size:.0f}" if not unit or abs(size) >= _LEAST_OF_100 else f"{size:.3g}"


def format_count(count: int) -> str:
    """Returns a number for people: `5.38e9`; below a million it is exact."""
    return f"{count:,}" if abs(count) < 10**6 else f"{count:.2e}".replace("e+0", "e").replace("e+", "e")


def format_share(part: int, whole: int) -> str:
    """Returns a part of a size and the size in one unit, of which the size has at least ten: `1000 of 1034 MiB`."""
    unit = 0
    while whole >= 10 * 1024 ** (unit + 1) and unit < len(_UNITS) - 1:
        unit += 1
    one, other = (_three_digits(size / 1024**unit, unit) for size in (part, whole))
    return f"{one} of {other} {_UNITS[unit]}"


Severity = Literal["error", "warning", "note"]

# Long lines (dumps have lines of several thousand characters) are cut to this width around the caret.
_LONGEST_MESSAGE = 4_000
_EXCERPT_WIDTH = 160
# A name with at least this share of common characters counts as misspelt (difflib's default).
_CLOSE = 0.6


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem and its location; `hint` proposes an edit."""

    message: str
    location: Location | None = None
    severity: Severity = "error"
    hint: str | None = None
    notes: tuple[Diagnostic, ...] = ()


class DiagnosticError(Exception):
    """The error of bad input: one with this message, location and hint, or every diagnostic that was found.

    >>> try:
    ...     relayout.parse_shape("f32[3,5]{1,1}")
    ... except relayout.DiagnosticError as error:
    ...     print(error)
    <shape>:1:12: error: minor_to_major {1,1} repeats dimension 1
      f32[3,5]{1,1}
                 ^
    """

    def __init__(
        self, found: str | Diagnostic | Iterable[Diagnostic], location: Location | None = None, hint: str | None = None
    ) -> None:
        if isinstance(found, str):
            found = Diagnostic(found, location, hint=hint)
        self.diagnostics: tuple[Diagnostic, ...] = (found,) if isinstance(found, Diagnostic) else tuple(found)
        super().__init__("\n".join(render(d) for d in self.diagnostics))


def error_at(source: Source, span: Span, message: str, hint: str | None = None) -> DiagnosticError:
    """Returns a `DiagnosticError` with one error at a span of a source."""
    return DiagnosticError(message, Location(source, span), hint=hint)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name most like `name`, or None where no name is close or two are equally close.

    The leading dashes of options are ignored. A name with which several known names begin is close to none of them.
    """
    known = {*known}
    if name not in known and sum(each.startswith(name) for each in known) > 1:
        return None
    closest = all_nearest(name, known)
    return closest[0] if len(closest) == 1 else None


def meant(name: str, known: Iterable[str], otherwise: str | None = None, sign: str = "") -> str | None:
    """Returns a hint that asks for the known name most like `name`, or `otherwise` where none is."""
    close = nearest(name, known)
    return otherwise if close is None else f"did you mean {sign}{close}?"


def all_nearest(name: str, known: Iterable[str]) -> list[str]:
    """Returns the known names that are most like `name` and equally close, sorted; none where no name is close."""
    scores = {each: _likeness(name, each) for each in known}
    best = max(scores.values(), default=0.0)
    return sorted(each for each, score in scores.items() if score == best >= _CLOSE)


def _likeness(name: str, known: str) -> float:
    matcher = difflib.SequenceMatcher(None, name.lstrip("-"), known.lstrip("-"))
    # A bound by the lengths alone: the ratio itself takes time in proportion to their product.
    return matcher.ratio() if matcher.real_quick_ratio() >= _CLOSE else 0.0


def render(diagnostic: Diagnostic) -> str:
    """Formats a diagnostic as `file:line:col: severity: message`, an excerpt, notes and the hint.

    Control characters are written as escapes; the middle of a message of more than 4,000 characters is left out.
    """
    lines = []
    if diagnostic.location is None:
        lines.append(f"{diagnostic.severity}: {_shown(diagnostic.message)}")
    else:
        source, span = diagnostic.location.source, diagnostic.location.span
        number, column = source.line_and_column(span.start)
        position = f"{printable(source.name)}:{number}:{column}"
        lines.append(f"{position}: {diagnostic.severity}: {_shown(diagnostic.message)}")
        lines.extend(_excerpt(source.line(number), column - 1, span.end - span.start))
    lines.extend(render(note) for note in diagnostic.notes)
    if diagnostic.hint is not None:
        lines.append(f"hint: {printable(diagnostic.hint)}")
    return "\n".join(lines)


def _shown(message: str) -> str:
    # A message may hold names and types of the file, of any length.
    if len(message) > _LONGEST_MESSAGE:
        half = _LONGEST_MESSAGE // 2
        message = f"{message[:half]} ... {len(message) - 2 * half} more characters ... {message[-half:]}"
    return printable(message)


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


# Comments, among them XLA's `/*index=5*/` in long lists; one that nothing closes ends with the text.
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\r\n]*", re.DOTALL)


def without_comments(text: str) -> str:
    """Returns a text of the same length with blanks for comments; the text must not contain strings."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text) if "/" in text else text
