"""Programs partitioned over four GPUs."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from tests.corpus.campaign_gpu.registry import on_gpu
from tests.corpus.programs.registry import A, arg

LINE, SQUARE = (("x", 4),), (("d", 2), ("m", 2))
bf16, s32 = jnp.bfloat16, jnp.int32


@on_gpu(arg(16, 24, sharding=("x", None)), arg(24, 32, fill="small"), arg(32, 8, fill="small"), mesh=LINE)
def data_parallel_gradient(mesh: Mesh, x: A, w: A, v: A) -> Any:
    return jax.value_and_grad(lambda w, v: (jnp.tanh(x @ w) @ v).mean(), (0, 1))(w, v)


@on_gpu(
    arg(16, 24),
    arg(24, 32, fill="small", sharding=(None, "x")),
    arg(32, 8, fill="small", sharding=("x", None)),
    mesh=LINE,
)
def tensor_parallel_layers(mesh: Mesh, x: A, w: A, v: A) -> Any:
    return jax.nn.gelu(x @ w) @ v


@on_gpu(
    arg(16, 24, sharding=("d", None)), arg(24, 32, fill="small", sharding=("d", "m")),
    arg(32, 24, fill="small", sharding=("m", "d")), mesh=SQUARE,
)  # fmt: skip
def split_weights_gradient(mesh: Mesh, x: A, w: A, v: A) -> Any:
    loss, slopes = jax.value_and_grad(lambda w, v: ((jax.nn.relu(x @ w) @ v) ** 2).mean(), (0, 1))(w, v)
    return loss, [
        lax.with_sharding_constraint(s, NamedSharding(mesh, p))
        for s, p in zip(slopes, (P("d", "m"), P("m", "d")), strict=True)
    ]


@on_gpu(arg(8, 16, sharding=("x", None)), arg(8, 16, dtype=bf16, sharding=("x", None)), mesh=LINE)
def every_collective(mesh: Mesh, x: A, y: A) -> Any:
    def local(x: A, y: A) -> Any:
        ring = [(i, (i + 1) % 4) for i in range(4)]
        return (
            lax.psum(x, "x"), lax.pmax(y, "x"), lax.all_gather(x, "x", tiled=True), lax.ppermute(y, "x", ring),
            lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True), lax.pmean(y, "x"), lax.pmin(x, "x"),
            lax.all_to_all(x, "x", 1, 0, tiled=True), lax.psum_scatter(y, "x", scatter_dimension=1, tiled=True),
            lax.axis_index("x") * jnp.ones_like(x), lax.all_gather(y, "x", axis=1, tiled=True),
        )  # fmt: skip

    split, whole, columns = P("x", None), P(None, None), P(None, "x")
    out = (whole, whole, whole, split, columns, whole, whole, columns, columns, split, whole)
    return jax.shard_map(local, mesh=mesh, in_specs=(split, split), out_specs=out, check_vma=False)(x, y)


@on_gpu(arg(16, 16, sharding=("d", "m")), arg(4, 12, 8, sharding=("d", None, "m")), mesh=SQUARE)
def collectives_of_groups(mesh: Mesh, x: A, y: A) -> Any:
    def local(x: A, y: A) -> Any:
        halves = lax.psum(x, "d"), lax.all_gather(y, "m", axis=2, tiled=True), lax.psum_scatter(x, "m", tiled=True)
        return *halves, lax.psum((x, x * 2), ("d", "m")), lax.all_to_all(y, "m", 1, 2, tiled=True)

    out = (P(None, "m"), P("d"), P(("d", "m"), None), (P(), P()), P("d", "m", None))
    return jax.shard_map(local, mesh=mesh, in_specs=(P("d", "m"), P("d", None, "m")), out_specs=out, check_vma=False)(
        x, y
    )


@on_gpu(arg(16, 24, sharding=("x", None)), arg(24, 16, sharding=(None, "x")), mesh=LINE)
def changes_of_sharding(mesh: Mesh, x: A, y: A) -> Any:
    def put(a: A, *axes: str | None) -> Any:
        return lax.with_sharding_constraint(a, NamedSharding(mesh, P(*axes)))

    return put(x * 2, None, "x"), put(y + 1), put(x @ y, "x", None), put(jnp.sort(x, 0), "x", None), x.T @ x


@on_gpu(arg(8, 16, 8, sharding=("x",)), arg(8, 16, 8, sharding=("x",)), arg(8, 16, 8, sharding=("x",)), mesh=LINE)
def attention_in_a_ring(mesh: Mesh, q: A, k: A, v: A) -> Any:
    def local(q: A, k: A, v: A) -> Any:
        def step(_: Any, state: Any) -> Any:
            total, weight, k, v = state
            scores = jnp.exp(jnp.einsum("btd,bsd->bts", q, k) / 8)
            ring = [(i, (i + 1) % 4) for i in range(4)]
            k, v = (lax.ppermute(each, "x", ring) for each in (k, v))
            return total + scores @ v, weight + scores.sum(-1, keepdims=True), k, v

        total, weight, _, _ = lax.fori_loop(0, 4, step, (q * 0, q[..., :1] * 0, k, v))
        return total / weight

    return jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)(q, k, v)


@on_gpu(arg(16, 8, sharding=("x", None)), arg(4, 8, 12, fill="small", sharding=("x",)), mesh=LINE)
def exchanged_tokens(mesh: Mesh, tokens: A, weights: A) -> Any:
    def local(tokens: A, weights: A) -> Any:
        sent = tokens.reshape(4, 1, 8)
        received = lax.all_to_all(sent, "x", 0, 0)
        return lax.all_to_all(jax.nn.relu(received @ weights[0]), "x", 0, 0).reshape(4, 12)

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False)(
        tokens, weights
    )


@on_gpu(arg(4, 16, 12, 4, sharding=("x",)), arg(3, 3, 4, 8, fill="small"), mesh=LINE)
def convolution_of_a_split_batch(mesh: Mesh, x: A, w: A) -> Any:
    call = partial(
        lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jax.value_and_grad(lambda w: jnp.tanh(call(x, w)).mean())(w)


@on_gpu(arg(8, 12, sharding=("x", None)), arg(3, 12, 12, fill="small"), mesh=LINE)
def scanned_layers_of_a_split_batch(mesh: Mesh, x: A, weights: A) -> Any:
    return jax.grad(lambda w: lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, w)[0].sum())(weights)


@on_gpu(arg(16, dtype=s32, fill="below:32", sharding=("x",)), arg(32, 8, sharding=(None, "x")), mesh=LINE)
def embedding_with_split_columns(mesh: Mesh, tokens: A, table: A) -> Any:
    return jax.value_and_grad(lambda t: (t[tokens] ** 2).sum())(table)


@on_gpu(arg(4, 6, 6, sharding=("x",)), mesh=LINE)
def factorizations_of_a_split_batch(mesh: Mesh, a: A) -> Any:
    return jnp.linalg.cholesky(a @ a.swapaxes(1, 2) + 6 * jnp.eye(6)), jnp.linalg.inv(a + 6 * jnp.eye(6))
