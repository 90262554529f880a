"""The search of `relayout tune` for functions of JAX, with formats for their arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import jax
from jax.experimental.layout import Format
from jax.sharding import Sharding

from dialect_utils.execution.tpu_figures import FigureCompiler, compiler_version
from dialect_utils.ir import Module
from dialect_utils.layout import Layout, parse_layout
from relayout.jax.layouts import to_format
from relayout.jax.modules import module_of
from relayout.tuning.changes import DEFAULT, as_stablehlo
from relayout.tuning.objective import Objective
from relayout.tuning.page import tuning_page
from relayout.tuning.search import DEFAULT_BUDGET, Search, Tuning
from relayout.tuning.solver import check_installed
from relayout.tuning.trials import Measured


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


def tune(
    function: Callable[..., Any],
    *args: Any,
    target: str = "tpu-v5e",
    objective: Objective = "peak",
    budget: int = DEFAULT_BUDGET,
    jobs: int = 1,
    sharding: Sharding | None = None,
) -> Tuned:
    """Searches layouts and rewrites that make a function smaller or faster on a TPU, with the TPU compiler.

    `args` are arrays, numbers or ShapeDtypeStructs: only their shapes and types count. `jobs` programs are compiled at
    once. `sharding` is that of the formats, JAX's first device for None. Raises DiagnosticError without libtpu and
    without HiGHS, and for an unknown target.
    """
    check_installed()
    lowered = jax.jit(function, keep_unused=True).lower(*args)
    with FigureCompiler(target, jobs) as compiler:
        measured = Measured(compiler.compile_all, compiler.target, compiler_version())
        tuning = Search(as_stablehlo(module_of(lowered)), measured, objective, budget).run()
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
