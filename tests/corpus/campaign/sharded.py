"""Programs partitioned over eight devices."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from tests.corpus.campaign.registry import campaign
from tests.corpus.programs.registry import A, arg

LINE = (("x", 8),)
GRID = (("d", 2), ("m", 4))
f32, s32, bf16 = jnp.float32, jnp.int32, jnp.bfloat16


@campaign(
    arg(16, 64, sharding=("d", None)), arg(64, 128, fill="small", sharding=("d", "m")),
    arg(128, 64, fill="small", sharding=("m", "d")), on="v5e", mesh=GRID,
)  # fmt: skip
def gradient_of_split_weights(mesh: Mesh, x: A, a: A, b: A) -> Any:
    return jax.value_and_grad(lambda w: ((jnp.tanh(x @ w[0] / 8) @ w[1]) ** 2).mean())((a, b))


@campaign(arg(16, 24, sharding=("x", None)), arg(8, 24, 16, fill="small", sharding=("x",)), on="v6e", mesh=LINE)
def experts_exchange_tokens(mesh: Mesh, tokens: A, weights: A) -> Any:
    def local(tokens: A, weights: A) -> Any:
        sent = jnp.broadcast_to(tokens[None], (8, *tokens.shape)) * (1 + jnp.arange(8.0)[:, None, None])
        received = lax.all_to_all(sent, "x", 0, 0)
        done = jnp.einsum("etd,df->etf", received, weights[0])
        return lax.all_to_all(done, "x", 0, 0).sum(0)

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False)(
        tokens, weights
    )


@campaign(arg(8, 16, 12, 8, sharding=("d", "m")), arg(3, 3, 8, 16, fill="small"), on="v5e", mesh=GRID)
def convolution_with_halos(mesh: Mesh, x: A, w: A) -> Any:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@campaign(arg(16, dtype=s32, fill="below:512"), arg(512, 32, fill="small", sharding=("x", None)), on="v4", mesh=LINE)
def loss_over_a_split_vocabulary(mesh: Mesh, tokens: A, table: A) -> Any:
    def loss(table: A) -> Any:
        logits = jax.nn.log_softmax(table[tokens] @ table.T)
        return -jnp.take_along_axis(logits, ((tokens + 1) % 512)[:, None], 1).mean()

    return jax.value_and_grad(loss)(table)


@campaign(arg(16, 24, sharding=("x", None)), arg(24, 40, sharding=(None, "x")), on="v5p", mesh=LINE)
def products_around_a_ring(mesh: Mesh, x: A, w: A) -> Any:
    def local(x: A, w: A) -> A:
        index, out, block = lax.axis_index("x"), jnp.zeros((16, w.shape[1])), x
        for step in range(8):
            out = lax.dynamic_update_slice(out, block @ w, (((index - step) % 8) * 2, 0))
            block = lax.ppermute(block, "x", [(j, (j + 1) % 8) for j in range(8)])
        return out

    specs = (P("x", None), P(None, "x"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P(None, "x"), check_vma=False)(x, w)


@campaign(arg(16, 64, sharding=("d", "m")), arg(64, 64, fill="small", sharding=("m", "d")), on="v6e", mesh=GRID)
def resharded_on_a_grid(mesh: Mesh, x: A, w: A) -> Any:
    y = lax.with_sharding_constraint(jnp.tanh(x @ w), NamedSharding(mesh, P(("d", "m"), None)))
    return lax.with_sharding_constraint(y * 2, NamedSharding(mesh, P(None, ("d", "m"))))


@campaign(arg(64, 17, sharding=("x", None)), arg(24, dtype=s32, fill="below:64", sharding=("x",)), on="v5e", mesh=LINE)
def sorts_and_scans_of_a_split_array(mesh: Mesh, x: A, index: A) -> Any:
    return jnp.sort(x, 0), x[index], jnp.cumsum(x, 0), jnp.zeros((64, 17)).at[index].add(x[:24])


@campaign(arg(16, 30, sharding=("x", None)), on="v4", mesh=LINE, precise=True)
def transforms_of_a_split_batch(mesh: Mesh, x: A) -> Any:
    return jnp.abs(jnp.fft.rfft(x, axis=1)), jnp.flip(x, 0), jnp.roll(x, 3, 0)


@campaign(arg(8, 16), arg(8, 16, 16, fill="small", sharding=("x",)), on="v5e", mesh=LINE)
def pipeline_of_stages(mesh: Mesh, x: A, weights: A) -> Any:
    def local(x: A, weights: A) -> Any:
        index = lax.axis_index("x")

        def step(state: A, turn: A) -> Any:
            inputs = jnp.where(index == 0, x[jnp.minimum(turn, 7)], state)
            done = jnp.tanh(inputs @ weights[0])
            return lax.ppermute(done, "x", [(j, (j + 1) % 8) for j in range(8)]), done

        return lax.scan(step, jnp.zeros(16), jnp.arange(15))[1][None]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"), check_vma=False)(x, weights)


@campaign(
    arg(2, 64, 2, 16, sharding=(None, "x")), arg(2, 64, 2, 16, sharding=(None, "x")),
    arg(2, 64, 2, 16, sharding=(None, "x")), on="v6e", mesh=LINE,
)  # fmt: skip
def attention_around_a_ring(mesh: Mesh, q: A, k: A, v: A) -> Any:
    def local(q: A, k: A, v: A) -> A:
        def body(state: Any, _: A) -> Any:
            k, v, total, out = state
            weights = jnp.exp(jnp.einsum("bshd,bthd->bhst", q, k) / 16)
            out = out + jnp.einsum("bhst,bthd->bshd", weights, v)
            to_next = [(j, (j + 1) % 8) for j in range(8)]
            return (lax.ppermute(k, "x", to_next), lax.ppermute(v, "x", to_next), total + weights.sum(-1), out), None

        start = (k, v, jnp.zeros((2, 2, 8)), jnp.zeros_like(q))
        (_, _, total, out), _ = lax.scan(body, start, jnp.arange(8))
        return out / total.swapaxes(1, 2)[..., None]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "x"),) * 3, out_specs=P(None, "x"), check_vma=False)(
        q, k, v
    )


@campaign(arg(8, 256, sharding=("x", None)), on="tpu7x", mesh=(("x", 4),))
def collectives_of_bytes(mesh: Mesh, x: A) -> Any:
    def local(x: A) -> Any:
        small = jnp.clip(x * 16, -100, 100).astype(jnp.int8)
        return lax.all_gather(small, "x", tiled=True), lax.psum(small.astype(s32), "x")

    return jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=(P(), P()), check_vma=False)(x)


@campaign(arg(16, 8, sharding=("d", "m")), on="v4", mesh=GRID)
def conditions_on_a_split_array(mesh: Mesh, x: A) -> Any:
    branch = lax.cond(x[15, 1] > 0, lambda: x * 2, lambda: x)
    return (x > 0).any(), (x > -9).all(), jnp.where(x[3, 5] > 0, x.sum(), 0.0), branch


@campaign(
    arg(16, 8, dtype=jnp.int8, fill="bits", sharding=("d", "m")),
    arg(16, 8, dtype=bf16, sharding=("d", "m")), on="v6e", mesh=GRID,
)  # fmt: skip
def parts_of_narrow_arrays(mesh: Mesh, x: A, y: A) -> Any:
    return x[3, 5], y[2, 2], x.max(), x[4], y[:, 3], (y > 0)[:, 2], (x > 0)[3], jnp.argmax(y), jnp.argmax(x, 0)


@campaign(arg(8, 16, sharding=("x", None)), on="v5e", mesh=LINE)
def collectives_of_bools(mesh: Mesh, x: A) -> Any:
    def local(x: A) -> Any:
        some = x > 0
        gathered = lax.all_gather(some[0, :1], "x"), lax.all_to_all(some[:, :8], "x", 1, 0)
        return lax.pmax(some, "x"), lax.pmin(some[:1, :3], "x"), *gathered

    specs = (P(), P(), P(), P("x"))
    return jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=specs, check_vma=False)(x)
