"""The blocks of linear algebra that TPUs compute in one custom call, and the halves of 64- and 128-bit values.

Each function takes arrays with any leading batch dimensions, of f32, f64, c64 or c128, and returns the results of the
call. The algorithms are those of xla/hlo/transforms/expanders (qr_expander, triangular_solve_expander, eigh_expander,
cholesky_expander) and of `jax.lax.linalg` (`_lu_unblocked`): loops without blocks, since a call gets one block.

The TPU compiler holds a complex number as real and imaginary part, an integer as lower and upper bits, and an f64 as
the sum of two f32: the rounded value, called low, and the rest. A matrix of complex numbers or f64 is two operands or
results of a call, one of c128 four. Two operands of a call other than LU's mean complex numbers: libtpu 0.0.51 and
0.0.52 compute on f64 without a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import prod

from dialect_utils.hlo import Instruction, parse_module
from dialect_utils.hlo.ops import PRED, Ops, tuple_elements
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from passes.dumps.custom_calls.call_config import check_operands, refused
from passes.dumps.emitter.arrays import compare
from passes.dumps.emitter.code import S32, Code, Val, constant, index, while_loop
from passes.dumps.emitter.expressions import Expr, joined, module_text
from passes.dumps.inline_fusions import splice

Exprs = Sequence[Expr]
Making = Callable[..., Expr | Sequence[Expr]]
# Jacobi's method converges quadratically: f32 needs six to eight sweeps up to n = 256.
_SWEEPS = 10
_NEGLIGIBLE = 1e-8


def cholesky(a: Expr) -> Expr:
    """Returns `Cholesky`: the lower triangular factor of a[..., n, n], NaN if the factor does not exist."""
    row, column = _positions(a)
    factor = Expr(a.code, a.code.emit("cholesky", a.kind, a.dims, [a.value], ", lower=true"))
    return row.compare("GE", column).where(factor, 0)


def invert_triangular(a: Expr, *, lower: bool) -> Expr:
    """Returns `InvertDiagBlocksLowerTriangular` or `...Upper...`: the inverse of each a[..., n, n]."""
    attributes = f"left_side=true, lower={'true' if lower else 'false'}, unit_diagonal=false"
    return _solution(a, _is_diagonal(a).convert(a.kind), attributes)


def compact_wy(x: Expr) -> Expr:
    """Returns `CompactWyHelper`: T of a product of reflectors I + V T V', from one matrix.

    The operand's diagonal is -tau, its strict upper part -tau[j] (V'V)[i, j]. Column by column
    T[:, j] = x[j, j] e_j + sum over i < j of T[:, i] x[i, j]; so T (I - striu(x)) = diag(x).
    """
    diagonal = _is_diagonal(x)
    unit_upper = diagonal.convert(x.kind) - x
    return _solution(unit_upper, diagonal.where(x, 0), "left_side=false, lower=false, unit_diagonal=true")


def _positions(a: Expr) -> tuple[Expr, Expr]:
    return a.iota(len(a.dims) - 2), a.iota(len(a.dims) - 1)


def _is_diagonal(a: Expr) -> Expr:
    row, column = _positions(a)
    return row.compare("EQ", column)


def _solution(a: Expr, b: Expr, attributes: str) -> Expr:
    text = f", {attributes}, transpose_a=NO_TRANSPOSE"
    return Expr(a.code, a.code.emit("triangular-solve", b.kind, b.dims, [a.value, b.value], text))


def counted(count: int, initial: Exprs, step: Callable[[Expr, Exprs], Exprs]) -> Exprs:
    """Returns the final state of a loop of `count` iterations; `step` gets their number."""
    code = initial[0].code

    def body(inner: Code, state: list[Val]) -> list[Val]:
        number, *values = (Expr(inner, value) for value in state)
        return [(number + 1).value, *(each.value for each in step(number, values))]

    def goes_on(inner: Code, state: list[Val]) -> Val:
        return compare(inner, "LT", state[0], index(count))

    made = while_loop(code, [index(0), *(each.value for each in initial)], body, goes_on)
    return [Expr(code, value) for value in made[1:]]


def lu(given: Expr) -> Exprs:
    """Returns `LuRealDecompositionBlock` or `LuComplex...`: packed factors, pivots and row order of a[..., m, n].

    Each step exchanges rows k and p, then divides column k and subtracts the outer product.
    """
    *batch, rows, columns = given.dims
    count, least = prod(batch), min(rows, columns)
    a = given.reshape(count, rows, columns)
    pivots = Expr(a.code, constant(S32, 0, (count, least)))
    order = Expr(a.code, constant(S32, 0, (count, rows))).iota(1)
    a, pivots, order = counted(least, [a, pivots, order], _eliminated)
    return [a.reshape(*given.dims), pivots.reshape(*batch, least), order.reshape(*batch, rows)]


def _eliminated(k: Expr, state: Exprs) -> Exprs:
    a, pivots, order = state
    whole, some = a.dims, order.dims
    row, here = order.iota(1), k.broadcast(some)
    column = a.at(0, 0, k).reshape(*some)
    candidates = row.compare("GE", here).where(_magnitude(column), -1)
    pivot_row = _first_largest(candidates, row)
    is_k, is_pivot = row.compare("EQ", here), row.compare("EQ", pivot_row.broadcast(some, 0))
    row_k = a.at(0, k, 0).reshape(whole[0], whole[2]).broadcast(whole, 0, 2)
    row_pivot = is_pivot.broadcast(whole, 0, 1).where(a, 0).sum(1).broadcast(whole, 0, 2)
    swapped = is_k.broadcast(whole, 0, 1).where(row_pivot, is_pivot.broadcast(whole, 0, 1).where(row_k, a))
    pivot = swapped.at(0, k, k).reshape(whole[0]).broadcast(some, 0)
    column = swapped.at(0, 0, k).reshape(*some)
    factors = (row.compare("GT", here) & pivot.compare("NE", 0)).where(column / pivot, column)
    divided = swapped.update(factors.reshape(*some, 1), 0, 0, k)
    here = k.broadcast(whole)
    is_trailing = a.iota(1).compare("GT", here) & a.iota(2).compare("GT", here)
    changed = is_trailing.where(factors.broadcast(whole, 0, 1) * row_pivot, 0)
    order = with_exchange(order, k, is_pivot)
    return [divided - changed, pivots.update(pivot_row.reshape(whole[0], 1), 0, k), order]


def with_exchange(order: Expr, k: Expr, is_pivot: Expr) -> Expr:
    """Returns rows of numbers with the element of number k and the one that `is_pivot` marks exchanged."""
    whole = order.dims
    at_k = order.at(0, k).reshape(whole[0]).broadcast(whole, 0)
    at_pivot = is_pivot.where(order, 0).sum(1).broadcast(whole, 0)
    return order.iota(1).compare("EQ", k.broadcast(whole)).where(at_pivot, is_pivot.where(at_k, order))


def _magnitude(a: Expr) -> Expr:
    """Returns |a|; LAPACK and JAX choose the pivot of complex numbers by |re| + |im|."""
    if not a.kind.is_complex:
        return abs(a)
    return abs(a.unary("real", a.kind.part)) + abs(a.unary("imag", a.kind.part))


def _first_largest(values: Expr, positions: Expr) -> Expr:
    """Returns the position of the first largest value, or of a NaN, in each row."""
    code = values.code
    inner = Code(code.program, "first_largest")
    x, i, y, j = (Expr(inner, inner.parameter(kind, ())) for kind in (values.kind, S32, values.kind, S32))
    wins = x.compare("GT", y) | x.compare("NE", x)
    takes = wins | (x.compare("EQ", y) & i.compare("LT", j))
    inner.finish([takes.where(x, y).value, takes.where(i, j).value])
    kept = values.dims[:1]
    names = code.names([values.value, positions.value, constant(values.kind, -1), index(0)])
    results = [Val(values.kind, kept), Val(S32, kept)]
    return Expr(code, code.emit_tuple("reduce", results, names, f", dimensions={{1}}, to_apply=%{inner.name}")[1])


def qr(given: Expr) -> Exprs:
    """Returns `QrDecompositionBlock`: R above packed reflectors, and their scales, of a[..., m, n]."""
    *batch, rows, columns = given.dims
    count, least = prod(batch), min(rows, columns)
    scales = Expr(given.code, constant(given.kind, 0, (count, least)))
    a, scales = counted(least, [given.reshape(count, rows, columns), scales], _reflected)
    return [a.reshape(*given.dims), scales.reshape(*batch, least)]


def _reflected(k: Expr, state: Exprs) -> Exprs:
    """Builds LAPACK's reflector: beta = -sign(Re alpha) |x|, tau = (beta - alpha) / beta, v = x / (alpha - beta).

    The matrix becomes a - conj(tau) v v^H a. The reflector is the identity if all but Re alpha is 0.
    """
    a, scales = state
    whole, some, batch = a.dims, a.dims[:2], a.dims[0]
    row = Expr(a.code, constant(S32, 0, some)).iota(1)
    is_below, is_k = row.compare("GT", k.broadcast(some)), row.compare("EQ", k.broadcast(some))
    column = a.at(0, 0, k).reshape(*some)
    tail = is_below.where(column, 0)
    alpha = a.at(0, k, k).reshape(batch)
    real, imaginary = (alpha.unary(part, a.kind.part) for part in ("real", "imag"))
    rest = (tail * conjugate(tail)).unary("real", a.kind.part).sum(1) + imaginary * imaginary
    norm = (real * real + rest).unary("sqrt")
    is_done = rest.compare("EQ", 0)
    beta = is_done.where(real, real.compare("LT", 0).where(norm, -norm)).convert(a.kind)
    tau = is_done.where(0, (beta - alpha) / beta)
    reflected = tail / is_done.where(1, alpha - beta).broadcast(some, 0)
    v = is_k.where(1, reflected)
    projection = (conjugate(v).broadcast(whole, 0, 1) * a).sum(1)
    scaled = projection * conjugate(tau).broadcast((batch, whole[2]), 0)
    outer = v.broadcast(whole, 0, 1) * scaled.broadcast(whole, 0, 2)
    updated = a - a.iota(2).compare("GT", k.broadcast(whole)).where(outer, 0)
    packed = is_below.where(reflected, is_k.where(beta.broadcast(some, 0), column))
    return [updated.update(packed.reshape(*some, 1), 0, 0, k), scales.update(tau.reshape(batch, 1), 0, k)]


def conjugate(a: Expr) -> Expr:
    """Returns the complex conjugates of an array, which may be real."""
    if not a.kind.is_complex:
        return a
    parts = a.unary("real", a.kind.part), -a.unary("imag", a.kind.part)
    return Expr(a.code, a.code.emit("complex", a.kind, a.dims, [part.value for part in parts]))


# The quarters of a matrix: top and bottom, left and right.
_QUARTERS = ("tl", "tr", "bl", "br")
_ROWS, _COLUMNS = (("tl", "bl"), ("tr", "br")), (("tl", "tr"), ("bl", "br"))
Quarters = Mapping[str, Expr]


def eigh(*operands: Expr) -> Exprs:
    """Returns `EighTpu`: eigenvalues and eigenvectors of symmetric matrices given as four blocks a[..., n, n].

    The results are the eigenvalues of the upper and lower half, and the four blocks of a matrix whose rows are the
    eigenvectors. The algorithm is Jacobi's method in Brent and Luk's parallel order, as in XLA's eigh_expander.
    """
    given = operands[0]
    *batch, _, n = given.dims
    blocks = [each.reshape(prod(batch), n, n) for each in operands]
    identity, zeros = _is_diagonal(blocks[0]).convert(given.kind), blocks[0].number(0)
    made = counted(_SWEEPS * (2 * n - 1), [*blocks, identity, zeros, zeros, identity], _rotated)
    values = [_diagonal(made[i]).reshape(*batch, n) for i in (0, 3)]
    return [*values, *(each.reshape(*given.dims) for each in made[4:])]


def _diagonal(a: Expr) -> Expr:
    return _is_diagonal(a).where(a, 0).sum(2)


def _rotated(_: Expr, state: Exprs) -> Exprs:
    """Makes (tl, tr, br)[i, i] diagonal by a rotation for each i, all at once; then each index gets another partner."""
    a, z = dict(zip(_QUARTERS, state[:4], strict=True)), dict(zip(_QUARTERS, state[4:], strict=True))
    whole, is_diagonal = a["tl"].dims, _is_diagonal(a["tl"])
    p, q, r = (_diagonal(a[name]) for name in ("tl", "tr", "br"))
    is_done = abs(q).compare("LE", abs(p).binary("minimum", abs(r)) * _NEGLIGIBLE)
    tau = (r - p) / is_done.where(1, q * 2)
    root = (tau * tau + 1).unary("sqrt")
    t = is_done.where(0, 1 / (tau + tau.compare("GE", 0).where(root, -root)))
    cosine = (t * t + 1).unary("rsqrt")
    rotation = cosine, t * cosine
    by_rows, by_columns = (tuple(each.broadcast(whole, 0, dim) for each in rotation) for dim in (1, 2))
    turned = _turned(_turned(a, _ROWS, *by_rows), _COLUMNS, *by_columns)
    turned["tl"] = is_diagonal.where((p - t * q).broadcast(whole, 0, 2), turned["tl"])
    turned["br"] = is_diagonal.where((r + t * q).broadcast(whole, 0, 2), turned["br"])
    turned |= {name: is_diagonal.where(0, turned[name]) for name in ("tr", "bl")}
    moved = _exchanged(_exchanged(turned, _ROWS, 1), _COLUMNS, 2)
    vectors = _exchanged(_turned(z, _ROWS, *by_rows), _ROWS, 1)
    return [each[name] for each, name in product((moved, vectors), _QUARTERS)]


def _turned(a: Quarters, pairs: Sequence[tuple[str, str]], cosine: Expr, sine: Expr) -> dict[str, Expr]:
    found = {}
    for first, second in pairs:
        found[first] = a[first] * cosine - a[second] * sine
        found[second] = a[first] * sine + a[second] * cosine
    return found


def _exchanged(a: Quarters, pairs: Sequence[tuple[str, str]], dim: int) -> dict[str, Expr]:
    """Moves every index but the first to its next partner."""
    n = a["tl"].dims[dim]
    found = dict(a)
    for one, other in pairs if n > 1 else ():
        first, second = a[one], a[other]
        found[one] = joined([first.cut(dim, 0, 1), second.cut(dim, 0, 1), first.cut(dim, 1, n - 1)], dim)
        found[other] = joined([second.cut(dim, 1, n), first.cut(dim, n - 1, n)], dim)
    return found


_F32, _F64, _C64, _C128 = (ELEMENT_TYPES[name] for name in ("f32", "f64", "c64", "c128"))
_HALF = {_F64: _F32, _C64: _F32, _C128: _F64}
_MATRIX_RANK = 2


@dataclass(frozen=True, slots=True)
class Block:
    """A custom call on matrices: the program, the number of matrices, and their type by the number of parts of each."""

    program: Making
    takes: int = 1
    types: Mapping[int, ElementType] = field(default_factory=lambda: {1: _F32, 2: _C64})

    def __call__(self, ops: Ops, call: Instruction) -> Instruction:
        """Builds the program's instructions; raises DiagnosticError for other operands."""
        check_operands(call, *(self.takes * parts for parts in self.types))
        shapes = {array_shape(operand).without_layout for operand in call.operands}
        if len(shapes) != 1 or min(shape.rank for shape in shapes) < _MATRIX_RANK:
            raise refused(call, "its operands are not matrices of one shape")
        parts = len(call.operands) // self.takes
        kind = self.types[parts]
        joined = [_joined(ops, call.operands[i : i + parts], kind) for i in range(0, len(call.operands), parts)]
        result = spliced(ops, call, joined, self.program)
        if parts == 1:
            return result
        return ops.tuple([part for value in _values(ops, result) for part in _parts(ops, value)])


def spliced(ops: Ops, call: Instruction, operands: Sequence[Instruction], program: Making) -> Instruction:
    """Builds the instructions of a program on the operands of a call."""
    text = module_text([array_shape(operand) for operand in operands], program)
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
    "LuDecomposition": Block(lu, types={1: _F32}),
    "LuRealDecompositionBlock": Block(lu, types={1: _F32, 2: _F64}),
    "LuComplexDecompositionBlock": Block(lu, types={2: _C64, 4: _C128}),
    "QrDecompositionBlock": Block(qr),
}


_U32 = ELEMENT_TYPES["u32"]
_HALF_BITS = "32"


def split(ops: Ops, call: Instruction, *, half: Callable[[Ops, Instruction, ElementType], Instruction]) -> Instruction:
    """Expands `X64SplitLow`, `X64SplitHigh` and those of X128; `half` builds the half."""
    check_operands(call, 1)
    return half(ops, call.operands[0], array_shape(call).element_type)


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
        # The rounding error of an f64 rounded to f32, 0 for infinities and NaN.
        shape = array_shape(wide)
        high = ops.convert(wide, _F32)
        rest = ops.convert(ops.like("subtract", wide, ops.convert(high, shape.element_type)), _F32)
        is_finite = ops.emit("is-finite", ops.shape(PRED, shape.dimensions), (high,))
        return ops.emit("select", array_shape(rest), (is_finite, rest, ops.filled(_F32, shape.dimensions)))
    return ops.convert(ops.like("shift-right-logical", wide, ops.filled(kind, dims, _HALF_BITS)), half)


def combined(ops: Ops, low: Instruction, high: Instruction, kind: ElementType) -> Instruction:
    """Builds a value of type `kind` from its halves."""
    dims = array_shape(low).dimensions
    if kind.is_complex:
        return ops.emit("complex", ops.shape(kind, dims), (low, high))
    if kind.is_floating:
        return ops.like("add", ops.convert(high, kind), ops.convert(low, kind))
    upper = ops.like("shift-left", ops.convert(high, kind), ops.filled(kind, dims, _HALF_BITS))
    # Through u32, since a signed low half would extend its sign.
    return ops.like("or", upper, ops.convert(ops.convert(low, _U32), kind))
