"""Finds what is wrong with a module's layouts, shapes, calls and interface."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.ir import Module
from dialect_utils.ir.control_flow import recursive_call
from dialect_utils.ops import HLO_NAMES, is_opcode
from dialect_utils.text import Diagnostic, DiagnosticError, Severity, nearest
from passes.framework.base import Report, module_pass
from passes.layouts.verification.attributes import find_attribute_problems, find_unknown_attributes
from passes.layouts.verification.boundaries import find_call_problems, find_entry_problems
from passes.layouts.verification.collectives import find_group_problems
from passes.layouts.verification.dimensions import find_dimension_problems
from passes.layouts.verification.literals import find_literal_problems
from passes.layouts.verification.shapes import find_shape_problems
from passes.layouts.verification.signatures import Signature, signature_of
from passes.layouts.verification.types import find_type_problems, has_plain_types


@module_pass
def verify_layouts(module: Module, report: Report) -> None:
    """Finds what is wrong with a module's layouts, shapes, calls and interface; changes nothing.

    1. Every layout fits its shape. (Reading the module checks this, with the place in the text.)
    2. An instruction has an opcode that XLA knows and the operands it takes, and its dimensions follow from theirs.
    3. A bitcast keeps the physical size in bytes.
    4. Operands and parameters, ROOTs and results agree at fusion, call, while and conditional: in
       type, and where both sides are tiled, in where elements are. Memory spaces may differ.
    5. No computation reaches itself.
    6. The entry layout has the entry's parameters and result, and aliases name what exists.
    7. A constant has as many numbers as its shape has elements, each in the range of its type. Attributes
       are those that the opcode has and needs (in a compiler's dump an unknown one is a warning).
    8. Where no compiler has rewritten the module, element types are those that XLA takes: the TPU
       compiler mixes them inside instructions.
    9. A StableHLO module passes MLIR's own verifier, and each annotation fits its value.

    All problems are reported in one run, each with its place. What XLA is known to accept and run
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
    found = list(find_problems(module))
    problems = [problem for problem in found if problem.severity == "error"]
    if problems:
        raise DiagnosticError(problems)
    for warning in found:
        report.warn(warning.message, warning.location)


def find_problems(module: Module) -> Iterator[Diagnostic]:
    """Yields everything `verify-layouts` finds wrong with a module, warnings among them."""
    broken = list(_form_problems(module))
    yield from broken
    recursion = recursive_call(module)
    if recursion is not None:
        yield Diagnostic(f"{recursion.function.name} calls itself", recursion.location)
    if recursion is None and all(problem.severity != "error" for problem in broken):
        yield from find_entry_problems(module)


def _form_problems(module: Module) -> Iterator[Diagnostic]:
    if isinstance(module, HloModule):
        is_plain = has_plain_types(module)
        # What is alike has the same problems; they are looked for again only where there are some, for their place.
        sound: set[Signature] = set()
        for computation in module.computations:
            for instruction in computation.instructions:
                signature = signature_of(instruction)
                if signature not in sound:
                    problems = list(_instruction_problems(instruction, is_plain=is_plain))
                    yield from problems
                    if not problems:
                        sound.add(signature)
        return
    yield from _annotation_problems(module)


def _instruction_problems(instruction: Instruction, *, is_plain: bool) -> Iterator[Diagnostic]:
    """Yields the problems of one instruction; `is_plain`: no compiler has rewritten its module."""
    if not is_opcode(instruction.opcode):
        close = nearest(instruction.opcode, HLO_NAMES)
        hint = f"did you mean {close}?" if close else None
        yield Diagnostic(f"unknown opcode {instruction.opcode}", instruction.locate("opcode"), hint=hint)
        return
    try:
        messages = [
            *([*find_shape_problems(instruction)] or find_dimension_problems(instruction)),
            *find_call_problems(instruction),
            *find_attribute_problems(instruction),
            *find_group_problems(instruction),
            *find_literal_problems(instruction),
        ]
        if is_plain and not messages:
            messages += find_type_problems(instruction)
        unknown = list(find_unknown_attributes(instruction))
    except DiagnosticError as error:
        yield from error.diagnostics
        return
    for message in messages:
        yield Diagnostic(f"{instruction.name}: {message}", instruction.location)
    for message in unknown:
        severity: Severity = "error" if is_plain else "warning"
        yield Diagnostic(f"{instruction.name}: {message}", instruction.location, severity)


def _annotation_problems(module: Module) -> Iterator[Diagnostic]:
    # Imported here: text-only work on HLO must not pay for MLIR.
    from dialect_utils.stablehlo.module import StableHloModule

    assert isinstance(module, StableHloModule)  # there are two dialects
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
