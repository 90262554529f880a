"""JAX objects in and out: functions, lowered and compiled ones, arrays, layouts.

Everywhere else in `relayout` a `jax.jit(f).lower(...)`, a compiled or exported function and an MLIR module are taken
where a module is, too; here are the ways back, and what needs JAX itself.
"""

from relayout.jax.functions import as_jax_function, check, run
from relayout.jax.layouts import (
    from_format,
    from_jax_layout,
    from_struct,
    to_format,
    to_jax_layout,
    to_struct,
)
from relayout.jax.modules import TpuDump, from_jax, tpu_dump
from relayout.jax.transformation import Applied, apply_passes

__all__ = [
    "Applied",
    "TpuDump",
    "apply_passes",
    "as_jax_function",
    "check",
    "from_format",
    "from_jax",
    "from_jax_layout",
    "from_struct",
    "run",
    "to_format",
    "to_jax_layout",
    "to_struct",
    "tpu_dump",
]
