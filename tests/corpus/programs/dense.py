"""Matrix products, attention and normalization, in wide and narrow types."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import A, arg, program

bf16, f32, s8, s32 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32


@program(arg(24, 320, dtype=s8, fill="bits"), arg(320, 136, dtype=s8, fill="bits"), arg(136, fill="positive"))
def quantized_linear(x: A, w: A, scale: A) -> Any:
    total = lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=s32)
    return total, jnp.clip(jnp.round(total.astype(f32) * scale / 4096), -128, 127).astype(s8)


@program(arg(20, 256, dtype=bf16), arg(256, 140, dtype=jnp.int4, fill="bits"), arg(2, 140, fill="positive"), on="v6e")
def int4_weights(x: A, w: A, scale: A) -> Any:
    grouped = w.astype(bf16).reshape(2, 128, 140) * scale[:, None].astype(bf16)
    return x @ grouped.reshape(256, 140)


@program(arg(24, 256, dtype=jnp.float8_e4m3fn), arg(256, 64, dtype=jnp.float8_e5m2), on="tpu7x")
def eighths_product(x: A, w: A) -> Any:
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=f32)


@program(arg(3, 17, 200), arg(3, 200, 40), on="v4")
def highest_precision(x: A, w: A) -> Any:
    return jnp.einsum("bik,bkj->jbi", x, w, precision="highest"), lax.dot(x[0], w[1], precision="high")


@program(arg(20, 140), arg(30, 140), on="v5p")
def gram_matrices(x: A, y: A) -> Any:
    distances = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
    return distances, x.T @ x, jnp.outer(x[0], y[1])


@program(
    arg(2, 24, 8, 32, dtype=bf16), arg(2, 24, 2, 32, dtype=bf16), arg(2, 24, 2, 32, dtype=bf16), on="v6e", elided=True
)
def grouped_query_attention(q: A, k: A, v: A) -> Any:
    frequencies = 10000.0 ** -(np.arange(16) / 16)
    angles = np.outer(np.arange(24), frequencies).astype(np.float32)[:, None]

    def rotate(x: A) -> A:
        low, high = jnp.split(x.astype(f32), 2, -1)
        cos, sin = jnp.asarray(np.cos(angles)), jnp.asarray(np.sin(angles))
        return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], -1).astype(bf16)

    scores = jnp.einsum("bqgnd,bkgd->bgnqk", rotate(q).reshape(2, 24, 2, 4, 32), rotate(k), preferred_element_type=f32)
    scores = jnp.where(jnp.tri(24, dtype=bool), scores / 32**0.5, -jnp.inf)
    return jnp.einsum("bgnqk,bkgd->bqgnd", jax.nn.softmax(scores).astype(bf16), v).reshape(2, 24, 256)


@program(arg(2, 3, 40, 24), arg(2, 3, 40, 24), arg(2, 3, 40, 24), arg(40, 40, dtype=jnp.bool_, fill="below:2"), on="v4")
def masked_attention_gradient(q: A, k: A, v: A, mask: A) -> Any:
    def loss(q: A, k: A, v: A) -> A:
        scores = jnp.where(mask, jnp.einsum("bhqd,bhkd->bhqk", q, k) * 0.2, -1e9)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v).sum()

    return jax.grad(loss, (0, 1, 2))(q, k, v)


@program(
    arg(1, 4, 16, dtype=bf16),
    arg(200, 4, 16, dtype=bf16),
    arg(200, 4, 16, dtype=bf16),
    arg(dtype=s32, fill="below:190"),
    donated=(1, 2),
)
def cached_decode_step(x: A, keys: A, values: A, position: A) -> Any:
    keys = lax.dynamic_update_slice(keys, x * bf16(0.5), (position, 0, 0))
    values = lax.dynamic_update_slice(values, x + bf16(1), (position, 0, 0))
    scores = jnp.einsum("qhd,khd->hqk", x, keys, preferred_element_type=f32)
    scores = jnp.where(jnp.arange(200) <= position, scores, -1e9)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores).astype(bf16), values), keys, values


@program(arg(30, 300), arg(300, fill="positive"), arg(300), on="v5p")
def rms_and_group_norm(x: A, gain: A, bias: A) -> Any:
    rms = x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain
    groups = x.reshape(30, 12, 25)
    centred = groups - groups.mean(-1, keepdims=True)
    return rms, (centred / jnp.sqrt(groups.var(-1, keepdims=True) + 1e-5)).reshape(30, 300) * gain + bias


@program(
    arg(48, 40, dtype=bf16), arg(40, 6, dtype=bf16), arg(6, 40, 72, dtype=bf16), arg(6, 72, 40, dtype=bf16), on="v5e"
)
def expert_routing(x: A, router: A, w_in: A, w_out: A) -> Any:
    weights, experts = lax.top_k(jax.nn.softmax((x @ router).astype(f32)), 2)
    mask = jax.nn.one_hot(experts, 6, dtype=s32).sum(1)
    place = jnp.cumsum(mask, 0) * mask - 1
    dispatch = jax.nn.one_hot(place, 20, dtype=bf16)
    hidden = jax.nn.silu(jnp.einsum("tec,td,edf->ecf", dispatch, x, w_in))
    combine = dispatch * jnp.zeros((48, 6)).at[jnp.arange(48)[:, None], experts].set(weights)[..., None].astype(bf16)
    return jnp.einsum("tec,ecf,efd->td", combine, hidden, w_out), place


@program(arg(12, 64), arg(64, 200), arg(200, 64), arg(64, 200), on="tpu7x")
def gated_feed_forward(x: A, w_gate: A, w_down: A, w_up: A) -> Any:
    return (jax.nn.swish(x @ w_gate) * (x @ w_up)) @ w_down


@program(arg(5, 4, 6, 7), arg(7, 6, 4, 9), arg(5, 9, 3), on="v3")
def contract_several_dims(x: A, y: A, z: A) -> Any:
    return jnp.einsum("abcd,dcbe->ae", x, y), jnp.tensordot(x, x, ((1, 3), (1, 3))), jnp.einsum("abcd,aef->bcdef", x, z)
