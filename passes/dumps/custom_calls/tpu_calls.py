"""The custom calls of the TPU compiler, in the order in which docs/dumps.md lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions, tuple_elements, zero_of
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape, BufferShape, Pad, Shape, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.text import DiagnosticError
from passes.dumps.custom_calls.call_config import check_operands, refused
from passes.dumps.custom_calls.linear_algebra import BLOCKS, combine, high_half, low_half, split
from passes.dumps.sorts import add_comparator, first_elements, stable_sort
from passes.tiling.byte_readers import expand_concatenation

Expansion = Callable[[Ops, Instruction], Instruction]


@dataclass(frozen=True, slots=True)
class TpuCalls:
    """Custom calls with the same meaning: the expansion of each target, and a description of the result."""

    expansions: Mapping[str, Expansion]
    becomes: str


def _crop(ops: Ops, call: Instruction) -> Instruction:
    """Builds a pad with zeros: the result has the operand's padding as elements."""
    check_operands(call, 1)
    operand, result = array_shape(call.operands[0]), array_shape(call)
    if operand.element_type != result.element_type or operand.layout != result.layout:
        raise refused(call, f"its result {result} is not an array that holds {operand} and its padding")
    after = tuple(size - inner for size, inner in zip(result.dimensions, operand.dimensions, strict=True))
    return ops.steps(
        Plan(operand.element_type, operand.dimensions, (Pad((0,) * operand.rank, after),)), call.operands[0]
    )


def _zeros(ops: Ops, shape: Shape) -> Instruction:
    if isinstance(shape, ArrayShape):
        return ops.filled(shape.element_type, shape.dimensions, zero_of(shape.element_type))
    assert isinstance(shape, TupleShape)  # AllocateBuffer makes an array or a tuple of arrays
    return ops.tuple([_zeros(ops, element) for element in shape.elements])


def expand_top(ops: Ops, call: Instruction) -> Instruction:
    """Expands `TopK`, `PartialReduce` and `TopKBatchMajorSmallK` to a sort and a slice."""
    shapes = list(call.shape.arrays())
    operands = list(call.operands[: max(1, len(call.operands) // 2)] if len(call.operands) > 1 else call.operands)
    source = array_shape(operands[0])
    pairs = zip(source.dimensions, shapes[0].dimensions, strict=True)
    dim = next((i for i, (old, new) in enumerate(pairs) if old != new), source.rank - 1)
    if len(shapes) > len(operands):
        iota = ops.shape(shapes[-1].element_type, source.dimensions)
        operands.append(ops.emit("iota", iota, (), {"iota_dimension": str(dim)}))
    ordered = stable_sort(ops, operands, dim, _comparator(ops, call, operands))
    # A call may return fewer arrays than it sorts.
    kept = [first_elements(ops, value, shape.dimensions) for shape, value in zip(shapes, ordered, strict=False)]
    return kept[0] if isinstance(call.shape, ArrayShape) else ops.tuple(kept)


def _comparator(ops: Ops, call: Instruction, operands: Sequence[Instruction]) -> str:
    """Returns the name of a comparator of all sorted arrays: the call's own, or one made from it."""
    given = call.called[0] if call.called else None
    if given is not None and len(given.parameters) == 2 * len(operands):
        return given.name
    order = f"call(p0, p1), to_apply=%{given.name}" if given is not None else "compare(p0, p1), direction=GT"
    return add_comparator(ops, operands, order)


def expand_identity(ops: Ops, call: Instruction) -> Instruction:
    """Returns the operand; raises DiagnosticError if the result has another type."""
    check_operands(call, 1)
    operand = call.operands[0]
    if operand.shape.without_layout != call.shape.without_layout:
        raise refused(call, f"its result is {call.shape}, which is not its operand's shape")
    return operand


def expand_resharding(ops: Ops, call: Instruction) -> Instruction:
    """Returns the operand of a call between a whole array and one device's part, if both have the same type."""
    check_operands(call, 1)
    if call.operands[0].shape.without_layout != call.shape.without_layout:
        raise refused(call, "it splits an array that no partitioner has split yet: compile the module first")
    return call.operands[0]


def expand_marker(ops: Ops, call: Instruction) -> Instruction:
    """Returns the operands of a marker: as a tuple before the marked operations, as the one value after them."""
    if isinstance(call.shape, TupleShape):
        found = ops.tuple(call.operands)
    else:
        check_operands(call, 1)
        found = call.operands[0]
    if found.shape.without_layout != call.shape.without_layout:
        raise refused(call, f"its result is {call.shape}, which is not that of its operands")
    return found


def _start_collective(ops: Ops, call: Instruction) -> Instruction:
    """Builds (operand, result, context...) for `AsyncCollectiveStart(result)`, the state of a collective under way.

    The contexts, which only the other half of the pair reads, become zeros.
    """
    check_operands(call, 1)
    result = call.operands[0]
    begun = result.operands[0] if len(result.operands) == 1 else ops.tuple(result.operands)
    contexts = [_zeros(ops, shape) for shape in tuple_elements(call)[2:]]
    return ops.tuple([begun, result, *contexts])


def _finish_collective(ops: Ops, call: Instruction) -> Instruction:
    """Returns the second operand of `AsyncCollectiveDone(operand, result, ...)`, which its start has computed."""
    if len(call.operands) < 2:
        raise refused(call, "it has no state of a collective as its operands")
    return call.operands[1]


def _refuse_dynamic(ops: Ops, call: Instruction) -> Instruction:
    """Raises DiagnosticError: no array has a size that only the running program knows, such as `f32[<=8]`."""
    dynamic = [shape for value in (*call.operands, call) for shape in value.shape.arrays() if not shape.is_static]
    sizes = ", ".join(str(shape.without_layout) for shape in dynamic) or "an array of another size"
    message = f"custom call {call.name} calls {call.callee}: only the running program knows the size of {sizes}"
    hint = "compile the program for arrays of fixed sizes: every size is then in the dump"
    raise DiagnosticError(message, call.location, hint=hint)


def hold_arrays_in_place_of_buffers(module: HloModule) -> None:
    """Replaces the shape of every buffer, `b(f32[4])`, by that of the array in it, in place."""
    for item in instructions(module):
        shape = _without_buffers(item.shape)
        if shape != item.shape:
            item.set_shape(shape)


def _without_buffers(shape: Shape) -> Shape:
    if isinstance(shape, BufferShape):
        return shape.array
    if isinstance(shape, TupleShape):
        elements = tuple(_without_buffers(element) for element in shape.elements)
        return shape if elements == shape.elements else TupleShape(elements)
    return shape


def _each(targets: str, expansion: Expansion, becomes: str) -> TpuCalls:
    return TpuCalls(dict.fromkeys(targets.split(), expansion), becomes)


def _blocks(targets: str, becomes: str) -> TpuCalls:
    return TpuCalls({target: BLOCKS[target] for target in targets.split()}, becomes)


_HALVES: dict[str, Expansion] = {
    "SplitLow": partial(split, half=low_half),
    "SplitHigh": partial(split, half=high_half),
    "Combine": combine,
}
TPU_CALLS = (
    _each(
        "AllocateBuffer CreateBuffer", lambda ops, call: _zeros(ops, call.shape), "zeros: the contents are undefined"
    ),
    _each("ZeroCrop", _crop, "`pad`: the operand's padding becomes zeros"),
    _each(
        "AssumeGatherIndicesInBound AssumeScatterIndicesInBound GatherScatterIndicesBitpacked",
        expand_identity,
        "its operand; the indices are not checked",
    ),
    _each("AsyncCollectiveStart", _start_collective, "(operand, result, zeros) of the collective that it starts"),
    _each("AsyncCollectiveDone", _finish_collective, "its second operand, the result that the start gave"),
    _each("LayoutConstraint Sharding ShardBarrierFrom ShardBarrierTo", expand_identity, "its operand"),
    _each("xla.sdy.FuncResultSharding xla.sdy.PropagationBarrier", expand_identity, "its operand"),
    _each("MoveToHost MoveToDevice annotate_device_placement", expand_identity, "its operand: all memory is one"),
    _each("Pin Unpin", expand_identity, "its operand: a buffer `b(f32[4])` becomes an array"),
    _each(
        "SPMDFullToShardShape SPMDShardToFullShape xla.sdy.GlobalToLocalShape xla.sdy.LocalToGlobalShape",
        expand_resharding,
        "its operand, if that has the result's shape; an error in a module that is not partitioned yet",
    ),
    _each("__xla_internal_call_marker_before __xla_internal_call_marker_after", expand_marker, "its operands"),
    TpuCalls(
        {f"X{bits}{part}": expand for bits in (64, 128) for part, expand in _HALVES.items()},
        "the halves of an integer's bits, the real and imaginary part of a complex number, the rounded value of an "
        "f64 and the rest",
    ),
    _each(
        "ConcatBitcast",
        expand_concatenation,
        "`concatenate` of the operands if they are adjacent along the most major dimension, else of their bytes, "
        "possibly as another element type; an error if it reads padding",
    ),
    _each(
        "PadToStatic SliceToDynamic",
        _refuse_dynamic,
        "an error: only the running program knows the size of an array such as `f32[<=8]`",
    ),
    _each("TopK TopKBatchMajorSmallK PartialReduce", expand_top, "`sort` by its comparator and `slice`"),
    _blocks("Cholesky", "`cholesky`, also of c64 in two halves"),
    _blocks(
        "InvertDiagBlocksLowerTriangular InvertDiagBlocksUpperTriangular CompactWyHelper",
        "`triangular-solve`, also of c64 in two halves",
    ),
    _blocks(
        "LuDecomposition LuRealDecompositionBlock LuComplexDecompositionBlock",
        "a loop over columns with pivots, of f32, of f64 and c64 in two halves, of c128 in four parts",
    ),
    _blocks("QrDecompositionBlock", "a loop over columns with LAPACK's reflectors, also of c64 in two halves"),
    _blocks("EighTpu", "Jacobi's rotations of four blocks, with any batch dimensions"),
)
TPU_EXPANSIONS: dict[str, Expansion] = {
    target: expansion for calls in TPU_CALLS for target, expansion in calls.expansions.items()
}


def format_table(rows: Iterable[TpuCalls] = TPU_CALLS) -> str:
    """Returns the table of docs/dumps.md."""
    lines = [f"| {', '.join(f'`{target}`' for target in row.expansions)} | {row.becomes} |" for row in rows]
    return "\n".join(["| custom call | becomes |", "|---|---|", *lines])
