"""XLA:GPU's matrix products, `__cublas$gemm`, `__cublas$lt$matmul` and `__cublas$lt$matmul$f8`, as ops.

D = act(alpha A B + beta C + bias). The operands are A, B, C unless beta is 0, and the bias if the epilogue has one. A
product of 8-bit floats also has the scales of A and B after C, and that of D last (legacy dumps: the scales of A, B, C
and D, then the bias). Source: xla/service/gpu/transforms/gemm_rewriter.cc and the thunks of xla/backends/gpu
(EmitCublasLtMatmulThunk, ...ThunkF8).

Products with one scale for each block of the contracted dimension, `__op$block_scaled_dot`, multiply each operand by
its scales in f32 (xla/service/gpu/transforms/block_scaling_rewriter.cc). They contract the last dimensions; the first
of three dimensions is a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from passes.dumps.custom_calls import arithmetic
from passes.dumps.custom_calls.call_config import CallConfig, check_operands, refused
from passes.dumps.sorts import first_elements

# GemmBackendConfig.Epilogue, in the order of its numbers.
_EPILOGUES = ("DEFAULT", "BIAS", "RELU", "BIAS_RELU", "GELU", "GELU_AUX", "BIAS_GELU", "BIAS_GELU_AUX")
# A, B, C, four scales and a bias.
_MOST_OPERANDS = 8
_SCALES_OF_BOTH, _SCALES_WITH_RESULT, _SCALES_OF_ALL = 2, 3, 4


def expand_gemm(ops: Ops, call: Instruction) -> Instruction:
    """Expands a call of a matrix product."""
    check_operands(call, *range(2, _MOST_OPERANDS + 1))
    config = CallConfig.of(call, "gemm_backend_config")
    steps = config.word("epilogue", _EPILOGUES, "DEFAULT").split("_")
    matrix, bias, scales, result_scale = _addends(call, config, "BIAS" in steps)
    lhs, rhs = call.operands[:2]
    shape = arithmetic.result_shapes(call, 1)[0]
    kind = arithmetic.summing_type(shape, lhs, rhs)
    value = _product(ops, config, ops.convert(lhs, kind), ops.convert(rhs, kind))
    if array_shape(value).dimensions != shape.dimensions:
        raise refused(call, f"its result is {shape}, where the product is {array_shape(value)}")
    value = arithmetic.times(ops, value, _alpha(config, kind))
    for scale in scales:
        value = arithmetic.scaled(ops, value, scale)
    if matrix is not None:
        value = arithmetic.plus(ops, value, matrix, config.number("beta"))
    if bias is not None:
        value = arithmetic.plus_along(ops, value, bias, _minor_dimensions(shape, array_shape(bias)))
    return _results(ops, config, steps, value, result_scale)


def _addends(
    call: Instruction, config: CallConfig, has_bias: bool
) -> tuple[Instruction | None, Instruction | None, Sequence[Instruction], Instruction | None]:
    """Returns the operands after A and B: C, the bias, the scales of A and B, and that of the result."""
    rest = list(call.operands[2:])
    has_matrix = config.number("beta") != 0
    scale_count = len(rest) - has_matrix - has_bias
    is_narrow = call.callee == "__cublas$lt$matmul$f8"
    known = (_SCALES_OF_BOTH, _SCALES_WITH_RESULT, _SCALES_OF_ALL) if is_narrow else (0,)
    if scale_count not in known:
        raise refused(call, f"it has {len(call.operands)} operands, which its backend_config does not explain")
    matrix = rest.pop(0) if has_matrix else None
    if scale_count == _SCALES_OF_ALL:
        # The scales of C and D come before the bias; that of C is unused, since C never has 8 bits.
        bias = rest.pop() if has_bias else None
        return matrix, bias, rest[:2], rest[3]
    scales, rest = rest[:scale_count][:2], rest[min(scale_count, 2) :]
    bias = rest.pop(0) if has_bias else None
    return matrix, bias, scales, rest[0] if rest else None


def _alpha(config: CallConfig, kind: ElementType) -> complex:
    alpha = complex(config.number("alpha_real"), config.number("alpha_imag") if "alpha_imag" in config.fields else 0)
    if (alpha.imag and not kind.is_complex) or (alpha != 1 and kind.is_integral):
        raise refused(config.call, f"its alpha is {alpha} in a product of {kind}")
    return alpha


def _product(ops: Ops, config: CallConfig, lhs: Instruction, rhs: Instruction) -> Instruction:
    """Builds the dot; an operand without batch dimensions is repeated for every batch."""
    name = "dot_dimension_numbers"
    left = config.ints(name, "lhs_batch_dimensions"), config.ints(name, "lhs_contracting_dimensions")
    right = config.ints(name, "rhs_batch_dimensions"), config.ints(name, "rhs_contracting_dimensions")
    if len(left[1]) != len(right[1]) or not _are_dimensions(lhs, left) or not _are_dimensions(rhs, right):
        raise refused(config.call, "its dot_dimension_numbers do not fit its operands")
    if right[0] and not left[0]:
        lhs, left = _repeated(ops, lhs, left[1], [array_shape(rhs).dimensions[i] for i in right[0]])
    elif left[0] and not right[0]:
        rhs, right = _repeated(ops, rhs, right[1], [array_shape(lhs).dimensions[i] for i in left[0]])
    a, b = array_shape(lhs), array_shape(rhs)
    dimensions = [a.dimensions[i] for i in left[0]]
    dimensions += [size for i, size in enumerate(a.dimensions) if i not in (*left[0], *left[1])]
    dimensions += [size for i, size in enumerate(b.dimensions) if i not in (*right[0], *right[1])]
    names = ("lhs_batch_dims", "lhs_contracting_dims", "rhs_batch_dims", "rhs_contracting_dims")
    attributes = {name: dims for name, dims in zip(names, (*left, *right), strict=True) if dims}
    return ops.array("dot", dimensions, (lhs, rhs), attributes, element_type=a.element_type)


def _are_dimensions(value: Instruction, groups: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
    found = [*groups[0], *groups[1]]
    return len(set(found)) == len(found) and all(0 <= i < array_shape(value).rank for i in found)


def _repeated(
    ops: Ops, value: Instruction, contracting: Sequence[int], sizes: Sequence[int]
) -> tuple[Instruction, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Builds a matrix repeated for every batch: the inverse of GemmBroadcastFoldingRewriter."""
    shape, count = array_shape(value), len(sizes)
    whole = ops.broadcast(value, (*sizes, *shape.dimensions), range(count, count + shape.rank))
    return whole, (tuple(range(count)), tuple(i + count for i in contracting))


def _minor_dimensions(result: ArrayShape, bias: ArrayShape) -> list[int]:
    """Returns the dimensions of the result that a bias has: the most minor ones in memory."""
    along = dict(zip(bias.effective_layout.minor_to_major, result.effective_layout.minor_to_major, strict=False))
    return [along[i] for i in range(bias.rank)]


def _results(
    ops: Ops, config: CallConfig, steps: list[str], value: Instruction, result_scale: Instruction | None
) -> Instruction:
    """Builds the results: D, and on demand the activation's input and the largest magnitude of D."""
    call = config.call
    wants_input, wants_largest = "AUX" in steps, config.flag("damax_output")
    shapes = arithmetic.result_shapes(call, 1 + wants_input + wants_largest)
    extra = [arithmetic.rounded(ops, value, shapes[1].element_type)] if wants_input else []
    if "RELU" in steps:
        value = arithmetic.rectified(ops, value)
    elif "GELU" in steps:
        value = arithmetic.approximate_gelu(ops, value)
    if wants_largest:
        extra.append(ops.convert(arithmetic.largest_magnitude(ops, value), shapes[-1].element_type))
    # The library scales only results of 8 bits.
    if result_scale is not None and shapes[0].element_type.bits == array_shape(call.operands[0]).element_type.bits:
        value = arithmetic.scaled(ops, value, result_scale)
    return arithmetic.outputs(ops, call, [arithmetic.rounded(ops, value, shapes[0].element_type), *extra])


_F32 = ELEMENT_TYPES["f32"]
_PLAIN, _BATCHED = 2, 3
_NUMBERS = "dimension_numbers"
# The elements for each of cuDNN's scales, by the type of the scales (xla/backends/gpu/transforms).
_BLOCKS = {"f8e8m0fnu": 32, "f8e4m3fn": 16}


def expand_scaled_dot(ops: Ops, call: Instruction) -> Instruction:
    """Expands `__op$block_scaled_dot` and cuDNN's form: two matrices, their scales and optionally one of the result."""
    check_operands(call, 4, 5)
    if _NUMBERS in (call.attribute("backend_config") or ""):
        raise refused(call, f"its backend_config has {_NUMBERS}")
    pairs = [call.operands[i : i + 3 : 2] for i in (0, 1)]
    if call.callee == "__cudnn$blockScaledDot":
        pairs = [(value, _in_rows(ops, value, scale)) for value, scale in pairs]
    left, right = (_dequantized(ops, call, *pair) for pair in pairs)
    rank = array_shape(left).rank
    if rank not in (_PLAIN, _BATCHED) or array_shape(right).rank != rank:
        raise refused(call, "its operands are not two matrices, or two batches of them")
    [shape] = arithmetic.result_shapes(call, 1)
    last, batch = (rank - 1,), tuple(range(rank - _PLAIN))
    attributes: dict[str, str | tuple[int, ...]] = {"lhs_contracting_dims": last, "rhs_contracting_dims": last}
    if batch:
        attributes |= {"lhs_batch_dims": batch, "rhs_batch_dims": batch}
    product = ops.array("dot", shape.dimensions, (left, right), attributes, element_type=_F32)
    if len(call.operands) > 2 * _PLAIN:
        product = arithmetic.scaled(ops, product, call.operands[-1])
    return arithmetic.outputs(ops, call, [ops.convert(product, shape.element_type)])


def _in_rows(ops: Ops, value: Instruction, scale: Instruction) -> Instruction:
    """Builds the scales of cuDNN's operand without their padding, in the order of the matrix.

    cuDNN stores tiles of 128 x 4 scales, each as 32 x 4 x 4: row i is at (i % 32, i / 32).
    """
    (*batch, rows, columns), found = array_shape(scale).dimensions, array_shape(value).dimensions
    count, block = prod(batch), _BLOCKS[array_shape(scale).element_type.name]
    tiles = ops.reshape(arithmetic.plain(ops, scale, _F32), (count, rows // 128, columns // 4, 32, 4, 4))
    ordered = ops.reshape(ops.transpose(tiles, (0, 1, 4, 3, 2, 5)), (*batch, rows, columns))
    return first_elements(ops, ordered, (*found[:-1], found[-1] // block))


def expand_dequantize(ops: Ops, call: Instruction) -> Instruction:
    """Expands `__op$dequantize`: an array times its scales."""
    check_operands(call, 2)
    return ops.convert(_dequantized(ops, call, *call.operands), array_shape(call).element_type)


def _dequantized(ops: Ops, call: Instruction, value: Instruction, scale: Instruction) -> Instruction:
    dims, blocks = array_shape(value).dimensions, array_shape(scale).dimensions
    if not dims or dims[:-1] != blocks[:-1] or not blocks[-1] or dims[-1] % blocks[-1]:
        raise refused(call, f"scales {array_shape(scale)} are not one for each block of {array_shape(value)}")
    factors = ops.broadcast(arithmetic.plain(ops, scale, _F32), (*blocks, dims[-1] // blocks[-1]), range(len(blocks)))
    return ops.like("multiply", arithmetic.plain(ops, value, _F32), ops.reshape(factors, dims))
