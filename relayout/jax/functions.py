"""Checks, execution and calls of modules with JAX's functions and arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import jax
import jax.export
import jax.numpy as jnp

from dialect_utils.execution import as_array, entry_arrays
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict import Verdict
from passes.framework.pipeline import verify
from relayout import api
from relayout.api import ModuleLike, as_module
from relayout.jax.modules import from_jax


def check(function: Callable[..., Any], other: Callable[..., Any], *args: Any, **options: Any) -> Verdict:
    """Decides whether two functions compute the same for arguments of these shapes, as `relayout.check` does.

    `args` are arrays or ShapeDtypeStructs: only their shapes and types count. `options` are those of `relayout.check`.

    >>> import jax.numpy as jnp
    >>> relayout.jax.check(jnp.negative, lambda x: -x, jnp.ones((3, 5))).verdict
    'equal'
    """
    return api.check(from_jax(function, *args), from_jax(other, *args), **options)


def run(module: ModuleLike, *inputs: Any, **options: Any) -> list[jax.Array]:
    """Executes a module on this machine, as `relayout.run` does, and returns JAX arrays of every element type.

    >>> import jax.numpy as jnp
    >>> relayout.jax.run("examples/negate.hlo", jnp.ones((3, 5)))[0].sum().item()
    -15.0
    """
    return _jax_arrays(api.run(module, *inputs, **options))


def _jax_arrays(arrays: Sequence[Any]) -> list[jax.Array]:
    # Keeps 64-bit results, which JAX would narrow to 32 bits by default.
    with jax.enable_x64(True):
        return [jnp.asarray(array) for array in arrays]


def as_jax_function(module: ModuleLike) -> Callable[..., tuple[jax.Array, ...]]:
    """Returns a function of JAX arrays, in the order of the entry's parameters, tuples flattened; it returns a tuple.

    StableHLO becomes part of the calling program, also under `jax.jit`. HLO, optimized dumps included, is executed by a
    callback in a worker process: on the CPU, and without derivatives; `jax.vmap` calls it for each element. Raises
    DiagnosticError for modules that cannot be executed; the function raises it for arguments that do not fit.

    >>> import jax.numpy as jnp
    >>> negate = relayout.jax.as_jax_function("examples/negate.hlo")
    >>> negate(jnp.ones((3, 5)))[0].sum().item()
    -15.0
    """
    found = as_module(module)
    verify(found)
    called = _exported(cast(StableHloModule, found)) if found.dialect == "stablehlo" else _called_back(found)
    parameters, _ = entry_arrays(found)

    def call(*inputs: Any) -> tuple[jax.Array, ...]:
        return called(*_fitting(inputs, parameters))

    return call


def _fitting(inputs: Sequence[Any], parameters: Sequence[ArrayShape]) -> list[Any]:
    """Returns the inputs as arrays; raises DiagnosticError for inputs that do not fit the parameters."""
    if len(inputs) != len(parameters):
        message = f"{len(inputs)} inputs were given, but the entry has {len(parameters)} parameters"
        raise DiagnosticError(Diagnostic(message))
    arrays = []
    for number, (value, shape) in enumerate(zip(inputs, parameters, strict=True)):
        array = value if isinstance(value, jax.Array) else as_array(value, shape)  # a tracer is a jax.Array, too
        needed = f"in{number} has the {{}}, but {shape.without_layout} is needed"
        if array.shape != shape.dimensions:
            raise DiagnosticError(Diagnostic(needed.format(f"dimensions {list(array.shape)}")))
        wanted = dtype_of(shape.element_type)
        if array.dtype != wanted:
            raise DiagnosticError(Diagnostic(needed.format(f"type {array.dtype}"), hint=f"give {wanted}"))
        arrays.append(array)
    return arrays


def _structs(shapes: Sequence[ArrayShape]) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(shape.dimensions, dtype_of(shape.element_type)) for shape in shapes)


def _exported(module: StableHloModule) -> Callable[..., tuple[jax.Array, ...]]:
    parameters, results = map(_structs, entry_arrays(cast(Module, module)))
    artifact = module.portable_artifact()
    with jax.enable_x64(True):
        # Exports any function of the same signature, and replaces its module.
        frame = jax.jit(lambda *_: tuple(jnp.zeros(each.shape, each.dtype) for each in results), keep_unused=True)
        exported = replace(
            jax.export.export(frame)(*parameters), mlir_module_serialized=artifact, fun_name=module.name or "main"
        )

    def call(*inputs: Any) -> tuple[jax.Array, ...]:
        return tuple(exported.call(*inputs))

    return call


def _called_back(module: Module) -> Callable[..., tuple[jax.Array, ...]]:
    results = _structs(entry_arrays(module)[1])

    def execute(*inputs: Any) -> tuple[Any, ...]:
        return tuple(api.run(module, *inputs))

    def call(*inputs: Any) -> tuple[jax.Array, ...]:
        with jax.enable_x64(True):
            return tuple(jax.pure_callback(execute, results, *inputs, vmap_method="sequential"))

    return call
