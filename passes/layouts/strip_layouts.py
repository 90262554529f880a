"""Drops layouts once nothing depends on them."""

from __future__ import annotations

from typing import Literal

from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape, Layout, Shape
from dialect_utils.ops.control import CALLS_OF_BYTES
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.base import Report, module_pass

Keep = Literal["nothing", "order", "memory-space"]


@module_pass
def strip_layouts(module: Module, report: Report, *, keep: Keep = "nothing") -> None:
    """Drops tiles, memory spaces and layouts once nothing depends on them.

    1. Every value, the entry's parameters and results included, loses its layout. `keep=order`
       keeps minor_to_major, `keep=memory-space` also the memory space.
    2. A bitcast, or a custom call that prescribes the layouts of its operands, is an error: its result depends on the
       layouts.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4,6]{0,1:T(4,128)S(1)} parameter(0)
          ROOT n = f32[4,6]{0,1:T(4,128)} negate(p)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[4,6] parameter(0)
          ROOT n = f32[4,6] negate(p)
        }
    """
    needed = [error for operation in module.operations() if (error := _need(operation)) is not None]
    if needed:
        raise DiagnosticError(needed)

    def stripped_array(array: ArrayShape) -> ArrayShape:
        if array.layout is None or keep == "nothing":
            return array.without_layout
        space = array.layout.memory_space if keep == "memory-space" else 0
        return array.with_layout(Layout(array.layout.minor_to_major, memory_space=space))

    def stripped(shape: Shape) -> Shape:
        return shape.map_arrays(stripped_array)

    parameters, results = module.entry_layout
    for value in module.values():
        shape = stripped(value.shape)
        if shape != value.shape:
            value.set_shape(shape)
    wanted = tuple(map(stripped, parameters)), tuple(map(stripped, results))
    if module.entry_layout != wanted:
        module.set_entry_layout(*wanted)


def _need(operation: Operation) -> Diagnostic | None:
    """Returns why an operation needs its layouts, or None."""
    if operation.opcode == "bitcast":
        name = operation.results[0].name
        return Diagnostic(
            f"bitcast {name} depends on its layouts", operation.location, hint="run expand-bitcasts first"
        )
    if operation.opcode == "custom-call" and _prescribes_layouts(operation):
        return Diagnostic(
            f"custom call {operation.callee} prescribes the layouts of its operands",
            operation.location,
            hint="run expand-custom-calls first",
        )
    return None


def _prescribes_layouts(operation: Operation) -> bool:
    if operation.callee in CALLS_OF_BYTES or operation.attribute("operand_layout_constraints") is not None:
        return True
    return operation.ints("operand_layouts") is not None
