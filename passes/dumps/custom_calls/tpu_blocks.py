"""The blocks of linear algebra that TPUs compute in one custom call.

Matrices of complex numbers and of f64 come in halves (see halves.py), and so do the results. That a call other than
LU's has two operands means complex numbers: libtpu 0.0.51 and 0.0.52 compute those of f64 without a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from dialect_utils.hlo import Instruction, parse_module
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from passes.dumps.custom_calls.call_config import check_operands, refused
from passes.dumps.custom_calls.halves import combined, high_half, low_half
from passes.dumps.custom_calls.linear_algebra.eigh import eigh
from passes.dumps.custom_calls.linear_algebra.lu import lu
from passes.dumps.custom_calls.linear_algebra.qr import qr
from passes.dumps.custom_calls.linear_algebra.triangles import cholesky, compact_wy, invert_triangular
from passes.dumps.hlo_ops import Ops, tuple_elements
from passes.dumps.splicing import splice

_F32, _F64, _C64 = ELEMENT_TYPES["f32"], ELEMENT_TYPES["f64"], ELEMENT_TYPES["c64"]
_MATRIX_RANK = 2


@dataclass(frozen=True, slots=True)
class Block:
    """A custom call on matrices: the program that it is, how many it takes, and what two halves make of one."""

    program: Callable[[ArrayShape], str]
    takes: int = 1
    in_halves: ElementType | None = _C64
    whole: ElementType | None = _F32

    def __call__(self, ops: Ops, call: Instruction) -> Instruction:
        """Makes the program's instructions; raises DiagnosticError for other operands."""
        counts = (self.takes * (self.whole is not None), 2 * self.takes * (self.in_halves is not None))
        check_operands(call, *filter(None, counts))
        self._check_matrices(call)
        if len(call.operands) == self.takes:
            return self._spliced(ops, call, call.operands)
        assert self.in_halves is not None  # the number of operands says so
        pairs = zip(call.operands[::2], call.operands[1::2], strict=True)
        joined = [combined(ops, low, high, self.in_halves) for low, high in pairs]
        result = self._spliced(ops, call, joined)
        return ops.tuple([half for value in _values(ops, result) for half in _halves(ops, value)])

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


def _halves(ops: Ops, value: Instruction) -> list[Instruction]:
    """Returns the halves of a complex number or an f64, and any other value alone."""
    kind = array_shape(value).element_type
    if kind not in (_C64, _F64):
        return [value]
    return [low_half(ops, value, _F32), high_half(ops, value, _F32)]


BLOCKS = {
    "Cholesky": Block(cholesky),
    "EighTpu": Block(eigh, takes=4, in_halves=None),
    "CompactWyHelper": Block(compact_wy),
    "InvertDiagBlocksLowerTriangular": Block(partial(invert_triangular, lower=True)),
    "InvertDiagBlocksUpperTriangular": Block(partial(invert_triangular, lower=False)),
    "LuRealDecompositionBlock": Block(lu, in_halves=_F64),
    "LuComplexDecompositionBlock": Block(lu, whole=None),
    "QrDecompositionBlock": Block(qr),
}
