"""Conversions from and to JAX: functions, arrays, layouts, and compilation with JAX.

The functions of `relayout` accept `jax.jit(f).lower(...)`, compiled and exported functions and MLIR modules as modules;
this package has the conversions back to JAX, and functions that need JAX.
"""

from relayout.jax.functions import Tuned, as_jax_function, check, contract, run, tune
from relayout.jax.layouts import from_format, from_jax_layout, from_struct, to_format, to_jax_layout, to_struct
from relayout.jax.modules import Dump, dump, from_jax
from relayout.jax.transformation import Applied, apply_passes

__all__ = [
    "Applied",
    "Dump",
    "Tuned",
    "apply_passes",
    "as_jax_function",
    "check",
    "contract",
    "dump",
    "from_format",
    "from_jax",
    "from_jax_layout",
    "from_struct",
    "run",
    "to_format",
    "to_jax_layout",
    "to_struct",
    "tune",
]
