"""Scatters, gathers and sorts of the sizes that newer TPUs give to their SparseCores."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tests.corpus.campaign.registry import campaign
from tests.corpus.programs.registry import A, arg

s32, bf16 = jnp.int32, jnp.bfloat16


@campaign(arg(4096, 64), arg(2048, dtype=s32, fill="below:4096"), arg(2048, 64), on="v6e")
def embedding_update_sparse(table: A, index: A, gradient: A) -> Any:
    return table.at[index].add(-0.1 * gradient)


@campaign(arg(1000, dtype=s32, fill="below:256"), on="tpu7x")
def histogram_sparse(values: A) -> Any:
    return jnp.zeros(256, s32).at[values].add(1)


@campaign(arg(3000, 8), arg(3000, dtype=s32, fill="below:300"), on="v5p")
def segment_sums_sparse(values: A, segments: A) -> Any:
    return jax.ops.segment_sum(values, segments, 300), jax.ops.segment_max(values, segments, 300)


@campaign(arg(60, 40), arg(64, dtype=s32, fill="below:60"), arg(64, dtype=s32, fill="below:40"), on="v6e")
def scatter_points(x: A, rows: A, columns: A) -> Any:
    picked = x[rows, columns]
    return jnp.zeros((60, 40)).at[rows, columns].add(picked), jnp.full((60, 40), -9.0).at[rows, columns].max(picked)


@campaign(arg(2048, 128, dtype=bf16), arg(700, dtype=s32, fill="below:2048"), on="v6e")
def gather_rows_sparse(table: A, index: A) -> Any:
    return table[index], jnp.take(table, index[:9], axis=0, mode="clip")


@campaign(arg(64, 100), arg(20, dtype=s32, fill="below:64"), on="v5p")
def scatter_windows(x: A, rows: A) -> Any:
    return x.at[rows].set(0.5, mode="drop"), x.at[rows, 3:9].multiply(2.0)


@campaign(arg(512, 32), arg(256, dtype=s32, fill="below:512"), on="tpu7x")
def embedding_gradient_sparse(table: A, index: A) -> Any:
    return jax.grad(lambda t: (t[index] ** 2).sum())(table)


@campaign(arg(8, 2000), on="v6e")
def order_and_its_inverse(x: A) -> Any:
    order = jnp.argsort(x, -1)
    return order, jnp.argsort(order, -1), jnp.take_along_axis(x, order, -1)


@campaign(arg(3, 600, dtype=s32, fill="below:50"), arg(3, 600), on="v5e")
def sort_by_several_keys(keys: A, values: A) -> Any:
    return lax.sort((keys, values, lax.broadcasted_iota(s32, (3, 600), 1)), num_keys=2)


@campaign(arg(7, 501), on="v4")
def order_statistics(x: A) -> Any:
    return jnp.median(x, 1), jnp.quantile(x, 0.3, axis=0), lax.top_k(x, 20)[0]


@campaign(arg(400, dtype=s32, fill="below:60"), on="v5e")
def counted_values(x: A) -> Any:
    return (
        jnp.unique(x, size=64, fill_value=-1),
        jnp.bincount(x, length=60),
        jnp.searchsorted(jnp.sort(x), jnp.arange(60)),
    )
