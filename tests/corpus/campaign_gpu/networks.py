"""Networks: attention, norms, recurrent cells, transformers, optimizers, and what runs on the host."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

bf16, f16, f32, s32 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.int32


def norm(x: A) -> A:
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


@on_gpu(arg(2, 16, 4, 8), arg(2, 16, 2, 8), arg(2, 16, 2, 8))
def attention_of_groups(q: A, k: A, v: A) -> Any:
    call = partial(jax.nn.dot_product_attention, implementation="xla")
    return call(q, k, v), call(q, k, v, is_causal=True), call(q, k, v, local_window_size=4)


@on_gpu(
    arg(2, 16, 4, 32, dtype=bf16),
    arg(2, 24, 4, 32, dtype=bf16),
    arg(2, 24, 4, 32, dtype=bf16),
    arg(1, 4, 16, 24, dtype=bf16),
)
def attention_of_halves_with_bias(q: A, k: A, v: A, bias: A) -> Any:
    return jax.nn.dot_product_attention(q, k, v, bias, implementation="xla")


@on_gpu(arg(2, 16, 2, 8), arg(2, 16, 2, 8), arg(2, 16, 2, 8), arg(2, dtype=s32, fill="below:16"))
def attention_gradient_with_lengths(q: A, k: A, v: A, lengths: A) -> Any:
    def loss(q: A, k: A, v: A) -> A:
        found = jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=lengths + 1, implementation="xla")
        return (found**2).sum()

    return jax.grad(loss, (0, 1, 2))(q, k, v)


@on_gpu(arg(64, 96), arg(96), arg(96))
def layer_norm_and_gradient(x: A, scale: A, bias: A) -> Any:
    return jax.value_and_grad(lambda x, s, b: jnp.tanh(norm(x) * s + b).sum(), (0, 1, 2))(x, scale, bias)


@on_gpu(arg(8, 12, 10, 16), arg(16), arg(16))
def batch_norm_and_gradient(x: A, scale: A, bias: A) -> Any:
    def normalized(x: A, s: A, b: A) -> A:
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return jnp.tanh((x - mean) * lax.rsqrt(var + 1e-3) * s + b).sum()

    return jax.value_and_grad(normalized, (0, 1, 2))(x, scale, bias)


@on_gpu(arg(12, 64, dtype=bf16), arg(64, dtype=bf16))
def root_mean_square_norm_and_softmax(x: A, scale: A) -> Any:
    wide = x.astype(f32)
    y = (wide * lax.rsqrt((wide**2).mean(-1, keepdims=True) + 1e-6)).astype(bf16) * scale
    return y, jax.nn.softmax(y), jax.nn.log_softmax(wide, 0)


@on_gpu(arg(10, 4, 8), arg(8, 24, fill="small"), arg(8, 24, fill="small"), arg(24))
def gated_recurrent_scan(x: A, w: A, u: A, b: A) -> Any:
    def step(h: A, x: A) -> Any:
        r, z, n = jnp.split(x @ w + b, 3, -1)
        hr, hz, hn = jnp.split(h @ u, 3, -1)
        gate = jax.nn.sigmoid(z + hz)
        h = (1 - gate) * jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn) + gate * h
        return h, h

    return jax.value_and_grad(lambda x: lax.scan(step, jnp.zeros((4, 8)), x)[1].sum())(x)


@on_gpu(
    arg(2, 16, dtype=s32, fill="below:64"), arg(64, 32, fill="small"), arg(32, 96, fill="small"),
    arg(32, 32, fill="small"), arg(32, 64, fill="small"), arg(64, 32, fill="small"),
)  # fmt: skip
def transformer_step(tokens: A, table: A, qkv: A, out: A, up: A, down: A) -> Any:
    def loss(table: A, qkv: A, out: A, up: A, down: A) -> A:
        x = table[tokens]
        q, k, v = jnp.split((norm(x) @ qkv).reshape(2, 16, 4, 24), 3, -1)
        x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="xla").reshape(2, 16, 32) @ out
        x = x + jax.nn.gelu(norm(x) @ up) @ down
        scores = jax.nn.log_softmax(x[:, :-1] @ table.T)
        return -jnp.take_along_axis(scores, tokens[:, 1:, None], 2).mean()

    value, slopes = jax.value_and_grad(loss, (0, 1, 2, 3, 4))(table, qkv, out, up, down)
    return value, [w - 0.1 * slope for w, slope in zip((table, qkv, out, up, down), slopes, strict=True)]


@on_gpu(arg(64, 32, fill="small"), arg(64, 32), arg(64, 32), arg(64, 32, fill="positive"), donated=(0, 2, 3))
def adam_step(w: A, slope: A, first: A, second: A) -> Any:
    first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
    return w - 1e-2 * first / (jnp.sqrt(second) + 1e-8), first, second


@on_gpu(arg(4, 16), arg(3, 16, 16, fill="small"))
def remembered_layers(x: A, weights: A) -> Any:
    @jax.checkpoint
    def layer(x: A, w: A) -> Any:
        return jnp.tanh(x @ w), None

    return jax.grad(lambda x, w: lax.scan(layer, x, w)[0].sum(), (0, 1))(x, weights)


@on_gpu(arg(1, 16, 8, dtype=bf16), arg(6, 32, 8, dtype=bf16), arg(dtype=s32, fill="below:20"))
def cache_step(x: A, cache: A, position: A) -> Any:
    cache = lax.dynamic_update_slice(cache, x[:, :1], (position % 6, position, 0))
    return cache, jax.nn.softmax(jnp.einsum("btd,csd->bctd", x, cache[:, :16]).sum(-1))


@on_gpu(arg(8, 16), arg(16, 4, fill="small"), arg(4, 16, 24, fill="small"), arg(4, 24, 16, fill="small"))
def routed_experts(x: A, gate: A, up: A, down: A) -> Any:
    weights, chosen = lax.top_k(jax.nn.softmax(x @ gate), 2)
    one_hot = jax.nn.one_hot(chosen, 4)
    hidden = jax.nn.silu(jnp.einsum("td,edf->etf", x, up))
    return jnp.einsum("etf,efd,tke,tk->td", hidden, down, one_hot, weights)


@on_gpu(arg(20), arg(20))
def solver_in_a_loop(x: A, b: A) -> Any:
    def residual(v: A) -> A:
        return v * 4 + jnp.roll(v, 1) + jnp.roll(v, -1) - b

    def goes_on(state: Any) -> Any:
        return (state[1] < 30) & (jnp.abs(residual(state[0])).max() > 1e-3)

    return lax.while_loop(goes_on, lambda s: (s[0] - residual(s[0]) / 4, s[1] + 1), (x, 0))


@on_gpu(arg(6, 5), arg(dtype=s32, fill="below:3"))
def branches_by_number(x: A, which: A) -> Any:
    return lax.switch(which, [jnp.sin, jnp.cos, lambda y: y @ y.T @ y], x)


# Fused attention, and the same on a CPU.
_CUDNN, _XLA = (partial(jax.nn.dot_product_attention, implementation=each) for each in ("cudnn", "xla"))


def several_attentions(call: Any, q: A, k: A, v: A, bias: A) -> Any:
    return call(q, k, v), call(q, k, v, is_causal=True), call(q, k, v, bias), call(q, k, v, local_window_size=(4, 0))


@on_gpu(
    arg(2, 16, 4, 32, dtype=bf16), arg(2, 16, 4, 32, dtype=bf16), arg(2, 16, 4, 32, dtype=bf16),
    arg(1, 4, 16, 16, dtype=bf16), reference=partial(several_attentions, _XLA),
)  # fmt: skip
def fused_attention(q: A, k: A, v: A, bias: A) -> Any:
    return several_attentions(_CUDNN, q, k, v, bias)


def attention_gradients(call: Any, q: A, k: A, v: A, bias: A) -> Any:
    def loss(q: A, k: A, v: A, bias: A) -> Any:
        found = call(q, k, v, bias), call(q, k, v, is_causal=True)
        return sum((each.astype(f32) ** 2).sum() for each in found)

    return jax.value_and_grad(loss, (0, 1, 2, 3))(q, k, v, bias)


@on_gpu(
    arg(2, 16, 4, 32, dtype=f16), arg(2, 24, 2, 32, dtype=f16), arg(2, 24, 2, 32, dtype=f16),
    arg(1, 4, 16, 24, dtype=f16), reference=partial(attention_gradients, _XLA),
)  # fmt: skip
def fused_attention_gradient(q: A, k: A, v: A, bias: A) -> Any:
    return attention_gradients(_CUDNN, q, k, v, bias)


def attention_with_lengths(call: Any, q: A, k: A, v: A, lengths: A) -> Any:
    def loss(q: A, k: A, v: A) -> Any:
        found = call(q, k, v, query_seq_lengths=lengths + 4, key_value_seq_lengths=lengths + 8, is_causal=True)
        return (found.astype(f32) ** 2).sum(), found

    return jax.value_and_grad(loss, (0, 1, 2), has_aux=True)(q, k, v)


@on_gpu(
    arg(2, 16, 4, 32, dtype=bf16), arg(2, 16, 4, 32, dtype=bf16), arg(2, 16, 4, 32, dtype=bf16),
    arg(2, dtype=s32, fill="below:8"), reference=partial(attention_with_lengths, _XLA),
)  # fmt: skip
def fused_attention_with_lengths(q: A, k: A, v: A, lengths: A) -> Any:
    return attention_with_lengths(_CUDNN, q, k, v, lengths)
