"""The text of a pipeline, in MLIR's syntax: `a,b{x=1 y=p,q},c`.

    pipeline ::= `builtin.module` `(` passes `)` | passes
    passes   ::= pass (`,` pass)*
    pass     ::= name (`{` option* `}`)?
    option   ::= name (`=` value)?

White space separates options, and ends a value unless it is inside quotes or braces. Unlike in MLIR, adjacent quoted
pieces join as in a shell, so that one value can hold both kinds of quotes: `"it's "'"so"'`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_CLOSING = {"{": "}", "(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a source's text."""

    source: Source
    span: Span

    def __str__(self) -> str:
        return self.source.text[self.span.start : self.span.end]

    def part(self, start: int, end: int) -> Text:
        """Returns a part, by offsets within this text."""
        return Text(self.source, Span(self.span.start + start, self.span.start + end))

    def stripped(self) -> Text:
        """Returns the text without white space at its ends."""
        text = str(self)
        start = len(text) - len(text.lstrip())
        return self.part(start, max(start, len(text.rstrip())))

    def error(self, message: str, hint: str | None = None) -> DiagnosticError:
        """Returns an error that points at the text."""
        return error_at(self.source, self.span, message, hint)

    def note(self, message: str) -> Diagnostic:
        """Returns a note that points at the text."""
        return Diagnostic(message, Location(self.source, self.span), "note")


@dataclass(frozen=True, slots=True)
class OptionText:
    """One `name=value` of a pass; `value` is None if only the name is written."""

    name: Text
    value: Text | None


@dataclass(frozen=True, slots=True)
class PassText:
    """One pass of a pipeline, as written."""

    name: Text
    options: tuple[OptionText, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name in Python, its type, and its default."""

    name: str
    kind: Any
    default: Any

    @property
    def written_name(self) -> str:
        """Returns the name that a pipeline's text uses."""
        return self.name.replace("_", "-")


def unknown_annotation(owner: Callable[..., Any], error: NameError) -> TypeError:
    """Returns the error for an annotation of a pass's function or a nested option that names nothing."""
    hint = "import it outside of `if TYPE_CHECKING`, or leave the annotation out"
    return TypeError(f"{owner.__qualname__}: the annotation {error.name} is unknown here; {hint}")


def parse_spec(source: Source) -> list[PassText]:
    """Reads a pipeline; an empty text is the empty pipeline. Raises DiagnosticError with a span."""
    whole = Text(source, Span(0, len(source.text))).stripped()
    inner = _without_anchor(whole)
    return [] if not str(inner).strip() else [_parse_pass(piece) for piece in split(inner, ",")]


def single_passes(source: Source) -> list[str]:
    """Returns each pass of a pipeline as a pipeline of its own, with the anchors of MLIR around it.

    `builtin.module(a,func.func(b{x=1},c))` -> `builtin.module(a)`, `builtin.module(func.func(b{x=1}))`, ... Raises
    DiagnosticError with a span.
    """
    return list(_single_passes(Text(source, Span(0, len(source.text)))))


def _single_passes(piece: Text) -> Iterator[str]:
    piece = piece.stripped()
    text = str(piece)
    anchor = re.match(r"[\w.]+\s*\(", text)
    if anchor is not None and _closing(piece, text, anchor.end() - 1) == len(text) - 1:
        yield from (f"{anchor[0]}{each})" for each in _single_passes(piece.part(anchor.end(), len(text) - 1)))
        return
    first, *others = split(piece, ",")
    if others:
        for each in (first, *others):
            yield from _single_passes(each)
    else:
        _parse_pass(first)
        yield text


def parse_innermost(single: str) -> PassText:
    """Returns the pass of one of `single_passes`, without its anchors."""
    anchors = re.match(r"(?:[\w.]+\s*\()*", single)
    count = 0 if anchors is None else anchors[0].count("(")
    inner = single[0 if anchors is None else anchors.end() : len(single) - count]
    return _parse_pass(Text(Source("<pass>", inner), Span(0, len(inner))))


def _without_anchor(whole: Text) -> Text:
    match = re.match(r"([\w.]+)\s*\(", str(whole))
    if match is None:
        return whole
    if match[1] != "builtin.module":
        raise _nested(whole.part(0, match.end(1)), str(whole)[match.end() :])
    if not str(whole).endswith(")"):
        raise whole.part(match.end() - 1, match.end()).error("this ( is never closed")
    return whole.part(match.end(), len(str(whole)) - 1).stripped()


def _nested(anchor: Text, rest: str) -> DiagnosticError:
    """Returns the error about `func.func(...)`; `rest` is the text after the parenthesis."""
    hint = f"passes run on whole modules: write {rest.removesuffix(')').strip() or 'the passes'}"
    return anchor.error(f"pipelines nested on {anchor} do not exist here", hint)


def _parse_pass(piece: Text) -> PassText:
    piece = piece.stripped()
    text = str(piece)
    if text.endswith(".py"):
        hint = "a file of your own becomes a pass by an entry point of its package: docs/tutorials/own-pass.md"
        raise piece.error("expected the name of a pass, not a file", hint)
    match = _NAME.match(text)
    if match is None:
        # A caret needs a character to point at.
        raise piece.part(0, max(1, len(text))).error("expected the name of a pass")
    name, rest = piece.part(0, match.end()), piece.part(match.end(), len(text)).stripped()
    if not str(rest):
        return PassText(name, ())
    if str(rest).startswith("(") and "." in str(name):
        raise _nested(name, str(rest)[1:])
    if not (str(rest).startswith("{") and _closing(rest, str(rest), 0) == len(str(rest)) - 1):
        raise rest.error(f"expected a comma or {{options}} after {name}", _repair(str(name), str(rest)))
    return PassText(name, parse_option_texts(rest.part(1, len(str(rest)) - 1)))


def _repair(name: str, rest: str) -> str:
    """Returns the hint for text after a pass's name that is not `{options}`."""
    inner = rest[1:-1] if rest[0] + rest[-1] in ("()", "[]") else rest
    is_option = inner != rest or re.match(r"[\w-]+=", rest) is not None
    return f"write {name}{{{inner}}}" if is_option else "passes are separated by commas"


def parse_option_texts(inner: Text) -> tuple[OptionText, ...]:
    """Reads `a=1 b=2`: the text between the braces of a pass or of a nested option."""
    return tuple(_parse_option(piece) for piece in split(inner, None))


def _parse_option(piece: Text) -> OptionText:
    text = str(piece)
    match = _NAME.match(text)
    if match is None or (match.end() < len(text) and text[match.end()] != "="):
        colon = re.fullmatch(r"([\w-]+):([\w.-]+)", text)
        hint = f"write {colon[1]}={colon[2]}" if colon else "options are separated by spaces: pass{a=1 b=2}"
        raise piece.error(f"expected option=value, not {text}", hint)
    name = piece.part(0, match.end())
    if match.end() == len(text):
        return OptionText(name, None)
    return OptionText(name, piece.part(match.end() + 1, len(text)))


def split(piece: Text, separator: str | None) -> Iterator[Text]:
    """Yields the parts between separators (None: white space) that are outside quotes and brackets."""
    text, start, position = str(piece), 0, 0
    while position < len(text):
        char = text[position]
        if char in _CLOSING or char in "\"'":
            position = _closing(piece, text, position)
        elif char in _CLOSING.values():
            raise piece.part(position, position + 1).error(f"this {char} closes nothing")
        elif char == separator or (separator is None and char.isspace()):
            if separator is not None or position > start:
                yield piece.part(start, position)
            start = position + 1
        position += 1
    if separator is not None or position > start:
        yield piece.part(start, position)


def _closing(piece: Text, text: str, start: int) -> int:
    """Returns the offset of the end of the quote or bracket that opens at `start` of a piece, which has this text."""
    opened = [start]
    for position in range(start + 1, len(text)):
        char, inner = text[position], text[opened[-1]]
        if char == _CLOSING.get(inner, inner):
            opened.pop()
            if not opened:
                return position
        elif inner not in "\"'" and (char in _CLOSING or char in "\"'"):
            opened.append(position)
    last = opened[-1]
    raise piece.part(last, last + 1).error(f"this {text[last]} is never closed")


def unquote(piece: Text) -> str:
    """Returns the value that text stands for, without quotes and without braces around the whole of it."""
    return "".join(_unquoted_pieces(without_braces(piece)))


def without_braces(piece: Text) -> Text:
    """Returns the text between braces if they enclose all of it, else the text."""
    piece = piece.stripped()
    text = str(piece)
    if text.startswith("{") and _closing(piece, text, 0) == len(text) - 1:
        return piece.part(1, len(text) - 1).stripped()
    return piece


def _unquoted_pieces(piece: Text) -> Iterator[str]:
    text, position = str(piece), 0
    while position < len(text):
        end = position
        if text[position] in "\"'":
            end = _closing(piece, text, position)
            yield text[position + 1 : end]
        elif text[position] in _CLOSING:
            end = _closing(piece, text, position)
            yield text[position : end + 1]
        else:
            yield text[position]
        position = end + 1


def quote(value: str) -> str:
    """Returns text that `unquote` reads as the value, with quotes only if necessary."""
    if value and not re.search(r"[\s,{}()\[\]\"']", value):
        return value
    pieces = re.split('("+)', value) if '"' in value else [value]
    return "".join(f"'{piece}'" if piece.startswith('"') else f'"{piece}"' for piece in pieces if piece or value == "")
