"""Makes a module of some operations of a module: the operations become the body of its main."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dialect_utils.ir import Operation, Value
from dialect_utils.ir.control_flow import remove_uncalled
from dialect_utils.stablehlo.bindings import ir
from dialect_utils.stablehlo.function import FUNCTION, as_value
from dialect_utils.stablehlo.interface import ENTRY_NAME
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.stablehlo.operation import as_operation
from dialect_utils.stablehlo.origins import copy_operations
from dialect_utils.stablehlo.parse import parse_module


class Operations(Protocol):
    """Operations in their order, the values that they need from outside, and the values to return."""

    @property
    def operations(self) -> Sequence[Operation]:
        """Returns the operations."""

    @property
    def inputs(self) -> Sequence[Value]:
        """Returns the values that become arguments."""

    @property
    def results(self) -> Sequence[Value]:
        """Returns the values that main returns."""


def extract_operations(module: StableHloModule, part: Operations) -> StableHloModule:
    """Returns a module whose main has the inputs as arguments and copies of the operations; layouts stay.

    Functions that main calls stay, others are removed. Raises DiagnosticError where MLIR rejects the result.
    """
    root = module.root.clone().operation
    main = _main(module, part)
    for function in [each.operation for each in root.regions[0].blocks[0].operations if _is_main(each.operation)]:
        function.erase()
    root.regions[0].blocks[0].append(main)
    text = str(root.get_asm(enable_debug_info=module.has_locations))
    made = parse_module(text, "<extracted>")
    shapes = [[value.shape for value in values] for values in (part.inputs, part.results)]
    if any(array.layout is not None for listed in shapes for shape in listed for array in shape.arrays()):
        made.set_entry_layout(*shapes)
    remove_uncalled(made)
    return made


def _is_main(operation: ir.Operation) -> bool:
    return operation.name == FUNCTION and ir.StringAttr(operation.attributes["sym_name"]).value == ENTRY_NAME


def _main(module: StableHloModule, part: Operations) -> ir.Operation:
    """Returns a function with copies of the operations."""
    inputs, results = ([as_value(value).mlir for value in values] for values in (part.inputs, part.results))
    types = [value.type for value in inputs], [value.type for value in results]
    with module.context, ir.Location.unknown():
        attributes = {
            "sym_name": ir.StringAttr.get(ENTRY_NAME),
            "sym_visibility": ir.StringAttr.get("public"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(*types)),
        }
        main = ir.Operation.create(FUNCTION, attributes=attributes, regions=1)
        block = main.regions[0].blocks.append(*types[0], arg_locs=[ir.Location.unknown()] * len(inputs))
        values: dict[Any, Any] = dict(zip(inputs, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            copy_operations([as_operation(each).mlir for each in part.operations], values)
            ir.Operation.create("func.return", operands=[values[value] for value in results])
    return main
