"""Runs one module on one set of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import get_args

from dialect_utils.execution.arrays import Array, from_plain_all
from dialect_utils.execution.devices import devices_of
from dialect_utils.execution.guard import prepare
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Engine, Worker
from dialect_utils.execution.saved import SavedArray
from dialect_utils.execution.sizes import DEFAULT_MEMORY_BYTES
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
    inputs: Sequence[Array | SavedArray],
    *,
    engine: Engine = "xla",
    name: str = "<module>",
    timeout: float = DEFAULT_TIMEOUT_SECONDS,
    devices: int = 1,
    memory: int = DEFAULT_MEMORY_BYTES,
    worker: Worker | None = None,
) -> list[Array]:
    """Executes a module's logical program on this machine and returns its results, tuples flattened.

    `inputs` are in parameter order; types numpy lacks may be given as unsigned integers of the
    same width. `timeout` is in seconds, `memory` in bytes, `name` how diagnostics call the module. A module of several
    replicas needs as many `devices`; inputs and results then have a leading dimension that
    counts them. Several modules may share a `worker` of as many devices, whose limits then hold. Raises DiagnosticError
    where inputs do not fit, the engine is unknown or the module must not be executed, ExecutionError where the engine
    refuses it.
    """
    if engine not in get_args(Engine):
        known = " or ".join(get_args(Engine))
        raise DiagnosticError(Diagnostic(f"unknown engine {engine!r}", hint=f"it is {known}, on this machine's CPU"))
    _check_devices(module, devices)
    parameters, _ = entry_arrays(module, devices)
    arrays = from_plain_all(inputs, parameters)
    program = prepare(module, name, memory)
    shared = worker if worker is not None and worker.devices == devices else None
    with nullcontext(shared) if shared is not None else Worker(timeout, devices, memory) as used:
        return used.run(program, [arrays], engine=engine)[0]


def _check_devices(module: Module, devices: int) -> None:
    """Raises DiagnosticError, at the first op that depends on it, where a module is for another number of devices."""
    found = devices_of(module)
    if devices in (found.needed, found.count):
        return
    what = f"module {module.name}"
    if found.dependent is not None and found.dependent.results:
        what = f"{found.dependent.opcode} {found.dependent.results[0].name}"
    location = None if found.dependent is None else found.dependent.location
    message = f"{what} is for {found.count} devices, not {devices}"
    raise DiagnosticError(Diagnostic(message, location, hint=f"run it on its own number: --devices {found.count}"))
