"""Products of narrow floats with one scale for each block of the contracted dimension.

Source: xla/service/gpu/transforms/block_scaling_rewriter.cc: in f32, each operand times its scales, repeated along the
last dimension; the last dimensions are contracted, and of three dimensions the first is a batch.
"""

from __future__ import annotations

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES
from passes.dumps.custom_calls.arithmetic import plain, scaled
from passes.dumps.custom_calls.call_config import check_operands, refused

_F32 = ELEMENT_TYPES["f32"]
_PLAIN, _BATCHED = 2, 3
_NUMBERS = "dimension_numbers"


def expand_scaled_dot(ops: Ops, call: Instruction) -> Instruction:
    """Expands `__op$block_scaled_dot`: two matrices, their scales and perhaps a scale of the whole."""
    check_operands(call, 4, 5)
    if _NUMBERS in (call.attribute("backend_config") or ""):
        raise refused(call, f"its backend_config has {_NUMBERS}")
    left, right = (_dequantized(ops, call, *call.operands[i : i + 3 : 2]) for i in (0, 1))
    rank = array_shape(left).rank
    if rank not in (_PLAIN, _BATCHED) or array_shape(right).rank != rank:
        raise refused(call, "its operands are not two matrices, or two batches of them")
    shape = array_shape(call)
    last, batch = (rank - 1,), tuple(range(rank - _PLAIN))
    attributes: dict[str, str | tuple[int, ...]] = {"lhs_contracting_dims": last, "rhs_contracting_dims": last}
    if batch:
        attributes |= {"lhs_batch_dims": batch, "rhs_batch_dims": batch}
    product = ops.array("dot", shape.dimensions, (left, right), attributes, element_type=_F32)
    if len(call.operands) > 2 * _PLAIN:
        product = scaled(ops, product, call.operands[-1])
    return ops.convert(product, shape.element_type)


def expand_dequantize(ops: Ops, call: Instruction) -> Instruction:
    """Expands `__op$dequantize`: an array times its scales."""
    check_operands(call, 2)
    return ops.convert(_dequantized(ops, call, *call.operands), array_shape(call).element_type)


def _dequantized(ops: Ops, call: Instruction, value: Instruction, scale: Instruction) -> Instruction:
    dims, blocks = array_shape(value).dimensions, array_shape(scale).dimensions
    if not dims or dims[:-1] != blocks[:-1] or not blocks[-1] or dims[-1] % blocks[-1]:
        raise refused(call, f"scales {array_shape(scale)} are not one for each block of {array_shape(value)}")
    factors = ops.broadcast(plain(ops, scale, _F32), (*blocks, dims[-1] // blocks[-1]), range(len(blocks)))
    return ops.like("multiply", plain(ops, value, _F32), ops.reshape(factors, dims))
