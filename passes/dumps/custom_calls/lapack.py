"""Factorizations of cuSOLVER and cuSPARSE in JAX's programs, as calls of LAPACK, which XLA:CPU runs.

Both libraries take and give the same arrays, since cuSOLVER follows LAPACK; only attributes, and the results of some
singular values and eigenvectors, differ. A call of LAPACK here has no layouts: LAPACK reads a matrix by columns, so
an operand f32[m,n] is transposed and written as f32[m,n] again, and a result is read likewise. Sources: the lowerings
of jax/_src/lax/linalg.py, and jaxlib/gpu/solver_kernels_ffi.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape
from passes.dumps.custom_calls.arithmetic import result_shapes
from passes.dumps.custom_calls.call_config import CallConfig, refused
from passes.dumps.custom_calls.linear_algebra import Exprs, cholesky, conjugate, counted, spliced, with_exchange
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import S32, Val, constant
from passes.dumps.emitter.expressions import Expr

_LAYOUTS = "operand_layout_constraints"
Attributes = Mapping[str, int | bool]
_LETTERS = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}
_ALL_VECTORS, _SOME_VECTORS, _NO_VECTORS, _VECTORS = map(ord, "ASNV")


def _routine(of: Exprs, real: str, of_complex: str, attributes: Attributes, results: Sequence[Val]) -> Exprs:
    """Returns the results of a routine for the type of the first operand."""
    kind = of[0].kind
    target = f"lapack_{_LETTERS[kind.name]}{of_complex if kind.is_complex else real}_ffi"
    config = ", ".join(f"{name} = {_written(value)}" for name, value in attributes.items())
    return _called(target, f"{{{config}}}", of, results)


def _called(target: str, config: str, operands: Exprs, results: Sequence[Val]) -> Exprs:
    """Returns the results of a call that reads and writes arrays of the operands' largest rank by columns."""
    code, rank = operands[0].code, max(len(each.dims) for each in operands)
    # A matrix by columns has the dimensions of the matrix: its transpose, reshaped.
    given = [(_transposed(each).reshape(*each.dims) if len(each.dims) == rank else each).value for each in operands]
    text = f', custom_call_target="{target}", api_version=API_VERSION_TYPED_FFI, backend_config={config}'
    if len(results) == 1:
        made = [code.emit("custom-call", results[0].kind, results[0].dims, given, text)]
    else:
        made = code.emit_tuple("custom-call", results, code.names(given), text)
    found = [Expr(code, each) for each in made]
    return [_from_columns(each) if len(each.dims) == rank else each for each in found]


def is_portable(call: Instruction) -> bool:
    """Is true for a call of LAPACK that has no layouts, as this file writes it."""
    return (call.callee or "").startswith("lapack_") and call.attribute(_LAYOUTS) is None


def _written(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value} : ui8"


def _from_columns(a: Expr) -> Expr:
    *batch, rows, columns = a.dims
    return _transposed(a.reshape(*batch, columns, rows))


def _transposed(a: Expr) -> Expr:
    rank = len(a.dims)
    return Expr(a.code, arrays.transpose(a.code, a.value, (*range(rank - 2), rank - 1, rank - 2)))


@dataclass(frozen=True, slots=True)
class _Given:
    """The attributes of a call, and the types of the results."""

    config: CallConfig
    results: Sequence[Val]

    def zeros(self, number: int) -> Val:
        return constant(self.results[number].kind, 0, self.results[number].dims)


Program = Callable[..., Exprs]


def _expand(program: Program, ops: Ops, call: Instruction) -> Instruction:
    shapes = result_shapes(call, len(list(call.shape.arrays())))
    given = _Given(CallConfig.of(call), [Val(shape.element_type, shape.dimensions) for shape in shapes])

    def made(*operands: Expr) -> Expr | Exprs:
        found = program(given, *operands)
        return found[0] if isinstance(call.shape, ArrayShape) else found

    if any(array_shape(operand).element_type.name not in (*_LETTERS, S32.name) for operand in call.operands):
        raise refused(call, "LAPACK has no such routine for its types")
    return spliced(ops, call, call.operands, made)


def _same(
    real: str, of_complex: str, attributes: Callable[[CallConfig], Attributes], given: _Given, *of: Expr
) -> Exprs:
    """Returns the results of a routine that has the operands and results of the call."""
    return _routine(of, real, of_complex, attributes(given.config), given.results)


def _itself(given: _Given, *operands: Expr) -> Exprs:
    """Returns the results of a call of LAPACK, without the layouts of the call."""
    call = given.config.call
    return _called(call.callee or "", call.attribute("backend_config") or "{}", operands, given.results)


def _triangle(config: CallConfig) -> Attributes:
    return {"uplo": ord("L" if config.flag("lower") else "U")}


def _sides(config: CallConfig) -> Attributes:
    return {f"compute_{side}": _VECTORS if config.flag(side) else _NO_VECTORS for side in ("left", "right")}


def _singular_values(given: _Given, a: Expr) -> Exprs:
    """Returns (the matrix, S, U, V^H, info): with V in place of V^H by Jacobi's method, V^H before U if transposed."""
    *batch, m, n = a.dims
    config = given.config
    is_whole, has_vectors = config.flag("full_matrices"), config.flag("compute_uv")
    mode = _NO_VECTORS if not has_vectors else _ALL_VECTORS if is_whole else _SOME_VECTORS
    rows, columns = (min(m, n), min(m, n)) if mode == _SOME_VECTORS else (m, n)
    u, v = Val(a.kind, (*batch, m, rows)), Val(a.kind, (*batch, columns, n))
    made = _routine([a], "gesdd", "gesdd", {"mode": mode}, [*given.results[:2], u, v, given.results[4]])
    first, second = made[2], made[3]
    if not has_vectors:
        first, second = (Expr(a.code, given.zeros(number)) for number in (2, 3))
    elif "transposed" not in config.fields:
        second = conjugate(_transposed(second))
    elif config.flag("transposed"):
        first, second = second, first
    return [*made[:2], first, second, made[4]]


def _packed_eigenvectors(given: _Given, a: Expr) -> Exprs:
    """Returns (the matrix, eigenvalues, left and right eigenvectors, info).

    The eigenvectors of a real matrix are real: a column with the real part of those of a pair of conjugates, then one
    with the imaginary part of the first.
    """
    attributes, (*_, values, _, vectors, info) = _sides(given.config), given.results
    if a.kind.is_complex:
        return [a, *_routine([a], "geev", "geev", attributes, [values, vectors, vectors, info])]
    part, whole = Val(a.kind, values.dims), Val(values.kind, vectors.dims)
    real, imaginary, left, right, ok = _routine([a], "geev", "geev", attributes, [part, part, whole, whole, info])
    is_first = imaginary.compare("GE", 0).broadcast(a.dims, *range(len(a.dims) - 2), len(a.dims) - 1)
    packed = [is_first.where(each.unary("real", a.kind), -each.unary("imag", a.kind)) for each in (left, right)]
    joined = a.code.emit("complex", values.kind, values.dims, [real.value, imaginary.value])
    return [a, Expr(a.code, joined), *packed, ok]


def _tridiagonal(given: _Given, *operands: Expr) -> Exprs:
    """Returns the solution for the diagonals below, on and above the main one, and the right-hand sides."""
    results = [Val(each.kind, each.dims) for each in operands]
    return [_routine(operands, "gtsv", "gtsv", {}, [*results, Val(S32, operands[3].dims[:-2])])[3]]


def _symmetric_product(given: _Given, a: Expr, c: Expr, alpha: Expr, beta: Expr) -> Exprs:
    """Returns alpha a a^T + beta c, or alpha a^T a + beta c."""
    a = _transposed(a) if given.config.flag("transpose") else a
    batch, rank = tuple(range(len(a.dims) - 2)), len(a.dims)
    product = arrays.dot(a.code, a.value, a.value, ((rank - 1,), (rank - 1,)), (batch, batch))
    return [alpha.broadcast(c.dims) * Expr(a.code, product) + beta.broadcast(c.dims) * c]


def _updated_factor(given: _Given, factor: Expr, row: Expr) -> Exprs:
    """Returns the upper Cholesky factor of R^T R + w^T w, and w."""
    product = arrays.dot(factor.code, factor.value, factor.value, ((0,), (0,)), ((), ()))
    added = row.broadcast(factor.dims, 0) * row.broadcast(factor.dims, 1)
    return [_transposed(cholesky(Expr(factor.code, product) + added)), row]


def _order_of_rows(given: _Given, pivots: Expr) -> Exprs:
    """Returns the order of the rows after the exchanges of each row with that of its pivot, one after another."""
    *batch, steps = pivots.dims
    count, size = prod(batch), given.results[0].dims[-1]
    order = Expr(pivots.code, constant(S32, 0, (count, size))).iota(1)

    def step(k: Expr, state: Exprs) -> Exprs:
        order, rows = state
        pivot = rows.at(0, k).reshape(count).broadcast(order.dims, 0)
        return [with_exchange(order, k, order.iota(1).compare("EQ", pivot)), rows]

    return [counted(steps, [order, pivots.reshape(count, steps)], step)[0].reshape(*batch, size)]


_SAME: dict[str, tuple[str, str, Callable[[CallConfig], Attributes]]] = {
    "potrf": ("potrf", "potrf", _triangle),
    "getrf": ("getrf", "getrf", lambda config: {}),
    "geqrf": ("geqrf", "geqrf", lambda config: {}),
    "orgqr": ("orgqr", "ungqr", lambda config: {}),
    "ormqr": ("ormqr", "unmqr", lambda config: {name: config.flag(name) for name in ("left", "transpose")}),
    "syevd": ("syevd", "heevd", lambda config: {"mode": _VECTORS, **_triangle(config)}),
    "sytrd": ("sytrd", "hetrd", _triangle),
}
_PROGRAMS: dict[str, Program] = {
    **{f"cusolver_{name}_ffi": partial(_same, *found) for name, found in _SAME.items()},
    **{f"cusolver_{name}_ffi": _singular_values for name in ("gesvd", "gesvdj", "gesvdp")},
    "cusolver_geev_ffi": _packed_eigenvectors,
    "cusolver_syrk_ffi": _symmetric_product,
    "cuhybrid_eig_real": partial(_same, "geev", "geev", _sides),
    "cuhybrid_eig_comp": partial(_same, "geev", "geev", _sides),
    "cuhybrid_geqp3": partial(_same, "geqp3", "geqp3", lambda config: {}),
    "cusparse_gtsv2_ffi": _tridiagonal,
    "cu_lu_pivots_to_permutation": _order_of_rows,
    "cu_cholesky_update_ffi": _updated_factor,
}
LAPACK_EXPANSIONS = {target: partial(_expand, program) for target, program in _PROGRAMS.items()}
# The routines of JAX on CPUs, in dumps that XLA:CPU has optimized.
_OF_CPUS = (
    "potrf getrf geqrf geqp3 orgqr ungqr ormqr unmqr gesdd gesvd syevd heevd geev gees gehrd sytrd hetrd gtsv trsm"
)
CPU_EXPANSIONS = {
    f"lapack_{letter}{name}_ffi": partial(_expand, _itself) for letter in _LETTERS.values() for name in _OF_CPUS.split()
}
