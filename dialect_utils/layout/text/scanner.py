"""A tokenizer for the text of shapes and layouts, with one token of lookahead."""

from __future__ import annotations

import re
from typing import NoReturn

from dialect_utils.layout.layout import INT64_MAX
from dialect_utils.text import Source, Span, error_at

# A number longer than this cannot be an int64; int() is quadratic in the digits.
_MAX_DIGITS = 30

# White space and comments, then one token. The pattern matches at every offset, so it never backtracks.
_TOKEN = re.compile(
    r"(?:\s|/\*.*?\*/|//[^\n]*)*(?:(?P<int>-?\d+)|(?P<name>[A-Za-z_]\w*)|(?P<mark><=|.)|\Z)", re.DOTALL | re.ASCII
)


class Scanner:
    """A reader of tokens from one source.

    The next token is `kind` ("int", "name", "mark" or "end"), `value` and `span`; `position`
    is the end of the token before it.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.position = 0
        self._advance(0)

    def _advance(self, offset: int) -> None:
        match = _TOKEN.match(self.source.text, offset)
        assert match is not None  # the pattern matches at every offset
        self.kind = match.lastgroup or "end"
        self.value = match.group(self.kind) if match.lastgroup else ""
        self.span = Span(match.start(self.kind), match.end(self.kind)) if match.lastgroup else Span(offset, offset)
        if self.value == "/" and self.source.text.startswith("/*", self.span.start):
            self._fail("this comment does not end", hint="add */")

    def _next(self) -> str:
        value = self.value
        self.position = self.span.end
        self._advance(self.position)
        return value

    def _following(self) -> str:
        """Returns the token after the next one: the text of a mark, the kind of any other token."""
        match = _TOKEN.match(self.source.text, self.span.end)
        assert match is not None  # the pattern matches at every offset
        return match.group("mark") or match.lastgroup or "end"

    def _at(self, mark: str) -> bool:
        return self.kind == "mark" and self.value == mark

    def _take(self, mark: str) -> bool:
        if not self._at(mark):
            return False
        self._next()
        return True

    def _expect(self, mark: str, where: str, hint: str | None = None) -> None:
        if not self._take(mark):
            self._fail(f"expected {mark!r} {where}, found {self._found()}", hint=hint)

    def _integer(self, name: str) -> int:
        if self.kind != "int":
            self._fail(f"expected {name}, found {self._found()}")
        value = int(self.value) if len(self.value) <= _MAX_DIGITS else INT64_MAX + 1
        if abs(value) > INT64_MAX:
            self._fail(f"{name} {self.value[:_MAX_DIGITS]} does not fit 64 bits")
        self._next()
        return value

    def _found(self) -> str:
        return repr(self.value) if self.value else "the end of the text"

    def _fail(self, message: str, span: Span | None = None, hint: str | None = None) -> NoReturn:
        raise error_at(self.source, span or self.span, message, hint)
