"""Source text and half-open character ranges in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property


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
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
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
    """A span of one source: what a diagnostic points at."""

    source: Source
    span: Span


def elided(text: str, most: int = 60) -> str:
    """Returns a text for people to look at: of one with more lines than `most`, its begin and its end."""
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= most:
        return "\n".join(lines)
    half = most // 2
    return "\n".join([*lines[:half], f"... {len(lines) - 2 * half} more lines ...", *lines[-half:]])
