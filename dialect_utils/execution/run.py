"""Runs one module on one set of inputs."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.execution.arrays import Array, from_plain_all
from dialect_utils.execution.guard import prepare
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Engine, Worker
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError


def entry_arrays(module: Module, devices: int = 1) -> tuple[list[ArrayShape], list[ArrayShape]]:
    """Returns the shapes of the entry's parameters and results, tuples flattened.

    On several devices each has a leading dimension that counts them. Raises DiagnosticError for
    what no array can hold: tokens, dynamic dimensions.
    """
    parameters, results = module.entry_layout
    return _arrays(parameters, "parameter", devices), _arrays(results, "result", devices)


def _arrays(shapes: Sequence[Shape], kind: str, devices: int) -> list[ArrayShape]:
    found: list[ArrayShape] = []
    for shape in shapes:
        if isinstance(shape, TupleShape):
            found += _arrays(shape.elements, kind, devices)
        elif isinstance(shape, ArrayShape) and shape.is_static:
            found.append(shape if devices == 1 else ArrayShape(shape.element_type, (devices, *shape.dimensions)))
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
    devices: int = 1,
) -> list[Array]:
    """Executes a module's logical program on this machine and returns its results, tuples flattened.

    `inputs` are in parameter order; types numpy lacks may be given as unsigned integers of the
    same width. `timeout` is in seconds, `name` how diagnostics call the module. A module of several
    replicas needs as many `devices`; inputs and results then have a leading dimension that
    counts them. Raises DiagnosticError where inputs do not fit or the module must not be
    executed, ExecutionError where the engine refuses it.
    """
    _check_devices(module, devices)
    parameters, _ = entry_arrays(module, devices)
    arrays = from_plain_all(inputs, parameters)
    program = prepare(module, name)
    with Worker(timeout, devices) as worker:
        return worker.run(program, [arrays], engine=engine)[0]


def _check_devices(module: Module, devices: int) -> None:
    """Raises DiagnosticError, at the first op that communicates, where a module is for another number of devices."""
    needed = int(module.attributes.get("replica_count", "1")) if module.form == "hlo" else devices
    if needed == devices:
        return
    operations = (operation for function in module.functions for operation in function.operations)
    talking = next((operation for operation in operations if operation.opcode.startswith(_COMMUNICATING)), None)
    what = f"module {module.name}" if talking is None else f"{talking.opcode} {talking.results[0].name}"
    message = f"{what} is for {needed} devices, not {devices}"
    location = None if talking is None else talking.location
    raise DiagnosticError(Diagnostic(message, location, hint=f"run it on {needed} host devices: --devices {needed}"))


_COMMUNICATING = ("all-", "collective-", "ragged-all-to-all", "reduce-scatter")
