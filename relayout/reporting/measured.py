"""The report of a file: of StableHLO, what the compiler of a target makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.relayouts import notes_of_lines
from dialect_utils.ops.device_counts import devices_of, notes_of_report
from dialect_utils.text import Diagnostic, DiagnosticError


def measured(module: Module, target: str | None, told: Callable[[Sequence[Diagnostic]], None]) -> MemoryReport:
    """Returns the report of a module: of StableHLO, with a target, what its compiler makes of it.

    `told` is called with the notes about it. Raises the errors of `compile_for`.
    """
    if module.dialect == "stablehlo":
        module = _compiled(module, target, told)
    told(notes_of_report(module))
    # This machine's processor has no layouts of its own.
    return MemoryReport(module, None if target == "cpu" else target)


def _compiled(module: Module, target: str | None, told: Callable[[Sequence[Diagnostic]], None]) -> Module:
    """Returns the program that the compiler of a target makes, or with a note the module where there is none."""
    # Imported here: most reports are about compiled programs.
    from dialect_utils.execution.compilers import check_target, compile_for

    hint: str | None = "--target tpu-v5e compiles it"
    if target is not None:
        try:
            check_target(target)
        except DiagnosticError as error:
            hint = error.diagnostics[0].hint
        else:
            told(devices_of(module).notes_of_compilation)
            dump = compile_for(module.text(), target).dump
            told(notes_of_lines(dump))
            return parse_bytes(encode(dump), "compiled.hlo")
    message = "the module is not compiled: its arguments and results are known, and nothing between them"
    told([Diagnostic(message, severity="note", hint=hint)])
    return module
