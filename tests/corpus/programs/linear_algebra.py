"""Factorizations, triangular systems, Fourier transforms and complex products."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .registry import A, arg, program

c64 = jnp.complex64


@program(arg(24, 24, fill="dominant"), arg(24, 5), on="v5e")
def cholesky_solve(a: A, b: A) -> Any:
    factor = jnp.linalg.cholesky(a + a.T)
    return factor, lax.linalg.triangular_solve(factor, b, left_side=True, lower=True)


@program(arg(3, 9, 9, fill="dominant"), arg(3, 9, 4), on="v4")
def batched_triangular(a: A, b: A) -> Any:
    lower = lax.linalg.triangular_solve(jnp.tril(a), b, left_side=True, lower=True, unit_diagonal=False)
    upper = lax.linalg.triangular_solve(jnp.triu(a), b.swapaxes(1, 2), left_side=False, lower=False, transpose_a=True)
    return lower, upper


@program(arg(20, 20, fill="dominant"), arg(20, 3), on="v6e")
def lu_solve(a: A, b: A) -> Any:
    return jnp.linalg.solve(a, b), jnp.linalg.slogdet(a)[1]


@program(arg(18, 7), on="v5e")
def qr_reduced(a: A) -> Any:
    q, r = jnp.linalg.qr(a)
    return jnp.abs(q), jnp.abs(r), q @ r


@program(arg(6, 32), arg(12, 16), on="v5p")
def fourier(x: A, y: A) -> Any:
    return jnp.fft.fft(x), jnp.fft.irfft(jnp.fft.rfft(y) * 2), jnp.abs(jnp.fft.fft2(y))


@program(arg(9, 14, dtype=c64), arg(14, 20, dtype=c64), on="v4")
def complex_product(x: A, y: A) -> Any:
    return x @ y, jnp.exp(1j * x.real), jnp.where(x.imag > 0, x, jnp.conj(x)).T


@program(arg(2, 12, 12, fill="dominant"), on="v4")
def cholesky_batched_gradient(a: A) -> Any:
    return jax.grad(lambda m: jnp.linalg.cholesky(m @ m.swapaxes(1, 2)).sum())(a)


@program(arg(10, 10, fill="small"), on="v6e")
def matrix_exponential(a: A) -> Any:
    return jax.scipy.linalg.expm(a), jnp.linalg.matrix_power(a + jnp.eye(10), 5)
