"""Changes what main of a StableHLO module returns; takes out `check.*` calls, which no engine here knows.

Only the worker imports this module.
"""

from __future__ import annotations

from typing import Any

from dialect_utils.stablehlo.bindings import context, ir

_PREFIX = "check."


def take_check_calls(program: str | bytes, *, as_results: bool) -> str | bytes:
    """Returns the module without its `check.*` calls.

    `as_results`: main returns the operands of those in main after its own results, in order.
    """
    data = program.encode() if isinstance(program, str) else program
    if _PREFIX.encode() not in data:
        return program
    with context(allow_unregistered=False), ir.Location.unknown():
        module = ir.Module.parse(program)
        calls = _check_calls(module)
        if as_results:
            main = main_function(module)
            values = [operand for call in calls if call.parent.operation == main.operation for operand in call.operands]
            set_main_results(main, [*returned_values(main), *values])
        for call in calls:
            call.erase()
        return str(module)


def _check_calls(module: Any) -> list[Any]:
    calls = []

    def collect(operation: Any) -> Any:
        if operation.name == "stablehlo.custom_call" and not operation.results:
            target = ir.StringAttr(operation.attributes["call_target_name"]).value
            if target.startswith(_PREFIX):
                calls.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect)
    return calls


def main_function(module: Any) -> Any:
    """Returns the function main; raises ValueError where there is none."""
    for operation in module.body.operations:
        if operation.operation.name == "func.func" and operation.name.value == "main":
            return operation
    raise ValueError("the module has no function main")


def returned_values(main: Any) -> list[Any]:
    """Returns what a function returns."""
    operations = main.regions[0].blocks[0].operations
    return list(operations[len(operations) - 1].operation.operands)


def set_main_results(main: Any, values: list[Any]) -> None:
    """Makes a function return other values; attributes of its results are dropped."""
    block = main.regions[0].blocks[0]
    terminator = block.operations[len(block.operations) - 1].operation
    ir.Operation.create("func.return", operands=values, ip=ir.InsertionPoint(terminator))
    terminator.erase()
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], [value.type for value in values])
    main.attributes["function_type"] = ir.TypeAttr.get(kind)
    if "res_attrs" in main.attributes:
        del main.attributes["res_attrs"]
