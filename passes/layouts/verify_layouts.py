"""Reports errors in a module's layouts, shapes, calls and interface."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.hlo import HloModule
from dialect_utils.hlo.verification.entry import find_entry_problems
from dialect_utils.hlo.verify import find_problems as verify_hlo
from dialect_utils.ir import Module
from dialect_utils.ir.control_flow import recursive_call
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.base import Report, module_pass


@module_pass
def verify_layouts(
    module: Module,
    report: Report,
    *,
    layout_sensitive: bool = False,
    mixed_precision: bool = True,
    unbounded: bool = True,
) -> None:
    """Reports errors in a module's layouts, shapes, calls and interface; changes nothing.

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
    10. The options are those of XLA's verifier. `layout_sensitive` compares layouts as XLA does after layout
       assignment; `mixed_precision=false` rejects floats of several precisions in one instruction, and
       `unbounded=false` dimensions of any size (`?`). They hold for HLO.

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
    found = list(
        find_problems(module, layout_sensitive=layout_sensitive, mixed_precision=mixed_precision, unbounded=unbounded)
    )
    problems = [problem for problem in found if problem.severity == "error"]
    if problems:
        raise DiagnosticError(problems)
    for warning in found:
        report.warn(warning.message, warning.location)


def find_problems(
    module: Module, *, layout_sensitive: bool = False, mixed_precision: bool = True, unbounded: bool = True
) -> Iterator[Diagnostic]:
    """Yields everything `verify-layouts` finds wrong with a module, warnings among them."""
    if isinstance(module, HloModule):
        yield from verify_hlo(
            module, is_layout_sensitive=layout_sensitive, is_mixed=mixed_precision, is_unbounded=unbounded
        )
        return
    broken = list(_annotation_problems(module))
    yield from broken
    recursion = recursive_call(module)
    if recursion is not None:
        yield Diagnostic(f"{recursion.function.name} calls itself", recursion.location)
    elif not broken:
        yield from find_entry_problems(module)


def _annotation_problems(module: Module) -> Iterator[Diagnostic]:
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
