"""What a shape with a layout means: values, text, plans, index maps, sizes.

Knows no IR and no jaxlib.

What is rarer is imported from its own module.
"""

from __future__ import annotations

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType, parse_element_type
from dialect_utils.layout.index.index_map import linear_index, logical_index
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.moves.physical import physical_plan, physical_shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import BitcastConvert, Pad, Reshape, Slice, Step, Transpose
from dialect_utils.layout.shape import ArrayShape, BufferShape, OpaqueShape, Shape, TokenShape, TupleShape
from dialect_utils.layout.text.parse import parse_array_shape, parse_layout, parse_shape

__all__ = [
    "ELEMENT_TYPES",
    "ArrayShape",
    "BitcastConvert",
    "BufferShape",
    "ElementType",
    "Layout",
    "OpaqueShape",
    "Pad",
    "Plan",
    "Reshape",
    "Shape",
    "Slice",
    "Step",
    "Tile",
    "TokenShape",
    "Transpose",
    "TupleShape",
    "classify_bitcast",
    "linear_index",
    "logical_index",
    "parse_array_shape",
    "parse_element_type",
    "parse_layout",
    "parse_shape",
    "physical_plan",
    "physical_shape",
]


def _drawing(shape: ArrayShape) -> str:
    # Imported here: a drawing is wanted in notebooks only.
    from dialect_utils.layout.picture import draw_shape, format_svg

    return format_svg(draw_shape(shape))


# What draws is built on shapes, so a shape cannot import it.
ArrayShape.drawer = _drawing
