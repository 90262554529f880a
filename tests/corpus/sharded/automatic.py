"""Programs with constraints, which a partitioner divides among devices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.programs.registry import arg
from tests.corpus.sharded.registry import A, Put, constrained

PAIR, LINE, LONG = (("x", 2),), (("x", 4),), (("x", 8),)
SQUARE, GRID = (("d", 2), ("m", 2)), (("d", 2), ("m", 4))
s32, bf16 = jnp.int32, jnp.bfloat16


def normalized(x: A) -> A:
    """Returns the rows with mean 0 and variance 1."""
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


@constrained("data", LINE, arg(16, 8, sharding=("x",)), arg(8, 12, fill="small"), arg(12, 4, fill="small"))
def batch_of_two_layers(put: Put, x: A, w: A, v: A) -> Any:
    return put(jax.nn.relu(x @ w) @ v, "x")


@constrained(
    "data", LINE, arg(16, 8, sharding=("x",)), arg(8, 12, fill="small"), arg(12, 4, fill="small"),
    forms=("cpu-gspmd", "cpu-shardy", "partitioned-cpu-gspmd", "gpu-shardy", "tpu-shardy"),
)  # fmt: skip
def gradient_of_a_batch(put: Put, x: A, w: A, v: A) -> Any:
    loss, slopes = jax.value_and_grad(lambda w, v: ((jnp.tanh(x @ w) @ v) ** 2).mean(), (0, 1))(w, v)
    return put(loss), *map(put, slopes)


@constrained("data", LONG, arg(16, 6, sharding=("x",)), arg(6, fill="positive"), arg(6))
def batch_norm(put: Put, x: A, scale: A, offset: A) -> Any:
    mean, square = x.mean(0), (x * x).mean(0)
    return put((x - mean) * lax.rsqrt(square - mean * mean + 1e-3) * scale + offset, "x"), put(mean)


@constrained(
    "tensor", LONG, arg(4, 16), arg(16, 32, fill="small", sharding=(None, "x")),
    arg(32, 16, fill="small", sharding=("x", None)), forms=("cpu-gspmd", "cpu-shardy", "gpu-gspmd", "tpu-gspmd"),
)  # fmt: skip
def columns_then_rows(put: Put, x: A, w: A, v: A) -> Any:
    return put(put(jax.nn.gelu(x @ w), None, "x") @ v)


@constrained(
    "tensor", PAIR, arg(6, 8), arg(8, 16, fill="small", sharding=(None, "x")),
    arg(16, 8, fill="small", sharding=("x", None)), forms=("cpu-shardy", "partitioned-cpu-gspmd", "gpu-shardy"),
)  # fmt: skip
def gradient_of_columns_then_rows(put: Put, x: A, w: A, v: A) -> Any:
    def loss(x: A, w: A, v: A) -> A:
        return (jax.nn.silu(x @ w) @ v).sum()

    dx, dw, dv = jax.grad(loss, (0, 1, 2))(x, w, v)
    return put(dx), put(dw, None, "x"), put(dv, "x")


@constrained(
    "tensor", LINE, arg(2, 6, 16), arg(16, 3, 4, 4, fill="small", sharding=(None, None, "x")),
    arg(4, 4, 16, fill="small", sharding=("x",)), forms=("cpu-gspmd", "partitioned-cpu-shardy", "tpu-shardy"),
)  # fmt: skip
def heads_of_attention(put: Put, x: A, qkv: A, out: A) -> Any:
    q, k, v = put(jnp.einsum("bsd,dthe->tbhse", x, qkv), None, None, "x")
    weights = jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", q, k) / 2)
    return put(jnp.einsum("bhst,bhte,hed->bsd", weights, v, out))


@constrained(
    "tensor", SQUARE, arg(4, 6, 8, sharding=("d",)), arg(8, 3, 4, 2, fill="small", sharding=(None, None, "m")),
    arg(4, 2, 8, fill="small", sharding=("m",)), forms=("cpu-shardy", "partitioned-gpu-gspmd"),
)  # fmt: skip
def gradient_of_heads(put: Put, x: A, qkv: A, out: A) -> Any:
    def loss(qkv: A, out: A) -> A:
        q, k, v = jnp.einsum("bsd,dthe->tbhse", x, qkv)
        weights = jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", q, k))
        return (jnp.einsum("bhst,bhte,hed->bsd", weights, v, out) ** 2).mean()

    dqkv, dout = jax.grad(loss, (0, 1))(qkv, out)
    return put(dqkv, None, None, "m"), put(dout, "m")


@constrained(
    "sequence", LINE, arg(2, 8, 16, sharding=(None, "x")), arg(16, 32, fill="small", sharding=(None, "x")),
    arg(32, 16, fill="small", sharding=("x",)),
    forms=("cpu-gspmd", "cpu-shardy", "gpu-shardy", "partitioned-tpu-shardy"),
)  # fmt: skip
def norm_of_a_split_sequence(put: Put, x: A, w: A, v: A) -> Any:
    inside = put(jax.nn.relu(put(normalized(x)) @ w), None, None, "x")
    return put(x + inside @ v, None, "x")


@constrained(
    "sequence", LINE, arg(4, 8, 4, 4, sharding=(None, "x")), arg(4, 8, 4, 4, sharding=(None, "x")),
    arg(4, 8, 4, 4, sharding=(None, "x")), forms=("cpu-gspmd", "partitioned-cpu-shardy", "gpu-gspmd"),
)  # fmt: skip
def heads_for_sequence(put: Put, q: A, k: A, v: A) -> Any:
    q, k, v = (put(each, None, None, "x") for each in (q, k, v))
    weights = jax.nn.softmax(jnp.einsum("bshe,bthe->bhst", q, k) / 2)
    return put(jnp.einsum("bhst,bthe->bshe", weights, v), None, "x")


@constrained(
    "fsdp", LINE, arg(8, 8, sharding=("x",)), arg(8, 16, fill="small", sharding=("x",)),
    arg(16, 8, fill="small", sharding=("x",)), forms=("cpu-gspmd", "cpu-shardy", "tpu-shardy", "gpu-shardy"),
)  # fmt: skip
def gathered_weights(put: Put, x: A, w: A, v: A) -> Any:
    return put(jnp.tanh(x @ put(w)) @ put(v), "x")


@constrained(
    "fsdp", LONG, arg(16, 8, sharding=("x",)), arg(8, 16, fill="small", sharding=("x",)),
    arg(16, 8, fill="small", sharding=("x",)), forms=("cpu-gspmd", "partitioned-cpu-shardy", "tpu-gspmd"),
)  # fmt: skip
def gradient_of_gathered_weights(put: Put, x: A, w: A, v: A) -> Any:
    def loss(w: A, v: A) -> A:
        return ((jax.nn.silu(x @ put(w)) @ put(v)) ** 2).mean()

    value, (dw, dv) = jax.value_and_grad(loss, (0, 1))(w, v)
    return put(value), put(w - 0.125 * dw, "x"), put(v - 0.125 * dv, "x")


@constrained(
    "fsdp", PAIR, arg(4, 8, sharding=("x",)), arg(3, 8, 8, fill="small", sharding=(None, "x")),
    forms=("cpu-gspmd", "cpu-shardy", "gpu-gspmd"),
)  # fmt: skip
def layers_in_a_loop(put: Put, x: A, w: A) -> Any:
    return put(lax.scan(lambda state, each: (put(jnp.tanh(state @ put(each)), "x"), None), x, w)[0], "x")


@constrained(
    "fsdp", PAIR, arg(4, 8, sharding=("x",)), arg(3, 8, 8, fill="small", sharding=(None, "x")),
    forms=("cpu-shardy", "partitioned-cpu-gspmd"),
)  # fmt: skip
def gradient_of_layers_in_a_loop(put: Put, x: A, w: A) -> Any:
    def loss(w: A) -> A:
        return (lax.scan(lambda state, each: (jnp.tanh(state @ put(each)), None), x, w)[0] ** 2).sum()

    return put(jax.grad(loss)(w), None, "x")


@constrained(
    "fsdp", LINE, arg(8, 6, sharding=("x",)), arg(6, 8, fill="small", sharding=(None, "x")),
    arg(6, 8, fill="small", sharding=(None, "x")), arg(6, 8, fill="positive", sharding=(None, "x")),
)  # fmt: skip
def step_of_an_optimizer(put: Put, x: A, w: A, first: A, second: A) -> Any:
    slope = put(jax.grad(lambda w: ((x @ put(w)) ** 2).mean())(w), None, "x")
    norm = jnp.sqrt((slope * slope).sum())
    slope = slope * jnp.minimum(1.0, 1.0 / (norm + 1e-6))
    first, second = 0.875 * first + 0.125 * slope, 0.75 * second + 0.25 * slope * slope
    return put(w - 0.0625 * first / (jnp.sqrt(second) + 1e-4), None, "x"), put(first, None, "x"), put(norm)


@constrained(
    "embedding", LINE, arg(6, dtype=s32, fill="below:16"), arg(16, 8, fill="small", sharding=("x",)),
    forms=("cpu-gspmd", "cpu-shardy", "partitioned-cpu-gspmd", "tpu-shardy"),
)  # fmt: skip
def rows_of_a_split_table(put: Put, tokens: A, table: A) -> Any:
    return put(table[tokens] * 2)


@constrained("embedding", LINE, arg(8, dtype=s32, fill="below:16"), arg(16, 4, fill="small", sharding=("x",)))
def loss_of_a_split_vocabulary(put: Put, tokens: A, table: A) -> Any:
    def loss(table: A) -> A:
        logits = jax.nn.log_softmax(put(table[tokens] @ table.T, None, "x"))
        return -jnp.take_along_axis(logits, ((tokens + 1) % 16)[:, None], 1).mean()

    value, slope = jax.value_and_grad(loss)(table)
    return put(value), put(slope, "x")


@constrained(
    "softmax", LINE, arg(6, 16, sharding=(None, "x")), forms=("cpu-gspmd", "cpu-shardy", "gpu-gspmd", "tpu-gspmd")
)
def softmax_of_split_rows(put: Put, x: A) -> Any:
    return put(jax.nn.softmax(x), None, "x"), put(jax.nn.logsumexp(x, -1))


@constrained(
    "norm", PAIR, arg(4, 8, sharding=(None, "x")), arg(8, fill="positive", sharding=("x",)),
    forms=("cpu-gspmd", "partitioned-cpu-shardy", "gpu-shardy"),
)  # fmt: skip
def norm_of_split_rows(put: Put, x: A, scale: A) -> Any:
    return put(normalized(x) * scale, None, "x")


@constrained(
    "uneven", LINE, arg(10, 6), arg(6, 4, fill="small"), forms=("cpu-gspmd", "cpu-shardy", "partitioned-cpu-gspmd")
)
def uneven_rows(put: Put, x: A, w: A) -> Any:
    y = put(jnp.tanh(put(x, "x") @ w), "x")
    return put(y.mean(0)), put(y.max(0))


@constrained("uneven", LINE, arg(10, 6), arg(6, 7, fill="small"))
def uneven_softmax(put: Put, x: A, w: A) -> Any:
    return put(jax.nn.softmax(put(x @ w, None, "x")))


@constrained(
    "halo", LINE, arg(2, 16, 3, sharding=(None, "x")), arg(3, 3, 4, fill="small"),
    forms=("cpu-gspmd", "cpu-shardy", "tpu-shardy"),
)  # fmt: skip
def convolution_along_a_split_line(put: Put, x: A, w: A) -> Any:
    return put(lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")), None, "x")


@constrained(
    "halo", SQUARE, arg(1, 8, 8, 2, sharding=(None, "d", "m")), arg(3, 3, 2, 2, fill="small"),
    forms=("cpu-gspmd", "partitioned-cpu-shardy"),
)  # fmt: skip
def convolution_of_a_split_picture(put: Put, x: A, w: A) -> Any:
    y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return put(y, None, "d", "m")


@constrained("halo", LINE, arg(3, 16, sharding=(None, "x")), forms=("cpu-gspmd", "cpu-shardy"))
def windows_of_a_split_line(put: Put, x: A) -> Any:
    return put(lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 1), "SAME"), None, "x")


@constrained(
    "two axes", GRID, arg(8, 16, sharding=("d", "m")), arg(16, 8, fill="small", sharding=("m", "d")),
    forms=("cpu-gspmd", "cpu-shardy", "gpu-shardy", "tpu-shardy", "partitioned-gpu-gspmd"),
)  # fmt: skip
def product_on_a_grid(put: Put, x: A, w: A) -> Any:
    return put(jnp.tanh(x @ w), "d")


@constrained("two axes", GRID, arg(16, 8, sharding=("d", "m")), arg(16, 8, sharding=(("d", "m"),)))
def placements_of_a_grid(put: Put, x: A, y: A) -> Any:
    return put(x * 2, ("m", "d")), put(y.T, "m", "d"), put(x + y, None, ("d", "m")), put((x * y).sum(0), "m")


@constrained(
    "two axes", GRID, arg(4, 8, 16, sharding=("d",)), arg(16, 3, 4, 4, fill="small", sharding=("d", None, "m")),
    arg(4, 4, 16, fill="small", sharding=("m", None, "d")), arg(16, 32, fill="small", sharding=("d", "m")),
    arg(32, 16, fill="small", sharding=("m", "d")), forms=("cpu-gspmd", "cpu-shardy", "partitioned-cpu-shardy"),
)  # fmt: skip
def gradient_of_a_transformer_layer(put: Put, x: A, qkv: A, out: A, w: A, v: A) -> Any:
    def loss(qkv: A, out: A, w: A, v: A) -> A:
        q, k, u = put(jnp.einsum("bsd,dthe->tbhse", normalized(x), qkv), None, "d", "m")
        weights = jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", q, k) / 2)
        y = x + put(jnp.einsum("bhst,bhte,hed->bsd", weights, u, out), "d")
        inside = put(jax.nn.gelu(normalized(y) @ w), "d", None, "m")
        return ((y + put(inside @ v, "d")) ** 2).mean()

    value, (a, b, c, d) = jax.value_and_grad(loss, (0, 1, 2, 3))(qkv, out, w, v)
    return put(value), put(a, "d", None, "m"), put(b, "m", None, "d"), put(c, "d", "m"), put(d, "m", "d")


@constrained(
    "expert", LINE, arg(8, 6, sharding=("x",)), arg(6, 4, fill="small"), arg(4, 6, 6, fill="small", sharding=("x",)),
    forms=("cpu-gspmd", "cpu-shardy", "gpu-shardy"),
)  # fmt: skip
def experts_by_products(put: Put, x: A, gate: A, w: A) -> Any:
    chosen = jax.nn.softmax(x @ gate)
    sent = put(jnp.einsum("te,td->etd", chosen, x), "x")
    return put(jnp.einsum("etd,edf->tf", jnp.tanh(sent), w), "x")


@constrained(
    "expert", LINE, arg(4, 8, 6, sharding=("x",)), arg(4, 6, 6, fill="small", sharding=("x",)),
    forms=("cpu-gspmd", "partitioned-cpu-shardy"),
)  # fmt: skip
def experts_take_groups(put: Put, x: A, w: A) -> Any:
    by_expert = put(x.reshape(4, 4, 2, 6).swapaxes(0, 1), "x")
    done = put(jnp.einsum("egcd,edf->egcf", by_expert, w), "x")
    return put(done.swapaxes(0, 1).reshape(4, 8, 6), "x")


@constrained(
    "movement", LINE, arg(8, 12, sharding=("x",)), forms=("cpu-gspmd", "cpu-shardy", "gpu-gspmd", "tpu-shardy")
)
def rows_to_columns(put: Put, x: A) -> Any:
    return put(jnp.sin(x), None, "x"), put(x * 3)


@constrained("movement", LINE, arg(8, 4, sharding=("x",)), forms=("cpu-gspmd", "partitioned-cpu-shardy"))
def rolled_and_reversed_rows(put: Put, x: A) -> Any:
    return put(jnp.roll(x, 1, 0), "x"), put(jnp.flip(x, 0), "x"), put(jnp.roll(x, -2, 0) + x, "x")


@constrained("movement", LINE, arg(16, 4, sharding=("x",)), arg(8, 4, sharding=("x",)))
def slices_and_joins(put: Put, x: A, y: A) -> Any:
    joined = jnp.concatenate([x, y])
    return put(joined, "x"), put(x[2:14:3]), put(jnp.pad(y, ((3, 5), (0, 0))), "x"), put(x[5])


@constrained(
    "movement", LINE, arg(8, 6, sharding=("x",)), arg(8, 2, 6, sharding=("x",)), forms=("cpu-gspmd", "cpu-shardy")
)
def reshaped_rows(put: Put, x: A, y: A) -> Any:
    return put(x.reshape(4, 12), "x"), put(y.reshape(16, 6), "x"), put(x.reshape(2, 4, 6))


@constrained("reduction", LINE, arg(8, 6, sharding=("x",)), forms=("cpu-gspmd", "cpu-shardy", "tpu-gspmd"))
def reductions_of_split_rows(put: Put, x: A) -> Any:
    return put(x.sum()), put(x.max(0)), put(jnp.argmax(x, 0)), put((x > 0).any()), put(x.prod(0)), put(x.var(0))


@constrained("reduction", PAIR, arg(8, 4, dtype=bf16, sharding=("x",)), arg(4, 6, dtype=bf16, fill="small"))
def halves_of_a_batch(put: Put, x: A, w: A) -> Any:
    return put((x @ w).sum(0)), put(jax.grad(lambda w: (x @ w).astype(jnp.float32).sum())(w))


@constrained(
    "sequence", LINE, arg(2, 8, 16, sharding=(None, "x")), arg(16, 32, fill="small", sharding=(None, "x")),
    forms=("partitioned-gpu-gspmd", "gpu-gspmd"),
)  # fmt: skip
def product_of_gathered_rows(put: Put, x: A, w: A) -> Any:
    return put(x @ w, None, None, "x")


@constrained(
    "sequence", LINE, arg(2, 8, 32, sharding=(None, None, "x")), arg(32, 16, fill="small", sharding=("x",)),
    forms=("partitioned-gpu-gspmd", "gpu-gspmd"),
)  # fmt: skip
def sum_of_products_scattered(put: Put, x: A, w: A) -> Any:
    return put(x @ w, None, "x")
