"""Checks, execution, calls and searches for layouts with JAX's functions and arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, cast

import jax
import jax.export
import jax.numpy as jnp
from jax.experimental.layout import Format
from jax.sharding import Sharding

from dialect_utils.execution import as_array, entry_arrays
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Layout, parse_layout
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Verdict
from passes.framework.pipeline import verify
from relayout import api
from relayout.api import ModuleLike, as_module
from relayout.jax.layouts import to_format
from relayout.jax.modules import from_jax, module_of
from relayout.reporting.contracts import Contract, arrays_of_entry, find_contracts
from relayout.tuning.changes import DEFAULT
from relayout.tuning.page import tuning_page
from relayout.tuning.search import DEFAULT_BUDGET, Tuning
from relayout.tuning.trials import Objective


def check(function: Callable[..., Any], other: Callable[..., Any], *args: Any, **options: Any) -> Verdict:
    """Decides whether two functions compute the same for arguments of these shapes, as `relayout.check` does.

    `args` are arrays or ShapeDtypeStructs: only their shapes and types count. `options` are those of `relayout.check`.

    >>> import jax.numpy as jnp
    >>> relayout.jax.check(jnp.negative, lambda x: -x, jnp.ones((3, 5))).verdict
    'equal'
    """
    return api.check(from_jax(function, *args), from_jax(other, *args), **options)


def contract(*programs: ModuleLike, target: str | None = None) -> list[Contract]:
    """Returns the arrays on which programs disagree in layout, sharding or element type, those that cost most first.

    `programs` are lowered or compiled functions, modules or files, in any order; each line of `contract.lines()` names
    them by their modules. Arrays without a layout get the default of `target`. Raises as `relayout.read`.

    >>> import jax, jax.numpy as jnp
    >>> one, two = (jax.jit(jnp.sum).lower(jnp.ones((3, 5), kind)) for kind in (jnp.float32, jnp.bfloat16))
    >>> [each.differing for each in relayout.jax.contract(one, two)]
    [('element type',)]
    """
    modules = [as_module(each) for each in programs]
    names = [each.name for each in modules]
    unique = [name if names.count(name) == 1 else f"{name} ({i})" for i, name in enumerate(names)]
    return find_contracts(
        [each for pair in zip(modules, unique, strict=True) for each in arrays_of_entry(*pair, target)]
    )


def run(module: ModuleLike, *inputs: Any, **options: Any) -> list[jax.Array]:
    """Executes a module on this machine, as `relayout.run` does, and returns JAX arrays of every element type.

    >>> import jax.numpy as jnp
    >>> relayout.jax.run("examples/negate.hlo", jnp.ones((3, 5)))[0].sum().item()
    -15.0
    """
    arrays = api.run(module, *inputs, **options)
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
        if len(inputs) != len(parameters):
            raise DiagnosticError(f"{len(inputs)} inputs were given, but the entry has {len(parameters)} parameters")
        arrays = []
        for number, (value, shape) in enumerate(zip(inputs, parameters, strict=True)):
            array = value if isinstance(value, jax.Array) else as_array(value, shape)  # a tracer is a jax.Array, too
            needed = f"in{number} has the {{}}, but {shape.without_layout} is needed"
            if array.shape != shape.dimensions:
                raise DiagnosticError(needed.format(f"dimensions {list(array.shape)}"))
            wanted = dtype_of(shape.element_type)
            if array.dtype != wanted:
                raise DiagnosticError(needed.format(f"type {array.dtype}"), hint=f"give {wanted}")
            arrays.append(array)
        return called(*arrays)

    return call


def _structs(shapes: Sequence[ArrayShape]) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(shape.dimensions, dtype_of(shape.element_type)) for shape in shapes)


def _exported(module: StableHloModule) -> Callable[..., tuple[jax.Array, ...]]:
    parameters, results = map(_structs, entry_arrays(module))
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


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of a search: formats for the arguments and the results of a function, and the evidence.

    `arguments` and `results` are for `jax.jit(f, in_shardings=arguments, out_shardings=results)`; an array whose layout
    stays is None. `module` is the best program, which `as_jax_function` makes callable: where passes are part of the
    best change, only that program has its figures. `tuning` has all trials.
    """

    arguments: Any
    results: Any
    module: Module
    tuning: Tuning

    def __str__(self) -> str:
        return tuning_page(self.tuning)

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: that of the search."""
        return self.tuning._repr_html_()


def tune(
    function: Callable[..., Any],
    *args: Any,
    target: str,
    objective: Objective = "peak",
    budget: int = DEFAULT_BUDGET,
    jobs: int = 1,
    sharding: Sharding | None = None,
) -> Tuned:
    """Searches layouts and rewrites that make a function smaller or faster on a TPU or GPU, with its compiler.

    `args` are arrays, numbers or ShapeDtypeStructs: only their shapes and types count. `jobs` programs are compiled at
    once. `sharding` is that of the formats, JAX's first device for None. Raises DiagnosticError without the compiler of
    the target and without HiGHS, and for an unknown target.
    """
    traced = jax.jit(function, keep_unused=True).trace(*args)
    lowered = traced.lower(lowering_platforms=(parse_target(target).platform,))
    tuning = api.tune(module_of(lowered), target=target, objective=objective, budget=budget, jobs=jobs)
    best = tuning.best
    arguments = _formats(best.change.parameters, best.figures.parameters, sharding)
    results = _formats(best.change.results, best.figures.results, sharding)
    return Tuned(
        jax.tree.unflatten(jax.tree.structure(args), arguments),
        jax.tree.unflatten(jax.tree.structure(lowered.out_info), results),
        tuning.program,
        tuning,
    )


def _formats(modes: Sequence[str], layouts: Sequence[str], sharding: Sharding | None) -> list[Format | None]:
    """Returns the formats of arrays: the orders of dimensions that the compiler chose; None for the default.

    A program that the compiler rejects has no `layouts`, so all formats are None.
    """
    return [
        None if mode == DEFAULT or layout is None else to_format(Layout(parse_layout(layout).minor_to_major), sharding)
        for mode, layout in zip_longest(modes, layouts)
    ]
