"""Optimized dumps of the TPU compiler, without a TPU: libtpu compiles ahead of time for a topology it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding

from dialect_utils.execution.tpu_compiler import TOPOLOGIES, check_installed, memory_figures, topology_devices
from dialect_utils.ir import Module
from dialect_utils.layout.targets.tpu import Target, parse_target
from relayout.jax.modules import as_jitted, module_of


@dataclass(frozen=True, slots=True)
class TpuDump:
    """What the TPU compiler made of a function: the optimized module, and its own account of memory in bytes."""

    module: Module
    target: str
    memory: dict[str, int]


def tpu_dump(function: Callable[..., Any], *args: Any, target: str | Target = "tpu-v5e") -> TpuDump:
    """Compiles a function for one core of a TPU, on a machine without one, and returns the optimized dump.

    `args` are arrays, numbers or ShapeDtypeStructs: only their shapes and types count. `function` may be jitted
    already, with options of its own (`donate_argnums`). libtpu is used in this process, which no other process may do
    at the same time. Raises DiagnosticError without libtpu, and for an unknown target.
    """
    name = parse_target(target).name
    check_installed()
    sharding = SingleDeviceSharding(topology_devices(TOPOLOGIES[name])[0])
    structs = jax.tree.map(
        lambda each: jax.ShapeDtypeStruct(jnp.shape(each), jax.dtypes.result_type(each), sharding=sharding), args
    )
    compiled = as_jitted(function).lower(*structs).compile()
    memory = memory_figures(compiled.memory_analysis())
    return TpuDump(module_of(compiled), name, memory)
