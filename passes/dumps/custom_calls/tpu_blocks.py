"""The blocks of linear algebra that TPUs compute in one custom call.

Matrices of complex numbers and of f64 come in halves (see halves.py), those of c128 in halves of halves, and so do the
results. That a call other than LU's has two operands means complex numbers: libtpu 0.0.51 and 0.0.52 compute those of
f64 without a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from dialect_utils.hlo import Instruction, parse_module
from dialect_utils.hlo.ops import Ops, tuple_elements
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from passes.dumps.custom_calls.call_config import check_operands, refused
from passes.dumps.custom_calls.halves import combined, high_half, low_half
from passes.dumps.custom_calls.linear_algebra.eigh import eigh
from passes.dumps.custom_calls.linear_algebra.lu import lu
from passes.dumps.custom_calls.linear_algebra.qr import qr
from passes.dumps.custom_calls.linear_algebra.triangles import cholesky, compact_wy, invert_triangular
from passes.dumps.splicing import splice

_F32, _F64, _C64, _C128 = (ELEMENT_TYPES[name] for name in ("f32", "f64", "c64", "c128"))
_HALF = {_F64: _F32, _C64: _F32, _C128: _F64}
_MATRIX_RANK = 2


@dataclass(frozen=True, slots=True)
class Block:
    """A custom call on matrices: the program, how many it takes, and the type of one by the number of its parts."""

    program: Callable[[ArrayShape], str]
    takes: int = 1
    types: Mapping[int, ElementType] = field(default_factory=lambda: {1: _F32, 2: _C64})

    def __call__(self, ops: Ops, call: Instruction) -> Instruction:
        """Makes the program's instructions; raises DiagnosticError for other operands."""
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
        return splice(ops, parse_module(self.program(array_shape(operands[0])), call.callee or ""), operands)


def _values(ops: Ops, result: Instruction) -> list[Instruction]:
    if isinstance(result.shape, ArrayShape):
        return [result]
    return [ops.element(result, i) for i in range(len(tuple_elements(result)))]


def _joined(ops: Ops, parts: Sequence[Instruction], kind: ElementType) -> Instruction:
    """Makes a value of type `kind` of its halves, and those of theirs."""
    if kind not in _HALF:
        return parts[0]
    middle = len(parts) // 2
    low, high = (_joined(ops, half, _HALF[kind]) for half in (parts[:middle], parts[middle:]))
    return combined(ops, low, high, kind)


def _parts(ops: Ops, value: Instruction) -> list[Instruction]:
    """Returns the halves of a complex number or an f64, or theirs, and any other value alone."""
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
