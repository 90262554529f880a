"""Which element type of XLA an element of a kernel has, and how a block is laid out in memory."""

from __future__ import annotations

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Layout
from dialect_utils.layout.targets.tpu import tile_for
from dialect_utils.mosaic.kernel import Type

# MLIR's names; integers have no sign, so they are taken as signed. An index is 32 bits wide on a TPU.
_ELEMENTS = {
    "index": "s32",
    "i1": "pred",
    "f16": "f16",
    "bf16": "bf16",
    "f32": "f32",
    "f64": "f64",
    "f8E4M3FN": "f8e4m3fn",
    "f8E4M3": "f8e4m3",
    "f8E4M3FNUZ": "f8e4m3fnuz",
    "f8E4M3B11FNUZ": "f8e4m3b11fnuz",
    "f8E5M2": "f8e5m2",
    "f8E5M2FNUZ": "f8e5m2fnuz",
    "f8E3M4": "f8e3m4",
    "f8E8M0FNU": "f8e8m0fnu",
    "f4E2M1FN": "f4e2m1fn",
    **{f"i{bits}": f"s{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"si{bits}": f"s{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"ui{bits}": f"u{bits}" for bits in (2, 4, 8, 16, 32, 64)},
}
DEFAULT_TARGET = "tpu-v5e"


def try_element_type(name: str) -> ElementType | None:
    """Returns XLA's element type of MLIR's name, or None; semaphores count in 32 bits."""
    if "semaphore" in name:
        return ELEMENT_TYPES["s32"]
    found = _ELEMENTS.get(name)
    return None if found is None else ELEMENT_TYPES[found]


def block_shape(reference: Type, target: str = DEFAULT_TARGET) -> ArrayShape | None:
    """Returns the shape of what a reference names, in the layout of a target's vector memory; None for semaphores.

    Row-major, with the tiles that the target gives arrays of these dimensions; scalar memory has none.
    """
    kind = None if reference.is_semaphore else try_element_type(reference.element)
    if kind is None:
        return None
    order = Layout.descending(len(reference.dimensions)).minor_to_major
    is_tiled = reference.memory_space != "smem" and reference.dimensions
    tiles = tile_for(kind, reference.dimensions, order, target) if is_tiled else ()
    return ArrayShape(kind, reference.dimensions, Layout(order, tiles))
