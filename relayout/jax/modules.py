"""Modules of JAX's objects: lowered, compiled (also for a TPU or GPU) and exported functions, and MLIR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import jax
import jax.export
import jax.numpy as jnp

from dialect_utils.execution.compilers import Figures, check_installed, compile_for
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.layout.targets.target import Target
from dialect_utils.stablehlo import parse_module
from dialect_utils.text import kind_of


class MlirModule(Protocol):
    """A `jaxlib.mlir.ir.Module`."""

    @property
    def operation(self) -> Any:
        """Returns the operation that is the module."""


JaxModule: TypeAlias = jax.stages.Traced | jax.stages.Lowered | jax.stages.Compiled | jax.export.Exported | MlirModule


def from_jax(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Module:
    """Returns the StableHLO module of a function for arguments of these shapes (arrays or ShapeDtypeStructs).

    `function` may be jitted already, with options of its own. Raises TypeError for other values.

    >>> import jax.numpy as jnp
    >>> module = relayout.from_jax(lambda x, y: jnp.tanh(x @ y), jnp.ones((3, 5)), jnp.ones((5, 4)))
    >>> module.dialect, [value.shape for value in module.entry.parameters]
    ('stablehlo', [f32[3,5], f32[5,4]])
    """
    return module_of(as_jitted(function).lower(*args, **kwargs))


def as_jitted(function: Callable[..., Any]) -> Any:
    """Returns a jitted function, unchanged if it is jitted already; raises TypeError for other values."""
    if not callable(function) or isinstance(function, jax.stages.Compiled):
        raise TypeError(f"expected a function, not {kind_of(function)}; relayout.check and run take modules")
    return function if hasattr(function, "lower") else jax.jit(function)


def module_of(value: Any) -> Module:
    """Returns the module of a traced, lowered, compiled or exported function or an MLIR module.

    A compiled function gives the optimized HLO with all constants. Raises TypeError for other objects.
    """
    name = f"<{type(value).__name__}>"
    if isinstance(value, jax.stages.Traced):
        value = value.lower()
    # The process holds what MLIR prints already: it needs no worker.
    if isinstance(value, jax.stages.Lowered):
        return parse_module(value.as_text(dialect="stablehlo", debug_info=True), name)
    if isinstance(value, jax.stages.Compiled):
        executable: Any = value.runtime_executable()
        return parse_bytes(executable.hlo_modules()[0].as_serialized_hlo_module_proto(), name)
    if hasattr(value, "mlir_module_serialized"):  # jax.export.Exported
        # It may come from a file.
        return parse_bytes(value.mlir_module_serialized, name)
    if hasattr(value, "operation") and hasattr(value.operation, "get_asm"):  # jaxlib.mlir.ir.Module
        return parse_module(value.operation.get_asm(enable_debug_info=True), name)
    raise TypeError(f"{kind_of(value)} is not a module; relayout.from_jax(f, *args) takes functions")


@dataclass(frozen=True, slots=True)
class Dump:
    """A function as a compiler leaves it: the optimized module, and the compiler's own figures of one device."""

    module: Module
    target: str
    figures: Figures


def dump(function: Callable[..., Any], *args: Any, target: str | Target = "tpu-v5e") -> Dump:
    """Compiles a function for a TPU or a GPU, on a machine without one, and returns the optimized dump.

    `args` are arrays, numbers or ShapeDtypeStructs: only their shapes, types and shardings count. `function` may be
    jitted already, with options of its own (`donate_argnums`). Raises DiagnosticError without the compiler of the
    target, for an unknown target, and where the compiler rejects the function.
    """
    chip = parse_target(target)
    check_installed(chip)
    structs = jax.tree.map(_struct, args)
    lowered = as_jitted(function).trace(*structs).lower(lowering_platforms=(chip.platform,))
    compiled = compile_for(lowered.as_text(dialect="stablehlo", debug_info=True), chip)
    return Dump(parse_bytes(encode(compiled.dump), "<compiled>"), chip.name, compiled.figures)


def _struct(value: Any) -> jax.ShapeDtypeStruct:
    if isinstance(value, jax.ShapeDtypeStruct):
        return value
    return jax.ShapeDtypeStruct(jnp.shape(value), jax.dtypes.result_type(value))
