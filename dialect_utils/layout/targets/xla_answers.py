"""What XLA's own functions say of a bitcast, under their own names, for users who compare.

They see minor_to_major only; none sees a tile.
"""

from __future__ import annotations

from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.xla_compat import (
    BitcastDecomposition,
    align_layouts,
    decompose_bitcast,
    deduce_transpose_dimensions_for_bitcast,
    reshape_is_bitcast,
)


def xla_answers(source: ArrayShape, destination: ArrayShape) -> dict[str, str]:
    """Returns the answers of ShapeUtil's bitcast functions on two static shapes, by name."""
    same_type = source.element_type == destination.element_type
    permutation = deduce_transpose_dimensions_for_bitcast(source, destination)
    transposes = "false" if permutation is None or not same_type else f"true, {_braced(permutation)}"
    return {
        "ReshapeIsBitcast": str(reshape_is_bitcast(source, destination)).lower(),
        "TransposeIsBitcast": transposes,
        "DecomposeBitcast": _decomposition(decompose_bitcast(source, destination)),
        "AlignLayouts": _aligned(source, destination),
    }


def _braced(dimensions: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, dimensions)) + "}"


def _decomposition(found: BitcastDecomposition | None) -> str:
    if found is None:
        return "none: the element counts differ"
    if found.kind == "reshape":
        return "reshape"
    parts = [
        f"transpose {_braced(found.transpose1_dims or ())}",
        f"reshape {found.reshape_shape}",
        f"transpose {_braced(found.transpose2_dims or ())}",
    ]
    return ", ".join(parts if found.kind == "trt" else parts[:1])


def _aligned(source: ArrayShape, destination: ArrayShape) -> str:
    if source.element_count != destination.element_count:
        return "none: the element counts differ"
    aligned = align_layouts(source, destination.dimensions)
    return "none" if aligned is None else str(aligned.effective_layout)
