"""Programs whose text is annotated with placements: uneven parts, replicated parts, and devices in other orders."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.corpus.programs.registry import arg
from tests.corpus.sharded.automatic import GRID, LINE, LONG, SQUARE, normalized, s32
from tests.corpus.sharded.registry import A, annotated

CUBE = (("a", 2), ("b", 2), ("c", 2))


@annotated("uneven", LINE, arg(10, 6, sharding=("x",)), arg(6, 4, fill="small"), results=(P("x"), P()))
def uneven_batch(x: A, w: A) -> Any:
    y = jnp.tanh(x @ w)
    return y, y.mean(0)


@annotated("uneven", LINE, arg(7, 9, sharding=(None, "x")), arg(9, 5, fill="small", sharding=("x",)), results=(P(),))
def uneven_contraction(x: A, w: A) -> Any:
    return x @ w


@annotated("uneven", LONG, arg(11, 3, sharding=("x",)), results=(P(), P(), P("x"), P()))
def uneven_reductions(x: A) -> Any:
    return x.max(0), x.min(0), jax.nn.softmax(x, 0), (x > 0).all(0)


@annotated("uneven", LINE, arg(2, 9, 3, sharding=(None, "x")), arg(3, 3, 2, fill="small"), results=(P(None, "x"),))
def uneven_convolution(x: A, w: A) -> Any:
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"))


@annotated("uneven", LINE, arg(9, 4, sharding=("x",)), arg(5, 4, sharding=("x",)), results=(P("x"), P("x"), P()))
def uneven_slices_and_joins(x: A, y: A) -> Any:
    return jnp.concatenate([x, y]), x[1:8], jnp.flip(y, 0)


@annotated("uneven", LINE, arg(10, 4, sharding=("x",)), arg(4, fill="positive"), results=(P("x"), P()))
def gradient_of_an_uneven_batch(x: A, w: A) -> Any:
    return jax.grad(lambda x, w: (normalized(x) * w).sum() ** 2, (0, 1))(x, w)


@annotated("replicated parts", SQUARE, arg(8, 6, sharding=("m",)), arg(6, 4, sharding=(None, "m")), results=(P("m"),))
def tiles_on_the_second_axis(x: A, w: A) -> Any:
    return jnp.sin(x @ w)


@annotated("replicated parts", CUBE, arg(8, 8, sharding=("b",)), arg(8, 8, sharding=("b", "c")), results=(P("c", "a"),))
def tiles_on_three_axes(x: A, w: A) -> Any:
    return x @ w


@annotated("replicated parts", GRID, arg(8, 8, sharding=("d",)), arg(8, sharding=("m",)), results=(P("m", "d"), P()))
def a_vector_on_the_other_axis(x: A, b: A) -> Any:
    y = jax.nn.relu(x + b)
    return y, y.sum()


@annotated("order of devices", GRID, arg(16, 4, sharding=(("m", "d"),)), arg(4, 8), results=(P(("d", "m")), P("m")))
def devices_in_another_order(x: A, w: A) -> Any:
    y = x @ w
    return y, y * 2


@annotated(
    "order of devices", SQUARE, arg(4, 8, sharding=("m", "d")), arg(8, 4, sharding=("m", "d")),
    results=(P("d", "m"),),
)  # fmt: skip
def transposed_tiles(x: A, w: A) -> Any:
    return x @ w + x.T[:4, :4]


@annotated("embedding", LINE, arg(5, dtype=s32, fill="below:10"), arg(10, 4, sharding=("x",)), results=(P(),))
def uneven_table(tokens: A, table: A) -> Any:
    return table[tokens]


@annotated("uneven", LINE, arg(4, 10, sharding=(None, "x")), results=(P(None, "x"), P()))
def uneven_norm(x: A) -> Any:
    return normalized(x), jnp.argmax(x, 1)


@annotated("movement", LINE, arg(8, 6, sharding=("x",)), arg(6, 8, sharding=("x",)),
    results=(P("x"), P("x"), P(None, "x")),
)  # fmt: skip
def transposes_and_updates(x: A, y: A) -> Any:
    return x.T, x.at[3:5].set(1.0), lax.dynamic_update_slice(y, x[:2], (3, 1))


@annotated(
    "contraction", SQUARE, arg(4, 6, 8, sharding=("d", None, "m")), arg(4, 8, 6, sharding=("d", "m")),
    results=(P("d"), P("d", "m"), P("m", "d")),
)  # fmt: skip
def products_of_batches(x: A, y: A) -> Any:
    product = jnp.einsum("bij,bjk->bik", x, y)
    return product, product, jnp.einsum("bij,cjk->ci", x, y)


@annotated(
    "contraction", GRID, arg(8, 4, 6, sharding=("m", "d")), arg(6, 8, 4, sharding=(None, "d", "m")),
    results=(P("m", None), P("d", "m")),
)  # fmt: skip
def products_over_two_dimensions(x: A, y: A) -> Any:
    return jnp.einsum("aij,jbi->ab", x, y), jnp.einsum("aij,jki->ak", x, y)


@annotated("halo", LINE, arg(1, 16, 2, sharding=(None, "x")), arg(4, 2, 3, fill="small"), results=(P(None, "x"), P()))
def convolutions_with_strides(x: A, w: A) -> Any:
    numbers = ("NHC", "HIO", "NHC")
    dilated = lax.conv_general_dilated(x, w, (1,), "VALID", rhs_dilation=(2,), dimension_numbers=numbers)
    return lax.conv_general_dilated(x, w, (2,), ((1, 1),), dimension_numbers=numbers), dilated


@annotated(
    "halo", LINE, arg(2, 8, 2, sharding=(None, "x")), arg(3, 2, 2, fill="small"), results=(P(None, "x"), P()),
)  # fmt: skip
def gradient_of_a_convolution(x: A, w: A) -> Any:
    def loss(x: A, w: A) -> Any:
        return (lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")) ** 2).sum()

    return jax.grad(loss, (0, 1))(x, w)


@annotated(
    "contraction", LINE, arg(2, 6, 8, sharding=(None, None, "x")), arg(3, 8, 4, sharding=(None, "x")), results=(P(),)
)  # fmt: skip
def convolution_over_split_features(x: A, w: A) -> Any:
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"))


@annotated("halo", LINE, arg(3, 16, sharding=(None, "x")), results=(P(None, "x"), P(None, "x")))
def pools_and_their_gradient(x: A) -> Any:
    def pool(x: A) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID")

    return pool(x), jax.grad(lambda x: (pool(x) ** 2).sum())(x)


@annotated(
    "indexing", LINE, arg(8, 4, sharding=("x",)), arg(8, dtype=s32, fill="below:8", sharding=("x",)), results=(P("x"),)
)
def rows_by_split_indices(x: A, index: A) -> Any:
    return x[index] * 2


@annotated(
    "indexing", LINE, arg(8, 4, sharding=(None, "x")), arg(6, dtype=s32, fill="below:8"),
    arg(6, 4, sharding=(None, "x")), results=(P(None, "x"), P()),
)  # fmt: skip
def additions_at_indices(x: A, index: A, y: A) -> Any:
    return x.at[index].add(y), x[:, 1][index]


@annotated("indexing", LINE, arg(8, 4, sharding=("x",)), arg(dtype=s32, fill="below:6"), results=(P(), P("x")))
def slices_at_an_index(x: A, start: A) -> Any:
    part = lax.dynamic_slice(x, (start, 0), (3, 4))
    return part, lax.dynamic_update_slice(x, part * 2, (start, 0))


@annotated("indexing", LINE, arg(8, 6, sharding=("x",)), results=(P("x"), P("x"), P()))
def sorted_and_summed(x: A) -> Any:
    return jnp.sort(x, 1), jnp.cumsum(x, 1), lax.top_k(x, 2)[0]


@annotated(
    "replicated parts",
    (("a", 2), ("b", 3)),
    arg(6, 4, sharding=("b",)),
    arg(4, 6, sharding=("a",)),
    results=(P("a", "b"),),
)
def six_devices(x: A, y: A) -> Any:
    return x @ y


@annotated("uneven", (("x", 3),), arg(8, 4, sharding=("x",)), arg(8, 5, sharding=("x",)), results=(P("x"), P()))
def three_devices(x: A, y: A) -> Any:
    return jnp.exp(x), x.T @ y


@annotated("uneven", LINE, arg(1, 6, sharding=("x",)), arg(2, 6, sharding=("x",)), results=(P("x"), P("x"), P()))
def fewer_rows_than_devices(x: A, y: A) -> Any:
    return x * 2, y + x, (y * x).sum(0)
