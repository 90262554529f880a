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
