"""Operations that sum products of two arrays: dot, ragged-dot and scaled-dot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.declaration import ANY, CONTRACTED, Opcode, dims, op, texts
from dialect_utils.ops.domain import Domain, UndefinedError, V, grouped, reshaped, result_array

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_SECTIONS = "dot_dimension_numbers."
_CONTRACTION = (
    dims("lhs_batch_dims", 0, f"{_SECTIONS}lhs_batching_dimensions"),
    dims("rhs_batch_dims", 1, f"{_SECTIONS}rhs_batching_dimensions"),
    dims("lhs_contracting_dims", 0, f"{_SECTIONS}lhs_contracting_dimensions"),
    dims("rhs_contracting_dims", 1, f"{_SECTIONS}rhs_contracting_dimensions"),
    *texts("operand_precision"),
)

_DIMENSIONS = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")


def define_dot(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns sums of products, computed on [batch, rows, summed] and [batch, columns, summed].

    Source: StableHLO's specification of dot_general.
    """
    left, right = operands
    sizes, other_sizes = domain.dimensions(left), domain.dimensions(right)
    batch, other_batch, summed, other_summed = (operation.ints(name) or () for name in _DIMENSIONS)
    result = result_array(operation).dimensions
    if len(result) == len(sizes) + len(other_sizes) - 2 and not (*batch, *summed):
        # StableHLO's `dot` names no dimensions: the last and the first one are summed.
        summed, other_summed = (len(sizes) - 1,), (0,)
    pairs = sorted(zip(summed, other_summed, strict=True))
    summed, other_summed = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    rows, columns = _rest(sizes, batch, summed), _rest(other_sizes, other_batch, other_summed)
    joined = (*(sizes[i] for i in (*batch, *rows)), *(other_sizes[i] for i in columns))
    if joined != result:
        raise UndefinedError(f"a dot of dimensions {joined} has a result of dimensions {result}")
    found = domain.contract(
        operation,
        grouped(domain, left, batch, rows, summed),
        grouped(domain, right, other_batch, columns, other_summed),
    )
    return [reshaped(domain, found, joined)]


def _rest(sizes: Sequence[int], *taken: Sequence[int]) -> list[int]:
    """Returns the dimensions that no group takes."""
    return [i for i in range(len(sizes)) if not any(i in group for group in taken)]


OPERATIONS: tuple[Opcode, ...] = (
    op(
        "dot",
        2,
        CONTRACTED,
        *_CONTRACTION,
        *texts("algorithm sparsity_config block_scaling_config"),
        mlir="dot dot_general",
        define=define_dot,
    ),
    op("ragged-dot", 3, CONTRACTED, *_CONTRACTION, dims("lhs_ragged_dims", 0), dims("rhs_group_dims", 1), mlir=""),
    op("scaled-dot", ANY, CONTRACTED, *_CONTRACTION, *texts("algorithm"), mlir=""),
)
