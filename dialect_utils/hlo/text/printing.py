"""Prints computations: unedited runs of instructions are copied from the text, edited ones are in XLA's form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from dialect_utils.hlo.text.grammar import read_shape_at
from dialect_utils.hlo.text.header import Signature, parse_signature
from dialect_utils.hlo.text.provenance import BodyText, Edits, Frame
from dialect_utils.hlo.text.tokens import RESERVED, repeated
from dialect_utils.layout import Shape
from dialect_utils.text import Source, Span

# XLA writes the position before every fifth operand.
_UNMARKED = 5

# Words that XLA misreads without `%`: numbers, too.
_MISREAD = RESERVED | {"inf", "nan"}

# Arrays without layouts, as they are printed: two different texts of this form mean different signatures.
_SIZE = r"(?:0|[1-9]\d*+)"
_PLAIN_ARRAY = rf"[a-z][a-z0-9]*+\[(?:{_SIZE}{repeated(f',{_SIZE}')})?\]"
_PLAIN_PARAMETER = rf"[A-Za-z_][\w.\-]*+: {_PLAIN_ARRAY}"
_PLAIN_SIGNATURE = re.compile(
    rf"\((?:{_PLAIN_PARAMETER}{repeated(f', {_PLAIN_PARAMETER}')})?\) -> {_PLAIN_ARRAY}", re.ASCII
)


class Named(Protocol):
    """An operand: its name and shape."""

    name: str
    shape: Shape


class Printed(Protocol):
    """An instruction with its number in the text that was read (-1: new)."""

    number: int

    @property
    def has_own_text(self) -> bool:
        """Is true where it was read from `name = ...`."""

    def text(self) -> str:
        """Prints it in XLA's form."""


Item = TypeVar("Item", bound=Printed)


def text_before(item: Item | None, written: BodyText, edits: Edits[Item]) -> str:
    """Returns the white space and comments before an instruction, or for None before the end of the computation."""
    if item in edits.leads:
        return edits.leads[item]
    if item is None:
        return ""
    return written.before(item.number) if item.has_own_text else written.line_start


def format_body(items: Iterable[Item], written: BodyText, edits: Edits[Item], moved: Item | None) -> str:
    """Returns the text of instructions; `moved` is a root that needs a new ROOT mark."""
    parts: list[str] = []
    for before, body in _pieces(items, written, edits, moved):
        # Two instructions in one line need a space between them.
        parts += [before or (" " if parts else ""), body]
    return "".join(parts)


def _pieces(
    items: Iterable[Item], written: BodyText, edits: Edits[Item], moved: Item | None
) -> Iterator[tuple[str, str]]:
    """Yields edited instructions, and runs of unedited ones as one text, each with the white space before it."""
    edited, leads, inline = edits.instructions, edits.leads, written.inline
    first = last = -2
    before = line_start = ""
    for item in items:
        number = item.number
        is_kept = number >= 0 and item not in edited and item is not moved
        if is_kept and number in inline:
            # The instruction is part of the text of its user.
            last = number if last == number - 1 else last
            continue
        if is_kept and number == last + 1 and item not in leads:
            last = number
            continue
        if first >= 0:
            yield before, written.between(first, last)
        if number >= 0 or item in leads:
            before = text_before(item, written, edits)
        else:
            before = line_start = line_start or written.line_start
        first = last = number if is_kept else -2
        if not is_kept:
            yield before, item.text()
    if first >= 0:
        yield before, written.between(first, last)


def with_sigil(style: str, name: str) -> str:
    """Returns a name in a style (`%` or nothing); with `%` also where XLA would misread the bare name."""
    return f"%{name}" if style or name in _MISREAD else name


def format_operands(operands: Sequence[Named], sigil: str, *, is_typed: bool) -> str:
    """Returns the names of operands, with their shapes before them where `is_typed`."""
    if sigil and not is_typed and len(operands) <= _UNMARKED:
        return sigil + f", {sigil}".join([operand.name for operand in operands])
    parts = []
    for index, operand in enumerate(operands):
        mark = f"/*index={index}*/" if index and index % _UNMARKED == 0 else ""
        shape = f"{operand.shape} " if is_typed else ""
        parts.append(f"{mark}{shape}{with_sigil(sigil, operand.name)}")
    return ", ".join(parts)


def format_shape(shape: Shape, source: Source, span: Span | None) -> str:
    """Returns a shape as it is written at a span of the text, if that text still means this shape."""
    current = str(shape)
    if span is None:
        return current
    text = source.text[span.start : span.end]
    return text if text != current and read_shape_at(source, span) == shape else current


def format_header(source: Source, frame: Frame, name: str, current: Signature) -> str:
    """Returns the header line with another name and signature; unchanged parts stay as written."""
    text = source.text
    before = text[frame.head : frame.name.start].removesuffix("%")
    if frame.signature is None:
        return before + name + text[frame.name.end : frame.body]
    between = text[frame.name.end : frame.signature.start]
    signature = _signature(source, frame.signature, current)
    return before + name + between + signature + text[frame.signature.end : frame.body]


def _signature(source: Source, span: Span, current: Signature) -> str:
    plain = str(current.without_layouts())
    text = source.text[span.start : span.end]
    if text == plain or _PLAIN_SIGNATURE.fullmatch(text):
        return plain
    written = parse_signature(source, span)
    if written == written.without_layouts():
        current = current.without_layouts()
    return text if written == current else str(current)
