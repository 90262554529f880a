"""Calls that say where a value is, or where a piece of the program begins, and compute nothing.

Sources: xla/service/call_marker.h, xla/service/memory_annotations.h, xla/hlo/ir/hlo_instruction.h (Pin, Unpin and
CreateBuffer), xla/service/sharding_propagation.cc.
"""

from __future__ import annotations

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.layout import BufferShape, Shape, TupleShape
from passes.dumps.custom_calls.call_config import check_operands, refused


def expand_identity(ops: Ops, call: Instruction) -> Instruction:
    """Returns the operand; raises DiagnosticError where the result is another array."""
    check_operands(call, 1)
    operand = call.operands[0]
    if operand.shape.without_layout != call.shape.without_layout:
        raise refused(call, f"its result is {call.shape}, which is not its operand's shape")
    return operand


def expand_resharding(ops: Ops, call: Instruction) -> Instruction:
    """Returns the operand of a call between the whole array and one device's part, where both are the same."""
    check_operands(call, 1)
    if call.operands[0].shape.without_layout != call.shape.without_layout:
        raise refused(call, "it splits an array that no partitioner has split yet: compile the module first")
    return call.operands[0]


def expand_marker(ops: Ops, call: Instruction) -> Instruction:
    """Returns the operands: a tuple of them before a marked piece, one value after it."""
    if isinstance(call.shape, TupleShape):
        found = ops.tuple(call.operands)
    else:
        check_operands(call, 1)
        found = call.operands[0]
    if found.shape.without_layout != call.shape.without_layout:
        raise refused(call, f"its result is {call.shape}, which is not that of its operands")
    return found


def hold_arrays_in_place_of_buffers(module: HloModule) -> None:
    """Gives every value that is a buffer, `b(f32[4])`, the shape of the array that the buffer holds, in place."""
    for item in instructions(module):
        shape = _without_buffers(item.shape)
        if shape != item.shape:
            item.set_shape(shape)


def _without_buffers(shape: Shape) -> Shape:
    if isinstance(shape, BufferShape):
        return shape.array
    if isinstance(shape, TupleShape):
        elements = tuple(_without_buffers(element) for element in shape.elements)
        return shape if elements == shape.elements else TupleShape(elements)
    return shape
