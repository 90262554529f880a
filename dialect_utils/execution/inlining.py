"""One function of a module: the calls in main are replaced by what they call.

jaxlib registers no inliner for func.call, so MLIR's own pass leaves every call as it is. Only the worker
imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialect_utils.execution import adapter
from dialect_utils.execution.main_function import main_function
from dialect_utils.stablehlo.bindings import ir

_CALL = "func.call"
# Functions that are called twice, which call others twice, ... may make any number; the rest of the calls stays.
_MOST_OPERATIONS = 20_000


def inline_calls(module: Any) -> None:
    """Puts what main calls into main, in place, and writes chlo ops and old forms in today's StableHLO."""
    adapter.legalize(module)
    functions = {each.name.value: each for each in module.body.operations if each.operation.name == "func.func"}
    main = main_function(module)
    left = _MOST_OPERATIONS
    while left > 0 and (calls := [each for each in _nested(main.operation) if each.name == _CALL]):
        for call in calls:
            callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
            left -= sum(1 for _ in _nested(callee.operation))
            _inline(call, callee.regions[0].blocks[0])
    if left > 0:
        for name, function in functions.items():
            if name != "main":
                function.operation.erase()


def _inline(call: Any, block: Any) -> None:
    passed = dict(zip(block.arguments, call.operands, strict=True))
    *body, end = (each.operation for each in block.operations)
    with ir.InsertionPoint(call):
        copy_operations(body, passed)
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(passed.get(value, value))
    call.erase()


def copy_operations(operations: Sequence[Any], values: dict[Any, Any]) -> None:
    """Copies operations to the current insertion point; they use `values` in place of others, which gets their own."""
    for operation in operations:
        copy = operation.clone()
        for each in (copy, *_nested(copy)):
            for number, value in enumerate(each.operands):
                if value in values:
                    each.operands[number] = values[value]
        values.update(zip(operation.results, copy.results, strict=True))


def _nested(operation: Any) -> list[Any]:
    """Returns all operations within one, outermost first."""
    found = []
    for region in operation.regions:
        for block in region:
            for inner in block.operations:
                found += [inner.operation, *_nested(inner.operation)]
    return found
