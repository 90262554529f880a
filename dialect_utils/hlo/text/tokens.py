"""Splits HLO text into tokens as XLA's lexer does, as far as its structure requires.

Source: xla/hlo/parser/hlo_lexer.cc. White space and comments (`/*...*/` and `//...`) may be
between any two tokens; `name=` without a space before `=` is an attribute name, so an
instruction without `%` needs that space.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Literal, NoReturn

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.text import Source, Span, error_at

Kind = Literal["string", "name", "word", "number", "mark", "end"]

# Before 3.11.5, Python does not restore the position after a failed attempt of a possessive group
# (python/cpython#106052). An atomic group does, but reads a dump some percent slower.
_IS_POSSESSIVE = sys.version_info >= (3, 11, 5)


def repeated(pattern: str, quantifier: str = "*") -> str:
    """Returns a pattern that repeats as often as possible and never backtracks."""
    return f"(?:{pattern}){quantifier}+" if _IS_POSSESSIVE else f"(?>(?:{pattern}){quantifier})"


# A loop over runs of characters takes half the time of one over characters.
STRING = r"\"[^\"\\]*+(?:\\(?s:.)[^\"\\]*+)*+\""
QUOTED = STRING.replace('\\"', "'")

# One skip and one token; possessive, so that no input makes it backtrack.
_TOKEN = re.compile(
    repeated(r"[ \t\r\n]++|/\*(?s:.*?)\*/|//[^\r\n]*+") + rf"(?:(?P<string>{STRING}|{QUOTED})"
    r"|(?P<name>%[A-Za-z_][\w.\-]*+)"
    r"|(?P<word>[A-Za-z_](?:[\w.]|(?!->)-)*+)"
    r"|(?P<number>-?\d(?:[\w.]|(?<=[eE])\+|(?!->)-)*+)"
    r"|(?P<mark>->|<=|(?s:.))|\Z)",
    re.ASCII,
)

# Brackets, and the strings and comments that hide brackets; a lone quote or `/*` has no end.
_BRACKET = re.compile(rf"{STRING}|{QUOTED}|" r"/\*(?s:.*?)\*/|//[^\r\n]*+|[()\[\]{}\"']|/\*", re.ASCII)

# Up to a character that XLA's lexer rejects. A comment that nothing closes ends with the text: each would be searched.
# Python's patterns read some of these as blanks, such as U+00A0 and \v.
_UP_TO_OTHER = re.compile(
    repeated(rf"[\t\n\r -!#-&(-.0-~]++|{STRING}|{QUOTED}|" r"/\*(?s:.*?)(?:\*/|\Z)|//[^\r\n]*+|[\"'](?s:.*)|/")
)
_OTHER_BLANKS = "\v\f\x1c\x1d\x1e\x1f"


def check_characters(source: Source) -> None:
    """Raises DiagnosticError at the first character that XLA's lexer rejects, outside of strings and comments."""
    text = source.text
    if text.isascii() and not any(blank in text for blank in _OTHER_BLANKS):
        return
    match = _UP_TO_OTHER.match(text)
    assert match is not None  # the pattern matches the empty text
    if (end := match.end()) < len(text):
        hint = (
            "names in HLO consist of ASCII letters, digits, '_', '.' and '-'; blanks are spaces, tabs and line breaks"
        )
        raise error_at(source, Span(end, end + 1), f"unexpected character U+{ord(text[end]):04X}", hint)


# Words that XLA's lexer does not read as names without `%`. Unlike XLA, this package reads `inf` and `nan` as names.
_WORDS = (
    "true false HloModule ENTRY ROOT FileLocations FileNames FunctionNames StackFrames maximal replicated "
    "manual last_tile_dim_replicate shard_as shard_like unknown unreduced token opaque"
)
RESERVED = frozenset(_WORDS.split()) | frozenset(ELEMENT_TYPES)

CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True)
class Token:
    """One token: its kind, its text (names without `%`) and its offsets."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Returns the token's span."""
        return Span(self.start, self.end)

    @property
    def is_name(self) -> bool:
        """Is true for a token that may name an instruction or a computation."""
        return self.kind in ("name", "word")


class Scanner:
    """A walk over the tokens of one source; `token` is the next one, `last_end` the end of the previous one."""

    def __init__(self, source: Source, start: int = 0) -> None:
        self.source = source
        self.text = source.text
        self.seek(start)

    def seek(self, offset: int) -> None:
        """Continues at a character offset."""
        self.last_end = offset
        self.token = self._read(offset)

    def _read(self, offset: int) -> Token:
        match = _TOKEN.match(self.text, offset)
        assert match is not None  # the pattern matches at every offset
        kind = match.lastgroup
        if kind is None:
            return Token("end", "", match.end(), match.end())
        start, end = match.span(kind)
        text = match[kind]
        if kind == "mark":
            if text == '"':
                raise error_at(self.source, Span(start, start + 1), "this string does not end", 'add "')
            if text == "/" and self.text.startswith("/*", start):
                raise error_at(self.source, Span(start, start + 2), "this comment does not end", "add */")
        elif kind == "name":
            text = text[1:]
        return Token(kind, text, start, end)  # type: ignore[arg-type]  # the groups are the kinds

    def next(self) -> Token:
        """Returns the token and moves past it."""
        token = self.token
        self.last_end = token.end
        self.token = self._read(token.end)
        return token

    def peek(self) -> Token:
        """Returns the token after the next one."""
        return self._read(self.token.end)

    def at(self, mark: str) -> bool:
        """Is true where the next token is this mark."""
        return self.token.text == mark and self.token.kind == "mark"

    def take(self, mark: str) -> bool:
        """Moves over a mark if it comes next."""
        if not self.at(mark):
            return False
        self.next()
        return True

    def expect(self, mark: str, where: str) -> Token:
        """Moves over a mark; raises DiagnosticError where something else comes."""
        if not self.at(mark):
            self.fail(f"expected {mark!r} {where}, found {self.found()}")
        return self.next()

    def found(self) -> str:
        """Describes the next token for a message."""
        token = self.token
        return "the end of the text" if token.kind == "end" else repr(self.text[token.start : token.end][:40])

    def fail(self, message: str, span: Span | None = None, hint: str | None = None) -> NoReturn:
        """Raises DiagnosticError at a span, by default at the next token."""
        raise error_at(self.source, span or self.token.span, message, hint)

    def group(self) -> Span:
        """Moves over a bracketed group and returns its span, brackets included."""
        start, waiting = self.token.start, list[tuple[str, int]]()
        for match in _BRACKET.finditer(self.text, start):
            mark = match[0]
            if mark in CLOSERS:
                waiting.append((CLOSERS[mark], match.start()))
            elif mark in (")", "]", "}"):
                closer, _ = waiting.pop()
                if mark != closer:
                    self.fail(f"expected {closer!r}, found {mark!r}", Span(*match.span()))
                if not waiting:
                    self.seek(match.end())
                    return Span(start, match.end())
            elif mark in ('"', "/*"):
                # Raises: nothing ends it.
                self._read(match.start())
        position = waiting[-1][1]
        self.fail(f"this {self.text[position]!r} is never closed", Span(position, position + 1))
