"""Sorts, gathers, scatters and slices at computed places."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .registry import A, arg, program

bf16, f16, f32, s8, s32, u8 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.int8, jnp.int32, jnp.uint8


@program(arg(12, 300, dtype=s32, fill="below:9"), arg(12, 300), arg(12, 300, dtype=u8, fill="bits"), on="v4")
def sort_three_operands(keys: A, x: A, y: A) -> Any:
    return lax.sort((keys, x, y), dimension=1, is_stable=True, num_keys=1)


@program(arg(40, 9, dtype=s32, fill="below:5"), arg(40, 9, dtype=bf16), on="v6e")
def sort_two_keys(major: A, minor: A) -> Any:
    order = jnp.argsort(major, axis=0, stable=True, descending=True)
    return lax.sort((major, minor), dimension=0, num_keys=2), order, jnp.median(minor.astype(f32), 0)


@program(arg(6, 400, dtype=bf16), arg(500), on="v5e")
def largest_values(x: A, y: A) -> Any:
    return lax.top_k(x, 3), lax.top_k(y, 20), lax.top_k(-x.T, 2)[1]


@program(arg(24, 20), arg(7, 2, dtype=s32, fill="below:18"), arg(7, 3, 2), on="v4")
def scatter_windows(x: A, places: A, updates: A) -> Any:
    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0, 1))
    return (
        lax.scatter_add(x, places, updates, numbers),
        lax.scatter_min(x, places, updates, numbers),
        lax.scatter_max(x, places, updates, numbers),
    )


@program(arg(30, 200, dtype=s32, fill="bits"), arg(5, dtype=s32, fill="below:30"), arg(5, 200, dtype=s32, fill="bits"))
def scatter_rows(x: A, rows: A, updates: A) -> Any:
    distinct = (rows * 0 + jnp.arange(5)) * 6
    return x.at[distinct].set(updates), x.at[rows].multiply(3), x.at[rows].max(updates), x.at[:, rows].add(7)


@program(arg(4, 30, 6), arg(4, 5, dtype=s32, fill="below:33"), arg(4, 5, 6), on="v5e")
def scatter_batched(x: A, rows: A, updates: A) -> Any:
    return jax.vmap(lambda t, i, u: t.at[i].add(u, mode="drop"))(x, rows, updates)


@program(arg(50, 260), arg(9, dtype=s32, fill="below:50"), arg(6, dtype=s32, fill="below:260"), on="v6e")
def gather_variants(x: A, rows: A, columns: A) -> Any:
    return (
        jnp.take(x, rows, 0, mode="clip"),
        x[:, columns],
        x[rows[:6], columns],
        jnp.take(x, rows - 60, 0, mode="fill", fill_value=-7.0),
    )


@program(arg(3, 40, 130), arg(3, 40, 5, dtype=s32, fill="below:130"), arg(3, 2, dtype=s32, fill="below:32"), on="v4")
def gather_batched(x: A, along: A, starts: A) -> Any:
    windows = jax.vmap(lambda t, s: lax.dynamic_slice(t, (s[0], 4 * s[1]), (6, 9)))(x, starts)
    return jnp.take_along_axis(x, along, 2), windows


@program(arg(90, 48, dtype=bf16), arg(4, 13, dtype=s32, fill="below:90"), arg(13, 48, dtype=bf16), on="tpu7x")
def embedding_lookup(table: A, tokens: A, positions: A) -> Any:
    return table[tokens] + positions, jax.nn.one_hot(tokens[0], 90, dtype=bf16) @ table


@program(arg(60, 20), arg(4, 13, dtype=s32, fill="below:60"), arg(4, 13, 20), on="v5e")
def embedding_step(table: A, tokens: A, cotangent: A) -> Any:
    return table - 0.5 * jax.vjp(lambda t: t[tokens], table)[1](cotangent)[0]


@program(arg(9, 256, dtype=s8, fill="bits"), arg(6, 2, dtype=s32, fill="below:7"), on="v5p")
def slices_in_loop(x: A, places: A) -> Any:
    def body(i: int, state: tuple[A, A]) -> tuple[A, A]:
        x, seen = state
        window = lax.dynamic_slice(x, (places[i, 0], places[i, 1] * 20), (3, 100))
        x = lax.dynamic_update_slice(x, window[::-1] + s8(1), (places[i, 1], places[i, 0] * 20))
        return x, lax.dynamic_update_index_in_dim(seen, window.astype(s32).sum(), i, 0)

    return lax.fori_loop(0, 6, body, (x, jnp.zeros(6, s32)))


@program(arg(33, 140, dtype=f16), arg(20, dtype=s32, fill="below:12"), arg(20, 140), on="v6e")
def segments_and_bins(x: A, segment: A, y: A) -> Any:
    edges = jnp.searchsorted(jnp.sort(y[0]), y[1])
    return jax.ops.segment_sum(y, segment, 12), jnp.bincount(segment, length=12), edges, x[jnp.arange(20) // 2]
