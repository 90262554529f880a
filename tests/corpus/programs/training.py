"""Training steps: losses, gradients and optimizer updates that reuse their arguments' memory."""

from typing import Any

import jax
import jax.numpy as jnp

from .registry import A, arg, program

bf16, f32, s32 = jnp.bfloat16, jnp.float32, jnp.int32


@program(
    arg(20, 150), arg(20, 150, fill="small"), arg(20, 150, fill="positive"), arg(20, 150),
    arg(dtype=s32, fill="below:9"), donated=(0, 1, 2),
)  # fmt: skip
def adam_update(w: A, mean: A, square: A, gradient: A, step: A) -> Any:
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.99 * square + 0.01 * gradient**2
    t = (step + 1).astype(f32)
    update = (mean / (1 - 0.9**t)) / (jnp.sqrt(square / (1 - 0.99**t)) + 1e-3)
    return w - 0.01 * update, mean, square, jnp.sqrt((gradient**2).sum())


@program(
    arg(16, 200),
    arg(200, fill="positive"),
    arg(200),
    arg(200, 33, fill="small"),
    arg(16, 33),
    on="v6e",
    donated=(1, 2, 3),
)
def layer_norm_training_step(x: A, gain: A, bias: A, w: A, target: A) -> Any:
    def loss(parameters: tuple[A, A, A]) -> A:
        gain, bias, w = parameters
        centred = x - x.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain + bias
        return ((normal @ w - target) ** 2).mean()

    value, gradients = jax.value_and_grad(loss)((gain, bias, w))
    return value, [p - 0.1 * g for p, g in zip((gain, bias, w), gradients, strict=True)]


@program(
    arg(2, 12, 32), arg(32, 3, 2, 16, fill="small"), arg(2, 16, 32, fill="small"), arg(32, 72, fill="small"),
    arg(72, 32, fill="small"), on="v4",
)  # fmt: skip
def transformer_block_gradient(x: A, w_qkv: A, w_out: A, w_up: A, w_down: A) -> Any:
    def normalized(x: A) -> A:
        return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-6)

    def loss(w_qkv: A, w_out: A, w_up: A, w_down: A) -> A:
        q, k, v = jnp.moveaxis(jnp.einsum("bsm,mthd->bsthd", normalized(x), w_qkv), 2, 0)
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)
        y = x + jnp.einsum("bhqk,bkhd,hdm->bqm", weights, v, w_out)
        return ((y + jax.nn.gelu(normalized(y) @ w_up) @ w_down) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2, 3))(w_qkv, w_out, w_up, w_down)


@program(arg(24, 40, dtype=bf16), arg(40, 90), arg(24, dtype=s32, fill="below:90"), on="tpu7x", donated=(1,))
def mixed_precision_step(x: A, w: A, labels: A) -> Any:
    def loss(w: A) -> A:
        logits = jnp.dot(x, w.astype(bf16), preferred_element_type=f32)
        return (jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]).mean()

    value, gradient = jax.value_and_grad(loss)(w)
    scale = jnp.minimum(1.0, 0.5 / jnp.sqrt((gradient**2).sum()))
    return value, w - 0.1 * scale * gradient


@program(arg(12, 20), arg(20, 20, fill="small"), arg(12, 20), on="v5p", donated=(1,))
def momentum_in_loop(x: A, w: A, target: A) -> Any:
    def step(state: tuple[A, A], _: None) -> tuple[tuple[A, A], A]:
        w, velocity = state
        value, gradient = jax.value_and_grad(lambda w: jnp.abs(x @ w - target).mean())(w)
        velocity = 0.9 * velocity + gradient
        return (w - 0.05 * velocity, velocity), value

    return jax.lax.scan(step, (w, jnp.zeros_like(w)), None, length=3)
