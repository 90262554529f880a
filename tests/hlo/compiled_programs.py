"""Compiles a few programs on four host devices; XLA_FLAGS sets the dump folder. Run as a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec


def compile_for(function: Callable[..., Any], *arguments: object) -> None:
    jax.jit(function).lower(*arguments).compile()


matrix = jnp.ones((4, 5))
compile_for(lambda x: lax.scan(lambda c, a: (c + jnp.sin(a), c * 2), jnp.zeros(3), x), jnp.ones((5, 3)))
compile_for(lambda x: (jnp.argmax(x, 1), jnp.exp(x), jnp.exp(x).sum(0)), matrix)
compile_for(lambda x: lax.sort((x, x + 1), num_keys=1), matrix)
compile_for(lambda x: lax.cond(x[0, 0] > 0, lambda y: (y, y + 1), lambda y: (y * 2, y), x), matrix)

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
specs = PartitionSpec("x", "y")
collectives = jax.shard_map(
    lambda a: (lax.ppermute(lax.psum(a, "x"), "x", [(0, 1), (1, 0)]), lax.all_to_all(a, "y", 0, 0, tiled=True)),
    mesh=mesh,
    in_specs=specs,
    out_specs=(specs, specs),
)
compile_for(collectives, jnp.ones((8, 8)))
