"""Results and constraints of sums of products."""

from __future__ import annotations

from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.ops.declaration import dims, texts
from dialect_utils.ops.inference import Instance, ShapeError, made, wider

# Results (ShapeInference::InferDotOpShape, InferRaggedDotOpShape)


def widened(instance: Instance, kind: ElementType) -> ElementType:
    """Returns the element type of a sum of products: the written one where XLA lets it differ (MaybeUpcast)."""
    if not isinstance(instance.shape, ArrayShape):
        return kind
    given = instance.shape.element_type
    is_narrower = not kind.is_floating and given.bits < kind.bits
    return kind if is_narrower or given.is_complex != kind.is_complex else given


def dot(instance: Instance) -> Shape:
    """Returns the batch dimensions, then the dimensions that are left of the left side, then of the right."""
    lhs, rhs = instance.array(0), instance.array(1)
    batch, lhs_summed, rhs_summed = _joined(instance, lhs, rhs)
    (lhs_batch, rhs_batch), kind = batch, wider(lhs.element_type, rhs.element_type)
    dimensions = [
        *(lhs.dimensions[dim] for dim in lhs_batch),
        *(size for dim, size in enumerate(lhs.dimensions) if dim not in (*lhs_batch, *lhs_summed)),
        *(size for dim, size in enumerate(rhs.dimensions) if dim not in (*rhs_batch, *rhs_summed)),
    ]
    return made(widened(instance, kind), dimensions)


def _joined(
    instance: Instance, lhs: ArrayShape, rhs: ArrayShape
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, ...], tuple[int, ...]]:
    """Returns the batch dimensions of both sides and the contracting ones; raises ShapeError where they do not fit."""
    sides = [("lhs", lhs), ("rhs", rhs)]
    batch = [instance.dims(f"{side}_batch_dims", array.rank) for side, array in sides]
    summed = [instance.dims(f"{side}_contracting_dims", array.rank) for side, array in sides]
    for what, (first, second) in (("batch", batch), ("contracting", summed)):
        name = f"lhs_{what}_dims"
        if len(first) != len(second):
            message = f"dot has {len(first)} {what} dimensions on the left and {len(second)} on the right"
            raise ShapeError(message, name)
        if [lhs.dimensions[dim] for dim in first] != [rhs.dimensions[dim] for dim in second]:
            raise ShapeError(f"dot of {lhs} and {rhs}: the sizes of the {what} dimensions differ", name)
    for side, first, second in (("lhs", batch[0], summed[0]), ("rhs", batch[1], summed[1])):
        if {*first} & {*second}:
            message = f"dot names a dimension twice: {[*first, *second]}"
            raise ShapeError(message, f"{side}_contracting_dims")
    return (batch[0], batch[1]), summed[0], summed[1]


def ragged_dot(instance: Instance) -> Shape:
    """Returns the result of a dot one of whose dimensions is cut into groups of rows.

    The ragged dimension is one of the left side: a free one, whose groups the right side has as `rhs_group_dims`; a
    contracting one, which gives one result for each group; or a batch dimension.
    """
    lhs, rhs, sizes = instance.arrays()
    (lhs_batch, rhs_batch), lhs_summed, rhs_summed = _joined(instance, lhs, rhs)
    ragged, groups = instance.dims("lhs_ragged_dims", lhs.rank), instance.dims("rhs_group_dims", rhs.rank)
    if len(ragged) != 1:
        raise ShapeError(f"ragged-dot has one ragged dimension, found {list(ragged)}", "lhs_ragged_dims")
    is_free = ragged[0] not in (*lhs_batch, *lhs_summed)
    if len(groups) != is_free:
        message = f"ragged-dot along dimension {ragged[0]} has {int(is_free)} rhs_group_dims, found {len(groups)}"
        raise ShapeError(message, "rhs_group_dims")
    if {*groups} & {*rhs_batch, *rhs_summed}:
        raise ShapeError("ragged-dot has a group dimension that is a batch or contracting one", "rhs_group_dims")
    if not sizes.rank or not sizes.element_type.is_integral:
        raise ShapeError(f"ragged-dot takes integers as the sizes of its groups, found {sizes}", "operand 2")
    if is_free and sizes.dimensions[-1] != rhs.dimensions[groups[0]]:
        message = f"ragged-dot has {sizes.dimensions[-1]} groups, but {rhs.dimensions[groups[0]]} on the right"
        raise ShapeError(message, "operand 2")
    counts = sizes.dimensions[-1:] if ragged[0] in lhs_summed else ()
    dimensions = [
        *counts,
        *(lhs.dimensions[dim] for dim in lhs_batch),
        *(size for dim, size in enumerate(lhs.dimensions) if dim not in (*lhs_batch, *lhs_summed)),
        *(size for dim, size in enumerate(rhs.dimensions) if dim not in (*rhs_batch, *rhs_summed, *groups)),
    ]
    return made(widened(instance, wider(lhs.element_type, rhs.element_type)), dimensions)


# Constraints


def check_dot(instance: Instance) -> None:
    """Raises ShapeError where only one side of a dot holds packed nibbles."""
    nibbles = (instance.attribute("operand_precision") or "").lower().count("packed_nibble")
    if nibbles == 1:
        raise ShapeError("dot has packed nibbles on one side only", "operand_precision")


def check_scaled_dot(instance: Instance) -> None:
    """Raises ShapeError where the scales of a scaled-dot do not divide its operands."""
    operands, scales = instance.arrays(0, 2), instance.arrays(2)
    if len(scales) != len(operands):
        raise ShapeError(
            f"scaled-dot takes two arrays and their two scales, found {len(instance.operands)}", "operands"
        )
    if all(scale.rank == 0 for scale in scales):
        raise ShapeError("at least one of the scales of scaled-dot has to be an array", "operands")
    for index, (operand, scale) in enumerate(zip(operands, scales, strict=True)):
        if not scale.rank:
            continue
        if scale.rank != operand.rank:
            raise ShapeError(f"scaled-dot scales {operand} by {scale} of another rank", f"operand {index + 2}")
        for dim, (size, count) in enumerate(zip(operand.dimensions, scale.dimensions, strict=True)):
            if not count or size % count:
                message = (
                    f"dimension {dim} of operand {operand} should be a multiple of dimension {dim} of scale {scale}"
                )
                raise ShapeError(message, f"operand {index + 2}")


_SECTIONS = "dot_dimension_numbers."
_CONTRACTION = (
    dims("lhs_batch_dims", 0, f"{_SECTIONS}lhs_batching_dimensions"),
    dims("rhs_batch_dims", 1, f"{_SECTIONS}rhs_batching_dimensions"),
    dims("lhs_contracting_dims", 0, f"{_SECTIONS}lhs_contracting_dimensions"),
    dims("rhs_contracting_dims", 1, f"{_SECTIONS}rhs_contracting_dimensions"),
    *texts("operand_precision"),
)
