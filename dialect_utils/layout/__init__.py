"""Shapes and layouts: values, text and data-movement steps.

Every module imports these names from here. Plans, index maps, bitcasts, proofs and all other names are imported from
the modules that define them, so that reading a file loads none of those.
"""

from __future__ import annotations

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType, parse_element_type
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.moves.pad_slice import Pad, Slice
from dialect_utils.layout.moves.steps import BitcastConvert, Reshape, Step, Transpose
from dialect_utils.layout.shape import (
    ArrayShape,
    BufferShape,
    OpaqueShape,
    Shape,
    TokenShape,
    TupleShape,
    show_in_notebooks,
)
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
    "Reshape",
    "Shape",
    "Slice",
    "Step",
    "Tile",
    "TokenShape",
    "Transpose",
    "TupleShape",
    "parse_array_shape",
    "parse_element_type",
    "parse_layout",
    "parse_shape",
]


def _shape_html(shape: Shape) -> str:
    # Imported here: only notebooks need a drawing.
    from dialect_utils.layout.picture.notebook import shape_html

    return shape_html(shape)


show_in_notebooks(_shape_html)
