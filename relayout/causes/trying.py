"""Tries the advice about copies: the program is compiled again with each change, and what it then costs is said."""

from __future__ import annotations

from dataclasses import replace

from dialect_utils.ir import Module
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import DiagnosticError, format_bytes
from dialect_utils.tools.conversion import in_dialect_of
from relayout.causes.trial import compiled_report
from relayout.reporting.causes import Cause, Change, Why
from relayout.tuning.changes import EntryArray, as_stablehlo, change_of, changed_module, mode_of

# The figures of a program: the bytes that it accesses, loops with their trips, and its peak of main memory.
_Costs = tuple[int, int]


def try_advice(why: Why, module: Module, target: str) -> Why:
    """Returns causes whose advice about layouts and donations says what the program costs that is compiled with it.

    Raises DiagnosticError where the compiler refuses the program as it is; advice that it refuses is dropped.
    """
    changes = dict.fromkeys(each.change for each in why.causes if each.change is not None)
    if not changes:
        return why
    program = as_stablehlo(in_dialect_of("stablehlo", module))
    before = _costs(program, target)
    said = {change: _said(program, change, before, target) for change in changes}
    return replace(why, causes=tuple(_tried(each, said) for each in why.causes))


def _tried(cause: Cause, said: dict[Change, str | None]) -> Cause:
    if cause.change not in said:
        return cause
    costs = said[cause.change]
    return (
        replace(cause, change=None, advice="") if costs is None else replace(cause, advice=f"{cause.advice}; {costs}")
    )


def _said(program: StableHloModule, change: Change, before: _Costs, target: str) -> str | None:
    """Returns the costs with a change beside those without it, None where the compiler refuses the change."""
    try:
        after = _costs(_changed(program, change), target)
    except DiagnosticError:
        return None
    accessed, peak = (
        f"{format_bytes(new)} in place of {format_bytes(old)}" if new != old else f"{format_bytes(new)} as before"
        for old, new in zip(before, after, strict=True)
    )
    return f"compiled so, the program accesses {accessed}, and its peak is {peak}"


def _changed(program: StableHloModule, change: Change) -> StableHloModule:
    if change.action == "donation":
        donating = program.clone()
        donating.entry.interface.donate([change.number])
        return donating
    entry = EntryArray(change.action == "result layout", change.number)
    return changed_module(program, change_of(program).with_mode(entry, mode_of(change.major_to_minor[::-1])))


def _costs(program: Module, target: str) -> _Costs:
    report = compiled_report(program, target)
    return report.cost.bytes_accessed, report.usage.main_memory_peak_bytes
