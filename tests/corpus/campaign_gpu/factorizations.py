"""Factorizations as XLA:GPU has cuSOLVER compute them."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

c64, f64, c128 = jnp.complex64, jnp.float64, jnp.complex128


def definite(a: A) -> A:
    return a @ a.swapaxes(-1, -2).conj() / a.shape[-1] + jnp.eye(a.shape[-2], dtype=a.dtype)


def symmetric(a: A) -> A:
    return a + a.swapaxes(-1, -2).conj()


@on_gpu(arg(6, 6), arg(3, 5, 5, dtype=c64))
def gpu_cholesky(a: A, b: A) -> Any:
    return jnp.linalg.cholesky(definite(a)), jnp.linalg.cholesky(definite(b))


@on_gpu(arg(4, 4))
def gpu_cholesky_of_an_indefinite_matrix(a: A) -> Any:
    return lax.linalg.cholesky(symmetric(a) - 3 * jnp.eye(4))


@on_gpu(arg(6, 6), arg(6, 2))
def gpu_solve(a: A, b: A) -> Any:
    return jnp.linalg.solve(a + 5 * jnp.eye(6), b), jnp.linalg.det(a), jnp.linalg.inv(a + 5 * jnp.eye(6))


@on_gpu(arg(3, 6, 4), arg(2, 4, 5, dtype=c64))
def gpu_lu(a: A, b: A) -> Any:
    return lax.linalg.lu(a), lax.linalg.lu(b)


@on_gpu(arg(7, 4), arg(2, 4, 6))
def gpu_qr(a: A, b: A) -> Any:
    return [(jnp.abs(r), q @ r) for q, r in (jnp.linalg.qr(a), jnp.linalg.qr(b, mode="complete"))]


@on_gpu(arg(6, 6), arg(2, 5, 5, dtype=c64))
def gpu_eigenvectors(a: A, b: A) -> Any:
    found = []
    for m in (a, b):
        values, vectors = jnp.linalg.eigh(symmetric(m))
        found.append((values, jnp.einsum("...ij,...j,...kj->...ik", vectors, values, vectors.conj())))
    return found


@on_gpu(arg(6, 4), arg(2, 4, 6))
def gpu_singular_values(a: A, b: A) -> Any:
    found = []
    for m in (a, b):
        u, s, v = jnp.linalg.svd(m, full_matrices=False)
        found.append((s, (u * s[..., None, :]) @ v))
    return found, jax.numpy.linalg.svd(a, compute_uv=False)


@on_gpu(arg(5, 5), arg(2, 4, 4, dtype=c64))
def gpu_vectors_themselves(a: A, b: A) -> Any:
    return jnp.linalg.eigh(symmetric(a)), jnp.linalg.eigh(symmetric(b)), jnp.linalg.svd(a), jnp.linalg.qr(b)


@on_gpu(arg(40, 36), arg(36, 40, dtype=c64))
def gpu_larger_singular_vectors(a: A, b: A) -> Any:
    return [jnp.linalg.svd(m, full_matrices=is_whole) for m in (a, b) for is_whole in (False, True)]


def rebuilt(a: A, **options: Any) -> Any:
    u, s, v = lax.linalg.svd(a, full_matrices=False, **options)
    return s, (u * s[..., None, :]) @ v


def rebuilt_thrice(a: A, b: A) -> Any:
    return [rebuilt(m) for m in (a, b) for _ in range(3)]


@on_gpu(arg(6, 4), arg(2, 3, 5), reference=rebuilt_thrice)
def gpu_singular_values_by_other_methods(a: A, b: A) -> Any:
    ways = lax.linalg.SvdAlgorithm.QR, lax.linalg.SvdAlgorithm.POLAR, lax.linalg.SvdAlgorithm.JACOBI
    return [rebuilt(m, algorithm=way) for m in (a, b) for way in ways]


@on_gpu(arg(5, 5), arg(5, 2), arg(2, 4, 4), arg(2, 4, 3, dtype=jnp.float32))
def gpu_triangular_solutions(a: A, b: A, c: A, d: A) -> Any:
    lower, upper = jnp.tril(a) + 4 * jnp.eye(5), jnp.triu(c) + 4 * jnp.eye(4)
    solve = lax.linalg.triangular_solve
    return (
        solve(lower, b, left_side=True, lower=True), solve(lower, b.T, lower=True, transpose_a=True),
        solve(upper, d, left_side=True), solve(upper, d, left_side=True, transpose_a=True, unit_diagonal=True),
    )  # fmt: skip


@on_gpu(arg(6), arg(6), arg(6), arg(6, 2))
def gpu_tridiagonal_solution(below: A, on: A, above: A, b: A) -> Any:
    return lax.linalg.tridiagonal_solve(below.at[0].set(0), on + 5, above.at[-1].set(0), b)


@on_gpu(arg(7, 7), arg(7, 7, dtype=f64), x64=True)
def gpu_functions_of_matrices(a: A, b: A) -> Any:
    return jax.scipy.linalg.expm(a / 3), jnp.linalg.pinv(b), jnp.linalg.matrix_rank(b), jnp.linalg.slogdet(b)


@on_gpu(arg(9, 4), arg(9, 3))
def gpu_least_squares(a: A, b: A) -> Any:
    return jnp.linalg.lstsq(a, b)[0], jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(definite(a.T)), True), a.T @ b)


@on_gpu(arg(2, 5, 5), arg(5, 5, dtype=c128), x64=True)
def gpu_gradients_of_factorizations(a: A, b: A) -> Any:
    return (
        jax.grad(lambda m: jnp.linalg.cholesky(definite(m)).sum())(a),
        jax.grad(lambda m: jnp.linalg.slogdet(m + 6 * jnp.eye(5))[1].sum())(a),
        jax.grad(lambda m: jnp.linalg.eigvalsh(symmetric(m))[0])(b),
        jax.grad(lambda m: jnp.linalg.qr(m)[1].real.sum())(b),
    )


@on_gpu(arg(4, 4), arg(4))
def gpu_updated_factor(a: A, row: A) -> Any:
    return lax.linalg.cholesky_update(jnp.triu(a) + 5 * jnp.eye(4), row), lax.linalg.symmetric_product(
        a, definite(a), alpha=2.0, beta=0.5
    )


@on_gpu(arg(6, 6), arg(2, 4, 4))
def gpu_tridiagonal_and_permuted_forms(a: A, b: A) -> Any:
    return [lax.linalg.tridiagonal(symmetric(m), lower=True)[1] for m in (a, b)]
