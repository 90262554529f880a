"""Operations that the TPU compiler has its own calls or unusual forms for."""

from typing import Any

import jax.numpy as jnp
from jax import lax

from .registry import A, arg, program

bf16, f32, s8, s32 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32


@program(arg(4, 1500), on="v5e")
def approximate_maxima(x: A) -> Any:
    distinct = x + jnp.arange(1500) / 2**17  # equal values may come in any order
    return lax.approx_max_k(distinct, 5, recall_target=0.99, aggregate_to_topk=True)


@program(arg(3, 4000, dtype=bf16), on="v4")
def many_largest(x: A) -> Any:
    return lax.top_k(x, 64)


@program(arg(2, 3000), on="v6e")
def many_largest_v6e(x: A) -> Any:
    return lax.top_k(x, 100)[0], lax.top_k(-x, 16)[1]


@program(arg(8, 8, fill="dominant"), on="v5e")
def eigenvalues(a: A) -> Any:
    return jnp.linalg.eigvalsh(a + a.T)


@program(arg(12, 6), on="v4")
def singular_values(a: A) -> Any:
    return jnp.linalg.svd(a, compute_uv=False)


@program(arg(10, 4), arg(4, fill="small"), on="v5e")
def householder(a: A, taus: A) -> Any:
    return lax.linalg.householder_product(a, taus)


@program(arg(16, fill="positive"), arg(16, fill="small"), arg(16, fill="small"), arg(16, 3), on="v5e")
def tridiagonal(d: A, low: A, up: A, b: A) -> Any:
    return lax.linalg.tridiagonal_solve(low * (jnp.arange(16) > 0), d + 1, up * (jnp.arange(16) < 15), b)


@program(arg(32, 24), arg(4, 24, 40), arg(4, dtype=s32, fill="below:9"), on="v6e")
def ragged_product(x: A, w: A, sizes: A) -> Any:
    return lax.ragged_dot(x, w, sizes)


@program(arg(6, 140, fill="positive"), arg(6, 140, fill="positive"), on="v5p")
def special_functions(x: A, y: A) -> Any:
    return lax.lgamma(x), lax.erfc(x), lax.bessel_i0e(y), lax.logistic(x), lax.tan(x), lax.asinh(y), lax.igamma(x, y)


@program(arg(9, 200), arg(9, 200, dtype=s32, fill="below:3"), on="v4")
def select_among_three(x: A, which: A) -> Any:
    held = lax.optimization_barrier((x * 2, which))
    return lax.select_n(held[1], x, held[0], -x), jnp.nanmax(jnp.where(which == 2, jnp.nan, x), 1)


@program(
    arg(12, 140, dtype=jnp.float8_e4m3), arg(12, 140, dtype=jnp.float8_e3m4),
    arg(12, 140, dtype=jnp.float8_e8m0fnu, fill="positive"), on="tpu7x",
)  # fmt: skip
def eighths_ieee(x: A, y: A, z: A) -> Any:
    return (x.astype(f32) * y.astype(f32)).astype(jnp.float8_e3m4), x.T, y[2:], z.astype(bf16)


@program(arg(9, 130, dtype=jnp.float8_e4m3fnuz), arg(9, 130, dtype=jnp.float8_e5m2fnuz), on="v6e")
def eighths_fnuz(x: A, y: A) -> Any:
    return x.astype(f32) + y.astype(f32), x.T, y.reshape(130, 9)


@program(arg(32, 256, dtype=jnp.int2, fill="bits"))
def quarters(x: A) -> Any:
    return x.astype(s8) + 1  # a second use of a 2-bit argument ends the compiler's process


@program(arg(32, 256, dtype=jnp.uint2, fill="bits"), on="tpu7x")
def quarters_transposed(x: A) -> Any:
    return x[:16].T


@program(arg(16, 512, dtype=jnp.int4, fill="bits"), arg(512, 40, dtype=jnp.int4, fill="bits"), on="tpu7x")
def int4_product(x: A, w: A) -> Any:
    return lax.dot_general(x.astype(s8), w.astype(s8), (((1,), (0,)), ((), ())), preferred_element_type=s32)


@program(arg(20, 8, dtype=jnp.complex64), arg(20, dtype=jnp.complex64), on="v5e")
def complex_in_loop(x: A, y: A) -> Any:
    return lax.scan(lambda c, row: (c * 0.5 + row, c[:3]), y[:8], x)


@program(arg(5, 64, dtype=jnp.float64), arg(64, 8, dtype=jnp.float64), on="v5e", x64=True)
def double_precision_product(x: A, y: A) -> Any:
    return x @ y


@program(arg(300, dtype=jnp.int64, fill="bits"), arg(4, 5, dtype=jnp.uint64, fill="below:1000"), on="v6e", x64=True)
def wide_sort_and_divide(x: A, y: A) -> Any:
    return jnp.sort(x), y.cumsum(1)
