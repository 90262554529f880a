"""Programs partitioned over four devices, with the collectives between them."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from .registry import A, arg, program

bf16, f32, s32 = jnp.bfloat16, jnp.float32, jnp.int32
LINE = (("x", 4),)
SQUARE = (("x", 2), ("y", 2))


@program(arg(16, 200, sharding=("x", None)), arg(200, 40, sharding=(None, "y")), mesh=SQUARE)
def matmul_two_axes(mesh: Mesh, a: A, b: A) -> Any:
    return a @ b, (a @ b).sum(0)


@program(arg(16, 64), arg(64, 160, sharding=(None, "x")), arg(160, 64, sharding=("x", None)), on="v4", mesh=LINE)
def tensor_parallel_mlp(mesh: Mesh, x: A, w_up: A, w_down: A) -> Any:
    return jax.nn.gelu(x @ w_up) @ w_down


@program(
    arg(32, 24, sharding=("x", None)), arg(24, 40, fill="small"), arg(40, 5, fill="small"),
    arg(32, 5, sharding=("x", None)), on="v6e", mesh=LINE, donated=(1, 2),
)  # fmt: skip
def data_parallel_step(mesh: Mesh, x: A, w1: A, w2: A, y: A) -> Any:
    def loss(weights: tuple[A, A]) -> A:
        return ((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2).mean()

    value, gradients = jax.value_and_grad(loss)((w1, w2))
    return value, w1 - 0.1 * gradients[0], w2 - 0.1 * gradients[1]


@program(arg(8, 256, sharding=("x", None)), arg(16, 12, sharding=("x", None)), mesh=LINE)
def explicit_collectives(mesh: Mesh, a: A, b: A) -> Any:
    def local(a: A, b: A) -> Any:
        return (
            lax.psum(a, "x"),
            lax.all_gather(b, "x", tiled=True),
            lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True),
            lax.ppermute(b, "x", [(i, (i + 1) % 4) for i in range(4)]),
            lax.all_to_all(a, "x", 1, 0, tiled=True),
        )

    specs = (P(), P(), P(None, "x"), P("x"), P("x"))
    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=specs, check_vma=False)(a, b)


@program(arg(12, 140, dtype=bf16, sharding=("x", "y")), on="tpu7x", mesh=SQUARE)
def collectives_on_square(mesh: Mesh, a: A) -> Any:
    def local(a: A) -> Any:
        swapped = lax.ppermute(a, "y", [(0, 1), (1, 0)])
        return lax.pmax(a, "x"), swapped, lax.psum(a.astype(f32).sum(1), ("x", "y")), lax.pmean(swapped, "y")

    specs = (P(None, "y"), P("x", "y"), P(None), P("x", None))
    return jax.shard_map(local, mesh=mesh, in_specs=P("x", "y"), out_specs=specs, check_vma=False)(a)


@program(arg(20, 48, sharding=("x", None)), arg(48, 20, sharding=("x", None)), on="v5p", mesh=LINE)
def resharding(mesh: Mesh, a: A, b: A) -> Any:
    columns = lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P(None, "x")))
    whole = lax.with_sharding_constraint(b + 1, NamedSharding(mesh, P()))
    return columns, whole.T, jnp.sort(a, 0), jnp.roll(b, 1, 0)


@program(
    arg(32, 16, sharding=("x", None)), arg(4, 16, 24, sharding=("x", None, None)), arg(32, dtype=s32, fill="below:4"),
    on="v4", mesh=LINE,
)  # fmt: skip
def expert_parallel(mesh: Mesh, tokens: A, experts: A, choice: A) -> Any:
    dispatch = jax.nn.one_hot(choice, 4).T[..., None] * tokens
    routed = lax.with_sharding_constraint(dispatch, NamedSharding(mesh, P("x")))
    return jnp.einsum("etd,edf->etf", routed, experts).sum(0)


@program(arg(4, 12, 2, 16, sharding=("x",)), arg(4, 12, 2, 16, sharding=("x",)), mesh=LINE)
def ring_attention_scores(mesh: Mesh, q: A, k: A) -> Any:
    def local(q: A, k: A) -> A:
        def body(i: int, state: tuple[A, A]) -> tuple[A, A]:
            k, best = state
            best = jnp.maximum(best, jnp.einsum("bqhd,bkhd->bhqk", q, k).max(-1))
            return lax.ppermute(k, "x", [(j, (j + 1) % 4) for j in range(4)]), best

        initial = jnp.full((1, 2, 12), -1e9)
        best: A = lax.fori_loop(0, 4, body, (k, initial))[1]
        return best * (lax.axis_index("x") + 1)

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False)(q, k)


@program(arg(256, 128, dtype=bf16, sharding=("x", None)), arg(128, 64, dtype=bf16, sharding=("x", None)), mesh=LINE)
def gathered_weights(mesh: Mesh, x: A, w: A) -> Any:
    y = jax.nn.relu(x @ w)
    return (y @ w.T).astype(f32).sum(1), y[::64]


@program(arg(8, 12, sharding=("x", None)), arg(8, dtype=s32, fill="below:4", sharding=("x",)), on="v6e", mesh=LINE)
def halo_exchange(mesh: Mesh, a: A, b: A) -> Any:
    def local(a: A, b: A) -> Any:
        above = lax.ppermute(a[-1:], "x", [(0, 1), (1, 2), (2, 3)])
        below = lax.ppermute(a[:1], "x", [(1, 0), (2, 1), (3, 2)])
        padded = jnp.concatenate([above, a, below])
        return (padded[:-2] + padded[2:]) * 0.5 + lax.pmin(b, "x")[:, None]

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False)(a, b)


@program(arg(4, 10, 140, sharding=("x",)), arg(4, 10, 140, sharding=("x",)), on="v4", mesh=LINE)
def sequence_parallel_norm(mesh: Mesh, x: A, r: A) -> Any:
    total = lax.with_sharding_constraint(x + r, NamedSharding(mesh, P(None, None, "x")))
    return total - total.mean(-1, keepdims=True), jnp.cumsum(x, 0), x[::-1], jnp.argmax(r, 0)
