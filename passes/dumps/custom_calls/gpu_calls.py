"""The custom calls of XLA:GPU that ops can express: products, convolutions, solvers, sorts, random bits.

Sources: xla/service/gpu/transforms (triangular_solve_rewriter, sort_rewriter, topk_specializer),
xla/service/gpu/cusolver_rewriter.cc, and jaxlib's gpu prng kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import S32, AttributeValue, Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape, ElementType, Slice, TupleShape
from dialect_utils.layout.moves.plan import Plan
from passes.dumps.custom_calls.arithmetic import filled, outputs, plain, result_shapes
from passes.dumps.custom_calls.attention import ATTENTION_EXPANSIONS
from passes.dumps.custom_calls.call_config import CallConfig, check_operands, refused
from passes.dumps.custom_calls.cublas import expand_dequantize, expand_gemm, expand_scaled_dot
from passes.dumps.custom_calls.cudnn import backward_filter, backward_input, expand_fused, expand_graph, expand_product
from passes.dumps.custom_calls.lapack import LAPACK_EXPANSIONS
from passes.dumps.sorts import add_comparator, first_elements, stable_sort

_TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
# Threefry-2x32 with 20 rounds: Salmon and others, "Parallel random numbers: as easy as 1, 2, 3".
_THREEFRY_PARITY = 0x1BD11BDA
_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_THREEFRY_GROUPS = 5
_WORD_BITS = 32


def _triangular_solve(ops: Ops, call: Instruction) -> Instruction:
    check_operands(call, 2)
    config, shape = CallConfig.of(call), result_shapes(call, 1)[0]
    transpose = config.word("transpose_a", _TRANSPOSES)
    if transpose == _TRANSPOSES[0]:
        raise refused(call, f"its transpose_a is {transpose}")
    flags = {name: str(config.flag(name)).lower() for name in ("left_side", "lower", "unit_diagonal")}
    kind = shape.element_type
    attributes = {**flags, "transpose_a": transpose}
    solution = ops.array("triangular-solve", shape.dimensions, call.operands, attributes, element_type=kind)
    return outputs(ops, call, [solution])


def _cholesky(ops: Ops, call: Instruction) -> Instruction:
    """Builds the factor, the workspace, and info: 1 (not the order of the minor) if no factor exists, else 0."""
    check_operands(call, 1)
    shape = result_shapes(call, 1)[0]
    kind, dims = shape.element_type, shape.dimensions
    attributes: dict[str, AttributeValue] = {"lower": str(CallConfig.of(call).flag("lower")).lower()}
    factor = ops.array("cholesky", dims, call.operands, attributes, element_type=kind)
    values = [factor]
    if isinstance(call.shape, TupleShape) and len(call.shape.elements) > 2:
        _, workspace, info = result_shapes(call, 3)
        spare = ops.filled(workspace.element_type, workspace.dimensions)
        values += [spare, _has_no_factor(ops, factor, info)]
    return outputs(ops, call, values)


def _has_no_factor(ops: Ops, factor: Instruction, info: ArrayShape) -> Instruction:
    """Builds 1 if the last element of the diagonal, which depends on all others, is NaN, else 0."""
    shape = array_shape(factor)
    start = tuple(0 if i < shape.rank - 2 else size - 1 for i, size in enumerate(shape.dimensions))
    last = ops.steps(Plan(shape.element_type, shape.dimensions, (Slice(start, shape.dimensions),)), factor)
    last = ops.reshape(last, shape.dimensions[:-2])
    return ops.reshape(ops.convert(ops.compare("NE", last, last), info.element_type), info.dimensions)


def _radix_sort(ops: Ops, call: Instruction) -> Instruction:
    """Builds a sort by the first operand along the last dimension; -0 equals 0, and NaNs are ordered by their bits."""
    check_operands(call, 1, 2)
    direction = "GT" if CallConfig.of(call).flag("descending") else "LT"
    return outputs(ops, call, _sorted(ops, call.operands, direction, zeros_are_equal=True))


def _top(ops: Ops, call: Instruction) -> Instruction:
    """Builds the largest elements along the last dimension, in the total order of floats, and their indices."""
    check_operands(call, 1)
    source = array_shape(call.operands[0])
    shapes = result_shapes(call, 2)
    iota = ops.array("iota", source.dimensions, (), {"iota_dimension": str(source.rank - 1)}, element_type=S32)
    ordered = _sorted(ops, (call.operands[0], iota), "GT", zeros_are_equal=False)
    pairs = zip(ordered, shapes, strict=True)
    kept = [ops.convert(first_elements(ops, value, shape.dimensions), shape.element_type) for value, shape in pairs]
    return outputs(ops, call, kept)


def _sorted(ops: Ops, values: Sequence[Instruction], direction: str, *, zeros_are_equal: bool) -> list[Instruction]:
    """Builds a stable sort of arrays along their last dimension by the first array."""
    shapes = [array_shape(value) for value in values]
    values = [plain(ops, value, shape.element_type) for value, shape in zip(values, shapes, strict=True)]
    kind = shapes[0].element_type
    keys, lines = "p0, p1", list[str]()
    if kind.is_floating:
        keys, lines = "key0, key1", [line for i in range(2) for line in _ordered_bits(i, kind, zeros_are_equal)]
    comparator = add_comparator(ops, values, f"compare({keys}), direction={direction}", lines)
    return list(stable_sort(ops, values, shapes[0].rank - 1, comparator))


def _ordered_bits(number: int, kind: ElementType, zeros_are_equal: bool) -> list[str]:
    """Returns lines that make an integer `key` of parameter 0 or 1, in the total order of floats."""
    lowest, highest = -(2 ** (kind.bits - 1)), 2 ** (kind.bits - 1) - 1
    integer = f"s{kind.bits}[]"
    bits = f"bits{number}"
    lines = [
        f"zero{number} = {integer} constant(0)",
        f"highest{number} = {integer} constant({highest})",
        f"{bits} = {integer} bitcast-convert(p{number})",
    ]
    if zeros_are_equal:
        # The lowest integer has the bits of -0.
        lines += [
            f"lowest{number} = {integer} constant({lowest})",
            f"is_minus_zero{number} = pred[] compare({bits}, lowest{number}), direction=EQ",
            f"signed{number} = {integer} select(is_minus_zero{number}, zero{number}, {bits})",
        ]
        bits = f"signed{number}"
    # A negative float with larger bits is smaller.
    return [
        *lines,
        f"is_negative{number} = pred[] compare({bits}, zero{number}), direction=LT",
        f"flipped{number} = {integer} xor({bits}, highest{number})",
        f"key{number} = {integer} select(is_negative{number}, flipped{number}, {bits})",
    ]


def _threefry(ops: Ops, call: Instruction) -> Instruction:
    """Builds the two words of Threefry-2x32 from key words and counter words, all of one shape."""
    check_operands(call, 4)
    shapes = {array_shape(operand).dimensions for operand in call.operands}
    if shapes != {result_shapes(call, 2)[0].dimensions}:
        raise refused(call, "its operands are not of its result's shape")
    first, second, x, y = call.operands
    parity = ops.like("xor", ops.like("xor", first, second), filled(ops, first, _THREEFRY_PARITY))
    keys = (first, second, parity)
    x, y = ops.like("add", x, first), ops.like("add", y, second)
    for group in range(_THREEFRY_GROUPS):
        for distance in _THREEFRY_ROTATIONS[group % 2]:
            x = ops.like("add", x, y)
            y = ops.like("xor", _rotated(ops, y, distance), x)
        x = ops.like("add", x, keys[(group + 1) % 3])
        y = ops.like("add", ops.like("add", y, keys[(group + 2) % 3]), filled(ops, y, group + 1))
    return outputs(ops, call, [x, y])


def _rotated(ops: Ops, value: Instruction, distance: int) -> Instruction:
    left = ops.like("shift-left", value, filled(ops, value, distance))
    right = ops.like("shift-right-logical", value, filled(ops, value, _WORD_BITS - distance))
    return ops.like("or", left, right)


GPU_EXPANSIONS: dict[str, Callable[[Ops, Instruction], Instruction]] = {
    **ATTENTION_EXPANSIONS,
    **LAPACK_EXPANSIONS,
    "__cublas$gemm": expand_gemm,
    "__cublas$lt$matmul": expand_gemm,
    "__cublas$lt$matmul$f8": expand_gemm,
    "__op$block_scaled_dot": expand_scaled_dot,
    "__cudnn$blockScaledDot": expand_scaled_dot,
    "__op$dequantize": expand_dequantize,
    "__cudnn$convForward": partial(expand_product, from_forward=lambda ops, found, shape: found),
    "__cudnn$convBackwardInput": partial(expand_product, from_forward=backward_input),
    "__cudnn$convBackwardFilter": partial(expand_product, from_forward=backward_filter),
    "__cudnn$convBiasActivationForward": expand_fused,
    "__cudnn$convForwardGraph": expand_graph,
    "__cublas$triangularSolve": _triangular_solve,
    "__cusolver$cholesky": _cholesky,
    "__cub$DeviceRadixSort": _radix_sort,
    "__cub$DeviceRadixSortUnassignedScratchSize": _radix_sort,
    "__gpu$TopK": _top,
    "cu_threefry2x32": _threefry,
    "cu_threefry2x32_ffi": _threefry,
    "hip_threefry2x32": _threefry,
    "hip_threefry2x32_ffi": _threefry,
}
