"""Operations that sum products of two arrays: dot, ragged-dot and scaled-dot."""

from __future__ import annotations

from dialect_utils.ops.declaration import ANY, CONTRACTED, Opcode, dims, op, texts

_SECTIONS = "dot_dimension_numbers."
_CONTRACTION = (
    dims("lhs_batch_dims", 0, f"{_SECTIONS}lhs_batching_dimensions"),
    dims("rhs_batch_dims", 1, f"{_SECTIONS}rhs_batching_dimensions"),
    dims("lhs_contracting_dims", 0, f"{_SECTIONS}lhs_contracting_dimensions"),
    dims("rhs_contracting_dims", 1, f"{_SECTIONS}rhs_contracting_dimensions"),
    *texts("operand_precision"),
)

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "dot",
        2,
        CONTRACTED,
        *_CONTRACTION,
        *texts("algorithm sparsity_config block_scaling_config"),
        mlir="dot dot_general",
    ),
    op("ragged-dot", 3, CONTRACTED, *_CONTRACTION, dims("lhs_ragged_dims", 0), dims("rhs_group_dims", 1), mlir=""),
    op("scaled-dot", ANY, CONTRACTED, *_CONTRACTION, *texts("algorithm"), mlir=""),
)
