"""Values of 64 and 128 bits as the TPU compiler holds them: in two halves.

A complex number is its real and imaginary part, an integer its lower and upper bits, and an f64 the sum of two f32:
the rounded value, which the compiler calls low, and the rest.
"""

from __future__ import annotations

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import PRED, Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ElementType
from passes.dumps.custom_calls.call_config import check_operands

_U32, _F32 = ELEMENT_TYPES["u32"], ELEMENT_TYPES["f32"]
_HALF_BITS = "32"


def split_low(ops: Ops, call: Instruction) -> Instruction:
    """Expands `X64SplitLow` and `X128SplitLow`."""
    check_operands(call, 1)
    return low_half(ops, call.operands[0], array_shape(call).element_type)


def split_high(ops: Ops, call: Instruction) -> Instruction:
    """Expands `X64SplitHigh` and `X128SplitHigh`."""
    check_operands(call, 1)
    return high_half(ops, call.operands[0], array_shape(call).element_type)


def combine(ops: Ops, call: Instruction) -> Instruction:
    """Expands `X64Combine` and `X128Combine`."""
    check_operands(call, 2)
    low, high = call.operands
    return combined(ops, low, high, array_shape(call).element_type)


def low_half(ops: Ops, wide: Instruction, half: ElementType) -> Instruction:
    """Makes the low half of a value, of type `half`."""
    shape = array_shape(wide)
    if shape.element_type.is_complex:
        return ops.emit("real", ops.shape(half, shape.dimensions), (wide,))
    return ops.convert(wide, half)


def high_half(ops: Ops, wide: Instruction, half: ElementType) -> Instruction:
    """Makes the high half of a value, of type `half`."""
    kind, dims = array_shape(wide).type_and_dimensions
    if kind.is_complex:
        return ops.emit("imag", ops.shape(half, dims), (wide,))
    if kind.is_floating:
        return _rest(ops, wide)
    count = ops.filled(kind, dims, _HALF_BITS)
    return ops.convert(ops.like("shift-right-logical", wide, count), half)


def combined(ops: Ops, low: Instruction, high: Instruction, kind: ElementType) -> Instruction:
    """Makes a value of type `kind` of its halves."""
    dims = array_shape(low).dimensions
    if kind.is_complex:
        return ops.emit("complex", ops.shape(kind, dims), (low, high))
    if kind.is_floating:
        return ops.like("add", ops.convert(high, kind), ops.convert(low, kind))
    upper = ops.like("shift-left", ops.convert(high, kind), ops.filled(kind, dims, _HALF_BITS))
    # A signed low half must not spread its sign.
    lower = ops.convert(ops.convert(low, _U32), kind)
    return ops.like("or", upper, lower)


def _rest(ops: Ops, wide: Instruction) -> Instruction:
    """Makes what rounding an f64 to f32 leaves: 0 for infinities and NaN."""
    shape = array_shape(wide)
    high = ops.convert(wide, _F32)
    rest = ops.convert(ops.like("subtract", wide, ops.convert(high, shape.element_type)), _F32)
    is_finite = ops.emit("is-finite", ops.shape(PRED, shape.dimensions), (high,))
    return ops.emit("select", array_shape(rest), (is_finite, rest, ops.filled(_F32, shape.dimensions)))
