"""Modules of what JAX makes of a function: lowered, compiled, exported, or MLIR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module
from dialect_utils.text import kind_of


def from_jax(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Module:
    """Returns the StableHLO module of a function for arguments of these shapes (arrays or ShapeDtypeStructs).

    `function` may be jitted already, with options of its own. Raises TypeError for what is no function.
    """
    return module_of(as_jitted(function).lower(*args, **kwargs))


def as_jitted(function: Callable[..., Any]) -> Any:
    """Returns a function jitted, itself where it is already; raises TypeError for what is no function."""
    if not callable(function):
        raise TypeError(f"expected a function, not {kind_of(function)}; relayout.check and run take modules")
    return function if hasattr(function, "lower") else jax.jit(function)


def module_of(value: Any) -> Module:
    """Returns the module of a traced, lowered, compiled or exported function or an MLIR module.

    A compiled function gives the optimized HLO, constants in full. Raises TypeError for other objects.
    """
    name = f"<{type(value).__name__}>"
    if isinstance(value, jax.stages.Traced):
        value = value.lower()
    if isinstance(value, jax.stages.Lowered):
        return parse_bytes(encode(value.as_text(dialect="stablehlo", debug_info=True)), name)
    if isinstance(value, jax.stages.Compiled):
        executable: Any = value.runtime_executable()
        return parse_bytes(executable.hlo_modules()[0].as_serialized_hlo_module_proto(), name)
    if hasattr(value, "mlir_module_serialized"):  # jax.export.Exported
        return parse_bytes(value.mlir_module_serialized, name)
    if hasattr(value, "operation") and hasattr(value.operation, "get_asm"):  # jaxlib.mlir.ir.Module
        return parse_bytes(encode(value.operation.get_asm(enable_debug_info=True)), name)
    raise TypeError(f"{kind_of(value)} is no module; relayout.from_jax(f, *args) takes functions")
