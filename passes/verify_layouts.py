"""Finds what is wrong with a module's layouts, shapes, calls and interface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.opcodes import OPCODES, is_opcode
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, nearest
from passes.base import Pass, Report
from passes.verification.boundaries import find_call_problems, find_entry_problems, find_recursion
from passes.verification.dimensions import find_dimension_problems
from passes.verification.shapes import find_shape_problems


@dataclass(frozen=True)
class VerifyLayouts(Pass):
    """Finds what is wrong with a module's layouts, shapes, calls and interface; changes nothing.

    1. Every layout fits its shape. (Reading the module checks this, with the place in the text.)
    2. An instruction has an opcode that XLA knows and the operands it takes, and its dimensions follow from theirs.
    3. A bitcast keeps the physical size in bytes.
    4. Operands and parameters, ROOTs and results agree at fusion, call, while and conditional: in
       type, and where both sides are tiled, in where elements lie. Memory spaces may differ.
    5. No computation reaches itself.
    6. The entry layout has the entry's parameters and result, and aliases name what exists.
    7. A StableHLO module passes MLIR's own verifier, and each annotation fits its value.

    All problems are reported in one run, each with its place. Element types are not compared
    inside instructions, since the TPU compiler mixes them; what XLA is known to accept and run
    wrongly is refused before execution, not here.

    Before:
        HloModule m
        ENTRY e {
          p = f32[3,5]{1,0:T(2,2)} parameter(0)
          ROOT n = f32[3,5]{1,0:T(2,2)} negate(p)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[3,5]{1,0:T(2,2)} parameter(0)
          ROOT n = f32[3,5]{1,0:T(2,2)} negate(p)
        }
    """

    name: ClassVar[str] = "verify-layouts"

    def apply(self, module: Module, report: Report) -> None:
        """Raises DiagnosticError with every problem found."""
        problems = list(find_problems(module))
        if problems:
            raise DiagnosticError(problems)


def find_problems(module: Module) -> Iterator[Diagnostic]:
    """Yields everything `verify-layouts` finds wrong with a module."""
    broken = list(_form_problems(module))
    yield from broken
    recursion = list(find_recursion(module))
    yield from recursion
    if not broken and not recursion:
        yield from find_entry_problems(module)


def _form_problems(module: Module) -> Iterator[Diagnostic]:
    if isinstance(module, HloModule):
        for computation in module.computations:
            for instruction in computation.instructions:
                yield from _instruction_problems(instruction)
        return
    yield from _annotation_problems(module)


def _instruction_problems(instruction: Instruction) -> Iterator[Diagnostic]:
    if not is_opcode(instruction.opcode):
        close = nearest(instruction.opcode, OPCODES)
        hint = f"did you mean {close}?" if close else None
        yield Diagnostic(f"unknown opcode {instruction.opcode}", instruction.locate("opcode"), hint=hint)
        return
    try:
        messages = [
            *find_shape_problems(instruction),
            *find_dimension_problems(instruction),
            *find_call_problems(instruction),
        ]
    except DiagnosticError as error:
        yield from error.diagnostics
        return
    for message in messages:
        yield Diagnostic(f"{instruction.name}: {message}", instruction.location)


def _annotation_problems(module: Module) -> Iterator[Diagnostic]:
    # Imported here: text-only work on HLO must not pay for MLIR.
    from dialect_utils.stablehlo.module import StableHloModule

    assert isinstance(module, StableHloModule)  # there are two forms
    try:
        module.verify()
    except DiagnosticError as error:
        yield from error.diagnostics
    for function in module.functions:
        for value in [*function.parameters, *(v for op in function.operations for v in op.results)]:
            try:
                _ = value.shape
            except DiagnosticError as error:
                yield from error.diagnostics
