"""Programs that call JAX's own kernels, and `lax.ragged_dot`, for which the compiler makes kernels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.corpus.kernels.registry import kernel
from tests.corpus.programs.registry import A, arg

BF16 = jnp.bfloat16


@kernel(*[arg(1, 1, 256, 128, dtype=BF16, fill="coarse")] * 3, on="v6e", tolerance=2e-2)
def flash_attention(q: A, k: A, v: A) -> Any:
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention

    return flash_attention(q, k, v, causal=True, sm_scale=0.125)


@kernel(*[arg(1, 1, 256, 64, fill="coarse")] * 3, arg(1, 256, dtype=jnp.int32, fill="below:2"), tolerance=1e-5)
def flash_attention_in_segments(q: A, k: A, v: A, ids: A) -> Any:
    from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, SegmentIds, flash_attention

    ids = jnp.sort(ids, axis=1)
    sizes = BlockSizes.get_default(1, 1, 256, 256, 64)
    return flash_attention(q, k, v, segment_ids=SegmentIds(ids, ids), sm_scale=0.125, block_sizes=sizes)


@kernel(*[arg(1, 1, 128, 64, fill="coarse")] * 3, tolerance=1e-5)
def flash_attention_gradient(q: A, k: A, v: A) -> Any:
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention

    def loss(*parts: A) -> Any:
        return (flash_attention(*parts, causal=True, sm_scale=0.125) ** 2).sum()

    return jax.grad(loss, (0, 1, 2))(q, k, v)


@kernel(*[arg(2, 256, 128, dtype=BF16, fill="coarse")] * 3, tolerance=2e-2)
def splash_attention(q: A, k: A, v: A) -> Any:
    from jax.experimental.pallas.ops.tpu.splash_attention import (
        splash_attention_kernel as splash,
        splash_attention_mask as masks,
    )

    mask = masks.MultiHeadMask([masks.CausalMask((256, 256))] * 2)
    return splash.make_splash_mha(mask, head_shards=1, q_seq_shards=1)(q, k, v)


@kernel(*[arg(1, 128, 128, fill="coarse")] * 3, on="v5p", tolerance=1e-5)
def splash_attention_gradient(q: A, k: A, v: A) -> Any:
    from jax.experimental.pallas.ops.tpu.splash_attention import (
        splash_attention_kernel as splash,
        splash_attention_mask as masks,
    )

    mask = masks.MultiHeadMask([masks.CausalMask((128, 128))])
    sizes = splash.BlockSizes.get_default()
    attend = splash.make_splash_mha(mask, head_shards=1, q_seq_shards=1, block_sizes=sizes)
    return jax.grad(lambda *parts: (attend(*parts) ** 2).sum(), (0, 1, 2))(q, k, v)


@kernel(
    arg(3, 8, 128, fill="coarse"),
    arg(2, 12, 16, 128, fill="coarse"),
    arg(2, 12, 16, 128, fill="coarse"),
    arg(3, dtype=jnp.int32, fill="below:60"),
    arg(3, 4, dtype=jnp.int32, fill="below:12"),
    tolerance=1e-5,
)
def paged_attention(q: A, k: A, v: A, lengths: A, pages: A) -> Any:
    from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention

    return paged_attention(q, k, v, lengths + 1, pages, pages_per_compute_block=2)


def ragged_pages() -> Any:
    """Returns the lengths of two sequences, where their queries begin, and how many they are."""
    return jnp.array([40, 21], jnp.int32), jnp.array([0, 5, 12], jnp.int32), jnp.array([2], jnp.int32)


def padded_to_16(found: A) -> Any:
    # Rows of no sequence are unspecified.
    return jnp.zeros((16, 4, 128), BF16).at[:12].set(found[:12])


def ragged_paged_reference(q: A, pages: A, places: A) -> Any:
    from jax.experimental.pallas.ops.tpu.ragged_paged_attention import kernel as library

    lengths, starts, count = ragged_pages()
    return padded_to_16(library.ref_ragged_paged_attention(q, pages, lengths, places, starts, count))


@kernel(
    arg(16, 4, 128, dtype=BF16, fill="coarse"),
    arg(12, 16, 4, 128, dtype=BF16, fill="coarse"),
    arg(2, 4, dtype=jnp.int32, fill="below:12"),
    on="v6e",
    tolerance=2e-2,
    reference=ragged_paged_reference,
)
def ragged_paged_attention(q: A, pages: A, places: A) -> Any:
    from jax.experimental.pallas.ops.tpu.ragged_paged_attention import ragged_paged_attention

    lengths, starts, count = ragged_pages()
    found = ragged_paged_attention(
        q, pages, lengths, places, starts, count, num_kv_pages_per_block=2, num_queries_per_block=8
    )
    return padded_to_16(found)


def group_sizes() -> Any:
    return jnp.asarray(np.array([30, 0, 98], np.int32))


@kernel(arg(128, 128, dtype=BF16, fill="coarse"), arg(3, 128, 128, dtype=BF16, fill="coarse"), tolerance=1e-5)
def grouped_product(a: A, b: A) -> Any:
    from jax.experimental.pallas.ops.tpu.megablox import gmm

    return gmm(a, b, group_sizes(), preferred_element_type=jnp.float32)


@kernel(arg(128, 128, fill="coarse"), arg(3, 128, 128, fill="coarse"), on="v6e", tolerance=1e-5)
def grouped_product_gradient(a: A, b: A) -> Any:
    from jax.experimental.pallas.ops.tpu.megablox import gmm

    return jax.grad(lambda a, b: (gmm(a, b, group_sizes(), preferred_element_type=jnp.float32) ** 2).sum(), (0, 1))(
        a, b
    )


@kernel(
    arg(64, 96, dtype=BF16, fill="coarse"),
    arg(4, 96, 128, dtype=BF16, fill="coarse"),
    arg(4, dtype=jnp.int32, fill="parts:64"),
    tolerance=2e-2,
)
def ragged_product(a: A, b: A, sizes: A) -> Any:
    # Sizes that the compiler knows would need no kernel; libtpu 0.0.51 makes kernels, 0.0.52 does not.
    # Rows of no group would be unspecified: the kernel does not write them.
    return lax.ragged_dot(a, b, sizes)


@kernel(
    arg(64, 96, dtype=BF16, fill="coarse"),
    arg(3, 96, 64, dtype=BF16, fill="coarse"),
    arg(3, dtype=jnp.int32, fill="parts:64"),
    on="v6e",
    tolerance=2e-2,
)
def ragged_product_gradient(a: A, b: A, sizes: A) -> Any:
    def loss(a: A, b: A) -> Any:
        return (lax.ragged_dot(a, b, sizes).astype(jnp.float32) ** 2).sum()

    return jax.grad(loss, (0, 1))(a, b)


@kernel(arg(128, 256, dtype=BF16, fill="coarse"), arg(256, 128, dtype=BF16, fill="coarse"), on="v6e", tolerance=2e-2)
def blocked_product_of_the_library(a: A, b: A) -> Any:
    from jax.experimental.pallas.ops.tpu.matmul import matmul

    return matmul(a, b, block_shape=(128, 128), block_k=128)
