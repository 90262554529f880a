"""Reads the text of shapes and layouts: common shapes of dumps with one regular expression each.

`grammar` reads all other text and locates every error; it is five to fifteen times slower, and loaded on demand.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.layout import Layout, LayoutFieldError, Tile
from dialect_utils.layout.shape import ArrayShape, Shape, TupleShape
from dialect_utils.text import Source, Span, error_at, kind_of

# Shapes repeat thousands of times in a dump; equal texts share one object.
_SHARED_SHAPES = 65536
_TILES = r"(?>(?:\(\d{1,9}(?>(?:,\d{1,9})*)\))+)"
# Groups: element type, dimensions, layout.
_ARRAY = re.compile(
    rf"([a-z][a-z0-9]*+)\[((?:\d{{1,18}}(?>(?:,\d{{1,18}})*))?)\](\{{[\d,]*+(?::(?:T{_TILES})?(?:S\(\d{{1,4}}\))?)?\}})?",
    re.ASCII,
)
# Groups: order, tiles, memory space.
_LAYOUT = re.compile(rf"\{{((?:\d{{1,4}}(?>(?:,\d{{1,4}})*))?)(?::(?:T({_TILES}))?(?:S\((\d+)\))?)?\}}", re.ASCII)
_DISTINCT_LAYOUTS = 4096


def parse_shape(text: str) -> Shape:
    """Returns the shape of a text; raises DiagnosticError with the span in `text`, TypeError for no text."""
    if not isinstance(text, str):
        raise TypeError(f"expected the text of a shape, such as 'f32[3,5]', not {kind_of(text)}")
    return shared_shape(text)


@lru_cache(maxsize=_SHARED_SHAPES)
def shared_shape(text: str) -> Shape:
    """Returns the shape of a text, the same object for the same text."""
    found = try_common_shape(text)
    if found is not None:
        return found
    from dialect_utils.layout.text.grammar import ShapeParser

    return ShapeParser(Source("<shape>", text)).whole_shape()


def parse_array_shape(text: str) -> ArrayShape:
    """Returns the array shape of a text; raises DiagnosticError for other shapes too."""
    shape = parse_shape(text)
    if not isinstance(shape, ArrayShape):
        raise error_at(Source("<shape>", text), Span(0, len(text)), f"expected an array shape, found {shape}")
    return shape


def parse_layout(text: str) -> Layout:
    """Returns the layout of a text such as `{1,0:T(8,128)}`; raises DiagnosticError with the span."""
    from dialect_utils.layout.text.grammar import ShapeParser

    return ShapeParser(Source("<layout>", text)).whole_layout()


def try_common_shape(text: str) -> Shape | None:
    """Returns the shape of a text such as `f32[3,5]{1,0:T(8,128)S(1)}` or of a tuple of them, else None."""
    try:
        if not text.startswith("("):
            match = _ARRAY.fullmatch(text)
            return None if match is None else _array(match)
        return _tuple(text)
    except LayoutFieldError:
        return None


def _tuple(text: str) -> TupleShape | None:
    elements: list[ArrayShape] = []
    position = 1
    while (match := _ARRAY.match(text, position)) is not None:
        element = _array(match)
        if element is None:
            return None
        elements.append(element)
        if text.startswith(")", match.end()):
            return TupleShape(tuple(elements)) if match.end() + 1 == len(text) else None
        if not text.startswith(", ", match.end()):
            return None
        position = match.end() + 2
        if text.startswith("/*index=", position):
            position = text.find("*/", position) + 2
    return None


def _array(match: re.Match[str]) -> ArrayShape | None:
    element_type = ELEMENT_TYPES.get(match[1])
    if element_type is None:
        return None
    dimensions = tuple(map(int, match[2].split(","))) if match[2] else ()
    layout = _layout(match[3]) if match[3] else None
    if match[3] and layout is None:
        return None
    if not dimensions and layout is not None and (layout.is_default or layout.minor_to_major):
        # The grammar drops the default layout of a scalar, and rejects one with dimensions.
        return None
    return ArrayShape(element_type, dimensions, layout)


@lru_cache(maxsize=_DISTINCT_LAYOUTS)
def _layout(text: str) -> Layout | None:
    match = _LAYOUT.fullmatch(text)
    if match is None:
        return None
    order = tuple(map(int, match[1].split(","))) if match[1] else ()
    tiles = match[2][1:-1].split(")(") if match[2] else []
    return Layout(
        order, tuple(Tile(tuple(map(int, tile.split(",")))) for tile in tiles), memory_space=int(match[3] or 0)
    )
