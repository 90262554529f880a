"""Factorizations with batch dimensions, of complex matrices, and in double precision."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign.registry import campaign
from tests.corpus.programs.registry import A, arg

c64, f64, c128 = jnp.complex64, jnp.float64, jnp.complex128


def symmetric(a: A) -> A:
    return a + a.swapaxes(-1, -2).conj()


def definite(a: A) -> A:
    return a @ a.swapaxes(-1, -2).conj() / a.shape[-1] + jnp.eye(a.shape[-1], dtype=a.dtype)


@campaign(arg(4, 6, 6), on="v5e", precise=True)
def eigenvalues_batched(a: A) -> Any:
    return jnp.linalg.eigvalsh(symmetric(a))


@campaign(arg(2, 2, 5, 5), on="v6e", precise=True)
def eigenvectors_rank4_odd(a: A) -> Any:
    values, vectors = jnp.linalg.eigh(symmetric(a))
    return values, jnp.einsum("...ij,...j,...kj->...ik", vectors, values, vectors)


@campaign(arg(1, 1), arg(2, 2), arg(33, 33), on="v5e", precise=True)
def eigenvalues_of_small_and_odd_sizes(a: A, b: A, c: A) -> Any:
    return [jnp.linalg.eigvalsh(symmetric(each)) for each in (a, b, c)]


@campaign(arg(5, 16, 16), on="v4", precise=True)
def eigenvalue_gradient_batched(a: A) -> Any:
    return jax.grad(lambda m: jnp.linalg.eigvalsh(symmetric(m))[..., -1].sum())(a)


@campaign(arg(3, 8, 8), on="tpu7x", precise=True)
def matrix_function_by_eigenvalues(a: A) -> Any:
    values, vectors = jnp.linalg.eigh(symmetric(a) / 4)
    return (vectors * jnp.exp(values)[:, None, :]) @ vectors.swapaxes(1, 2)


@campaign(arg(4, 5, 5), on="v4", precise=True)
def singular_values_batched(a: A) -> Any:
    return jnp.linalg.svd(a, compute_uv=False)


@campaign(arg(9, 4), on="v5e", precise=True)
def singular_vectors_tall(a: A) -> Any:
    u, s, v = jnp.linalg.svd(a, full_matrices=False)
    return s, (u * s) @ v


@campaign(arg(2, 4, 7), on="v5p", precise=True)
def singular_vectors_wide_batched(a: A) -> Any:
    u, s, v = jnp.linalg.svd(a, full_matrices=False)
    return s, (u * s[:, None, :]) @ v


@campaign(arg(6, 6, fill="dominant"), on="v5e", precise=True)
def condition_rank_and_pseudoinverse(a: A) -> Any:
    return jnp.linalg.cond(a), jnp.linalg.norm(a, 2), jnp.linalg.matrix_rank(a), jnp.linalg.pinv(a)


@campaign(arg(3, 5, 4), on="v6e", precise=True)
def pseudoinverse_batched(a: A) -> Any:
    return jnp.linalg.pinv(a)


@campaign(arg(6, 3, 12), on="v5e", precise=True)
def mapped_singular_values(a: A) -> Any:
    return jax.vmap(lambda m: jnp.linalg.svd(m @ m.T, compute_uv=False))(a)


@campaign(arg(8, 8), on="v5p", precise=True)
def polar_factors(a: A) -> Any:
    u, p = jax.scipy.linalg.polar(a + 4 * jnp.eye(8), method="svd")
    return u, p


@campaign(arg(7, 7, dtype=c64), on="v5e", precise=True)
def complex_cholesky_factor(a: A) -> Any:
    return jnp.linalg.cholesky(definite(a))


@campaign(arg(3, 2, 5, 5, dtype=c64), on="v4", precise=True)
def complex_cholesky_batched(a: A) -> Any:
    return jnp.linalg.cholesky(definite(a))


@campaign(arg(6, 6, dtype=c64), on="v5e", precise=True)
def complex_eigenvalues(a: A) -> Any:
    return jnp.linalg.eigvalsh(symmetric(a))


@campaign(arg(2, 5, 5, dtype=c64), on="v6e", precise=True)
def complex_eigenvectors_batched(a: A) -> Any:
    values, vectors = jnp.linalg.eigh(symmetric(a))
    return values, jnp.einsum("bij,bj,bkj->bik", vectors, values.astype(c64), vectors.conj())


@campaign(arg(7, 4, dtype=c64), on="v5e", precise=True)
def complex_qr_reduced(a: A) -> Any:
    q, r = jnp.linalg.qr(a)
    return jnp.abs(r), q @ r, q.conj().T @ q


@campaign(arg(3, 4, 6, dtype=c64), on="v5p", precise=True)
def complex_qr_wide_batched(a: A) -> Any:
    q, r = jnp.linalg.qr(a)
    return jnp.abs(r), q @ r


@campaign(arg(8, 8, dtype=c64), arg(8, 3, dtype=c64), on="v6e", precise=True)
def complex_solve(a: A, b: A) -> Any:
    return jnp.linalg.solve(a + 6 * jnp.eye(8), b)


@campaign(arg(2, 3, 6, 6, dtype=c64), on="v4", precise=True)
def complex_inverse_and_determinant_batched(a: A) -> Any:
    shifted = a + 5 * jnp.eye(6)
    return jnp.linalg.inv(shifted), jnp.linalg.det(shifted)


@campaign(arg(6, 4, dtype=c64), on="v5e", precise=True)
def complex_singular_values(a: A) -> Any:
    return jnp.linalg.svd(a, compute_uv=False)


@campaign(arg(2, 7, 7, dtype=c64), arg(2, 7, 3, dtype=c64), on="tpu7x", precise=True)
def complex_triangular(a: A, b: A) -> Any:
    lower = jnp.tril(a) + 4 * jnp.eye(7)
    return lax.linalg.triangular_solve(lower, b, left_side=True, lower=True, transpose_a=True, conjugate_a=True)


@campaign(arg(8, 8, dtype=f64), on="v5e", x64=True)
def double_cholesky_factor(a: A) -> Any:
    return jnp.linalg.cholesky(definite(a))


@campaign(arg(2, 3, 5, 5, dtype=f64), on="v4", x64=True)
def double_cholesky_batched(a: A) -> Any:
    return jnp.linalg.cholesky(definite(a))


@campaign(arg(9, 5, dtype=f64), on="v5e", x64=True)
def double_qr_reduced(a: A) -> Any:
    q, r = jnp.linalg.qr(a)
    return jnp.abs(r), q @ r


@campaign(arg(2, 4, 4, dtype=f64), on="v5p", x64=True)
def double_qr_batched(a: A) -> Any:
    q, r = jnp.linalg.qr(a)
    return jnp.abs(r), q @ r


@campaign(arg(8, 8, dtype=f64), arg(8, 2, dtype=f64), on="v6e", x64=True)
def double_solve(a: A, b: A) -> Any:
    return jnp.linalg.solve(a + 9 * jnp.eye(8), b)


@campaign(arg(3, 6, 6, dtype=f64), on="v4", x64=True)
def double_inverse_and_determinant_batched(a: A) -> Any:
    shifted = a + 7 * jnp.eye(6)
    return jnp.linalg.inv(shifted), jnp.linalg.slogdet(shifted)[1]


@campaign(arg(6, 6, dtype=f64), on="v5p", x64=True)
def double_eigenvalues(a: A) -> Any:
    return jnp.linalg.eigvalsh(symmetric(a))


@campaign(arg(2, 5, 5, dtype=f64), on="v5e", x64=True)
def double_eigenvalues_batched(a: A) -> Any:
    return jnp.linalg.eigvalsh(symmetric(a))


@campaign(arg(6, 4, dtype=f64), on="v6e", x64=True)
def double_singular_values(a: A) -> Any:
    return jnp.linalg.svd(a, compute_uv=False)


@campaign(arg(5, 5, dtype=c128), on="v5e", x64=True)
def double_complex_cholesky(a: A) -> Any:
    return jnp.linalg.cholesky(definite(a))


@campaign(arg(2, 4, 4, dtype=c128), arg(2, 4, 2, dtype=c128), on="v5p", x64=True)
def double_complex_solve(a: A, b: A) -> Any:
    return jnp.linalg.solve(a + 5 * jnp.eye(4), b), jnp.linalg.det(a)


@campaign(arg(3, 4, 9, 6), on="v5p", precise=True)
def qr_complete_batched(a: A) -> Any:
    q, r = jnp.linalg.qr(a, mode="complete")
    return jnp.abs(r), q @ r


@campaign(arg(2, 3, 9, 9), arg(2, 3, 9, 1), on="v5e", precise=True)
def solve_rank4(a: A, b: A) -> Any:
    return jnp.linalg.solve(a + 6 * jnp.eye(9), b), jnp.linalg.det(a / 2)


@campaign(arg(12, 7), on="v6e", precise=True)
def lu_of_a_tall_matrix(a: A) -> Any:
    factors, pivots, permutation = lax.linalg.lu(a)
    return factors, pivots, permutation


@campaign(arg(140, 140, fill="dominant"), arg(140, 3), on="v5e", precise=True)
def solve_of_several_blocks(a: A, b: A) -> Any:
    return jnp.linalg.solve(a, b), jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(definite(a)), True), b)


@campaign(arg(4, 6, 6), on="v4", precise=True)
def log_determinant_gradient(a: A) -> Any:
    return jax.grad(lambda m: jnp.linalg.slogdet(m + 5 * jnp.eye(6))[1].sum())(a)


@campaign(arg(10, 4), on="tpu7x", precise=True)
def least_squares(a: A) -> Any:
    return jnp.linalg.lstsq(a, a.sum(1))[0]


@campaign(arg(7, 7), on="v5e", precise=True)
def tridiagonal_reduction(a: A) -> Any:
    return jnp.linalg.matrix_power(symmetric(a) / 4, 3), jax.scipy.linalg.expm(a / 4)
