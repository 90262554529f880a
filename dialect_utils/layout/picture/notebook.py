"""Shapes for notebooks: what an array takes in memory, and its drawing."""

from __future__ import annotations

from dialect_utils.layout.picture.model import draw_shape
from dialect_utils.layout.picture.svg import format_svg
from dialect_utils.layout.shape import ArrayShape, Shape
from dialect_utils.layout.text.explain import explain_shape
from dialect_utils.text import format_bytes
from dialect_utils.text.html import html_details, html_table, html_text

# A tuple of more arrays shows the pictures of the first.
_PICTURES = 4


def shape_html(shape: Shape) -> str:
    """Returns a table of the arrays in a shape, and their drawings."""
    arrays = list(shape.arrays())
    if not arrays:
        return f"<code>{html_text(str(shape))}</code>"
    header = ("array", "in memory", "bytes", "padding")
    table = html_table(header, map(_row, arrays))
    drawn = [format_svg(draw_shape(array)) for array in arrays[:_PICTURES] if array.is_static]
    if isinstance(shape, ArrayShape):
        return table + "".join(drawn)
    pictures = [html_details("drawings", "".join(drawn))] if drawn else []
    return "".join([f"<code>{html_text(str(shape))}</code>", table, *pictures])


def _row(array: ArrayShape) -> tuple[str, str, str, str]:
    found = explain_shape(array)
    physical = "" if found.physical_dimensions is None else " x ".join(map(str, found.physical_dimensions))
    size = "" if found.byte_size is None else format_bytes(found.byte_size)
    padding = "" if found.padding_fraction is None else f"{found.padding_fraction:.1%}"
    return str(array), physical, size, padding
