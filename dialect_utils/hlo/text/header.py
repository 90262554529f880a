"""Reads and writes headers: `HloModule NAME, attribute=value, ...`, and `(p: f32[3]) -> f32[3]` of a computation.

A module's header stays text. The entry layout is split once; edits of parameters and the result change its shapes,
which are written on demand. Four tables of file names and stack frames may follow a module's header, all of them in
their order or none; they stay text. Source: xla/hlo/parser/hlo_parser.cc.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from dialect_utils.hlo.text.grammar import read_shape_at, scan_attributes, scan_shape
from dialect_utils.hlo.text.tokens import Scanner, Token, repeated
from dialect_utils.layout import Shape, TupleShape
from dialect_utils.text import Source, Span

_ENTRY_LAYOUT = "entry_computation_layout"


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameter names and shapes and the result's shape in a computation's header."""

    names: tuple[str, ...]
    parameters: tuple[Shape, ...]
    result: Shape

    def without_layouts(self) -> Signature:
        """Returns the signature with no layouts, as XLA prints it."""
        return Signature(
            self.names, tuple(shape.without_layout for shape in self.parameters), self.result.without_layout
        )

    def __str__(self) -> str:
        pairs = zip(self.names, self.parameters, strict=True)
        return f"({', '.join(f'{name}: {shape}' for name, shape in pairs)}) -> {self.result}"


def parse_signature(source: Source, span: Span) -> Signature:
    """Returns the signature at a span of a source; raises DiagnosticError."""
    scanner = Scanner(source, span.start)
    scanner.expect("(", "before the parameters")
    names: list[str] = []
    shapes: list[Shape] = []
    while not scanner.take(")"):
        if names:
            scanner.expect(",", "between parameters")
        name = scanner.token
        if name.kind not in ("word", "name"):
            scanner.fail(f"expected the name of a parameter, found {scanner.found()}")
        names.append(scanner.next().text)
        if name.kind == "word" and scanner.token.start == name.end:
            scanner.take(":")  # XLA's lexer reads `a:` as the name
        shapes.append(_shape(scanner))
    scanner.expect("->", "after the parameters")
    result = _shape(scanner)
    if scanner.token.start < span.end:
        scanner.fail(f"expected '{{' after the result's shape, found {scanner.found()}")
    return Signature(tuple(names), tuple(shapes), result)


def parse_entry_layout(source: Source, span: Span) -> tuple[tuple[Shape, ...], Shape]:
    """Returns parameter and result shapes of `{(a, b)->c}` at a span of a source."""
    scanner = Scanner(source, span.start)
    scanner.expect("{", "at the start of the entry layout")
    scanner.expect("(", "before the parameters' shapes")
    shapes: list[Shape] = []
    while not scanner.take(")"):
        if shapes:
            scanner.expect(",", "between shapes")
        shapes.append(_shape(scanner))
    scanner.expect("->", "after the parameters' shapes")
    result = _shape(scanner)
    scanner.expect("}", "at the end of the entry layout")
    return tuple(shapes), result


def format_entry_layout(parameters: Sequence[Shape], result: Shape) -> str:
    """Returns `{(a, b)->c}`, the inverse of `parse_entry_layout`."""
    return "{" + f"{TupleShape(tuple(parameters))}->{result}" + "}"


def follow(layout: Shape, old: Shape, new: Shape) -> Shape:
    """Returns the entry layout's shape after a value's shape changed from `old` to `new`.

    Arrays that did not change keep their entry layout, which may differ from the value's own layout.
    """
    if old == new:
        return layout
    if (
        isinstance(layout, TupleShape)
        and isinstance(old, TupleShape)
        and isinstance(new, TupleShape)
        and len(layout.elements) == len(old.elements) == len(new.elements)
    ):
        return TupleShape(tuple(map(follow, layout.elements, old.elements, new.elements)))
    return new


def _shape(scanner: Scanner) -> Shape:
    span = scan_shape(scanner)
    if span is None:
        scanner.fail(f"expected a shape, found {scanner.found()}")
    return read_shape_at(scanner.source, span)


@dataclass(slots=True)
class _EntryLayout:
    """The shapes of the entry layout, and whether the text has them."""

    parameters: list[Shape]
    result: Shape
    is_written: bool = True


class Header:
    """The header of one module; empty for a fragment."""

    __slots__ = ("_attributes", "_entry_layout", "_is_split", "_text", "is_edited", "source", "span")

    def __init__(self, source: Source, span: Span | None) -> None:
        self.source = source
        # The span that was read.
        self.span = span or Span(0, 0)
        self.is_edited = False
        self._text = source.text[self.span.start : self.span.end]
        self._attributes: dict[str, str] | None = None
        self._entry_layout: _EntryLayout | None = None
        self._is_split = False

    def copied(self) -> Header:
        """Returns an independent copy."""
        copy = Header(self.source, self.span)
        copy._text, copy.is_edited = self.text, self.is_edited
        return copy

    @property
    def text(self) -> str:
        """Returns the current text."""
        self._write_entry_layout()
        return self._text

    def _write_entry_layout(self) -> None:
        layout = self._entry_layout
        if layout is not None and not layout.is_written:
            layout.is_written = True
            self._replace(_ENTRY_LAYOUT, format_entry_layout(layout.parameters, layout.result))

    @property
    def attributes(self) -> dict[str, str]:
        """Returns the attributes' texts by name, in order."""
        text = self.text
        if self._attributes is None:
            self._attributes = {name: text[value.start : value.end] for name, _, value in self._split()}
        return self._attributes

    def _split(self) -> list[tuple[str, Span, Span]]:
        if not self._text:
            return []
        scanner = Scanner(Source("<header>", self._text))
        scanner.next()
        scanner.next()
        if scanner.at(":"):
            scanner.next()
        return scan_attributes(scanner, atoms=True)

    def set(self, name: str, text: str | None) -> None:
        """Changes or adds an attribute, or drops it for None; raises ValueError without a header."""
        if not self._text and text is None:
            return
        if not self._text:
            raise ValueError("a fragment without a HloModule line has no attributes")
        self._write_entry_layout()
        if name == _ENTRY_LAYOUT:
            self._entry_layout, self._is_split = None, False
        self._replace(name, text)

    def _replace(self, name: str, text: str | None) -> None:
        spans = {key: (start, value) for key, start, value in self._split()}
        old = self._text
        if name in spans:
            start, value = spans[name]
            if text is None:
                self._text = old[: old.rindex(",", 0, start.start)] + old[value.end :]
            else:
                self._text = old[: value.start] + text + old[value.end :]
        elif text is not None:
            self._text = f"{old}, {name}={text}"
        if self._text != old:
            self.is_edited = True
            self._attributes = None

    # The entry layout

    @property
    def entry_layout(self) -> tuple[tuple[Shape, ...], Shape] | None:
        """Returns the shapes of the entry's parameters and result, or None where they are not written.

        Raises DiagnosticError where the text is wrong.
        """
        layout = self._layout()
        return None if layout is None else (tuple(layout.parameters), layout.result)

    def _layout(self) -> _EntryLayout | None:
        if not self._is_split:
            for name, _, value in self._split():
                if name == _ENTRY_LAYOUT:
                    parameters, result = parse_entry_layout(*self._in_file(value))
                    self._entry_layout = _EntryLayout(list(parameters), result)
            self._is_split = True
        return self._entry_layout

    def _in_file(self, span: Span) -> tuple[Source, Span]:
        """Returns a span of the header as a span of the file if the header is unchanged."""
        start, end = self.span.start, self.span.end
        if self.source.text.startswith(self._text, start) and len(self._text) == end - start:
            return self.source, span.shifted(start)
        return Source("<header>", self._text), span

    def set_entry_layout(self, parameters: Sequence[Shape], result: Shape) -> None:
        """Writes the entry layout."""
        self.set(_ENTRY_LAYOUT, format_entry_layout(parameters, result))

    def parameter_changed(self, number: int, old: Shape, new: Shape) -> None:
        """Updates the entry layout after a change of the shape of a parameter."""
        layout = self._layout()
        if layout is None or number >= len(layout.parameters):
            return
        followed = follow(layout.parameters[number], old, new)
        if followed != layout.parameters[number]:
            layout.parameters[number] = followed
            self._changed(layout)

    def result_changed(self, old: Shape, new: Shape) -> None:
        """Updates the entry layout after a change of the shape of the result."""
        layout = self._layout()
        if layout is None:
            return
        followed = follow(layout.result, old, new)
        if followed != layout.result:
            layout.result = followed
            self._changed(layout)

    def _changed(self, layout: _EntryLayout) -> None:
        layout.is_written = False
        self.is_edited = True
        self._attributes = None


# The fields of an entry; an entry without fields is a string.
_TABLES = {
    "FileNames": (),
    "FunctionNames": (),
    "FileLocations": ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column"),
    "StackFrames": ("file_location_id", "parent_frame_id"),
}
_INT32 = range(-(1 << 31), 1 << 31)
_LONGEST_INT32 = 11


def end_of_tables(source: Source, start: int) -> int:
    """Returns the end of the tables at `start`, or `start` where none is; raises DiagnosticError for a wrong table."""
    scanner = Scanner(source, start)
    if scanner.token.text != next(iter(_TABLES)):
        return start
    for name, fields in _TABLES.items():
        if scanner.token.text != name:
            scanner.fail(f"expected the table {name}, found {scanner.found()}")
        scanner.next()
        while True:
            # Most entries are written as XLA prints them.
            match = _entries(fields).match(source.text, scanner.last_end)
            if match is not None and match.end() > scanner.last_end:
                scanner.seek(match.end())
            if scanner.token.kind != "number":
                break
            _scan_entry(scanner, fields)
    return scanner.last_end


@cache
def _entries(fields: tuple[str, ...]) -> re.Pattern[str]:
    written = " ".join(rf"{field}=\d{{1,9}}" for field in fields)
    value = rf"\{{{written}\}}" if fields else r"\"[^\"\\\n]*+\""
    return re.compile(repeated(rf"\s*+\d++ {value}"), re.ASCII)


def _is_integer(token: Token) -> bool:
    return token.kind == "number" and token.text.removeprefix("-").isdecimal()


def _scan_entry(scanner: Scanner, fields: tuple[str, ...]) -> None:
    if not _is_integer(scanner.token):
        scanner.fail(f"expected the number of an entry, found {scanner.found()}")
    number = scanner.next()
    if not fields:
        if scanner.token.kind != "string":
            scanner.fail(f"entry {number.text} expects a string, found {scanner.found()}")
        scanner.next()
        return
    scanner.expect("{", f"before the fields of entry {number.text}")
    found: set[str] = set()
    while not scanner.take("}"):
        field = scanner.token
        if field.text not in fields or field.text in found:
            expected = ", ".join(each for each in fields if each not in found) or "'}'"
            scanner.fail(f"entry {number.text} expects {expected}, found {scanner.found()}")
        found.add(scanner.next().text)
        scanner.expect("=", f"after {field.text}")
        value = scanner.token.text
        if not _is_integer(scanner.token) or len(value) > _LONGEST_INT32 or int(value) not in _INT32:
            scanner.fail(f"{field.text} expects an integer of 32 bits, found {scanner.found()}")
        scanner.next()
        scanner.take(",")
    missing = [each for each in fields if each not in found]
    if missing:
        scanner.fail(f"entry {number.text} has no {', '.join(missing)}", number.span)
