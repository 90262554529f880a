"""Shapes and layouts: values, text and data-movement steps.

Every module imports these names from here. Plans, index maps, bitcasts, proofs and all other names are imported from
the modules that define them, so that reading a file loads none of those.
"""

from __future__ import annotations

from dialect_utils.layout.element_type import (
    ELEMENT_TYPES as ELEMENT_TYPES,
    ElementType as ElementType,
    parse_element_type as parse_element_type,
)
from dialect_utils.layout.layout import Layout as Layout, Tile as Tile
from dialect_utils.layout.moves.pad_slice import Pad as Pad, Slice as Slice
from dialect_utils.layout.moves.steps import (
    BitcastConvert as BitcastConvert,
    Reshape as Reshape,
    Step as Step,
    Transpose as Transpose,
)
from dialect_utils.layout.shape import (
    ArrayShape as ArrayShape,
    BufferShape as BufferShape,
    OpaqueShape as OpaqueShape,
    Shape as Shape,
    TokenShape as TokenShape,
    TupleShape as TupleShape,
    show_in_notebooks,
)
from dialect_utils.layout.text.parse import (
    parse_array_shape as parse_array_shape,
    parse_layout as parse_layout,
    parse_shape as parse_shape,
)


def _shape_html(shape: Shape) -> str:
    from dialect_utils.layout.picture.drawing import shape_html

    return shape_html(shape)


show_in_notebooks(_shape_html)
