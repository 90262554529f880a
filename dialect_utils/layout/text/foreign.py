"""Shapes in the notation of other tools: MLIR's tensor types, a line of HLO, and JAX's repr of shapes and layouts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.shape import Shape
from dialect_utils.layout.text.grammar import ShapeParser
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at

_TENSOR = re.compile(r"tensor<(?P<dims>(?:(?:\d+|\?)x)*)(?P<type>[\w]+|complex<f\d+>)>")
# `%name = SHAPE opcode(...)`: the shape begins after the equals sign.
_HLO_LINE = re.compile(r"(?:ROOT\s+)?%?[A-Za-z_][\w.-]*\s*=\s*(?=[\w(])")
_JAX_SHAPE = re.compile(r"(?P<type>[a-z]\w*)\[(?P<dims>[\d,\s]*)\]")
_STRUCT = re.compile(r"ShapeDtypeStruct\(shape=\((?P<dims>[\d,\s]*)\), dtype=(?P<type>\w+)(?:, .*)?\)")
_JAX_LAYOUT = re.compile(
    r"(?:Format\(layout=)?Layout\(major_to_minor=\((?P<order>[\d,\s]*)\)"
    r"(?:, tiling=(?P<tiling>None|\((?:\s*\([\d,\s-]*\)\s*,?)*\)))?"
    r"(?:, sub_byte_element_size_in_bits=(?P<bits>\d+))?\)(?:, sharding=.*\))?"
)
_TILE = re.compile(r"\(([\d,\s-]+)\)")
# Each notation of `layout.notation` has one of these.
_MARK = re.compile(r"[\d)]\s*:\s*[_(\d]|<|strides=|rearrange\(|->")


def read_shape(text: str, name: str = "<shape>") -> tuple[Shape, tuple[Diagnostic, ...]]:
    """Returns the shape of a text that a person typed, and notes about the reading.

    The grammar is extended by upper-case element types, tensor types of MLIR, lines of HLO, JAX's repr of shapes and
    layouts, and the notations of `layout.notation`, each with a note, and by the first documents' `{1,0:(2,2)}` and
    `D(...)`, which XLA drops, with a warning.
    Raises DiagnosticError.
    """
    try:
        foreign = read_foreign(text)
    except ValueError as error:
        raise error_at(Source(name, text), Span(0, len(text)), str(error)) from None
    if foreign is not None:
        return _read_foreign(text, name, foreign)
    parser = ShapeParser(Source(name, text), typed=True)
    return parser.whole_shape(), tuple(parser.notes)


def _read_foreign(text: str, name: str, foreign: Reading) -> tuple[Shape, tuple[Diagnostic, ...]]:
    source = Source(name, text)
    whole = Span(0, len(text)) if foreign.start is None else Span(foreign.start, foreign.start + len(foreign.text))
    if foreign.text.startswith("{"):
        raise error_at(source, whole, "a layout alone is not a shape", "write a shape before it, such as f32[3,5]")
    try:
        shape = ShapeParser(Source(name, foreign.text), typed=True).whole_shape()
    except DiagnosticError as error:
        raise error_at(source, whole, error.diagnostics[0].message, error.diagnostics[0].hint) from None
    return shape, (Diagnostic(f"read as {shape}", Location(source, whole), "note"),)


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of a shape found in another text: copied from offset `start`, or translated (None)."""

    text: str
    start: int | None


def read_foreign(text: str) -> Reading | None:
    """Returns the shape in a text of MLIR or JAX or in a line of HLO; None for any other text."""
    stripped = text.strip()
    line = _HLO_LINE.match(stripped)
    if line is not None:
        shape = _first_shape(stripped[line.end() :])
        start = text.index(stripped) + line.end()
        return None if shape is None else Reading(shape, start)
    match = _TENSOR.fullmatch(stripped) or _STRUCT.fullmatch(stripped)
    if match is not None:
        translated = _shape(match["type"], _numbers(match["dims"]))
    else:
        translated = _with_layout(stripped) or _jax_shape(stripped) or _notated(stripped)
    return None if translated is None else Reading(translated, None)


def _first_shape(text: str) -> str | None:
    """Returns the shape before an opcode and operands: the text up to the first space outside of brackets."""
    depth = 0
    for position, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char.isspace() and depth == 0:
            return text[:position] if re.match(r"\s+[a-z][\w-]*\(", text[position:]) else None
    return None


def _notated(text: str) -> str | None:
    if _MARK.search(text) is None:
        return None
    from dialect_utils.layout.notation.reading import read_notation

    return read_notation(text)


def _jax_shape(text: str) -> str | None:
    inner = text.removeprefix("ShapedArray(").removesuffix(")") if text.startswith("ShapedArray(") else text
    match = _JAX_SHAPE.fullmatch(inner)
    if match is None or (match["type"] in ELEMENT_TYPES and inner == text):
        return None
    return _shape(match["type"], _numbers(match["dims"]))


def _with_layout(text: str) -> str | None:
    """Returns the text of a shape before JAX's repr of a layout: `float32[3,5] Layout(major_to_minor=(1, 0), ...)`."""
    match = _JAX_LAYOUT.search(text)
    if match is None or match.end() != len(text):
        return None
    before = text[: match.start()].strip()
    inner = read_foreign(before)
    order = ",".join(reversed(_numbers(match["order"])))
    tiles = "".join(f"({','.join(_numbers(tile))})" for tile in _TILE.findall(match["tiling"] or ""))
    bits = int(match["bits"] or 0)
    parts = (f"T{tiles}" if tiles else "") + (f"E({bits})" if bits else "")
    layout = f"{{{order}{':' if parts else ''}{parts}}}" if order or parts else ""
    return f"{before if inner is None else inner.text}{layout}"


def _numbers(text: str) -> list[str]:
    return re.findall(r"-?\d+|\?", text)


def _shape(type_name: str, dimensions: list[str]) -> str | None:
    from dialect_utils.layout.type_names import element_type_name

    name = element_type_name(type_name)
    return None if name is None else f"{name}[{','.join(dimensions)}]"
