"""Reductions over dimensions and windows, variadic ones included, and running ones."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .registry import A, arg, program

bf16, f32, s8, s32 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32


@program(arg(20, 300), arg(7, 9, 130, dtype=bf16), on="v4")
def arg_extremes(x: A, y: A) -> Any:
    return jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.argmax(y, 1), (y.max((0, 2)), jnp.argmax(y))


@program(arg(18, 200), arg(18, 200, dtype=s32, fill="bits"), on="v6e")
def variadic_reduce(x: A, y: A) -> Any:
    def combine(left: tuple[A, A], right: tuple[A, A]) -> tuple[A, A]:
        return jnp.maximum(left[0], right[0]), left[1] ^ right[1]

    return lax.reduce((x, y), (jnp.float32(-9), s32(0)), combine, (0,)), x.prod(0, where=x > 1.2), jnp.all(y > x, 1)


@program(arg(9, 260), arg(30, 140, dtype=s32, fill="below:9"), on="v5e")
def running_reductions(x: A, y: A) -> Any:
    return lax.cummax(x, 1), jnp.cumprod(x[:, :12] * 0.5, 1), lax.cummin(y, 0, reverse=True), lax.cumlogsumexp(x, 0)


@program(arg(2, 12, 200), arg(40, 30, dtype=s32, fill="below:100"), on="v4")
def windows(x: A, y: A) -> Any:
    return (
        lax.reduce_window(x, 0.0, lax.add, (1, 3, 5), (1, 2, 3), ((0, 0), (1, 1), (2, 2))),
        lax.reduce_window(y, s32(0), lax.max, (4, 3), (4, 1), "SAME"),
        lax.reduce_window(x[0], 0.0, lax.add, (2, 2), (1, 1), "VALID", window_dilation=(3, 2)),
    )


# Every bit pattern once or so: where maxima tie, backends choose different ones.
@program(arg(2, 10, 10, 20, dtype=s32, fill="bits"), arg(2, 5, 5, 20), on="v5p")
def max_pool_gradient(places: A, cotangent: A) -> Any:
    x = places.astype(f32)

    def pool(x: A) -> A:
        return jnp.asarray(lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"))

    return jax.vjp(pool, x)[1](cotangent)[0]


@program(arg(11, 256, dtype=bf16), arg(11, 256, dtype=s8, fill="bits"), on="tpu7x")
def narrow_reductions(x: A, y: A) -> Any:
    return x.sum(1), x.max(0), y.astype(s32).sum(), y.min(1), jnp.any(y > 120, 0), jnp.linalg.norm(x.astype(f32))


@program(arg(2, 3, 140, 5), on="v5e")
def moments(x: A) -> Any:
    return x.mean((0, 2)), x.var((1, 3)), jax.nn.logsumexp(x, 2), x.sum((0, 1, 3)), (x**2).sum()
