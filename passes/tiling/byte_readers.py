"""Operations that read the bytes of tiled arrays: other ops cannot replace the tiles of their operands."""

from __future__ import annotations

from dialect_utils.ir import Module, Operation
from dialect_utils.layout import Shape, TupleShape
from dialect_utils.text import Diagnostic

# Custom calls whose result is the bytes of their operands.
CALLS_OF_BYTES = ("ConcatBitcast",)
# Custom calls that return their operand in any layout.
_IDENTITY_CALLS = ("AssumeGatherIndicesInBound", "AssumeScatterIndicesInBound", "GatherScatterIndicesBitpacked")


def find_byte_readers(module: Module) -> list[Diagnostic]:
    """Returns an error for every operation whose result depends on the tiles of its operands."""
    return [error for operation in module.operations() if (error := _error(operation)) is not None]


def _error(operation: Operation) -> Diagnostic | None:
    if operation.opcode == "bitcast":
        return bitcast_error(operation)
    callee = operation.callee
    if callee is None or callee in _IDENTITY_CALLS:
        return None
    if callee in CALLS_OF_BYTES and any(_is_tiled(value.shape) for value in (*operation.operands, *operation.results)):
        message = f"custom call {callee} joins the bytes of its operands, which are tiled"
    # A colon follows minor_to_major if a layout has tiles or another property.
    elif ":" in (operation.attribute("operand_layout_constraints") or ""):
        message = f"custom call {callee} prescribes tiled layouts for its operands"
    else:
        return None
    return Diagnostic(message, operation.location, hint="run expand-custom-calls first")


def bitcast_error(operation: Operation) -> Diagnostic | None:
    """Returns an error for a bitcast of a tuple that reads an element under another layout, else None."""
    source, result = operation.operands[0].shape, operation.results[0].shape
    is_tuple = isinstance(source, TupleShape) or isinstance(result, TupleShape)
    if not is_tuple or source.in_default_memory == result.in_default_memory:
        return None
    message = f"bitcast {operation.results[0].name} reads elements of a tuple under other layouts"
    return Diagnostic(message, operation.location, hint="bitcast the elements, not the tuple")


def _is_tiled(shape: Shape) -> bool:
    return any(leaf.is_tiled for leaf in shape.arrays())
