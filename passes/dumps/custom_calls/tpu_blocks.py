"""The blocks of linear algebra that TPUs compute in one custom call, and the halves of 64- and 128-bit values.

The TPU compiler holds a complex number as real and imaginary part, an integer as lower and upper bits, and an f64 as
the sum of two f32: the rounded value, called low, and the rest. A matrix of complex numbers or f64 is two operands or
results of a call, one of c128 four. Two operands of a call other than LU's mean complex numbers: libtpu 0.0.51 and
0.0.52 compute on f64 without a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from dialect_utils.hlo import Instruction, parse_module
from dialect_utils.hlo.ops import PRED, Ops, tuple_elements
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from passes.dumps.custom_calls.call_config import check_operands, refused
from passes.dumps.custom_calls.linear_algebra import cholesky, compact_wy, eigh, invert_triangular, lu, qr
from passes.dumps.emitter.expressions import Expr, module_text
from passes.dumps.inline_fusions import splice

_F32, _F64, _C64, _C128 = (ELEMENT_TYPES[name] for name in ("f32", "f64", "c64", "c128"))
_HALF = {_F64: _F32, _C64: _F32, _C128: _F64}
_MATRIX_RANK = 2


@dataclass(frozen=True, slots=True)
class Block:
    """A custom call on matrices: the program, the number of matrices, and their type by the number of parts of each."""

    program: Callable[..., Expr | Sequence[Expr]]
    takes: int = 1
    types: Mapping[int, ElementType] = field(default_factory=lambda: {1: _F32, 2: _C64})

    def __call__(self, ops: Ops, call: Instruction) -> Instruction:
        """Builds the program's instructions; raises DiagnosticError for other operands."""
        check_operands(call, *(self.takes * parts for parts in self.types))
        self._check_matrices(call)
        parts = len(call.operands) // self.takes
        kind = self.types[parts]
        joined = [_joined(ops, call.operands[i : i + parts], kind) for i in range(0, len(call.operands), parts)]
        result = self._spliced(ops, call, joined)
        if parts == 1:
            return result
        return ops.tuple([part for value in _values(ops, result) for part in _parts(ops, value)])

    def _check_matrices(self, call: Instruction) -> None:
        shapes = {array_shape(operand).without_layout for operand in call.operands}
        if len(shapes) != 1 or min(shape.rank for shape in shapes) < _MATRIX_RANK:
            raise refused(call, "its operands are not matrices of one shape")

    def _spliced(self, ops: Ops, call: Instruction, operands: Sequence[Instruction]) -> Instruction:
        text = module_text([array_shape(operand) for operand in operands], self.program)
        return splice(ops, parse_module(text, call.callee or ""), operands)


def _values(ops: Ops, result: Instruction) -> list[Instruction]:
    if isinstance(result.shape, ArrayShape):
        return [result]
    return [ops.element(result, i) for i in range(len(tuple_elements(result)))]


def _joined(ops: Ops, parts: Sequence[Instruction], kind: ElementType) -> Instruction:
    """Builds a value of type `kind` from its parts: halves, or halves of halves."""
    if kind not in _HALF:
        return parts[0]
    middle = len(parts) // 2
    low, high = (_joined(ops, half, _HALF[kind]) for half in (parts[:middle], parts[middle:]))
    return combined(ops, low, high, kind)


def _parts(ops: Ops, value: Instruction) -> list[Instruction]:
    """Builds the parts of a complex number or an f64: halves, or halves of halves. Any other value is one part."""
    half = _HALF.get(array_shape(value).element_type)
    if half is None:
        return [value]
    return [part for each in (low_half, high_half) for part in _parts(ops, each(ops, value, half))]


BLOCKS = {
    "Cholesky": Block(cholesky),
    "EighTpu": Block(eigh, takes=4, types={1: _F32}),
    "CompactWyHelper": Block(compact_wy),
    "InvertDiagBlocksLowerTriangular": Block(partial(invert_triangular, lower=True)),
    "InvertDiagBlocksUpperTriangular": Block(partial(invert_triangular, lower=False)),
    "LuRealDecompositionBlock": Block(lu, types={1: _F32, 2: _F64}),
    "LuComplexDecompositionBlock": Block(lu, types={2: _C64, 4: _C128}),
    "QrDecompositionBlock": Block(qr),
}


_U32 = ELEMENT_TYPES["u32"]
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
    """Builds the low half of a value, of type `half`."""
    shape = array_shape(wide)
    if shape.element_type.is_complex:
        return ops.emit("real", ops.shape(half, shape.dimensions), (wide,))
    return ops.convert(wide, half)


def high_half(ops: Ops, wide: Instruction, half: ElementType) -> Instruction:
    """Builds the high half of a value, of type `half`."""
    kind, dims = array_shape(wide).type_and_dimensions
    if kind.is_complex:
        return ops.emit("imag", ops.shape(half, dims), (wide,))
    if kind.is_floating:
        return _rest(ops, wide)
    count = ops.filled(kind, dims, _HALF_BITS)
    return ops.convert(ops.like("shift-right-logical", wide, count), half)


def combined(ops: Ops, low: Instruction, high: Instruction, kind: ElementType) -> Instruction:
    """Builds a value of type `kind` from its halves."""
    dims = array_shape(low).dimensions
    if kind.is_complex:
        return ops.emit("complex", ops.shape(kind, dims), (low, high))
    if kind.is_floating:
        return ops.like("add", ops.convert(high, kind), ops.convert(low, kind))
    upper = ops.like("shift-left", ops.convert(high, kind), ops.filled(kind, dims, _HALF_BITS))
    # Through u32, since a signed low half would extend its sign.
    lower = ops.convert(ops.convert(low, _U32), kind)
    return ops.like("or", upper, lower)


def _rest(ops: Ops, wide: Instruction) -> Instruction:
    """Builds the rounding error of an f64 rounded to f32, 0 for infinities and NaN."""
    shape = array_shape(wide)
    high = ops.convert(wide, _F32)
    rest = ops.convert(ops.like("subtract", wide, ops.convert(high, shape.element_type)), _F32)
    is_finite = ops.emit("is-finite", ops.shape(PRED, shape.dimensions), (high,))
    return ops.emit("select", array_shape(rest), (is_finite, rest, ops.filled(_F32, shape.dimensions)))
