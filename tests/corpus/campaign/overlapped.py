"""Sharded programs with arrays so large that the compiler moves them between devices while it computes."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from tests.corpus.campaign.registry import campaign
from tests.corpus.programs.registry import A, arg

FOUR = (("x", 4),)
EIGHT = (("x", 8),)
SQUARE = (("d", 2), ("m", 2))
GRID = (("d", 2), ("m", 4))
f32, s32, bf16 = jnp.float32, jnp.int32, jnp.bfloat16


def gathered(mesh: Mesh, x: A) -> A:
    """Returns a value that every device holds whole."""
    whole: A = lax.with_sharding_constraint(x, NamedSharding(mesh, P()))
    return whole


def mlp(mesh: Mesh, x: A, weights: tuple[A, ...]) -> A:
    """Applies layers whose weights are gathered as each is needed, as fully sharded data parallelism does."""
    for w in weights:
        x = jnp.tanh(x @ gathered(mesh, w) / 16)
    return x


_BATCH = arg(512, 256, sharding=("x", None))
_WEIGHT = arg(256, 256, fill="small", sharding=("x", None))


@campaign(_BATCH, *[_WEIGHT] * 4, on="v5e", mesh=FOUR)
def gathered_weights_of_four_layers(mesh: Mesh, x: A, *weights: A) -> Any:
    return mlp(mesh, x, weights)


@campaign(_BATCH, *[_WEIGHT] * 3, on="v5e", mesh=EIGHT)
def gradient_of_gathered_weights(mesh: Mesh, x: A, *weights: A) -> Any:
    return jax.value_and_grad(lambda w: (mlp(mesh, x, w) ** 2).mean())(weights)


@campaign(_BATCH, *[_WEIGHT] * 3, on="v6e", mesh=FOUR)
def gradient_of_gathered_weights_v6e(mesh: Mesh, x: A, *weights: A) -> Any:
    return jax.value_and_grad(lambda w: (mlp(mesh, x, w) ** 2).mean())(weights)


@campaign(_BATCH, *[_WEIGHT] * 3, on="v4", mesh=EIGHT)
def gradient_of_gathered_weights_v4(mesh: Mesh, x: A, *weights: A) -> Any:
    return jax.value_and_grad(lambda w: (mlp(mesh, x, w) ** 2).mean())(weights)


@campaign(
    arg(512, 512, dtype=bf16, sharding=("x", None)),
    *[arg(512, 512, dtype=bf16, fill="small", sharding=("x", None))] * 3,
    on="v5p", mesh=FOUR,
)  # fmt: skip
def gathered_bf16_weights(mesh: Mesh, x: A, *weights: A) -> Any:
    return mlp(mesh, x, weights)


@campaign(
    arg(256, 512, sharding=("d", None)), *[arg(512, 512, fill="small", sharding=("d", "m"))] * 3, on="v5e", mesh=GRID
)
def weights_split_both_ways(mesh: Mesh, x: A, *weights: A) -> Any:
    for w in weights:
        x = jnp.tanh(x @ lax.with_sharding_constraint(w, NamedSharding(mesh, P(None, "m"))) / 16)
    return x.sum(0)


@campaign(
    arg(512, 256), arg(256, 1024, fill="small", sharding=(None, "x")),
    arg(1024, 256, fill="small", sharding=("x", None)), arg(256, 1024, fill="small", sharding=(None, "x")),
    arg(1024, 256, fill="small", sharding=("x", None)), on="v5e", mesh=EIGHT,
)  # fmt: skip
def tensor_parallel_layers(mesh: Mesh, x: A, up: A, down: A, up2: A, down2: A) -> Any:
    x = x + jax.nn.gelu(x @ up / 16) @ down / 16
    return x + jax.nn.gelu(x @ up2 / 16) @ down2 / 16


@campaign(
    arg(512, 256, sharding=("x", None)), arg(256, 1024, fill="small", sharding=(None, "x")),
    arg(1024, 256, fill="small", sharding=("x", None)), on="v5e", mesh=FOUR,
)  # fmt: skip
def sequence_parallel_layers(mesh: Mesh, x: A, up: A, down: A) -> Any:
    hidden = jax.nn.relu(gathered(mesh, x) @ up / 16)
    return x + lax.with_sharding_constraint(hidden @ down / 16, NamedSharding(mesh, P("x", None)))


@campaign(
    arg(512, 512, sharding=("d", "m")), arg(512, 512, fill="small", sharding=("d", "m")), on="v6e", mesh=SQUARE,
)  # fmt: skip
def product_of_blocks(mesh: Mesh, a: A, b: A) -> Any:
    return a @ b / 16


@campaign(arg(512, 512, sharding=("x", None)), arg(512, 512, sharding=("x", None)), on="v5e", mesh=FOUR)
def products_that_pass_blocks_around(mesh: Mesh, a: A, b: A) -> Any:
    def local(a: A, b: A) -> A:
        index, out = lax.axis_index("x"), jnp.zeros((128, 512))
        for step in range(4):
            part = lax.dynamic_slice(a, (0, ((index + step) % 4) * 128), (128, 128))
            out = out + part @ b / 16
            b = lax.ppermute(b, "x", [((j + 1) % 4, j) for j in range(4)])
        return out

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False)(a, b)


@campaign(arg(1024, 512, sharding=("x", None)), arg(512, 512, fill="small"), on="v5e", mesh=FOUR)
def explicit_gather_beside_a_product(mesh: Mesh, a: A, w: A) -> Any:
    def local(a: A, w: A) -> Any:
        whole = lax.all_gather(a, "x", tiled=True)
        beside = jnp.tanh(a @ w / 16) @ w / 16
        return beside, whole.max(0)

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P()), out_specs=(P("x"), P()), check_vma=False)(a, w)


@campaign(arg(2048, 256, sharding=("x", None)), arg(256, 256, fill="small"), on="v5e", mesh=EIGHT)
def explicit_scatter_of_sums(mesh: Mesh, a: A, w: A) -> Any:
    def local(a: A, w: A) -> Any:
        first = lax.psum_scatter(a @ w / 16, "x", scatter_dimension=0, tiled=True)
        second = lax.psum_scatter(jnp.tanh(a) @ w / 16, "x", scatter_dimension=1, tiled=True)
        return first, second

    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P()), out_specs=(P("x"), P(None, "x")), check_vma=False)(
        a, w
    )


@campaign(arg(4096, 256, sharding=("x", None)), arg(256, 256, fill="small"), on="v6e", mesh=FOUR)
def exchange_beside_a_product(mesh: Mesh, a: A, w: A) -> Any:
    def local(a: A, w: A) -> Any:
        swapped = lax.all_to_all(a, "x", 1, 0, tiled=True)
        beside = jnp.tanh(a @ w / 16) @ w / 16
        return swapped, beside, lax.psum(beside, "x")

    specs = (P(None, "x"), P("x"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P()), out_specs=specs, check_vma=False)(a, w)


@campaign(
    arg(512, 128, sharding=("x", None)), arg(8, 128, 256, fill="small", sharding=("x",)),
    arg(8, 256, 128, fill="small", sharding=("x",)), arg(512, dtype=s32, fill="below:8", sharding=("x",)),
    on="v5e", mesh=EIGHT,
)  # fmt: skip
def experts_with_dispatch(mesh: Mesh, tokens: A, up: A, down: A, choice: A) -> Any:
    mask = jax.nn.one_hot(choice, 8, dtype=f32)
    routed = lax.with_sharding_constraint(jnp.einsum("te,td->etd", mask, tokens), NamedSharding(mesh, P("x")))
    hidden = jax.nn.relu(jnp.einsum("etd,edf->etf", routed, up) / 16)
    return jnp.einsum("etf,efd,te->td", hidden, down, mask) / 16


@campaign(
    arg(4, 512, 4, 64, sharding=(None, "x")), arg(4, 512, 4, 64, sharding=(None, "x")),
    arg(4, 512, 4, 64, sharding=(None, "x")), on="v5e", mesh=FOUR,
)  # fmt: skip
def attention_over_split_sequences(mesh: Mesh, q: A, k: A, v: A) -> Any:
    scores = jnp.einsum("bshd,bthd->bhst", q, gathered(mesh, k)) / 8
    return jnp.einsum("bhst,bthd->bshd", jax.nn.softmax(scores), gathered(mesh, v))


@campaign(
    arg(256, 512, sharding=("x", None)), arg(4, 512, 512, fill="small", sharding=(None, "x", None)),
    on="v5e", mesh=FOUR,
)  # fmt: skip
def gathered_weights_in_a_loop(mesh: Mesh, x: A, weights: A) -> Any:
    def layer(x: A, w: A) -> Any:
        return jnp.tanh(x @ gathered(mesh, w) / 16), None

    return lax.scan(layer, x, weights)[0]


@campaign(
    arg(256, 256, sharding=("x", None)), arg(4, 256, 256, fill="small", sharding=(None, "x", None)),
    on="v4", mesh=FOUR,
)  # fmt: skip
def gradient_through_a_loop_of_layers(mesh: Mesh, x: A, weights: A) -> Any:
    def loss(weights: A) -> A:
        def layer(x: A, w: A) -> Any:
            return jnp.tanh(x @ gathered(mesh, w) / 16), None

        last: A = lax.scan(layer, x, weights)[0]
        return (last**2).mean()

    return jax.value_and_grad(loss)(weights)


@campaign(
    arg(4, 512, 256, sharding=(None, "x", None)), arg(4, 256, 256, fill="small", sharding=("x",)), on="v5p", mesh=FOUR
)
def pipeline_of_large_stages(mesh: Mesh, x: A, weights: A) -> Any:
    def local(x: A, weights: A) -> A:
        index = lax.axis_index("x")

        def step(state: A, turn: A) -> Any:
            inputs = jnp.where(index == 0, x[jnp.minimum(turn, 3)], state)
            done = jnp.tanh(inputs @ weights[0] / 16)
            return lax.ppermute(done, "x", [(j, (j + 1) % 4) for j in range(4)]), done

        done: A = lax.scan(step, jnp.zeros((512, 256)), jnp.arange(7))[1]
        return done[None]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"), check_vma=False)(x, weights)


@campaign(
    arg(256, 256, sharding=("x", None)), *[arg(256, 256, fill="small")] * 3, donated=(1, 2, 3), on="v5e", mesh=EIGHT
)
def data_parallel_step_of_large_layers(mesh: Mesh, x: A, *weights: A) -> Any:
    def loss(weights: tuple[A, ...]) -> A:
        y = x
        for w in weights:
            y = jnp.tanh(y @ w / 16)
        return (y**2).mean()

    value, gradients = jax.value_and_grad(loss)(weights)
    return value, [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)]


@campaign(
    arg(1024, 256, sharding=("x", None)), arg(2048, 256, fill="small", sharding=("x", None)),
    arg(1024, dtype=s32, fill="below:2048", sharding=("x",)), on="tpu7x", mesh=FOUR,
)  # fmt: skip
def loss_over_a_large_vocabulary(mesh: Mesh, x: A, table: A, labels: A) -> Any:
    logits = jax.nn.log_softmax(x @ gathered(mesh, table).T / 16)
    return -jnp.take_along_axis(logits, labels[:, None], 1).mean()


@campaign(
    arg(1024, 1024, sharding=("x", None)),
    *[arg(1024, 256, fill="small", sharding=("x", None))] * 2,
    on="tpu7x",
    mesh=FOUR,
)
def gathered_weights_on_chiplets(mesh: Mesh, x: A, up: A, gate: A) -> Any:
    return jax.nn.silu(x @ gathered(mesh, gate) / 16) * (x @ gathered(mesh, up) / 16)


@campaign(
    arg(8, 64, 64, 32, sharding=("d", "m")),
    arg(3, 3, 32, 64, fill="small", sharding=(None, None, "d", None)),
    on="v5e",
    mesh=GRID,
)
def convolution_with_gathered_filters(mesh: Mesh, x: A, w: A) -> Any:
    dimensions = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, gathered(mesh, w), (1, 1), "SAME", dimension_numbers=dimensions) / 16
