"""The report of a file: of a program, with a target, what the target's compiler makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.allocation import guess_compiler
from dialect_utils.memory.relayouts import notes_of_lines
from dialect_utils.ops.device_counts import devices_of, notes_of_report
from dialect_utils.text import Diagnostic, DiagnosticError


def measured(module: Module, target: str | None, told: Callable[[Sequence[Diagnostic]], None]) -> MemoryReport:
    """Returns the report of a compiled program, or with a target of what its compiler makes of a program.

    `told` is called with the notes about it. Raises the errors of `compile_for`, and DiagnosticError for a compiled
    program with the target `cpu`, which has no figures of its own.
    """
    if target is not None and _is_compiled(module):
        _check_chip(module, target)
    elif target is not None or module.dialect == "stablehlo":
        module = _compiled(module, target, told)
    told(notes_of_report(module))
    # This machine's processor has no layouts of its own.
    return MemoryReport(module, None if target == "cpu" else target)


def _check_chip(module: Module, target: str) -> None:
    """Raises DiagnosticError for a target that a compiled program cannot be for: cpu, or a chip of another kind."""
    platform = None if target == "cpu" else parse_target(target).platform
    made_for = {"tpu": "TPU", "gpu": "GPU"}.get(guess_compiler(module) or "")
    if platform is None or (made_for and {"tpu": "TPU", "cuda": "GPU"}.get(platform, made_for) != made_for):
        hint = f"leave --target out, or name a chip{f' that is a {made_for}' if made_for else ''}"
        raise DiagnosticError(f"{module.name} is compiled already, and not for {target}", hint=hint)


def _is_compiled(module: Module) -> bool:
    from passes.dumps.executable import is_optimized_dump

    return is_optimized_dump(module)


def _compiled(module: Module, target: str | None, told: Callable[[Sequence[Diagnostic]], None]) -> Module:
    """Returns the program that the compiler of a target makes, or with a note the module where there is none."""
    from dialect_utils.execution.compilers import check_target, compile_for
    from passes.dumps.executable import as_program

    why, hint = "", "--target tpu-v5e compiles it"
    if target is not None:
        try:
            check_target(target)
        except DiagnosticError as error:
            why, hint = f" ({error.diagnostics[0].message})", error.diagnostics[0].hint or ""
        else:
            told(devices_of(module).notes_of_compilation)
            dump = compile_for(as_program(module).text(), target).dump
            told(notes_of_lines(dump))
            return parse_bytes(encode(dump), "compiled.hlo")
    known = (
        "are known, and nothing between them" if module.dialect == "stablehlo" else "and all between them are its own"
    )
    message = f"{module.name or 'the module'} is not compiled{why}: its arguments and results {known}"
    told([Diagnostic(message, severity="note", hint=hint or None)])
    return module
