"""Runs one module on one set of inputs."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.execution.arrays import Array, from_plain_all
from dialect_utils.execution.guard import prepare
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Engine, Worker
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError


def entry_arrays(module: Module) -> tuple[list[ArrayShape], list[ArrayShape]]:
    """Returns the shapes of the entry's parameters and results, tuples flattened.

    Raises DiagnosticError for what no array can hold: tokens, dynamic dimensions.
    """
    parameters, results = module.entry_layout
    return _arrays(parameters, "parameter"), _arrays(results, "result")


def _arrays(shapes: Sequence[Shape], kind: str) -> list[ArrayShape]:
    found: list[ArrayShape] = []
    for shape in shapes:
        if isinstance(shape, TupleShape):
            found += _arrays(shape.elements, kind)
        elif isinstance(shape, ArrayShape) and shape.is_static:
            found.append(shape)
        else:
            raise DiagnosticError(Diagnostic(f"a {kind} of the entry is {shape}, which no array can hold"))
    return found


def run_module(
    module: Module,
    inputs: Sequence[Array],
    *,
    engine: Engine = "xla",
    name: str = "<module>",
    timeout: float = DEFAULT_TIMEOUT_SECONDS,
) -> list[Array]:
    """Executes a module's logical program on this machine and returns its results, tuples flattened.

    `inputs` are in parameter order; types numpy lacks may be given as unsigned integers of the
    same width. `timeout` is in seconds, `name` how diagnostics call the module. Raises
    DiagnosticError where inputs do not fit or the module must not be executed, ExecutionError
    where the engine refuses it.
    """
    parameters, _ = entry_arrays(module)
    arrays = from_plain_all(inputs, parameters)
    program = prepare(module, name)
    with Worker(timeout) as worker:
        return worker.run(program, [arrays], engine=engine)[0]
