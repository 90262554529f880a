"""Steps that the rewrites share: they find main, change its results, inline its calls and make operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialect_utils.stablehlo.bindings import context, ir, run_passes, string_value
from dialect_utils.stablehlo.origins import copy_operations, walk

COMPARE = "stablehlo.compare"
_CUSTOM_CALL, _CHECK = "stablehlo.custom_call", "check."
_CALL, _APPLIED = "func.call", "called_computations"
_LEGALIZING = (
    "builtin.module(func.func(chlo-legalize-to-stablehlo,stablehlo-legalize-deprecated-ops{fail-on-unused=false}))"
)
# Functions that call others twice, which call others twice, ..., expand without a limit; calls beyond this stay.
MOST_OPERATIONS = 20_000


def take_check_calls(program: str | bytes, *, as_results: bool) -> str | bytes:
    """Returns the module without its `check.*` calls, which no engine implements.

    `as_results`: main returns the operands of those in main after its own results, in order.
    """
    data = program.encode() if isinstance(program, str) else program
    if _CHECK.encode() not in data:
        return program
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        calls: list[Any] = list(filter(_is_check, walk(module.operation)))
        if as_results:
            main = main_function(module)
            values = [operand for call in calls if call.parent.operation == main.operation for operand in call.operands]
            set_main_results(main, [*returned_values(main), *values])
        for call in calls:
            call.erase()
        return str(module)


def _is_check(operation: Any) -> bool:
    if operation.name != _CUSTOM_CALL or operation.results:
        return False
    return string_value(ir.StringAttr(operation.attributes["call_target_name"])).startswith(_CHECK)


def main_function(module: Any) -> Any:
    """Returns the function main; raises ValueError where the module has none."""
    for operation in module.body.operations:
        if operation.operation.name == "func.func" and operation.name.value == "main":
            return operation
    raise ValueError("the module has no function main")


def returned_values(function: Any) -> list[Any]:
    """Returns the operands of a function's terminator."""
    operations = function.regions[0].blocks[0].operations
    return list(operations[len(operations) - 1].operation.operands)


def set_main_results(main: Any, values: list[Any]) -> None:
    """Makes a function return other values; drops the attributes of its results."""
    block = main.regions[0].blocks[0]
    terminator = block.operations[len(block.operations) - 1].operation
    ir.Operation.create("func.return", operands=values, ip=ir.InsertionPoint(terminator))
    terminator.erase()
    set_signature(main, "res_attrs")


def set_signature(function: Any, *dropped: str) -> None:
    """Sets a function's type to that of its arguments and returned values; drops the named attributes."""
    arguments = [argument.type for argument in function.regions[0].blocks[0].arguments]
    kind = ir.FunctionType.get(arguments, [value.type for value in returned_values(function)])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    for name in dropped:
        if name in function.attributes:
            del function.attributes[name]


def legalize(module: Any) -> None:
    """Rewrites CHLO operations and legacy forms (dot, broadcast) as current StableHLO, in place."""
    run_passes(module, _LEGALIZING)


def inline_calls(module: Any) -> None:
    """Inlines all calls into main, in place, and legalizes the module.

    jaxlib registers no inliner for func.call, so MLIR's own pass changes no call. HLO's calls are inlined by
    passes/dumps, on another graph.
    """
    legalize(module)
    functions = {each.name.value: each for each in module.body.operations if each.operation.name == "func.func"}
    main = main_function(module)
    left = MOST_OPERATIONS
    while left > 0 and (calls := [each for each in walk(main.operation) if each.name == _CALL]):
        for call in calls:
            callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
            left -= sum(1 for _ in walk(callee.operation))
            _inline(call, callee.regions[0].blocks[0])
    if left > 0:
        kept = {"main", *applied_functions(module)}
        for name, function in functions.items():
            if name not in kept:
                function.operation.erase()


def applied_functions(module: Any) -> set[str]:
    """Returns the names of functions that custom calls apply, such as comparisons, and of those that these call."""
    functions = {each.name.value: each for each in module.body.operations if each.operation.name == "func.func"}
    applied = {name for function in functions.values() for each in walk(function.operation) for name in _applied(each)}
    waiting = list(applied)
    while waiting:
        called = {
            ir.FlatSymbolRefAttr(each.attributes["callee"]).value
            for each in walk(functions[waiting.pop()].operation)
            if each.name == _CALL
        }
        waiting += called - applied
        applied |= called
    return applied


def _applied(operation: Any) -> list[str]:
    is_call = operation.name == _CUSTOM_CALL and _APPLIED in operation.attributes
    names = operation.attributes[_APPLIED] if is_call else ()
    return [ir.FlatSymbolRefAttr(each).value for each in names]


def _inline(call: Any, block: Any) -> None:
    passed = dict(zip(block.arguments, call.operands, strict=True))
    *body, end = (each.operation for each in block.operations)
    with ir.InsertionPoint(call):
        copy_operations(body, passed)
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(passed.get(value, value))
    call.erase()


def uses_of(value: Any) -> list[tuple[Any, int]]:
    """Returns the current uses of a value as (operation, operand number)."""
    return [(use.owner, use.operand_number) for use in value.uses]


def redirect(uses: Sequence[tuple[Any, int]], value: Any) -> None:
    """Replaces the operand of each use by a value."""
    for owner, number in uses:
        owner.operands[number] = value


def make(name: str, operands: Sequence[Any], result: Any, attributes: dict[str, Any] | None = None) -> Any:
    """Returns the result of a new operation with one result, at the current insertion point."""
    return ir.Operation.create(name, results=[result], operands=list(operands), attributes=attributes or {}).results[0]


def binary(name: str, a: Any, b: Any) -> Any:
    """Returns an elementwise operation's result, of the first operand's type."""
    return make(f"stablehlo.{name}", [a, b], a.type)


def compare(direction: str, a: Any, b: Any, kind: str = "FLOAT") -> Any:
    """Returns an elementwise comparison's predicates."""
    attributes = {
        "comparison_direction": ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"),
        "compare_type": comparison_type(kind),
    }
    return make(COMPARE, [a, b], ir.RankedTensorType.get(a.type.shape, ir.IntegerType.get_signless(1)), attributes)


def comparison_type(kind: str) -> Any:
    """Returns the attribute of a comparison's kind, such as `SIGNED`."""
    return ir.Attribute.parse(f"#stablehlo<comparison_type {kind}>")


def splat(kind: Any, number: float) -> Any:
    """Returns a constant with one number in all elements."""
    element = kind.element_type
    is_float = isinstance(element, ir.FloatType)
    attribute = ir.FloatAttr.get(element, number) if is_float else ir.IntegerAttr.get(element, int(number))
    return make("stablehlo.constant", [], kind, {"value": ir.DenseElementsAttr.get_splat(kind, attribute)})


def slice_from(value: Any, start: int, count: int) -> Any:
    """Returns `count` elements of an array of one dimension."""
    bounds = {
        name: ir.DenseI64ArrayAttr.get([number])
        for name, number in (("start_indices", start), ("limit_indices", start + count), ("strides", 1))
    }
    return make("stablehlo.slice", [value], ir.RankedTensorType.get([count], value.type.element_type), bounds)


def converted(value: Any, element: Any) -> Any:
    """Returns an array converted to another element type."""
    return make("stablehlo.convert", [value], ir.RankedTensorType.get(value.type.shape, element))


def total_order_rank(value: Any) -> Any:
    """Returns signed integers in the total order of floats: -NaN, -infinity, ..., -0, 0, ..., infinity, NaN."""
    width = value.type.element_type.width
    kind = ir.RankedTensorType.get(value.type.shape, ir.IntegerType.get_signless(width))
    bits = make("stablehlo.bitcast_convert", [value], kind)
    # Inverts all bits of a negative number but its sign.
    amount, others = (splat(kind, number) for number in (width - 1, (1 << (width - 1)) - 1))
    return binary("xor", bits, binary("and", binary("shift_right_arithmetic", bits, amount), others))
