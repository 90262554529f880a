"""Makes a module of some operations of a module: the operations become the body of its main."""

from __future__ import annotations

from typing import Any

from dialect_utils.ir import Part
from dialect_utils.ir.control_flow import remove_uncalled
from dialect_utils.stablehlo.annotations import text_of
from dialect_utils.stablehlo.bindings import ir
from dialect_utils.stablehlo.function import FUNCTION, as_value
from dialect_utils.stablehlo.interface import ENTRY_NAME
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.stablehlo.operation import as_operation
from dialect_utils.stablehlo.origins import copy_operations
from dialect_utils.stablehlo.parse import parse_module


def extract_operations(module: StableHloModule, part: Part) -> StableHloModule:
    """Returns a module whose main has the inputs as arguments and copies of the operations; layouts stay.

    Functions that main calls stay, others are removed. Raises DiagnosticError where MLIR rejects the result.
    """
    root = module.root.clone().operation
    main = _main(module, part)
    for each in [view.operation for view in root.regions[0].blocks[0].operations]:
        if each.name == FUNCTION and text_of(each, "sym_name") == ENTRY_NAME:
            each.erase()
    root.regions[0].blocks[0].append(main)
    text = str(root.get_asm(enable_debug_info=module.has_locations))
    made = parse_module(text, "<extracted>")
    shapes = [[value.shape for value in values] for values in (part.inputs, part.results)]
    if any(array.layout is not None for listed in shapes for shape in listed for array in shape.arrays()):
        made.set_entry_layout(*shapes)
    remove_uncalled(made)
    return made


def _main(module: StableHloModule, part: Part) -> ir.Operation:
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
