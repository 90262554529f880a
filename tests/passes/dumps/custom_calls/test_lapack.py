"""The factorizations of GPU programs equal their definitions: real and complex, with batch dimensions and info."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, entry_arrays, prepare, run_module
from dialect_utils.execution.custom_calls import _ROUTINES, is_lapack
from dialect_utils.hlo import parse_module
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from dialect_utils.text import DiagnosticError
from passes.dumps.custom_calls.lapack import CPU_EXPANSIONS
from passes.dumps.executable import executable_form, is_optimized_dump
from passes.dumps.expand_custom_calls import expand_custom_calls
from passes.dumps.make_portable import make_portable
from passes.framework.pipeline import verify
from tests.passes.dump_files import UNOPTIMIZED

Array = NDArray[Any]
NAMES = {"float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128", "int32": "s32"}
TYPES = ("float64", "complex128")


def matrices(kind: str, *dims: int) -> Array:
    rng = np.random.default_rng(sum(dims))
    found = rng.standard_normal(dims)
    return (found + 1j * rng.standard_normal(dims) if kind.startswith("complex") else found).astype(kind)


def adjoint(a: Array) -> Array:
    return a.conj().swapaxes(-1, -2)


def shape_of(kind: str, *dims: int, rank: int) -> str:
    """Returns a shape with its layout: by columns if it is one of matrices."""
    order = [*range(len(dims))][::-1]
    order = [len(dims) - 2, len(dims) - 1, *order[2:]] if len(dims) == rank else order
    layout = f"{{{','.join(map(str, order))}}}" if dims else ""
    return f"{NAMES[kind]}[{','.join(map(str, dims))}]{layout}"


def call_text(target: str, config: str, operands: list[Array], results: list[tuple[str, tuple[int, ...]]]) -> str:
    rank = max(a.ndim for a in operands)
    given = [shape_of(a.dtype.name, *a.shape, rank=rank) for a in operands]
    made = [shape_of(kind, *dims, rank=rank) for kind, dims in results]
    lines = [f"  p{i} = {shape} parameter({i})" for i, shape in enumerate(given)]
    lines.append(
        f"  ROOT r = {made[0] if len(made) == 1 else '(' + ', '.join(made) + ')'} custom-call("
        f'{", ".join(f"p{i}" for i in range(len(given)))}), custom_call_target="{target}", '
        f"operand_layout_constraints={{{', '.join(given)}}}, api_version=API_VERSION_TYPED_FFI, "
        f"backend_config={{{config}}}"
    )
    return "\n".join(["HloModule m", "ENTRY e {", *lines, "}"])


def run(
    worker: Worker, target: str, config: str, operands: list[Array], *results: tuple[str, tuple[int, ...]]
) -> list[Array]:
    module = parse_module(call_text(target, config, operands, list(results)), "dump.hlo")
    assert is_optimized_dump(module)
    make_portable(module)
    verify(module)
    again = parse_module(module.text())
    make_portable(again)
    assert again.text() == module.text()
    return worker.run(prepare(module, target), [operands], options=UNOPTIMIZED)[0]


def check(found: Array, wanted: Array) -> None:
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < (
        1e-10 if found.dtype.itemsize * (1 + (found.dtype.kind != "c")) > 8 else 1e-4
    )


def real(kind: str) -> str:
    return {"complex128": "float64", "complex64": "float32"}.get(kind, kind)


@pytest.mark.parametrize("kind", [*TYPES, "float32", "complex64"])
def test_cholesky_factors_and_the_order_of_a_minor_without_one(kind: str, worker: Worker) -> None:
    a = matrices(kind, 2, 4, 4)
    a = a @ adjoint(a) + np.eye(4, dtype=kind)
    a[1, 2, 2] = -1
    results = (kind, a.shape), ("int32", (2,))
    factor, info = run(worker, "cusolver_potrf_ffi", "lower = true", [a], *results)
    lower = np.tril(factor[0])
    check(lower @ adjoint(lower), a[0])
    assert list(info) == [0, 3]
    factor, _ = run(worker, "cusolver_potrf_ffi", "lower = false", [a], *results)
    check(adjoint(np.triu(factor[0])) @ np.triu(factor[0]), a[0])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", [(5, 3), (3, 5)])
def test_lu_with_pivots_order_of_rows_and_a_singular_matrix(kind: str, size: tuple[int, int], worker: Worker) -> None:
    m, n = size
    a = matrices(kind, 2, m, n)
    a[1, :, 1] = 0
    factors, pivots, info = run(
        worker, "cusolver_getrf_ffi", "", [a], (kind, a.shape), ("int32", (2, 3)), ("int32", (2,))
    )
    [order] = run(worker, "cu_lu_pivots_to_permutation", "", [pivots - 1], ("int32", (2, m)))
    assert list(info) == [0, 2]
    lower, upper = np.tril(factors[0], -1)[:, :3] + np.eye(m, 3), np.triu(factors[0])[:3]
    check(lower @ upper, a[0][order[0]])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", [(5, 3), (3, 3)])
def test_qr_the_orthogonal_factor_and_products_with_it(kind: str, size: tuple[int, int], worker: Worker) -> None:
    a = matrices(kind, 2, *size)
    packed, scales = run(worker, "cusolver_geqrf_ffi", "", [a], (kind, a.shape), (kind, (2, 3)))
    [q] = run(worker, "cusolver_orgqr_ffi", "", [packed, scales], (kind, a.shape))
    check(q @ np.triu(packed)[:, :3], a)
    check(adjoint(q) @ q, np.broadcast_to(np.eye(3, dtype=kind), (2, 3, 3)))
    whole = np.linalg.qr(a, mode="complete")[0]
    whole = whole * (np.einsum("bij,bij->bj", whole.conj()[..., :3], q)[:, None] if size == (3, 3) else 1)
    c = matrices(kind, 2, size[0], 2)
    [there] = run(worker, "cusolver_ormqr_ffi", "left = true, transpose = false", [packed, scales, c], (kind, c.shape))
    [back] = run(
        worker, "cusolver_ormqr_ffi", "left = true, transpose = true", [packed, scales, there], (kind, c.shape)
    )
    check(back, c)
    if size == (3, 3):
        check(there, q @ c)
        [right] = run(
            worker,
            "cusolver_ormqr_ffi",
            "left = false, transpose = false",
            [packed, scales, adjoint(c)],
            (kind, (2, 2, 3)),
        )
        check(right, adjoint(c) @ q)


@pytest.mark.parametrize("kind", [*TYPES, "float32"])
@pytest.mark.parametrize("triangle", ["true", "false"])
def test_eigenvalues_and_vectors_read_one_triangle(kind: str, triangle: str, worker: Worker) -> None:
    a = matrices(kind, 2, 4, 4)
    a = a + adjoint(a)
    given = np.tril(a) if triangle == "true" else np.triu(a)
    config = f"algorithm = 0 : ui8, lower = {triangle}"
    results = (kind, a.shape), (real(kind), (2, 4)), ("int32", (2,))
    vectors, values, info = run(worker, "cusolver_syevd_ffi", config, [given], *results)
    check(a @ vectors, vectors * values[:, None])
    assert not info.any()
    packed, diagonal, beside, _, _ = run(
        worker,
        "cusolver_sytrd_ffi",
        f"lower = {triangle}",
        [given],
        (kind, a.shape),
        (real(kind), (2, 4)),
        (real(kind), (2, 3)),
        (kind, (2, 3)),
        ("int32", (2,)),
    )
    assert packed.shape == a.shape
    tridiagonal = [np.diag(d) + np.diag(e, 1) + np.diag(e, -1) for d, e in zip(diagonal, beside, strict=True)]
    check(np.linalg.eigvalsh(np.stack(tridiagonal)), values)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", [(5, 3), (3, 5)])
@pytest.mark.parametrize("is_whole", [True, False])
def test_singular_values_and_vectors(kind: str, size: tuple[int, int], is_whole: bool, worker: Worker) -> None:
    a = matrices(kind, 2, *size)
    m, n = size
    rows, columns = size if is_whole else (3, 3)
    first, values = (kind, a.shape), (real(kind), (2, 3))
    u, vh, v = (kind, (2, m, rows)), (kind, (2, columns, n)), (kind, (2, n, columns))
    config = f"compute_uv = true, full_matrices = {str(is_whole).lower()}"
    info = ("int32", (2,))
    for target in ("cusolver_gesvdj_ffi", "cusolver_gesvdp_ffi"):
        _, s, left, right, _ = run(worker, target, config, [a], first, values, u, v, info)
        check((left[..., :3] * s[:, None]) @ adjoint(right[..., :3]), a)
    _, s, left, right, _ = run(
        worker, "cusolver_gesvd_ffi", f"{config}, transposed = false", [a], first, values, u, vh, info
    )
    check((left[..., :3] * s[:, None]) @ right[:, :3], a)
    _, s, right, left, _ = run(
        worker, "cusolver_gesvd_ffi", f"{config}, transposed = true", [a], first, values, vh, u, info
    )
    check((left[..., :3] * s[:, None]) @ right[:, :3], a)
    config = "compute_uv = false, full_matrices = false, transposed = false"
    none = (kind, ())
    _, alone, _, _, _ = run(worker, "cusolver_gesvd_ffi", config, [a], first, values, none, none, info)
    check(alone, s)


@pytest.mark.parametrize("kind", TYPES)
def test_eigenvectors_of_general_matrices(kind: str, worker: Worker) -> None:
    a = matrices(kind, 2, 5, 5)
    whole, values, info = ("complex128", a.shape), ("complex128", (2, 5)), ("int32", (2,))
    config = "left = false, right = true"
    _, w, _, packed, _ = run(
        worker, "cusolver_geev_ffi", config, [a], (kind, a.shape), values, (kind, a.shape), (kind, a.shape), info
    )
    parts = [("float64", (2, 5))] * 2 if kind == "float64" else [values]
    target = "cuhybrid_eig_real" if kind == "float64" else "cuhybrid_eig_comp"
    *found, _, vectors, _ = run(worker, target, f'{config}, magma = "auto"', [a], *parts, whole, whole, info)
    check(w, found[0] + 1j * found[1] if len(found) > 1 else found[0])
    check(a @ vectors, vectors * w[:, None])
    if kind == "complex128":
        check(packed, vectors)
        return
    for batch, column in np.argwhere(w.imag > 0):
        check(packed[batch, :, column] + 1j * packed[batch, :, column + 1], vectors[batch, :, column])
    assert (w.imag == 0).any(), "one eigenvalue is real"
    for batch, column in np.argwhere(w.imag == 0):
        check(packed[batch, :, column], vectors[batch, :, column].real)


@pytest.mark.parametrize("kind", TYPES)
def test_qr_with_exchanged_columns(kind: str, worker: Worker) -> None:
    a = matrices(kind, 5, 3)
    free = np.zeros(3, np.int32)
    packed, order, scales = run(
        worker, "cuhybrid_geqp3", 'magma = "auto"', [a, free], (kind, a.shape), ("int32", (3,)), (kind, (3,))
    )
    [q] = run(worker, "cusolver_orgqr_ffi", "", [packed, scales], (kind, a.shape))
    check(q @ np.triu(packed)[:3], a[:, order - 1])


@pytest.mark.parametrize("kind", TYPES)
def test_tridiagonal_solutions(kind: str, worker: Worker) -> None:
    below, on, above = matrices(kind, 3, 2, 4)
    b = matrices(kind, 2, 4, 3)
    below[:, 0] = above[:, -1] = 0
    [x] = run(worker, "cusparse_gtsv2_ffi", "", [below, on, above, b], (kind, b.shape))
    for i in range(2):
        check((np.diag(on[i]) + np.diag(below[i, 1:], -1) + np.diag(above[i, :-1], 1)) @ x[i], b[i])


def test_symmetric_products_and_factors_of_a_changed_matrix(worker: Worker) -> None:
    a, c = matrices("float64", 2, 3, 4), matrices("float64", 2, 3, 3)
    factors = [np.array(2.0), np.array(0.5)]
    [found] = run(worker, "cusolver_syrk_ffi", "transpose = false", [a, c, *factors], ("float64", c.shape))
    check(found, 2 * a @ adjoint(a) + c / 2)
    factor, row = np.triu(a[0, :, :3]) + 3 * np.eye(3), a[1, 0, :3]
    changed, _ = run(worker, "cu_cholesky_update_ffi", "", [factor, row], ("float64", (3, 3)), ("float64", (3,)))
    check(changed.T @ changed, factor.T @ factor + np.outer(row, row))
    assert np.array_equal(changed, np.triu(changed))


def test_a_type_without_a_routine_is_refused() -> None:
    text = call_text("cusolver_getrf_ffi", "", [matrices("float32", 3, 3)], [("float32", (3, 3))])
    with pytest.raises(DiagnosticError, match="LAPACK has no such routine for its types"):
        expand_custom_calls(parse_module(text.replace("f32", "bf16")))


def test_a_call_of_lapack_with_layouts_gets_operands_by_columns(worker: Worker) -> None:
    a = matrices("float64", 5, 3)
    results = [("float64", (5, 3)), ("float64", (3,))]
    text = call_text("lapack_dgeqrf_ffi", "", [a], results)
    made = executable_form(parse_module(text.replace("HloModule m", "HloModule m, is_scheduled=true")))
    assert "operand_layout_constraints" not in made.text()
    packed, _ = run_module(made, [a], worker=worker)
    check(np.abs(np.triu(packed)[:3]), np.abs(np.linalg.qr(a)[1]))


STABLEHLO = """
func.func @main(%a: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = stablehlo.custom_call @cusolver_potrf_ffi(%a) {backend_config = "", mhlo.backend_config = {lower = true},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)
  return %0#0 : tensor<3x3xf64>
}
"""


def test_a_stablehlo_source_that_calls_a_library_runs(worker: Worker) -> None:
    a = matrices("float64", 3, 3)
    a = a @ a.T + np.eye(3)
    form = executable_form(parse_stablehlo(STABLEHLO, "source.mlir"))
    assert [str(each) for each in entry_arrays(form)[0]] == ["f64[3,3]"]
    [factor] = run_module(form, [a], worker=worker)
    check(np.tril(factor), np.linalg.cholesky(a))


def test_every_routine_that_may_run_is_expanded() -> None:
    letters = {target: target.removeprefix("lapack_")[0] for target in CPU_EXPANSIONS}
    assert all(map(is_lapack, CPU_EXPANSIONS))
    routines = {target.removeprefix(f"lapack_{letter}").removesuffix("_ffi") for target, letter in letters.items()}
    assert routines == _ROUTINES.keys()
