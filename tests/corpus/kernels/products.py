"""Kernels that multiply matrices, in every type that the matrix unit takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from tests.corpus.kernels.registry import kernel
from tests.corpus.programs.registry import A, arg

PARALLEL = pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"))


def blocked_product(a: A, b: A, kind: Any, total: Any, steps: int = 2) -> Any:
    (m, k), n = a.shape, b.shape[1]
    tile = 128

    def body(a_ref: Any, b_ref: Any, out: Any, sums: Any) -> None:
        @pl.when(pl.program_id(2) == 0)
        def _() -> None:
            sums[...] = jnp.zeros_like(sums)

        sums[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=total)

        @pl.when(pl.program_id(2) == steps - 1)
        def _() -> None:
            out[...] = sums[...].astype(kind)

    return pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((m, n), kind),
        grid=(m // tile, n // tile, steps),
        in_specs=[
            pl.BlockSpec((tile, k // steps), lambda i, j, p: (i, p)),
            pl.BlockSpec((k // steps, tile), lambda i, j, p: (p, j)),
        ],
        out_specs=pl.BlockSpec((tile, tile), lambda i, j, p: (i, j)),
        scratch_shapes=[pltpu.VMEM((tile, tile), total)],
        compiler_params=PARALLEL,
    )(a, b)


@kernel(
    arg(256, 256, dtype=jnp.bfloat16, fill="coarse"),
    arg(256, 128, dtype=jnp.bfloat16, fill="coarse"),
    on="v6e",
    tolerance=2e-2,
)
def product_bf16(a: A, b: A) -> Any:
    return blocked_product(a, b, jnp.bfloat16, jnp.float32)


@kernel(arg(128, 256, dtype=jnp.int8, fill="bits"), arg(256, 128, dtype=jnp.int8, fill="bits"), tolerance=0)
def product_int8(a: A, b: A) -> Any:
    return blocked_product(a, b, jnp.int32, jnp.int32)


@kernel(
    arg(128, 256, dtype=jnp.float8_e4m3fn, fill="coarse"),
    arg(256, 128, dtype=jnp.float8_e5m2, fill="coarse"),
    on="tpu7x",
)
def product_f8(a: A, b: A) -> Any:
    return blocked_product(a, b, jnp.float32, jnp.float32)


@kernel(arg(128, 128, fill="coarse"), arg(128, 128, fill="coarse"), on="v5p")
def product_f32_transposed(a: A, b: A) -> Any:
    def body(a_ref: Any, b_ref: Any, nt: Any, tn: Any) -> None:
        highest = lax.Precision.HIGHEST
        dot: Callable[..., A] = lax.dot_general
        nt[...] = dot(a_ref[...], b_ref[...], (((1,), (1,)), ((), ())), precision=highest)
        tn[...] = dot(a_ref[...], b_ref[...], (((0,), (0,)), ((), ())), precision=highest)

    out = jax.ShapeDtypeStruct((128, 128), jnp.float32)
    return pl.pallas_call(body, out_shape=(out, out))(a, b)


@kernel(
    arg(4, 32, 128, dtype=jnp.bfloat16, fill="coarse"),
    arg(4, 128, 128, dtype=jnp.bfloat16, fill="coarse"),
    tolerance=1e-5,
)
def product_of_batches(a: A, b: A) -> Any:
    def body(a_ref: Any, b_ref: Any, out: Any) -> None:
        out[...] = lax.dot_general(
            a_ref[...], b_ref[...], (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )

    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((4, 32, 128), jnp.float32))(a, b)


@kernel(
    arg(64, 200, dtype=jnp.bfloat16, fill="coarse"), arg(200, 128, dtype=jnp.bfloat16, fill="coarse"), tolerance=2e-2
)
def product_with_ragged_sum(a: A, b: A) -> Any:
    def body(a_ref: Any, b_ref: Any, out: Any, sums: Any) -> None:
        step = pl.program_id(0)

        @pl.when(step == 0)
        def _() -> None:
            sums[...] = jnp.zeros_like(sums)

        left = 200 - step * 128
        x = a_ref[...].astype(jnp.float32)
        y = b_ref[...].astype(jnp.float32)
        x = jnp.where(lax.broadcasted_iota(jnp.int32, x.shape, 1) < left, x, 0)
        y = jnp.where(lax.broadcasted_iota(jnp.int32, y.shape, 0) < left, y, 0)
        sums[...] += jnp.dot(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), preferred_element_type=jnp.float32)

        @pl.when(step == 1)
        def _() -> None:
            out[...] = sums[...].astype(out.dtype)

    return pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((64, 128), jnp.bfloat16),
        grid=(2,),
        in_specs=[pl.BlockSpec((64, 128), lambda i: (0, i)), pl.BlockSpec((128, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((64, 128), lambda i: (0, 0)),
        scratch_shapes=[pltpu.VMEM((64, 128), jnp.float32)],
    )(a, b)


@kernel(
    arg(64, 256, dtype=jnp.bfloat16, fill="coarse"),
    arg(256, 128, dtype=jnp.int8, fill="bits"),
    arg(1, 128, fill="coarse"),
    on="v6e",
    tolerance=2e-2,
)
def product_with_quantized_weights(x: A, w: A, scale: A) -> Any:
    def body(x_ref: Any, w_ref: Any, scale_ref: Any, out: Any) -> None:
        w = w_ref[...].astype(jnp.float32).astype(jnp.bfloat16)
        out[...] = (jnp.dot(x_ref[...], w, preferred_element_type=jnp.float32) * scale_ref[...]).astype(out.dtype)

    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((64, 128), jnp.bfloat16))(x, w, scale)
