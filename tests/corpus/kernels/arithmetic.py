"""Kernels that compute element by element, reduce, and move vectors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from tests.corpus.kernels.registry import kernel
from tests.corpus.programs.registry import A, arg


def like(x: A, dtype: Any = None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(x.shape, x.dtype if dtype is None else dtype)


def rows(count: int, width: int) -> pl.BlockSpec:
    return pl.BlockSpec((count, width), lambda i: (i, 0))


@kernel(arg(20, 128), arg(1, 128))
def gelu_with_ragged_rows(x: A, bias: A) -> Any:
    def body(x_ref: Any, bias_ref: Any, out: Any) -> None:
        v = x_ref[...] + bias_ref[...]
        out[...] = 0.5 * v * (1 + jnp.tanh(0.7978846 * (v + 0.044715 * v * v * v)))

    return pl.pallas_call(
        body,
        out_shape=like(x),
        grid=(3,),
        in_specs=[rows(8, 128), pl.BlockSpec((1, 128), lambda i: (0, 0))],
        out_specs=rows(8, 128),
    )(x, bias)


@kernel(arg(16, 128, dtype=jnp.int32, fill="bits"), arg(16, 128, dtype=jnp.int32, fill="bits"), on="v4", tolerance=0)
def integer_words(a: A, b: A) -> Any:
    def body(a_ref: Any, b_ref: Any, out: Any) -> None:
        x, y = a_ref[...], b_ref[...]
        shifted = (x << 3) ^ (y >> 5) | lax.shift_right_logical(x, jnp.full_like(x, 9))
        out[...] = shifted + lax.population_count(x) * lax.clz(y) - jnp.minimum(x, y) % 7

    return pl.pallas_call(body, out_shape=like(a))(a, b)


@kernel(arg(32, 256), on="v5p")
def softmax_of_rows(x: A) -> Any:
    def body(x_ref: Any, out: Any) -> None:
        v = x_ref[...]
        e = jnp.exp(v - jnp.max(v, axis=-1, keepdims=True))
        out[...] = e / jnp.sum(e, axis=-1, keepdims=True)

    return pl.pallas_call(body, out_shape=like(x), grid=(4,), in_specs=[rows(8, 256)], out_specs=rows(8, 256))(x)


@kernel(arg(32, 256, dtype=jnp.bfloat16), arg(256), arg(256), on="v6e", tolerance=2e-2)
def layer_norm_bf16(x: A, scale: A, shift: A) -> Any:
    def body(x_ref: Any, scale_ref: Any, shift_ref: Any, out: Any) -> None:
        v = x_ref[...].astype(jnp.float32)
        mean = jnp.mean(v, axis=-1, keepdims=True)
        centred = v - mean
        variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
        out[...] = (centred * lax.rsqrt(variance + 1e-5) * scale_ref[...] + shift_ref[...]).astype(out.dtype)

    one = pl.BlockSpec((1, 256), lambda i: (0, 0))
    return pl.pallas_call(
        body, out_shape=like(x), grid=(2,), in_specs=[rows(16, 256), one, one], out_specs=rows(16, 256)
    )(x, scale[None], shift[None])


@kernel(arg(16, 256), tolerance=1e-5)
def layer_norm_gradient(x: A) -> Any:
    def body(x_ref: Any, out: Any, total: Any) -> None:
        @pl.when(pl.program_id(0) == 0)
        def _() -> None:
            total[...] = jnp.zeros_like(total)

        v = x_ref[...]
        total[...] += jnp.sum(v * lax.rsqrt(jnp.mean(v * v, axis=-1, keepdims=True) + 1e-6), axis=0, keepdims=True)
        out[...] = v - total[...]

    return pl.pallas_call(
        body,
        out_shape=like(x),
        grid=(2,),
        in_specs=[rows(8, 256)],
        out_specs=rows(8, 256),
        scratch_shapes=[pltpu.VMEM((1, 256), jnp.float32)],
    )(x)


@kernel(arg(16, 128), on="v6e", tolerance=0)
def largest_and_where(x: A) -> Any:
    def body(x_ref: Any, best: Any, where: Any) -> None:
        best[...] = jnp.max(x_ref[...], axis=1, keepdims=True) + jnp.zeros((16, 128))
        where[...] = jnp.argmax(x_ref[...], axis=1)[:, None] + jnp.zeros((16, 128), jnp.int32)

    return pl.pallas_call(body, out_shape=(like(x), like(x, jnp.int32)))(x)


@kernel(arg(128, 256, fill="coarse"), arg(128, 256, fill="coarse"), on="v5p")
def transposed_rolled_and_joined(a: A, b: A) -> Any:
    def body(a_ref: Any, b_ref: Any, flipped: Any, joined: Any) -> None:
        flipped[...] = a_ref[...].T
        rolled = pltpu.roll(b_ref[...], 5, 1)
        joined[...] = jnp.concatenate([rolled[:, :128], a_ref[:, 128:] * 2, jnp.repeat(rolled[:1], 128, 0)[:, :128]], 1)

    out = (jax.ShapeDtypeStruct((256, 128), a.dtype), jax.ShapeDtypeStruct((128, 384), a.dtype))
    return pl.pallas_call(body, out_shape=out)(a, b)


@kernel(arg(8, 128, dtype=jnp.int32, fill="below:128"), arg(8, 128))
def gather_along_lanes(places: A, x: A) -> Any:
    def body(places_ref: Any, x_ref: Any, out: Any) -> None:
        out[...] = jnp.take_along_axis(x_ref[...], places_ref[...], axis=1)

    return pl.pallas_call(body, out_shape=like(x))(places, x)


@kernel(arg(16, 128, dtype=jnp.int32, fill="bits"), tolerance=0)
def words_as_halves(x: A) -> Any:
    def body(x_ref: Any, halves: Any, back: Any) -> None:
        v = pltpu.bitcast(x_ref[...], jnp.int16)
        halves[...] = v
        back[...] = pltpu.bitcast(v, jnp.int32) ^ pltpu.bitcast(x_ref[...].astype(jnp.float32), jnp.int32)

    out = (jax.ShapeDtypeStruct((32, 128), jnp.int16), like(x))
    return pl.pallas_call(body, out_shape=out)(x)


@kernel(arg(16, 128), arg(16, 128), on="v6e")
def masked_choice(a: A, b: A) -> Any:
    def body(a_ref: Any, b_ref: Any, out: Any) -> None:
        row = lax.broadcasted_iota(jnp.int32, (16, 128), 0)
        column = lax.broadcasted_iota(jnp.int32, (16, 128), 1)
        is_lower = (row * 8 >= column) & ~(a_ref[...] > b_ref[...])
        out[...] = jnp.where(
            is_lower, jnp.sqrt(jnp.abs(a_ref[...])), jnp.floor(b_ref[...]) - jnp.log1p(jnp.abs(a_ref[...]))
        )

    return pl.pallas_call(body, out_shape=like(a))(a, b)


@kernel(arg(8, 128), refused="tpu.prng")
def random_bits_of_the_chip(x: A) -> Any:
    def body(x_ref: Any, out: Any) -> None:
        pltpu.prng_seed(7)
        out[...] = x_ref[...] + pltpu.prng_random_bits(x_ref.shape).astype(jnp.float32)

    return pl.pallas_call(body, out_shape=like(x))(x)
