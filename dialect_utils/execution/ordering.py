"""A module whose sorts and reductions leave no order open: NaN after all numbers, equal keys as they come.

A comparator that says `a < b` of floats tells nothing of NaN, and a sort that is not stable tells nothing
of equal keys: what an engine makes of them depends on its algorithm, and may change with a layout. Here
NaN is larger than every number and equal to NaN, and every sort is stable: one of the orders that the module
allows. On other data the module computes what it did.

Only the worker imports this module. Works on StableHLO, which XLA makes of HLO, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dialect_utils.execution.inlining import inline_calls
from dialect_utils.opcodes import Trait, has, hlo_opcode
from dialect_utils.stablehlo.bindings import context, ir

_COMPARE, _SORT = "stablehlo.compare", "stablehlo.sort"
# Where a comparison of two elements is true besides what it says: of which operand NaN is asked, and of which a number.
_BESIDES = {"LT": (1, 0), "GT": (0, 1), "LE": (1, None), "GE": (0, None)}


def order(program: str | bytes, *, zeros: int = 0) -> tuple[str, int, int]:
    """Returns the ordered form of a StableHLO module, and how many sorts and how many other operations left it open.

    `zeros` (1 for yes): sorts put -0 before 0, as one that is not stable may.
    Raises what MLIR raises where there is none.
    """
    with context(allow_unregistered=False), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        changed = {True: 0, False: 0}
        for operation in _choosing(module):
            is_sort = operation.name == _SORT
            found = [_order(each, zeros=bool(zeros) and is_sort) for each in _comparisons(operation)]
            changed[is_sort] += any([*found, is_sort and _stabilize(operation)])
        module.operation.verify()
        return str(module), changed[True], changed[False]


def _choosing(module: Any) -> Iterator[Any]:
    """Yields the operations that apply a function to elements in an order of the engine's choosing."""
    found: list[Any] = []

    def collect(operation: Any) -> Any:
        opcode = hlo_opcode(operation.name)
        if opcode == "sort" or has(opcode, Trait.COMBINES):
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect)
    yield from found


def _stabilize(operation: Any) -> bool:
    """Makes a sort stable; is true where it was not."""
    if "is_stable" in operation.attributes and ir.BoolAttr(operation.attributes["is_stable"]).value:
        return False
    operation.attributes["is_stable"] = ir.BoolAttr.get(True)
    return True


def _comparisons(operation: Any) -> list[Any]:
    """Returns the comparisons of something of the one element with something of the other."""
    found = []
    for block in (block for region in operation.regions for block in region):
        count = len(block.arguments)
        # A sort's arguments are pairs; others have all of one element, then all of the other.
        sides = [i % 2 if operation.name == _SORT else i * 2 // count for i in range(count)]
        behind = {value: frozenset({side}) for value, side in zip(block.arguments, sides, strict=True)}
        for inner in (each.operation for each in block.operations):
            of = [behind.get(value, frozenset()) for value in inner.operands]
            behind.update(dict.fromkeys(inner.results, frozenset[int]().union(*of)))
            if inner.name == _COMPARE and sorted(map(sorted, of)) == [[0], [1]]:
                found.append(inner)
    return found


def _order(compare: Any, *, zeros: bool) -> bool:
    """Makes a comparison of floats true of NaN as the larger operand; is false where it is of no floats, or total."""
    direction = str(compare.attributes["comparison_direction"]).split()[-1].strip(">")
    kind = str(compare.attributes["compare_type"]) if "compare_type" in compare.attributes else ""
    is_float = isinstance(compare.operands[0].type.element_type, ir.FloatType)
    if direction not in _BESIDES or not is_float or "TOTALORDER" in kind:
        return False
    users = [(use.owner, use.operand_number) for use in compare.results[0].uses]
    nan, number = _BESIDES[direction]
    with ir.InsertionPoint.after(compare):
        besides = _compared(compare, "NE", nan, nan)
        if number is not None:
            besides = _binary("stablehlo.and", besides, _compared(compare, "EQ", number, number))
        whole = _binary("stablehlo.or", compare.results[0], besides)
        if zeros and number is not None:
            tie = _binary(
                "stablehlo.and", _compared(compare, "EQ", 0, 1), _compared(compare, direction, 0, 1, "TOTALORDER")
            )
            whole = _binary("stablehlo.or", whole, tie)
    for owner, position in users:
        owner.operands[position] = whole
    return True


def _compared(compare: Any, direction: str, first: int, second: int, kind: str = "FLOAT") -> Any:
    """Makes another comparison of operands of one."""
    attributes = {
        "comparison_direction": ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"),
        "compare_type": ir.Attribute.parse(f"#stablehlo<comparison_type {kind}>"),
    }
    operands = [compare.operands[first], compare.operands[second]]
    made = ir.Operation.create(_COMPARE, results=[compare.results[0].type], operands=operands, attributes=attributes)
    return made.results[0]


def _binary(name: str, a: Any, b: Any) -> Any:
    return ir.Operation.create(name, results=[a.type], operands=[a, b]).results[0]
