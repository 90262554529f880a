"""Executes a program for every element type of snapshots; XLA_FLAGS names their directory."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tests.execution.recorded_values import VALUES, values_of


def flip(array: jax.Array) -> jax.Array:
    return jnp.flip(array)


jax.config.update("jax_enable_x64", True)
for name in VALUES:
    flip.__name__ = name
    array = jax.device_put(values_of(name))
    assert array.dtype == values_of(name).dtype
    jax.block_until_ready(jax.jit(flip)(array))
    jax.clear_caches()
