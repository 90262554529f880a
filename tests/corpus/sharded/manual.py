"""Programs of shard_map, whose collectives are written by hand."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.corpus.programs.registry import arg
from tests.corpus.sharded.automatic import GRID, LINE, LONG, PAIR, SQUARE, normalized, s32
from tests.corpus.sharded.registry import A, Form, by_hand

WIDE: tuple[Form, ...] = ("sdy", "full-to-shard", "cpu-gspmd", "cpu-shardy", "gpu-shardy", "tpu-shardy")
TEXTS: tuple[Form, ...] = ("sdy", "full-to-shard", "cpu-shardy")
_UNEVEN = 10


def ring(size: int, step: int = 1) -> list[tuple[int, int]]:
    """Returns the pairs that send each device's value to a later device."""
    return [(i, (i + step) % size) for i in range(size)]


def _loss(x: A, w: A) -> A:
    return (jnp.tanh(x @ w) ** 2).mean()


@by_hand(
    "data", LINE, arg(16, 8, sharding=("x",)), arg(8, 6, fill="small"),
    single=lambda x, w: jax.value_and_grad(_loss, 1)(x, w), results=(P(), P()), forms=WIDE,
)  # fmt: skip
def mean_of_gradients(x: A, w: A) -> Any:
    return lax.pmean(jax.value_and_grad(_loss, 1)(x, w), "x")


@by_hand(
    "data", GRID, arg(16, 4, sharding=(("d", "m"),)), arg(4, 4, fill="small"),
    single=lambda x, w: jax.grad(lambda w: (jax.nn.relu(x @ w) ** 2).sum() / 16)(w), results=P(),
)  # fmt: skip
def sum_of_gradients_on_a_grid(x: A, w: A) -> Any:
    slope = jax.grad(lambda w: (jax.nn.relu(x @ w) ** 2).sum())(w)
    return lax.psum(lax.psum(slope, "m"), "d") / 16


@by_hand(
    "tensor", LONG, arg(4, 16), arg(16, 32, fill="small", sharding=(None, "x")),
    arg(32, 16, fill="small", sharding=("x",)),
    single=lambda x, w, v: jax.nn.silu(x @ w) @ v, results=P(), forms=WIDE,
)  # fmt: skip
def column_and_row_by_hand(x: A, w: A, v: A) -> Any:
    return lax.psum(jax.nn.silu(x @ w) @ v, "x")


@by_hand(
    "tensor", PAIR, arg(4, 8), arg(8, 8, fill="small", sharding=(None, "x")), arg(8, fill="small"),
    single=lambda x, w, b: normalized(x @ w + b), results=P(),
)  # fmt: skip
def columns_are_gathered(x: A, w: A, b: A) -> Any:
    part = w.shape[1]
    bias = lax.dynamic_slice_in_dim(b, lax.axis_index("x") * part, part)
    return normalized(lax.all_gather(x @ w + bias, "x", axis=1, tiled=True))


@by_hand(
    "sequence", LINE, arg(8, 8, sharding=("x",)), arg(8, 16, fill="small", sharding=(None, "x")),
    arg(16, 8, fill="small", sharding=("x",)), single=lambda x, w, v: x + jax.nn.relu(normalized(x) @ w) @ v,
    results=P("x"), forms=WIDE,
)  # fmt: skip
def sequence_is_gathered_and_scattered(x: A, w: A, v: A) -> Any:
    whole = lax.all_gather(normalized(x), "x", tiled=True)
    return x + lax.psum_scatter(jax.nn.relu(whole @ w) @ v, "x", tiled=True)


def _log_sum(x: A, axis: int) -> A:
    """Returns the logarithm of a sum of exponentials, without JAX's guard for infinities."""
    most = x.max(axis, keepdims=True)
    return jnp.log(jnp.exp(x - most).sum(axis)) + most.squeeze(axis)


def _attention(q: A, k: A, v: A) -> A:
    weights = jax.nn.softmax(jnp.einsum("she,the->hst", q, k) / 2)
    return jnp.einsum("hst,the->she", weights, v)


def _attention_without_maxima(q: A, k: A, v: A) -> A:
    weights = jnp.exp(jnp.einsum("she,the->hst", q, k) / 2)
    return jnp.einsum("hst,the->she", weights, v) / weights.sum(-1).T[..., None]


@by_hand(
    "sequence", LINE, *(arg(8, 4, 4, sharding=("x",)) for _ in range(3)), single=_attention, results=P("x"), forms=TEXTS
)
def heads_and_sequence_exchanged(q: A, k: A, v: A) -> Any:
    q, k, v = (lax.all_to_all(each, "x", 1, 0, tiled=True) for each in (q, k, v))
    return lax.all_to_all(_attention(q, k, v), "x", 0, 1, tiled=True)


@by_hand(
    "ring attention", LINE, *(arg(8, 2, 4, sharding=("x",)) for _ in range(3)), single=_attention_without_maxima,
    results=P("x"), forms=TEXTS,
)  # fmt: skip
def keys_around_a_ring(q: A, k: A, v: A) -> Any:
    def body(state: Any, _: A) -> Any:
        k, v, total, out = state
        weights = jnp.exp(jnp.einsum("she,the->hst", q, k) / 2)
        out = out + jnp.einsum("hst,the->she", weights, v)
        return (*(lax.ppermute(each, "x", ring(4)) for each in (k, v)), total + weights.sum(-1), out), None

    (_, _, total, out), _ = lax.scan(body, (k, v, jnp.zeros((2, 2)), jnp.zeros_like(q)), length=4)
    return out / total.T[..., None]


@by_hand(
    "ring attention", PAIR, *(arg(8, 2, 4, sharding=("x",)) for _ in range(3)), single=_attention, results=P("x"),
    forms=("sdy", "cpu-gspmd"),
)  # fmt: skip
def keys_around_a_ring_with_maxima(q: A, k: A, v: A) -> Any:
    def body(step: int, state: Any) -> Any:
        k, v, most, total, out = state
        scores = jnp.einsum("she,the->hst", q, k) / 2
        new = jnp.maximum(most, scores.max(-1))
        weights, old = jnp.exp(scores - new[..., None]), jnp.exp(most - new)
        out = out * old.T[..., None] + jnp.einsum("hst,the->she", weights, v)
        return *(lax.ppermute(each, "x", ring(2)) for each in (k, v)), new, total * old + weights.sum(-1), out

    start = (k, v, jnp.full((2, 4), -1e30), jnp.zeros((2, 4)), jnp.zeros_like(q))
    _, _, _, total, out = lax.fori_loop(0, 2, body, start)
    return out / total.T[..., None]


def _causal(q: A, k: A, v: A) -> A:
    scores = jnp.einsum("se,te->st", q, k)
    return jax.nn.softmax(jnp.where(jnp.arange(8)[:, None] >= jnp.arange(8), scores, -1e9)) @ v


@by_hand("sequence", LINE, *(arg(8, 4, sharding=("x",)) for _ in range(3)), single=_causal, results=P("x"), forms=TEXTS)
def causal_mask_of_a_part(q: A, k: A, v: A) -> Any:
    k, v = (lax.all_gather(each, "x", tiled=True) for each in (k, v))
    rows = lax.axis_index("x") * 2 + jnp.arange(2)
    scores = jnp.einsum("se,te->st", q, k)
    return jax.nn.softmax(jnp.where(rows[:, None] >= jnp.arange(8), scores, -1e9)) @ v


@by_hand(
    "windowed einsum", LINE, arg(8, 6, sharding=("x",)), arg(6, 8, fill="small", sharding=(None, "x")),
    single=lambda x, w: x @ w, results=P(None, "x"), forms=WIDE,
)  # fmt: skip
def product_while_rows_rotate(x: A, w: A) -> Any:
    index = lax.axis_index("x")

    def body(step: A, state: Any) -> Any:
        block, out = state
        out = lax.dynamic_update_slice(out, block @ w, (((index - step) % 4) * 2, 0))
        return lax.ppermute(block, "x", ring(4)), out

    return lax.fori_loop(0, 4, body, (x, jnp.zeros((8, w.shape[1]))))[1]


@by_hand(
    "windowed einsum", LINE, arg(8, 8, sharding=(None, "x")), arg(8, 6, fill="small", sharding=("x",)),
    single=lambda x, w: x @ w, results=P("x"), forms=TEXTS,
)  # fmt: skip
def sums_while_results_rotate(x: A, w: A) -> Any:
    index = lax.axis_index("x")

    def body(step: A, total: A) -> Any:
        rows = lax.dynamic_slice(x, (((index - step - 1) % 4) * 2, 0), (2, 2))
        return lax.ppermute(total, "x", ring(4)) + rows @ w

    return lax.fori_loop(0, 4, body, jnp.zeros((2, 6)))


@by_hand(
    "windowed einsum", PAIR, arg(4, 6, sharding=("x",)), arg(6, 4, fill="small", sharding=(None, "x")),
    single=lambda x, w: jax.grad(lambda x, w: (jnp.sin(x @ w)).sum(), (0, 1))(x, w), results=(P("x"), P(None, "x")),
    forms=("sdy", "cpu-shardy"),
)  # fmt: skip
def gradient_while_rows_rotate(x: A, w: A) -> Any:
    def loss(x: A, w: A) -> Any:
        def body(block: A, step: A) -> Any:
            return lax.ppermute(block, "x", ring(2)), jnp.sin(block @ w).sum()

        return lax.scan(body, x, jnp.arange(2))[1].sum()

    return jax.grad(loss, (0, 1))(x, w)


def _stages(x: A, w: A) -> A:
    return lax.scan(lambda state, each: (jnp.tanh(state @ each), None), x, w)[0]


@by_hand(
    "pipeline", LINE, arg(5, 2, 4), arg(4, 4, 4, fill="small", sharding=("x",)), single=_stages, results=P(),
    forms=WIDE,
)  # fmt: skip
def pipeline_of_stages(x: A, w: A) -> Any:
    index = lax.axis_index("x")

    def step(state: A, turn: A) -> Any:
        inputs = jnp.where(index == 0, x[jnp.minimum(turn, 4)], state)
        done = jnp.tanh(inputs @ w[0])
        return lax.ppermute(done, "x", ring(4)), done

    done = lax.scan(step, jnp.zeros((2, 4)), jnp.arange(8))[1][3:]
    return lax.psum(jnp.where(index == 3, done, 0.0), "x")


@by_hand(
    "pipeline", PAIR, arg(3, 2, 4), arg(2, 4, 4, fill="small", sharding=("x",)),
    single=lambda x, w: jax.grad(lambda w: (_stages(x, w) ** 2).sum())(w), results=P("x"), forms=("sdy", "cpu-shardy"),
)  # fmt: skip
def gradient_of_a_pipeline(x: A, w: A) -> Any:
    index = lax.axis_index("x")

    def loss(w: A) -> A:
        def step(state: A, turn: A) -> Any:
            done = jnp.tanh(jnp.where(index == 0, x[jnp.minimum(turn, 2)], state) @ w[0])
            return lax.ppermute(done, "x", [(0, 1)]), done

        done = lax.scan(step, jnp.zeros((2, 4)), jnp.arange(4))[1][1:]
        return jnp.where(index == 1, (done * done).sum(), 0.0)

    return jax.grad(loss)(w)


@by_hand(
    "pipeline", LINE, arg(2, 4), arg(4, 4, 4, fill="small", sharding=("x",)), single=_stages, results=P(), forms=TEXTS,
)  # fmt: skip
def unrolled_pipeline(x: A, w: A) -> Any:
    index, state = lax.axis_index("x"), x
    for stage in range(4):
        state = jnp.where(index == stage, jnp.tanh(state @ w[0]), state)
        if stage < 3:
            state = jnp.where(index == stage + 1, lax.ppermute(state, "x", [(stage, stage + 1)]), state)
    return lax.psum(jnp.where(index == 3, state, 0.0), "x")


@by_hand(
    "expert", LINE, arg(4, 4, 2, 6, sharding=("x",)), arg(4, 6, 6, fill="small", sharding=("x",)),
    single=lambda x, w: jnp.einsum("gecd,edf->gecf", x, w), results=P("x"), forms=WIDE,
)  # fmt: skip
def tokens_to_experts_and_back(x: A, w: A) -> Any:
    received = lax.all_to_all(x, "x", 1, 0, tiled=True)
    return lax.all_to_all(jnp.einsum("gecd,edf->gecf", received, w), "x", 0, 1, tiled=True)


def _routed(x: A, gate: A, w: A) -> A:
    chosen = jax.nn.one_hot(jnp.argmax(x @ gate, -1), 4)
    return jnp.einsum("te,tf,ted->td", chosen, x, jnp.einsum("tf,efd->ted", x, w))


@by_hand(
    "expert", LINE, arg(8, 6), arg(6, 4), arg(4, 6, 6, fill="small", sharding=("x",)), single=_routed, results=P(),
    forms=("sdy", "cpu-gspmd"),
)  # fmt: skip
def each_device_has_one_expert(x: A, gate: A, w: A) -> Any:
    chosen = (jnp.argmax(x @ gate, -1) == lax.axis_index("x")).astype(x.dtype)
    return lax.psum(jnp.einsum("t,tf,td->td", chosen, x, x @ w[0]), "x")


@by_hand(
    "embedding", LINE, arg(6, dtype=s32, fill="below:16"), arg(16, 4, fill="small", sharding=("x",)),
    single=lambda tokens, table: table[jnp.clip(tokens, 0, 15)], results=P(), forms=WIDE,
)  # fmt: skip
def lookup_with_a_mask(tokens: A, table: A) -> Any:
    local = jnp.clip(tokens, 0, 15) - lax.axis_index("x") * 4
    is_here = (local >= 0) & (local < 4)
    rows = table[jnp.where(is_here, local, 0)]
    return lax.psum(jnp.where(is_here[:, None], rows, 0.0), "x")


def _cross_entropy(x: A, w: A, labels: A) -> A:
    logits = x @ w
    return _log_sum(logits, 1) - jnp.take_along_axis(logits, jnp.clip(labels, 0, 7)[:, None], 1)[:, 0]


@by_hand(
    "embedding", PAIR, arg(4, 6), arg(6, 8, fill="small", sharding=(None, "x")), arg(4, dtype=s32, fill="below:8"),
    single=_cross_entropy, results=P(), forms=TEXTS,
)  # fmt: skip
def cross_entropy_of_a_split_vocabulary(x: A, w: A, labels: A) -> Any:
    logits, start = x @ w, lax.axis_index("x") * 4
    most = lax.pmax(logits.max(-1), "x")
    total = lax.psum(jnp.exp(logits - most[:, None]).sum(-1), "x")
    hits = (jnp.clip(labels, 0, 7)[:, None] - start) == jnp.arange(4)
    return jnp.log(total) + most - lax.psum(jnp.where(hits, logits, 0.0).sum(-1), "x")


def _blurred(x: A) -> A:
    padded = jnp.pad(x, ((1, 1), (0, 0)))
    return 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]


@by_hand("halo", LINE, arg(16, 3, sharding=("x",)), single=_blurred, results=P("x"), forms=WIDE)
def halo_of_a_stencil(x: A) -> Any:
    before = lax.ppermute(x[-1:], "x", [(i, i + 1) for i in range(3)])
    after = lax.ppermute(x[:1], "x", [(i + 1, i) for i in range(3)])
    padded = jnp.concatenate([before, x, after])
    return 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]


def _convolved(x: A, w: A) -> A:
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"))


@by_hand(
    "halo", LINE, arg(1, 16, 2, sharding=(None, "x")), arg(3, 2, 3, fill="small"), single=_convolved,
    results=P(None, "x"), forms=TEXTS,
)  # fmt: skip
def halo_of_a_convolution(x: A, w: A) -> Any:
    before = lax.ppermute(x[:, -1:], "x", [(i, i + 1) for i in range(3)])
    after = lax.ppermute(x[:, :1], "x", [(i + 1, i) for i in range(3)])
    padded = jnp.concatenate([before, x, after], 1)
    return lax.conv_general_dilated(padded, w, (1,), "VALID", dimension_numbers=("NHC", "HIO", "NHC"))


@by_hand(
    "uneven", LINE, arg(_UNEVEN, 4), single=lambda x: (x.mean(0), _log_sum(x, 0), x.max(0)),
    results=(P(), P(), P()), forms=WIDE,
)  # fmt: skip
def padded_rows_are_masked(x: A) -> Any:
    padded = jnp.pad(x, ((0, 2), (0, 0)))
    start = lax.axis_index("x") * 3
    part = lax.dynamic_slice(padded, (start, 0), (3, 4))
    valid = (start + jnp.arange(3) < _UNEVEN)[:, None]
    mean = lax.psum(jnp.where(valid, part, 0.0).sum(0), "x") / _UNEVEN
    most = lax.pmax(jnp.where(valid, part, -jnp.inf).max(0), "x")
    total = lax.psum(jnp.where(valid, jnp.exp(part - most), 0.0).sum(0), "x")
    return mean, jnp.log(total) + most, most


@by_hand(
    "uneven", LINE, arg(6, _UNEVEN), arg(_UNEVEN, 4, fill="small"), single=lambda x, w: x @ w, results=P(),
    forms=("sdy", "cpu-gspmd"),
)  # fmt: skip
def padded_contraction(x: A, w: A) -> Any:
    start = lax.axis_index("x") * 3
    columns = lax.dynamic_slice(jnp.pad(x, ((0, 0), (0, 2))), (0, start), (6, 3))
    rows = lax.dynamic_slice(jnp.pad(w, ((0, 2), (0, 0))), (start, 0), (3, 4))
    return lax.psum(columns @ rows, "x")


@by_hand(
    "device index", LINE, arg(8, 4, sharding=("x",)), arg(4),
    single=lambda x, y: (x * (jnp.arange(8) // 2 + 1)[:, None], y[jnp.array([2, 0, 3, 1])], jnp.cumsum(x.sum(1))),
    results=(P("x"), P("x"), P("x")), forms=TEXTS,
)  # fmt: skip
def arithmetic_of_the_device(x: A, y: A) -> Any:
    index = lax.axis_index("x")
    table = jnp.array([2, 0, 3, 1])
    sums = x.sum(1)
    before = jnp.where(jnp.arange(4) < index, lax.all_gather(sums.sum(), "x"), 0.0).sum()
    return x * (index + 1), lax.dynamic_slice(y, (table[index],), (1,)), before + jnp.cumsum(sums)


@by_hand("device index", LONG, arg(8, 3, sharding=("x",)), single=lambda x: x[5], results=P(), forms=TEXTS)
def one_device_tells_all(x: A) -> Any:
    return lax.psum(jnp.where(lax.axis_index("x") == 5, x[0], 0.0), "x")


@by_hand(
    "permute", LONG, arg(16, 3, sharding=("x",)), single=lambda x: x.reshape(8, 2, 3).sum(0), results=P(), forms=TEXTS
)
def sum_by_doubling(x: A) -> Any:
    for bit in (1, 2, 4):
        x = x + lax.ppermute(x, "x", [(i, i ^ bit) for i in range(8)])
    return x


@by_hand(
    "permute", LINE, arg(8, 3, sharding=("x",)), single=lambda x: (jnp.roll(x, 2, 0), jnp.flip(x, 0), x), forms=WIDE,
    results=(P("x"), P("x"), P("x")),
)  # fmt: skip
def rolled_by_permutes(x: A) -> Any:
    back = lax.ppermute(lax.ppermute(x, "x", ring(4)), "x", ring(4, -1))
    return lax.ppermute(x, "x", ring(4)), jnp.flip(lax.ppermute(x, "x", [(i, 3 - i) for i in range(4)]), 0), back


@by_hand(
    "permute", LINE, arg(8, 4), single=lambda x: x * 4.0, results=P("x"), forms=("sdy", "cpu-shardy"),
)  # fmt: skip
def scattered_around_a_ring(x: A) -> Any:
    index = lax.axis_index("x")

    def body(step: A, total: A) -> Any:
        part = lax.dynamic_slice(x, (((index - step - 1) % 4) * 2, 0), (2, 4))
        return lax.ppermute(total, "x", ring(4)) + part

    return lax.fori_loop(0, 4, body, jnp.zeros((2, 4)))


@by_hand(
    "two axes", SQUARE, arg(4, 6, sharding=("d", "m")), arg(6, 8, fill="small", sharding=("m", "d")),
    single=lambda x, w: x @ w, results=P("d", "m"), forms=WIDE,
)  # fmt: skip
def product_of_blocks(x: A, w: A) -> Any:
    columns = lax.all_to_all(lax.all_gather(w, "d", axis=1, tiled=True), "m", 1, 0, tiled=True)
    return lax.all_gather(x, "m", axis=1, tiled=True) @ columns


@by_hand(
    "two axes", SQUARE, arg(4, 4, sharding=("d", "m")), arg(4, 4, fill="small", sharding=("d", "m")),
    single=lambda x, w: x @ w, results=P("d", "m"), forms=TEXTS,
)  # fmt: skip
def rotating_blocks(x: A, w: A) -> Any:
    # The blocks of row 1 move one column to the left, those of column 1 one row up.
    x = lax.ppermute(x, ("d", "m"), [(0, 0), (1, 1), (2, 3), (3, 2)])
    w = lax.ppermute(w, ("d", "m"), [(0, 0), (2, 2), (1, 3), (3, 1)])
    out = x @ w
    return out + lax.ppermute(x, "m", ring(2)) @ lax.ppermute(w, "d", ring(2))


@by_hand(
    "two axes", GRID, arg(8, 4, sharding=("m",)), arg(8, 4, sharding=(("d", "m"),)),
    single=lambda x, y: (x, y.sum(0), jnp.concatenate([y, y]), x.max()), results=(P(), P(), P(), P()), forms=WIDE,
)  # fmt: skip
def collectives_of_a_grid(x: A, y: A) -> Any:
    gathered = lax.all_gather(lax.all_gather(y, "m", tiled=True), "d", tiled=True)
    twice = jnp.concatenate([gathered, lax.all_gather(y, ("d", "m"), tiled=True)])
    return lax.all_gather(x, "m", tiled=True), lax.psum(y.sum(0), ("d", "m")), twice, lax.pmax(x.max(), "m")


@by_hand(
    "two axes", SQUARE, arg(4, 6, sharding=("d",)), arg(6, 8, fill="small"), arg(8, 6, fill="small"),
    single=lambda x, w, v: jax.nn.relu(x @ w) @ v, results=P("d"),
    forms=("sdy", "full-to-shard", "cpu-shardy"), automatic=("m",),
)  # fmt: skip
def one_axis_by_hand(x: A, w: A, v: A) -> Any:
    return jax.nn.relu(x @ w) @ v


@by_hand(
    "two axes", GRID, arg(8, 4, sharding=("d",)), arg(4, 6, fill="small"), arg(8, 6, sharding=("d",)),
    single=lambda x, w, y: jax.value_and_grad(lambda w: ((jnp.sin(x @ w) - y) ** 2).sum() / 8)(w), results=(P(), P()),
    forms=("sdy", "full-to-shard", "cpu-shardy", "cpu-gspmd"), automatic=("m",),
)  # fmt: skip
def gradient_with_one_axis_by_hand(x: A, w: A, y: A) -> Any:
    loss, slope = jax.value_and_grad(lambda w: ((jnp.sin(x @ w) - y) ** 2).sum() / 8)(w)
    return lax.psum(loss, "d"), lax.psum(slope, "d")


@by_hand(
    "fsdp", LINE, arg(8, 6, sharding=("x",)), arg(8, 6, fill="small", sharding=("x",)),
    single=lambda x, w: jax.grad(lambda w: (jnp.tanh(x @ w.T) ** 2).sum())(w), results=P("x"), forms=WIDE,
)  # fmt: skip
def gradient_of_weights_gathered_by_hand(x: A, w: A) -> Any:
    return jax.grad(lambda w: (jnp.tanh(x @ lax.all_gather(w, "x", tiled=True).T) ** 2).sum())(w)


@by_hand(
    "norm", PAIR, arg(4, 8, sharding=(None, "x")), arg(8, sharding=("x",)), single=lambda x, g: normalized(x) * g,
    results=P(None, "x"), forms=TEXTS,
)  # fmt: skip
def norm_by_sums(x: A, g: A) -> Any:
    mean = lax.psum(x.sum(-1, keepdims=True), "x") / 8
    square = lax.psum(((x - mean) ** 2).sum(-1, keepdims=True), "x") / 8
    return (x - mean) * lax.rsqrt(square + 1e-5) * g


@by_hand(
    "softmax", LINE, arg(3, 8, sharding=(None, "x")), single=lambda x: jax.nn.softmax(x), results=P(None, "x"),
    forms=WIDE,
)  # fmt: skip
def softmax_by_maximum_and_sum(x: A) -> Any:
    weights = jnp.exp(x - lax.pmax(x.max(-1, keepdims=True), "x"))
    return weights / lax.psum(weights.sum(-1, keepdims=True), "x")


@by_hand(
    "reduction", LINE, arg(8, 6, sharding=("x",)), arg(8, dtype=s32, fill="below:9", sharding=("x",)),
    single=lambda x, n: ((x * n[:, None]).sum(0) / n.sum(), jnp.sqrt((x * x).sum()), n.min()),
    results=(P(), P(), P()), forms=TEXTS,
)  # fmt: skip
def weighted_means(x: A, n: A) -> Any:
    total, count = lax.psum(((x * n[:, None]).sum(0), n.sum()), "x")
    return total / count, jnp.sqrt(lax.psum((x * x).sum(), "x")), lax.pmin(n.min(), "x")
