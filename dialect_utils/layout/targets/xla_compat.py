"""XLA's own answers about bitcasts, under XLA's names, for comparison.

All of them read minor_to_major only and ignore tiles; `bitcast.classify_bitcast` does not.
Sources: xla/shape_util.cc (ReshapeIsBitcast, DeduceTransposeDimensionsForBitcast, DecomposeBitcast, AlignLayouts) and
xla/util.cc (CommonFactors). `sizes` has XLA's sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Literal

from dialect_utils.layout.index.positions import common_factors
from dialect_utils.layout.layout import Layout
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.layout.shape import ArrayShape


def reshape_is_bitcast(source: ArrayShape, result: ArrayShape, *, ignore_element_type: bool = False) -> bool:
    """Is true where ShapeUtil::ReshapeIsBitcast is: a reshape moves no element, by minor_to_major alone."""
    has_type = ignore_element_type or source.element_type == result.element_type
    if not has_type or source.element_count != result.element_count:
        return False
    return source.element_count == 0 or (_keeps_unit_indices(source, result) and _keeps_unit_indices(result, source))


def _keeps_unit_indices(source: ArrayShape, result: ArrayShape) -> bool:
    """Is true where index 1 of every dimension has the same offset in both."""
    there, here = _strides(result), _strides(source)
    for dim, size in enumerate(source.dimensions):
        if size <= 1:
            continue
        position = prod(source.dimensions[dim + 1 :])
        offset = 0
        for other in range(result.rank - 1, -1, -1):
            position, entry = divmod(position, result.dimensions[other])
            offset += entry * there[other]
        if offset != here[dim]:
            return False
    return True


def _strides(shape: ArrayShape) -> list[int]:
    strides = [0] * shape.rank
    stride = 1
    for dim in shape.effective_layout.minor_to_major:
        strides[dim] = stride
        stride *= shape.dimensions[dim]
    return strides


def deduce_transpose_dimensions_for_bitcast(source: ArrayShape, result: ArrayShape) -> tuple[int, ...] | None:
    """Returns ShapeUtil::DeduceTransposeDimensionsForBitcast: the transpose a bitcast is, or None."""
    if source.rank != result.rank:
        return None
    permutation = [0] * result.rank
    pairs = zip(source.effective_layout.minor_to_major, result.effective_layout.minor_to_major, strict=True)
    for theirs, ours in pairs:
        permutation[ours] = theirs
    return tuple(permutation) if tuple(source.dimensions[i] for i in permutation) == result.dimensions else None


@dataclass(frozen=True, slots=True)
class BitcastDecomposition:
    """The answer of ShapeUtil::DecomposeBitcast: a reshape, a transpose, or transpose-reshape-transpose.

    The shapes and dimensions that a kind does not have are None.
    """

    kind: Literal["reshape", "transpose", "trt"]
    transpose1_dims: tuple[int, ...] | None = None
    transpose1_shape: ArrayShape | None = None
    reshape_shape: ArrayShape | None = None
    transpose2_dims: tuple[int, ...] | None = None


def decompose_bitcast(source: ArrayShape, result: ArrayShape) -> BitcastDecomposition | None:
    """Returns ShapeUtil::DecomposeBitcast, or None where the element counts differ, on which XLA aborts."""
    if source.element_count != result.element_count:
        return None
    if reshape_is_bitcast(source, result, ignore_element_type=True):
        return BitcastDecomposition("reshape")
    dimensions = deduce_transpose_dimensions_for_bitcast(source, result)
    if dimensions is not None:
        return BitcastDecomposition("transpose", dimensions)
    back = inverse_permutation(result.effective_layout.major_to_minor)
    first = source.effective_layout.major_to_minor
    return BitcastDecomposition("trt", first, _descending(source), _descending(result), back)


def _descending(shape: ArrayShape) -> ArrayShape:
    """Returns the shape with its dimensions in physical order."""
    dimensions = tuple(shape.dimensions[i] for i in shape.effective_layout.major_to_minor)
    return ArrayShape(shape.element_type, dimensions, Layout.descending(shape.rank))


def align_layouts(source: ArrayShape, dimensions: tuple[int, ...]) -> ArrayShape | None:
    """Returns ShapeUtil::AlignLayouts: the layout that makes the reshape a bitcast, or None; raises ValueError."""
    if prod(dimensions) != source.element_count:
        raise ValueError(f"{source} does not have the {prod(dimensions)} elements of {list(dimensions)}")
    kept = [i for i, size in enumerate(source.dimensions) if size != 1]
    targets = [i for i, size in enumerate(dimensions) if size != 1]
    order = [kept.index(i) for i in source.effective_layout.minor_to_major if i in kept]
    ends = common_factors([source.dimensions[i] for i in kept], [dimensions[i] for i in targets])
    minor_to_major: list[int] = []
    position = 0
    while position < len(order):
        # The group of the most minor remaining dimension must follow as one descending block.
        first, last = next((a, b) for a, b in pairwise(ends) if a[0] <= order[position] < b[0])
        block = list(range(last[0] - 1, first[0] - 1, -1))
        if order[position : position + len(block)] != block:
            return None
        minor_to_major += [targets[i] for i in range(last[1] - 1, first[1] - 1, -1)]
        position += len(block)
    minor_to_major += [i for i in range(len(dimensions) - 1, -1, -1) if i not in minor_to_major]
    return ArrayShape(source.element_type, dimensions, Layout(tuple(minor_to_major)))


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
