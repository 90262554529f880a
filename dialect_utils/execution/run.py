"""Runs a module: checks that jaxlib may execute it, prepares its program, and executes that on one set of inputs.

Each check states its reason, seen with jaxlib 0.10 or 0.12. jaxlib may still reject other modules or crash on them,
which is an ordinary ExecutionError.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, cast

from dialect_utils.engine_names import DEFAULT_ENGINE, ENGINES, Engine
from dialect_utils.execution import requirements
from dialect_utils.execution.arrays import Array, SavedArray, from_plain_all
from dialect_utils.execution.custom_calls import check_calls, is_column_major_call
from dialect_utils.execution.errors import RefusedError
from dialect_utils.execution.messages import Program
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS, Worker
from dialect_utils.ir import Module, Operation
from dialect_utils.ir.control_flow import recursive_call
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import Trait, has
from dialect_utils.processes import DEFAULT_MEMORY_BYTES
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule

# XLA silently fills elided constants with arbitrary bytes.
_ELIDED = re.compile(r"constant\(\{\.\.\.\}\)|__elided__")
_HINT = "another dump of the module may have it: relayout run DUMP --constants like=FILE"
# Shardy's manual computation, and its ends in HLO.
_MANUAL = frozenset({"sdy.manual_computation", "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"})
_PARTITION_HINT = "relayout validate FILE --target cpu --dump DIR writes the module after spmd-partitioning, which runs"
_ASYNCHRONOUS = ("-start", "-done", "async-update")
# XLA prints -0.0 as `-0`, and reads `-0` as +0.0; an integer's `-0` is 0 anyway.
_FLOAT_CONSTANT = re.compile(r"= (?:f\d+\w*|bf16|c64|c128)\[[^\n=()]*? constant\(")
# XLA cannot flatten a tuple parameter with frontend attributes, which affect no result.
_TUPLE_PARAMETER_ATTRIBUTES = re.compile(
    r"^([^\n=]*= \([^\n]*\) parameter\(\d+\)[^\n]*?), frontend_attributes=\{(?:[^{}\"]|\"[^\"\n]*\")*\}", re.MULTILINE
)
# XLA crashes on a Shardy sharding of a mesh that the module lacks. It reads no other names, and engines run one program
# on every device, which no sharding changes.
_SHARDY_ATTRIBUTE = re.compile(r"\bxla\.sdy\.(?=\w+\s*=)")
_NEGATIVE_ZERO = re.compile(r"(?<![\w.])-0(?![\w.])")


def prepare(module: Module, name: str, memory: int = DEFAULT_MEMORY_BYTES, engine: Engine = DEFAULT_ENGINE) -> Program:
    """Returns the program that a worker may execute: the module without layouts.

    A layout places elements in memory and affects no logical value, and XLA:CPU would silently misread tiles. `name`
    is the text's name in diagnostics. Raises DiagnosticError, with all locations, for operations that depend on
    layouts and for those on which jaxlib would hang, crash or compute a wrong result.
    """
    check_executable(module, name, memory, engine)
    return program_of(module, name)


def program_of(module: Module, name: str) -> Program:
    """Returns `prepare` of a module that `check_executable` has accepted."""
    bare = without_layouts(module)
    if bare.dialect == "stablehlo":
        # Imported here: work on HLO text must not load MLIR.
        from dialect_utils.stablehlo.foreign import for_xla

        bare, _ = for_xla(cast("StableHloModule", bare))
    text = _SHARDY_ATTRIBUTE.sub("unread.", bare.text())
    if module.dialect == "hlo":
        text = _TUPLE_PARAMETER_ATTRIBUTES.sub(r"\1", _with_negative_zeros(text))
    if module.dialect == "hlo" and not module.name:
        # jaxlib does not read a computation without a module.
        return Program(f"HloModule fragment\n\n{text}", module.dialect, f"{name} (as a module)")
    partitions = requirements.partitions_of(module)
    # Columns may change: the excerpt under an error must show the text that jaxlib read.
    name = name if text == module.text() else f"{name} (without layouts)"
    return Program(text, module.dialect, name, partitions)


def _with_negative_zeros(text: str) -> str:
    """Writes `-0` in float constants as `-0.0`, because XLA's parser reads the former as +0.0."""
    parts, end = [], 0
    for found in _FLOAT_CONSTANT.finditer(text):
        start, end_of_constant = found.end(), _closing(text, found.end())
        if start >= end:
            parts += [text[end:start], _NEGATIVE_ZERO.sub("-0.0", text[start:end_of_constant])]
            end = end_of_constant
    return "".join([*parts, text[end:]])


def _closing(text: str, position: int) -> int:
    """Returns the position of the parenthesis that closes the one before `position`."""
    depth = 1
    for found in re.compile(r"[()]").finditer(text, position):
        depth += 1 if found[0] == "(" else -1
        if not depth:
            return found.start()
    return len(text)


def check_executable(
    module: Module, name: str, memory: int = DEFAULT_MEMORY_BYTES, engine: Engine = DEFAULT_ENGINE
) -> None:
    """Raises DiagnosticError, with all locations, for modules that must not reach jaxlib.

    `name` is the text's name in diagnostics, `memory` the number of bytes that the module may need. RefusedError means
    that no engine can execute the module, so that no proof about it counts either. `reference` executes asynchronous
    operations, too.
    """
    recursive = recursive_call(module)
    if recursive is not None:
        raise RefusedError(Diagnostic(f"{recursive.function.name} calls itself", recursive.location))
    requirements.check_work(module)
    requirements.check_emulated(module)
    requirements.check_sizes(module, memory)
    check_calls(module)
    without_body = list(filter(None, map(_call_without_body, module.operations())))
    if without_body:
        raise RefusedError(without_body)
    problem_of = _problem if engine == "reference" else _problem_for_jaxlib
    found = [*filter(None, map(problem_of, module.operations())), *_elided_constants(module, name)]
    if found:
        raise DiagnosticError(found)


def without_layouts(module: Module) -> Module:
    """Returns a copy in which no value and no entry parameter or result has a layout."""
    clone = module.clone()
    for function in clone.functions:
        operations = [operation for operation in function.operations if not is_column_major_call(operation)]
        values = [*function.parameters, *(value for operation in operations for value in operation.results)]
        for value in values:
            if (bare_shape := value.shape.without_layout) != value.shape:
                value.set_shape(bare_shape)
    written = clone.entry_layout
    bare = [[shape.without_layout for shape in shapes] for shapes in written]
    if bare != [list(shapes) for shapes in written]:
        clone.set_entry_layout(*bare)
    return clone


def _elided_constants(module: Module, name: str) -> list[Diagnostic]:
    source = Source(name, module.text())
    return [
        Diagnostic("the constant is elided, so its value is unknown", Location(source, Span(*found.span())), hint=_HINT)
        for found in _ELIDED.finditer(source.text)
    ]


def _call_without_body(operation: Operation) -> Diagnostic | None:
    if all(function.results or function.operations for function in operation.called):
        return None
    # XLA:CPU would call a null address.
    names = ", ".join(function.name for function in operation.called)
    return Diagnostic(f"{operation.opcode} of {names}, which has no body", operation.location)


def _problem(operation: Operation) -> Diagnostic | None:
    opcode, location = operation.opcode, operation.location
    if has(opcode, Trait.COMMUNICATES):
        return Diagnostic(f"{opcode} waits for another program, for ever here", location)
    if not _MANUAL.isdisjoint((opcode, operation.callee)):
        message = f"{opcode} computes on parts of arrays, and the module is not partitioned yet"
        return Diagnostic(message, location, hint=_PARTITION_HINT)
    if operation.is_unknown:
        return Diagnostic(f"{opcode} is of a dialect that is not known here, so nothing can execute it", location)
    if opcode == "bitcast":
        # It depends on layouts, which are dropped; XLA rejects it, too.
        hint = "rewrite bitcasts with the pass expand-bitcasts"
        return Diagnostic("a bitcast reads bytes, so what it gives depends on layouts", location, hint=hint)
    return None


def _problem_for_jaxlib(operation: Operation) -> Diagnostic | None:
    found = _problem(operation)
    if found is not None:
        return found
    opcode, location = operation.opcode, operation.location
    shapes = [value.shape for value in operation.results]
    if opcode == "all-to-all" and any(isinstance(each, TupleShape) and len(each.elements) == 1 for each in shapes):
        return Diagnostic("XLA:CPU ends on an all-to-all of one array in a tuple", location)
    state = [leaf for each in shapes for leaf in each.leaves()] if opcode == "while" else []
    if len(state) == 1 and isinstance(state[0], ArrayShape) and not state[0].is_static:
        message = f"XLA:CPU ends on a loop whose only value is an array of a dynamic size, {state[0].without_layout}"
        hint = "with a second value in its state, which may be a constant, the loop runs"
        return Diagnostic(message, location, hint=hint)
    if opcode.endswith(_ASYNCHRONOUS):
        hint = "rewrite it with the pass convert-async-to-sync"
        return Diagnostic(f"XLA:CPU does not execute {opcode}", location, hint=hint)
    return None


def entry_arrays(module: Module, devices: int = 1) -> tuple[list[ArrayShape], list[ArrayShape]]:
    """Returns the shapes of the entry's parameters and results, tuples flattened.

    On several devices the leading dimension of each counts the devices. Raises DiagnosticError for tokens and dynamic
    dimensions.
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
            raise DiagnosticError(f"a {kind} of the entry is {shape}, which no array can hold")
    return found


def run_module(
    module: Module,
    inputs: Sequence[Array | SavedArray],
    *,
    engine: Engine = DEFAULT_ENGINE,
    name: str = "<module>",
    timeout: float = DEFAULT_TIMEOUT_SECONDS,
    devices: int = 1,
    memory: int = DEFAULT_MEMORY_BYTES,
    worker: Worker | None = None,
) -> list[Array]:
    """Executes a module's logical program on this machine and returns its results, tuples flattened.

    `inputs` are in parameter order; types that numpy lacks may be given as unsigned integers of the same width.
    `timeout` is in seconds, `memory` in bytes, `name` the module's name in diagnostics. A module of several replicas
    needs as many `devices`; the leading dimension of inputs and results then counts them. Several modules may share a
    `worker` of as many devices, whose limits then apply. Raises DiagnosticError for inputs of other shapes, an unknown
    engine and a module that must not be executed, ExecutionError where the engine rejects it.
    """
    if engine not in ENGINES:
        known = " or ".join(ENGINES)
        raise DiagnosticError(f"unknown engine {engine!r}", hint=f"it is {known}, on this machine's CPU")
    requirements.check_devices(module, devices)
    parameters, _ = entry_arrays(module, devices)
    arrays = from_plain_all(inputs, parameters, devices=devices)
    program = prepare(module, name, memory, engine)
    shared = worker if worker is not None and worker.devices == devices else None
    with nullcontext(shared) if shared is not None else Worker(timeout, devices, memory) as used:
        return used.run(program, [arrays], engine=engine)[0]
