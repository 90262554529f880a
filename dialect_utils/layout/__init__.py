"""What a shape with a layout means: values, text, plans, index maps, sizes.

Knows no IR and no jaxlib.
"""

from dialect_utils.layout.bitcast import Bitcast, Counterexample, classify_bitcast
from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType, parse_element_type
from dialect_utils.layout.fold import fold
from dialect_utils.layout.index_map import (
    bit_position,
    element_slot_bits,
    elements_at,
    final_dimensions,
    linear_index,
    linear_indices,
    logical_index,
    logical_indices,
    physical_element_count,
)
from dialect_utils.layout.layout import COMBINE, MATCH, Layout, LayoutFieldError, SplitConfig, Tile
from dialect_utils.layout.parse import ShapeParser, parse_array_shape, parse_layout, parse_shape, read_shape
from dialect_utils.layout.plan import Plan, physical_plan, physical_shape, simplify
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
from dialect_utils.layout.sizes import byte_size, padding_fraction, xla_byte_size
from dialect_utils.layout.steps import BitcastConvert, Pad, Reshape, Slice, Step, Transpose, step_result
from dialect_utils.layout.tpu import TARGETS, Target, allocation_bytes, default_layout, parse_target, tile_for

__all__ = [
    "COMBINE",
    "ELEMENT_TYPES",
    "MATCH",
    "TARGETS",
    "UNBOUNDED",
    "ArrayShape",
    "Bitcast",
    "BitcastConvert",
    "BufferShape",
    "Counterexample",
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
    "Target",
    "Tile",
    "TokenShape",
    "Transpose",
    "TupleShape",
    "allocation_bytes",
    "array_leaves",
    "bit_position",
    "byte_size",
    "classify_bitcast",
    "default_layout",
    "element_slot_bits",
    "elements_at",
    "final_dimensions",
    "fold",
    "linear_index",
    "linear_indices",
    "logical_index",
    "logical_indices",
    "map_arrays",
    "padding_fraction",
    "parse_array_shape",
    "parse_element_type",
    "parse_layout",
    "parse_shape",
    "parse_target",
    "physical_element_count",
    "physical_plan",
    "physical_shape",
    "read_shape",
    "simplify",
    "step_result",
    "tile_for",
    "xla_byte_size",
]
