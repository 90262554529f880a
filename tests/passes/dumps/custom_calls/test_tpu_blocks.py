"""The blocks of linear algebra equal numpy's results, for one array or two halves, with batch dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.custom_calls.linear_algebra import BLOCKS
from passes.dumps.expand_custom_calls import expand_custom_calls
from tests.passes.dump_files import UNOPTIMIZED

Array = NDArray[Any]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as found:
        yield found


def call_text(target: str, results: str, *operands: str) -> str:
    lines = [f"  p{i} = {shape} parameter({i})" for i, shape in enumerate(operands)]
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    call = f'  ROOT r = {results} custom-call({names}), custom_call_target="{target}"'
    return "ENTRY e {\n" + "\n".join([*lines, call]) + "\n}\n"


def run(worker: Worker, target: str, results: str, *inputs: Array) -> list[Array]:
    shapes = [f"f32[{','.join(map(str, a.shape))}]" for a in inputs]
    module = parse_module(call_text(target, results, *shapes))
    expand_custom_calls(module)
    assert "custom-call" not in module.text()
    return worker.run(prepare(module, "<test>"), [[np.ascontiguousarray(a) for a in inputs]], options=UNOPTIMIZED)[0]


def halves(a: Array) -> list[Array]:
    if np.iscomplexobj(a):
        return [a.real.astype(np.float32), a.imag.astype(np.float32)]
    rounded = a.astype(np.float32)
    return [rounded, (a - rounded).astype(np.float32)]


def whole(low: Array, high: Array, *, is_complex: bool = True) -> Array:
    wide: Array = low + 1j * high if is_complex else low.astype(np.float64) + high
    return wide


def matrices(*dims: int) -> Array:
    return np.random.default_rng(0).standard_normal(dims).astype(np.float32)


def complex_matrices(*dims: int) -> Array:
    found: Array = matrices(*dims) + 1j * matrices(*dims)[..., ::-1, ::-1]
    return found


def transposed(a: Array) -> Array:
    return a.swapaxes(-1, -2).conj()


def check_lu(factors: Array, permutation: Array, a: Array, limit: float) -> None:
    rows, columns = a.shape[-2:]
    for lu, order, matrix in zip(factors, permutation, a, strict=True):
        lower, upper = np.tril(lu, -1)[:, :columns] + np.eye(rows, columns), np.triu(lu)[:columns]
        assert np.abs(lower).max() <= np.sqrt(2) + 1e-6
        assert np.abs(lower @ upper - matrix[order]).max() <= limit


def test_lu_of_real_and_complex_matrices_and_in_double_precision(worker: Worker) -> None:
    a = matrices(2, 9, 6)
    results = "(f32[2,9,6], s32[2,6], s32[2,9])"
    for target in ("LuDecomposition", "LuRealDecompositionBlock"):
        factors, pivots, permutation = run(worker, target, results, a)
        assert pivots.shape == (2, 6)
        check_lu(factors, permutation, a, 1e-5)
    results = "(f32[2,9,6], f32[2,9,6], s32[2,6], s32[2,9])"
    c = complex_matrices(2, 9, 6)
    low, high, _, permutation = run(worker, "LuComplexDecompositionBlock", results, *halves(c))
    check_lu(whole(low, high), permutation, c, 1e-5)
    d = np.random.default_rng(1).standard_normal((2, 9, 6))
    low, high, _, permutation = run(worker, "LuRealDecompositionBlock", results, *halves(d))
    assert np.abs(high).max() < 1e-6 * np.abs(low).max()
    check_lu(whole(low, high, is_complex=False), permutation, d, 1e-12)
    results = "(f32[2,9,6], f32[2,9,6], f32[2,9,6], f32[2,9,6], s32[2,6], s32[2,9])"
    *parts, _, permutation = run(worker, "LuComplexDecompositionBlock", results, *halves(d), *halves(d[::-1]))
    real, imaginary = (whole(*pair, is_complex=False) for pair in (parts[:2], parts[2:]))
    check_lu(real + 1j * imaginary, permutation, d + 1j * d[::-1], 1e-12)


def check_qr(worker: Worker, a: Array, packed: Array, taus: Array) -> None:
    """Multiplies the reflectors, one by one and in their compact form, and compares with the matrix."""
    rows, count = a.shape
    v = np.tril(packed, -1)[:, :count] + np.eye(rows, count)
    q: Array = np.eye(rows)
    for k in range(count):
        q = q @ (np.eye(rows) - taus[k] * np.outer(v[:, k], v[:, k].conj()))
    assert np.allclose(q @ np.triu(packed), a, atol=1e-5)
    assert np.allclose(q @ q.conj().T, np.eye(rows), atol=1e-5)
    x = (np.triu(v.conj().T @ v, 1) + np.eye(count)) * -taus
    shape = f"f32[{count},{count}]"
    if np.iscomplexobj(a):
        t = whole(*run(worker, "CompactWyHelper", f"({shape}, {shape})", *halves(x)))
    else:
        (t,) = run(worker, "CompactWyHelper", shape, x.astype(np.float32))
    assert np.allclose(np.eye(rows) + v @ t @ v.conj().T, q, atol=1e-5)


def test_qr_and_its_compact_form_agree_on_the_reflectors(worker: Worker) -> None:
    a = matrices(9, 6)
    check_qr(worker, a, *run(worker, "QrDecompositionBlock", "(f32[9,6], f32[6])", a))
    c = complex_matrices(7, 4)
    c[2:, 0] = 0  # a column with only an imaginary part left
    c[1, 0] = 0
    results = "(f32[7,4], f32[7,4], f32[4], f32[4])"
    parts = run(worker, "QrDecompositionBlock", results, *halves(c))
    check_qr(worker, c, whole(*parts[:2]), whole(*parts[2:]))


@pytest.mark.parametrize("n", [1, 5])
def test_eigenvectors_of_four_blocks_with_batch_dimensions(worker: Worker, n: int) -> None:
    a = matrices(2, 3, 2 * n, 2 * n)
    a = a + transposed(a)
    blocks = [part for half in np.split(a, 2, axis=2) for part in np.split(half, 2, axis=3)]
    values, vectors = f"f32[2,3,{n}]", f"f32[2,3,{n},{n}]"
    shape = f"({values}, {values}, {vectors}, {vectors}, {vectors}, {vectors})"
    upper, lower, *rows = run(worker, "EighTpu", shape, *blocks)
    found, q = np.concatenate([upper, lower], -1), np.block([rows[:2], rows[2:]])
    assert np.allclose(q @ a, found[..., None] * q, atol=1e-5)
    assert np.allclose(q @ transposed(q), np.eye(2 * n), atol=1e-5)
    assert np.allclose(np.sort(found, -1), np.linalg.eigvalsh(a), atol=1e-5)


def test_factors_and_inverses_of_triangles(worker: Worker) -> None:
    lower = np.tril(matrices(2, 5, 5)).astype(np.float32) + 4 * np.eye(5, dtype=np.float32)
    (factor,) = run(worker, "Cholesky", "f32[2,5,5]", lower @ transposed(lower))
    assert np.allclose(factor, lower, atol=1e-4)
    for name, triangle in (("Lower", lower), ("Upper", transposed(lower))):
        (inverse,) = run(worker, f"InvertDiagBlocks{name}Triangular", "f32[2,5,5]", triangle)
        assert np.allclose(inverse @ triangle, np.eye(5), atol=1e-5)
    pair = "(f32[2,5,5], f32[2,5,5])"
    lower = np.tril(complex_matrices(2, 5, 5), -1) + 4 * np.eye(5)
    factor = whole(*run(worker, "Cholesky", pair, *halves(lower @ transposed(lower))))
    assert np.allclose(factor, lower, atol=1e-4)
    inverse = whole(*run(worker, "InvertDiagBlocksLowerTriangular", pair, *halves(lower)))
    assert np.allclose(inverse @ lower, np.eye(5), atol=1e-5)


@pytest.mark.parametrize("target", BLOCKS)
@pytest.mark.parametrize("operands", [(), ("f32[4,4]",) * 3, ("f32[4,4]", "f32[4,5]"), ("f32[4]",)])
def test_other_operands_are_refused_by_name(target: str, operands: tuple[str, ...]) -> None:
    module = parse_module(call_text(target, "f32[4,4]", *operands))
    with pytest.raises(DiagnosticError, match=f"calls {target}, but it"):
        expand_custom_calls(module)
