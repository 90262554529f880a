"""Signatures of instructions: all that the checks of one instruction read, so that equal ones are verified once."""

from __future__ import annotations

from functools import cache
from re import Match, Pattern

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.text.grammar import PLAIN_METADATA, attribute_pattern
from dialect_utils.hlo.verification.attributes import METADATA, NAMES
from dialect_utils.layout import Shape

# The opcode and the attributes, then the contents and the shapes.
Signature = tuple[object, ...]


class Signatures:
    """The signatures of one module's instructions."""

    def __init__(self) -> None:
        # Attribute texts without their varying values.
        self._normal: dict[str, str] = {}

    def of(self, instruction: Instruction) -> Signature:
        """Returns all that the checks of one instruction read: opcode, attributes, contents and shapes.

        The shapes are those of the instruction, its operands and the interfaces of the computations it calls. Shapes
        are compared by identity, because the reader makes one object of equal texts.
        """
        text = instruction.attribute_text
        signature = (
            instruction.opcode,
            text and self._without_varying(text),
            instruction.contents,
            id(instruction.shape),
            *[id(operand.shape) for operand in instruction.operands],
        )
        called = instruction.called
        return (*signature, *map(_interface, called)) if called else signature

    def _without_varying(self, text: str) -> str | tuple[str, str]:
        """Returns an attribute text with the names only of attributes whose values affect no check.

        Most metadata is unique; the attributes before and after metadata are not.
        """
        found = PLAIN_METADATA.search(text)
        if found is None:
            return self._normal_part(text)
        before, after = text[: found.start()], text[found.end() :]
        return before and self._normal_part(before), after and self._normal_part(after)

    def _normal_part(self, text: str) -> str:
        known = self._normal.get(text)
        if known is None:
            known = self._normal[text] = _varying().sub(_name_alone, text)
        return known


def shapes_of(instruction: Instruction) -> tuple[Shape, ...]:
    """Returns the shapes whose identities are in the signature of an instruction."""
    called = [value for each in instruction.called for value in (each.root, *each.parameters)]
    return tuple([value.shape for value in (instruction, *instruction.operands, *called)])


def _name_alone(attribute: Match[str]) -> str:
    # A function is faster than a template with a group, which Python parses again for each text.
    return f" {attribute[1]}"


def _interface(called: Computation) -> tuple[int, ...]:
    return (id(called.root.shape), *[id(parameter.shape) for parameter in called.parameters])


@cache
def _varying() -> Pattern[str]:
    """Returns the pattern of attributes whose values affect no check as long as they are well formed."""
    metadata = rf"metadata(?=={METADATA})"
    return attribute_pattern(
        rf"{metadata}|backend_config(?==[{{\"])|calls|to_apply|condition|body|control-predecessors(?=={NAMES})"
    )
