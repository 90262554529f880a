"""The custom calls of the TPU compiler, in the order in which docs/dumps.md lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import Ops, zero_of
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape, Pad, Plan, Shape, TupleShape
from passes.dumps.custom_calls.call_config import check_operands, refused
from passes.dumps.custom_calls.halves import combine, split_high, split_low
from passes.dumps.custom_calls.placement import expand_identity, expand_marker, expand_resharding
from passes.dumps.custom_calls.top import expand_top
from passes.dumps.custom_calls.tpu_blocks import BLOCKS
from passes.tiling.concat_bitcast import expand_concatenation

Expansion = Callable[[Ops, Instruction], Instruction]


@dataclass(frozen=True, slots=True)
class TpuCalls:
    """Custom calls of one meaning: the expansion of each target, and what they become, in words."""

    expansions: Mapping[str, Expansion]
    becomes: str


def _allocate(ops: Ops, call: Instruction) -> Instruction:
    return _zeros(ops, call.shape)


def _crop(ops: Ops, call: Instruction) -> Instruction:
    """Makes zeros of the padding of an array, whose elements the result counts, too."""
    check_operands(call, 1)
    operand, result = array_shape(call.operands[0]), array_shape(call)
    if operand.element_type != result.element_type or operand.layout != result.layout:
        raise refused(call, f"its result {result} is no array that holds {operand} and its padding")
    after = tuple(size - inner for size, inner in zip(result.dimensions, operand.dimensions, strict=True))
    return ops.steps(
        Plan(operand.element_type, operand.dimensions, (Pad((0,) * operand.rank, after),)), call.operands[0]
    )


def _zeros(ops: Ops, shape: Shape) -> Instruction:
    if isinstance(shape, ArrayShape):
        return ops.filled(shape.element_type, shape.dimensions, zero_of(shape.element_type))
    assert isinstance(shape, TupleShape)  # a buffer is an array or a tuple of them
    return ops.tuple([_zeros(ops, element) for element in shape.elements])


def _each(targets: str, expansion: Expansion, becomes: str) -> TpuCalls:
    return TpuCalls(dict.fromkeys(targets.split(), expansion), becomes)


def _blocks(targets: str, becomes: str) -> TpuCalls:
    return TpuCalls({target: BLOCKS[target] for target in targets.split()}, becomes)


TPU_CALLS = (
    _each("AllocateBuffer CreateBuffer", _allocate, "zeros: nothing may depend on what is in it"),
    _each("ZeroCrop", _crop, "`pad`: what was its operand's padding is zero"),
    _each(
        "AssumeGatherIndicesInBound AssumeScatterIndicesInBound GatherScatterIndicesBitpacked",
        expand_identity,
        "its operand; indices that are said to be in bounds are taken as they are",
    ),
    _each("LayoutConstraint Sharding ShardBarrierFrom ShardBarrierTo", expand_identity, "its operand"),
    _each("MoveToHost MoveToDevice annotate_device_placement", expand_identity, "its operand: memory is one here"),
    _each("Pin Unpin", expand_identity, "its operand: a buffer `b(f32[4])` is the array that it holds"),
    _each(
        "SPMDFullToShardShape SPMDShardToFullShape",
        expand_resharding,
        "its operand, where that has the result's shape; refused by name in a module that is not partitioned yet",
    ),
    _each("__xla_internal_call_marker_before __xla_internal_call_marker_after", expand_marker, "its operands"),
    TpuCalls(
        {
            f"X{bits}{part}": expand
            for bits in (64, 128)
            for part, expand in (("SplitLow", split_low), ("SplitHigh", split_high), ("Combine", combine))
        },
        "the halves of an integer's bits, the real and imaginary part of a complex number, the rounded value of an "
        "f64 and the rest",
    ),
    _each(
        "ConcatBitcast",
        expand_concatenation,
        "`concatenate` where the operands follow one another along a dimension, else of their bytes, which may be read "
        "as another element type; refused where padding is read",
    ),
    _each("TopK TopKBatchMajorSmallK PartialReduce", expand_top, "`sort` by its comparator, and the first elements"),
    _blocks("Cholesky", "`cholesky`, of c64 in two halves, too"),
    _blocks(
        "InvertDiagBlocksLowerTriangular InvertDiagBlocksUpperTriangular CompactWyHelper",
        "`triangular-solve`, of c64 in two halves, too",
    ),
    _blocks(
        "LuRealDecompositionBlock LuComplexDecompositionBlock",
        "a loop over columns with pivots, of f32, of f64 and c64 in two halves, of c128 in four parts",
    ),
    _blocks("QrDecompositionBlock", "a loop over columns with LAPACK's reflectors, of c64 in two halves, too"),
    _blocks("EighTpu", "Jacobi's rotations of four blocks, with any batch dimensions"),
)
TPU_EXPANSIONS: dict[str, Expansion] = {
    target: expansion for calls in TPU_CALLS for target, expansion in calls.expansions.items()
}


def format_table(rows: Iterable[TpuCalls] = TPU_CALLS) -> str:
    """Writes the table of docs/dumps.md."""
    lines = [f"| {', '.join(f'`{target}`' for target in row.expansions)} | {row.becomes} |" for row in rows]
    return "\n".join(["| custom call | becomes |", "|---|---|", *lines])
