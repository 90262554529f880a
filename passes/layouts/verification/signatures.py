"""What the problems of one instruction depend on: two that are alike in it have the same problems.

Large modules repeat themselves: their layers differ in names, metadata and the compiler's estimates.
"""

from __future__ import annotations

from functools import cache
from re import Pattern

from dialect_utils.hlo import Computation, Instruction
from dialect_utils.hlo.text.grammar import attribute_pattern

Signature = tuple[object, ...]


def signature_of(instruction: Instruction) -> Signature:
    """Returns all that the checks of one instruction read: opcode, contents, attributes and shapes.

    The shapes are those of the instruction, its operands and the interfaces of the computations it calls. They
    count as the same where they are the same object: equal texts were read as one shape. So a signature is good
    for one module, as long as nothing changes it.
    """
    text = instruction.attribute_text
    signature = (
        instruction.opcode,
        instruction.contents,
        text and _varying().sub(r" \1", text),
        id(instruction.shape),
        *[id(operand.shape) for operand in instruction.operands],
    )
    called = instruction.called
    return (*signature, *map(_interface, called)) if called else signature


def _interface(called: Computation) -> tuple[int, ...]:
    return (id(called.root.shape), *[id(parameter.shape) for parameter in called.parameters])


@cache
def _varying() -> Pattern[str]:
    """Returns the pattern of attributes whose names are checked, but not what they say."""
    return attribute_pattern("metadata|backend_config|calls|to_apply|condition|body|control-predecessors")
