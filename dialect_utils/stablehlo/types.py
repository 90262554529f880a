"""MLIR types and shapes: `tensor<3x?xi8, #stablehlo.bounds<?, 5>>` is `s8[3,<=5]`.

Types that XLA lacks (quantized and index elements, unranked tensors, futures) are opaque.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from dialect_utils.layout import (
    ELEMENT_TYPES,
    ArrayShape,
    BufferShape,
    ElementType,
    OpaqueShape,
    Shape,
    TokenShape,
    TupleShape,
)
from dialect_utils.layout.shape import UNBOUNDED
from dialect_utils.stablehlo.bindings import ir

_INTEGERS = {
    "i1": "pred",
    **{f"i{bits}": f"s{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"ui{bits}": f"u{bits}" for bits in (2, 4, 8, 16, 32, 64)},
}
_FLOATS = (
    "f4E2M1FN f6E2M3FN f6E3M2FN f8E5M2 f8E4M3 f8E4M3FN f8E4M3B11FNUZ f8E3M4 f8E5M2FNUZ f8E4M3FNUZ f8E8M0FNU "
    "f16 bf16 f32 f64"
)
_XLA_NAMES = {
    **_INTEGERS,
    **{name: name.lower() for name in _FLOATS.split()},
    "complex<f32>": "c64",
    "complex<f64>": "c128",
}
_MLIR_NAMES = {xla: mlir for mlir, xla in _XLA_NAMES.items()}
_TOKENS = ("!stablehlo.token", "!mhlo.token")
_BOUNDS = re.compile(r"#(?:stablehlo\.bounds<|mhlo\.type_extensions<bounds = \[)([^>\]]*)")
_SHARED_TYPES = 65536


@lru_cache(maxsize=_SHARED_TYPES)
def shape_of_type(mlir_type: ir.Type) -> Shape:
    """Returns the shape of a type, without layouts."""
    if isinstance(mlir_type, ir.RankedTensorType):
        return _array(mlir_type)
    if isinstance(mlir_type, ir.TupleType):
        elements = (mlir_type.get_type(i) for i in range(mlir_type.num_types))
        return TupleShape(tuple(map(shape_of_type, elements)))
    if isinstance(mlir_type, ir.MemRefType) and mlir_type.has_static_shape:
        element_type = _XLA_NAMES.get(str(mlir_type.element_type))
        if element_type is not None:
            return BufferShape(ArrayShape(ELEMENT_TYPES[element_type], tuple(mlir_type.shape)))
    return TokenShape() if str(mlir_type) in _TOKENS else OpaqueShape()


def _array(mlir_type: ir.RankedTensorType) -> Shape:
    element_type = _XLA_NAMES.get(str(mlir_type.element_type))
    if element_type is None:
        return OpaqueShape()
    dynamic = tuple(mlir_type.is_dynamic_dim(i) for i in range(mlir_type.rank))
    sizes = tuple(mlir_type.shape)
    if any(dynamic):
        bounds = _bounds(mlir_type)
        sizes = tuple(bounds[i] if is_dynamic else sizes[i] for i, is_dynamic in enumerate(dynamic))
    return ArrayShape(ELEMENT_TYPES[element_type], sizes, None, dynamic)


def _bounds(mlir_type: ir.RankedTensorType) -> tuple[int, ...]:
    found = _BOUNDS.match(str(mlir_type.encoding)) if mlir_type.encoding is not None else None
    if found is None:
        return (UNBOUNDED,) * mlir_type.rank
    return tuple(UNBOUNDED if text.strip() == "?" else int(text) for text in found[1].split(","))


def element_type_text(element_type: ElementType) -> str:
    """Returns MLIR's name of an element type; raises ValueError for s1 and u1, which StableHLO lacks."""
    name = _MLIR_NAMES.get(element_type.name)
    if name is None:
        raise ValueError(f"StableHLO has no element type {element_type}")
    return name


def type_text(shape: Shape) -> str:
    """Returns the text of the type of a shape; raises ValueError for opaque shapes."""
    if isinstance(shape, ArrayShape):
        dims = "".join("?x" if shape.is_dynamic_dimension(i) else f"{n}x" for i, n in enumerate(shape.dimensions))
        return f"tensor<{dims}{element_type_text(shape.element_type)}{_bounds_text(shape)}>"
    if isinstance(shape, TupleShape):
        return f"tuple<{', '.join(map(type_text, shape.elements))}>"
    if isinstance(shape, BufferShape):
        return type_text(shape.array).replace("tensor", "memref", 1)
    if isinstance(shape, TokenShape):
        return _TOKENS[0]
    raise ValueError(f"no StableHLO type has the shape {shape}")


def _bounds_text(shape: ArrayShape) -> str:
    if all(n == UNBOUNDED or not shape.is_dynamic_dimension(i) for i, n in enumerate(shape.dimensions)):
        return ""
    bounds = (
        str(n) if shape.is_dynamic_dimension(i) and n != UNBOUNDED else "?" for i, n in enumerate(shape.dimensions)
    )
    return f", #stablehlo.bounds<{', '.join(bounds)}>"


def type_of_shape(shape: Shape, context: ir.Context) -> ir.Type:
    """Returns the type of a shape; layouts do not matter."""
    return ir.Type.parse(type_text(shape), context)


def retyped(mlir_type: ir.Type, shape: Shape) -> ir.Type:
    """Returns the type of a shape; a type of this shape stays, with its encoding."""
    if shape.without_layout == shape_of_type(mlir_type):
        return mlir_type
    return type_of_shape(shape, mlir_type.context)


def set_type(value: ir.Value[Any], shape: Shape) -> None:
    """Gives a value the type of a shape."""
    value.set_type(retyped(value.type, shape))
