"""Layouts and shapes as JAX's objects, and back.

JAX writes the order of dimensions most major first (`major_to_minor`), and has tiles and the bits of sub-byte elements.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.experimental.layout import Format, Layout as JaxLayout
from jax.sharding import Sharding, SingleDeviceSharding

from dialect_utils.layout import ArrayShape, Layout, Tile
from dialect_utils.layout.arrays.dtypes import dtype_of, element_type_of
from dialect_utils.text import DiagnosticError, kind_of
from relayout.api import ShapeLike, as_array_shape


def from_jax_layout(layout: JaxLayout) -> Layout:
    """Returns a layout of JAX as a Layout; raises TypeError for other values.

    >>> from jax.experimental.layout import Layout
    >>> relayout.jax.from_jax_layout(Layout((1, 0), ((8, 128),)))
    {0,1:T(8,128)}
    """
    _expect(layout, JaxLayout, "from_format takes a Format")
    tiles = tuple(Tile(tuple(tile)) for tile in layout.tiling or ())
    order = tuple(reversed(layout.major_to_minor))
    return Layout(order, tiles, element_size_in_bits=layout.sub_byte_element_size_in_bits)


def to_jax_layout(layout: Layout) -> JaxLayout:
    """Returns a Layout as one of JAX; raises DiagnosticError for fields that JAX lacks (memory spaces, splits, ...).

    >>> relayout.jax.to_jax_layout(relayout.parse_shape("f32[3,5]{0,1}").layout).major_to_minor
    (1, 0)
    """
    _expect(layout, Layout, "relayout.parse_shape('f32[3,5]{1,0}').layout is one")
    held = Layout(layout.minor_to_major, layout.tiles, element_size_in_bits=layout.element_size_in_bits)
    if held != layout:
        message = f"JAX's layouts hold order, tiles and element bits, but not all of {layout}"
        raise DiagnosticError(message, hint=f"{held} is what they can hold of it")
    tiling = tuple(tile.dimensions for tile in layout.tiles)
    return JaxLayout(tuple(layout.major_to_minor), tiling, layout.element_size_in_bits)


def from_format(value: Format) -> Layout | None:
    """Returns the layout of a Format, None for one that leaves the layout to the compiler.

    >>> relayout.jax.from_format(relayout.jax.to_format(relayout.Layout((0, 1))))
    {0,1}
    """
    _expect(value, Format, "from_jax_layout takes a layout")
    return from_jax_layout(value.layout) if isinstance(value.layout, JaxLayout) else None


def to_format(layout: Layout, sharding: Sharding | None = None) -> Format:
    """Returns a Format with this layout; without a sharding, on JAX's first device.

    >>> relayout.jax.to_format(relayout.parse_shape("f32[3,5]{0,1}").layout).layout
    Layout(major_to_minor=(1, 0), tiling=(), sub_byte_element_size_in_bits=0)
    """
    return Format(to_jax_layout(layout), sharding or SingleDeviceSharding(jax.devices()[0]))


def from_struct(value: Any) -> ArrayShape:
    """Returns the shape of an array or a ShapeDtypeStruct, and its layout if it has one.

    >>> import jax
    >>> relayout.jax.from_struct(jax.ShapeDtypeStruct((3, 5), "bfloat16"))
    bf16[3,5]
    """
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise TypeError(f"expected an array or a ShapeDtypeStruct, not {kind_of(value)}")
    shape = ArrayShape(element_type_of(np.dtype(value.dtype)), tuple(value.shape))
    found = getattr(value, "format", None)
    layout = from_format(found) if isinstance(found, Format) else None
    return shape if layout is None else shape.with_layout(layout)


def to_struct(shape: ShapeLike, sharding: Sharding | None = None) -> jax.ShapeDtypeStruct:
    """Returns a ShapeDtypeStruct of a shape, with the layout as its Format.

    Raises DiagnosticError for other shapes than arrays, and for dynamic dimensions.

    >>> relayout.jax.to_struct("f32[3,5]").shape
    (3, 5)
    """
    array = as_array_shape(shape)
    if not array.is_static:
        raise DiagnosticError(f"{array} has dynamic dimensions, which JAX's shapes cannot hold")
    placed = sharding if array.layout is None else to_format(array.layout, sharding)
    return jax.ShapeDtypeStruct(array.dimensions, dtype_of(array.element_type), sharding=placed)


def _expect(value: object, kind: type, hint: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__module__}.{kind.__qualname__}, not {kind_of(value)}; {hint}")
