"""Reduces a module on which XLA:CPU departs from the definition, and names the operation that is left."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.execution import ExecutionError, Worker
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options
from dialect_utils.verdict.cause import Cause
from dialect_utils.verdict.judge import compared_arrays
from passes.dumps.executable import checked_form
from relayout.bisection.judging import Bisection, Bisector
from relayout.findings import reduce_finding

# Operations whose result is a value of another one.
_FORWARDS = ("get-tuple-element", "copy", "bitcast")


def reduced(
    module: Module, found: Bisection, options: Options, worker: Worker, trials: int
) -> tuple[Module, Bisection]:
    """Returns a smaller module with the same cause and the same place of it, or the module itself."""
    if found.cause is None:
        return module, found

    def find(candidate: Sequence[Module]) -> Cause | None:
        try:
            return Bisector(candidate[0], options, worker, "<reduced>").difference()
        except (DiagnosticError, ExecutionError):
            return None

    [small] = reduce_finding([module], found.cause, find, trials)
    try:
        again = Bisector(small, options, worker, "<reduced>").run()
    except (DiagnosticError, ExecutionError):
        return module, found
    return (small, again) if again.group == found.group else (module, found)


def operation_of(module: Module, cause: Cause | None) -> str:
    """Returns the opcode that computes the output of a difference, through operations that forward its value."""
    if cause is None or cause.output is None:
        return ""
    value, _ = compared_arrays(checked_form(module))[cause.output]
    while value.operation is not None:
        operation = value.operation
        if operation.opcode == "fusion" or (operation.opcode == "call" and len(operation.called) == 1):
            [value] = operation.called[0].results
        elif operation.opcode in _FORWARDS:
            value = operation.operands[0]
        else:
            return operation.opcode
    return "parameter"
