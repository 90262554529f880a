"""Factorizations as XLA:GPU has cuSOLVER compute them."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

c64, f64, c128 = jnp.complex64, jnp.float64, jnp.complex128


def definite(a: A) -> A:
    return a @ a.swapaxes(-1, -2).conj() / a.shape[-1] + jnp.eye(a.shape[-1], dtype=a.dtype)


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
