"""Reads the shapes that dumps are full of, with one regular expression each.

What it does not know, and what is wrong, is for the parser (`parse`), which has a place for every
error and takes thirty times as long.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.layout import Layout, LayoutFieldError, Tile
from dialect_utils.layout.shape import ArrayShape, Shape, TupleShape

_TILES = r"(?>(?:\(\d{1,9}(?>(?:,\d{1,9})*)\))+)"
# Groups: element type, dimensions, layout.
_ARRAY = re.compile(
    rf"([a-z][a-z0-9]*+)\[((?:\d{{1,18}}(?>(?:,\d{{1,18}})*))?)\](\{{[\d,]*+(?::(?:T{_TILES})?(?:S\(\d{{1,4}}\))?)?\}})?",
    re.ASCII,
)
# Groups: order, tiles, memory space.
_LAYOUT = re.compile(rf"\{{((?:\d{{1,4}}(?>(?:,\d{{1,4}})*))?)(?::(?:T({_TILES}))?(?:S\((\d+)\))?)?\}}", re.ASCII)
_DISTINCT_LAYOUTS = 4096


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
        # The layout of a scalar that says nothing, or too much.
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
