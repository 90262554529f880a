"""What a shape with a layout means: values, text, plans, index maps, sizes.

Knows no IR and no jaxlib.
"""

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType, parse_element_type
from dialect_utils.layout.layout import COMBINE, MATCH, Layout, LayoutFieldError, SplitConfig, Tile
from dialect_utils.layout.parse import ShapeParser, parse_array_shape, parse_layout, parse_shape, read_shape
from dialect_utils.layout.plan import Plan, final_dimensions, physical_plan, physical_shape, simplify
from dialect_utils.layout.shape import (
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    OpaqueShape,
    Shape,
    TokenShape,
    TupleShape,
    array_leaves,
    map_arrays,
)
from dialect_utils.layout.steps import BitcastConvert, Pad, Reshape, Slice, Step, Transpose, step_result

__all__ = [
    "COMBINE",
    "ELEMENT_TYPES",
    "MATCH",
    "UNBOUNDED",
    "ArrayShape",
    "BitcastConvert",
    "BufferShape",
    "ElementType",
    "Layout",
    "LayoutFieldError",
    "OpaqueShape",
    "Pad",
    "Plan",
    "Reshape",
    "Shape",
    "ShapeParser",
    "Slice",
    "SplitConfig",
    "Step",
    "Tile",
    "TokenShape",
    "Transpose",
    "TupleShape",
    "array_leaves",
    "final_dimensions",
    "map_arrays",
    "parse_array_shape",
    "parse_element_type",
    "parse_layout",
    "parse_shape",
    "physical_plan",
    "physical_shape",
    "read_shape",
    "simplify",
    "step_result",
]
