"""Writes the example modules beside this file: the input of XLA from JAX, and optimized TPU dumps.

`python examples/make_examples.py` writes the StableHLO and the HLO text before optimization; with `--tpu` and the
`tpu` extra installed it also compiles ahead of time for a TPU: the attention block, with seeded inputs and the outputs
computed on this machine's CPU, and the forces between particles, written in two ways.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

HERE = Path(__file__).resolve().parent
HEADS, HEAD_DIM, MODEL_DIM, SEQUENCE, BATCH = 4, 24, 64, 50, 2
PARTICLES, NEIGHBOURS = 65536, 32
Specs = tuple[jax.ShapeDtypeStruct, ...]

ATTENTION_SPECS: Specs = (
    jax.ShapeDtypeStruct((BATCH, SEQUENCE, MODEL_DIM), jnp.bfloat16),
    jax.ShapeDtypeStruct((MODEL_DIM, 3, HEADS, HEAD_DIM), jnp.bfloat16),
    jax.ShapeDtypeStruct((HEADS, HEAD_DIM, MODEL_DIM), jnp.bfloat16),
)
TRAINING_SPECS: Specs = (
    jax.ShapeDtypeStruct((20, 33), jnp.float32),
    jax.ShapeDtypeStruct((33,), jnp.float32),
    jax.ShapeDtypeStruct((33, 10), jnp.float32),
    jax.ShapeDtypeStruct((10,), jnp.float32),
    jax.ShapeDtypeStruct((12, 20), jnp.float32),
    jax.ShapeDtypeStruct((12, 10), jnp.float32),
)
FORCES_SPECS: Specs = (
    jax.ShapeDtypeStruct((PARTICLES, 3), jnp.float32),
    jax.ShapeDtypeStruct((PARTICLES, NEIGHBOURS), jnp.int32),
)


def attention(x: jax.Array, w_qkv: jax.Array, w_out: jax.Array) -> jax.Array:
    """Computes causal multi-head attention with bf16 operands and an f32 softmax, with a residual connection."""
    q, k, v = jnp.moveaxis(jnp.einsum("bsm,mthd->bsthd", x, w_qkv), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) * HEAD_DIM**-0.5
    scores = jnp.where(jnp.tri(SEQUENCE, dtype=jnp.bool_), scores, -1e9)
    weights = jax.nn.softmax(scores, axis=-1).astype(jnp.bfloat16)
    heads = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
    return x + jnp.einsum("bqhd,hdm->bqm", heads, w_out)


def training_step(
    w1: jax.Array, b1: jax.Array, w2: jax.Array, b2: jax.Array, x: jax.Array, targets: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    """Computes the absolute error of a two-layer network and its parameters after one step of gradient descent.

    Every sum is exact on small whole numbers, in whatever order it is taken: so bits can be compared.
    """

    def loss_of(params: tuple[jax.Array, ...]) -> jax.Array:
        hidden = jax.nn.relu(x @ params[0] + params[1])
        return jnp.sum(jnp.abs(hidden @ params[2] + params[3] - targets))

    params = (w1, b1, w2, b2)
    loss, gradients = jax.value_and_grad(loss_of)(params)
    return loss, tuple(p - 0.03125 * g for p, g in zip(params, gradients, strict=True))


def forces(positions: jax.Array, neighbours: jax.Array) -> jax.Array:
    """Computes the force on each particle, one row of x, y and z, from its listed neighbours."""
    offsets = positions[neighbours] - positions[:, None, :]
    squared = (offsets * offsets).sum(-1, keepdims=True) + 1e-6
    return (offsets * (1 / squared**3 - 1 / squared**6)).sum(1)


def forces_by_coordinate(positions: jax.Array, neighbours: jax.Array) -> jax.Array:
    """Computes the same from x, y and z one after the other: no array has a dimension of 3."""
    offsets = [each[neighbours] - each[:, None] for each in positions.T]
    squared = sum(each * each for each in offsets) + 1e-6
    weights = 1 / squared**3 - 1 / squared**6
    return jnp.stack([(each * weights).sum(1) for each in offsets], 1)


def seeded_inputs(specs: Specs) -> list[np.ndarray[Any, Any]]:
    """Draws multiples of 1/16 in [-0.5, 0.5], exact in bf16 and small in a compressed file."""
    rng = np.random.default_rng(0)
    return [(rng.integers(-8, 9, s.shape) / 16).astype(s.dtype) for s in specs]


def write_before_optimization(name: str, function: Callable[..., Any], specs: Specs) -> None:
    """Writes NAME.mlir (StableHLO) and NAME.hlo (HLO text before optimization), both without source locations."""
    lowered = jax.jit(function).lower(*specs)
    (HERE / f"{name}.mlir").write_text(lowered.as_text())
    (HERE / f"{name}.hlo").write_text(lowered.as_text("hlo"))


def write_tpu_dump(name: str, function: Callable[..., Any], specs: Specs, topology_name: str) -> None:
    """Writes NAME_tpu.hlo, optimized for one TPU device."""
    topology = topologies.get_topology_desc(platform="tpu", topology_name=topology_name)
    device = SingleDeviceSharding(topology.devices[0])
    placed = [jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=device) for s in specs]
    (HERE / f"{name}_tpu.hlo").write_text(str(jax.jit(function).lower(*placed).compile().as_text()))


def write_arrays(name: str, function: Callable[..., Any], specs: Specs) -> None:
    """Writes NAME_tpu.npz with inputs, and outputs computed on this machine's CPU (bf16 as uint16)."""
    inputs = seeded_inputs(specs)
    outputs = jax.tree.leaves(jax.jit(function)(*inputs))
    arrays = {f"in{i}": _storable(a) for i, a in enumerate(inputs)}
    arrays |= {f"out{i}": _storable(np.asarray(a)) for i, a in enumerate(outputs)}
    np.savez_compressed(HERE / f"{name}_tpu.npz", **arrays)  # type: ignore[arg-type]


def _storable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.view(np.uint16) if array.dtype == jnp.bfloat16 else array


def main() -> None:
    """Writes every example; `--tpu` adds the optimized dump."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tpu", action="store_true", help="also compile for a TPU (needs libtpu)")
    with_tpu = parser.parse_args().tpu
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without their folders
    write_before_optimization("attention", attention, ATTENTION_SPECS)
    write_before_optimization("training_step", training_step, TRAINING_SPECS)
    if with_tpu:
        write_tpu_dump("attention", attention, ATTENTION_SPECS, "v5e:2x2")
        write_arrays("attention", attention, ATTENTION_SPECS)
        write_tpu_dump("forces", forces, FORCES_SPECS, "v5e:2x2")
        write_tpu_dump("forces_by_coordinate", forces_by_coordinate, FORCES_SPECS, "v5e:2x2")


if __name__ == "__main__":
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")  # a TPU host has a metadata server, this machine has none
    main()
