"""What the readers of one text share: its source, what was read of it, and errors in words of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.control import CONTROL
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.text.attributes import parse_ints
from dialect_utils.hlo.text.provenance import Spelling
from dialect_utils.hlo.text.tokens import Token, without_comments
from dialect_utils.layout import Shape, parse_shape
from dialect_utils.ops import HLO_NAMES, infer_shape
from dialect_utils.ops.inference import Called, ShapeError
from dialect_utils.text import DiagnosticError, Source, Span, error_at, nearest

# XLA prints as deep as computations call each other; Python's own stack ends at a few hundred.
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Attributes:
    """An instruction that is being read: its opcode and its attributes' texts by name."""

    opcode: str
    texts: Mapping[str, str]

    def attribute(self, name: str) -> str | None:
        """Returns the text of an attribute, or None where it is absent."""
        return self.texts.get(name)

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute as integers, or None where it is absent or not a list of integers."""
        text = self.texts.get(name)
        return None if text is None else parse_ints(text)


def interface_of(computation: Computation) -> Called:
    """Returns the name, the parameters' shapes and the result's shape of a computation."""
    return Called(computation.name, [each.shape for each in computation.parameters], computation.root.shape)


@dataclass(frozen=True, slots=True)
class InlineComputation:
    """A computation that is written as an attribute's value of `owner`."""

    computation: Computation
    owner: Instruction
    attribute: str


class ReadingContext:
    """What all computations of one text share while it is read."""

    def __init__(self, source: Source) -> None:
        text = source.text
        self.source = source
        # One shape for all that are written alike, and one text for all opcodes.
        self.spelling = Spelling()
        self.opcodes: dict[str, str] = {}
        # Instructions whose attributes name computations or instructions.
        self.calling: list[Instruction] = []
        # Computations written in place, in the order in which they end.
        self.inline: list[InlineComputation] = []
        self.has_control = CONTROL in text
        # The computations that were read, by name.
        self.computations: dict[str, Computation] = {}
        # True once a computation ended in an indented `}`.
        self.indents_footers = False

    def known_shape(self, text: str) -> Shape | None:
        """Returns the shape of a text; None where the scanner has to say what is wrong."""
        shapes = self.spelling.shapes
        if text not in shapes:
            try:
                shapes[text] = parse_shape(without_comments(text))
            except DiagnosticError:
                return None
        return shapes[text]

    def inferred_shape(
        self, what: Attributes, operands: Sequence[Instruction], called: Sequence[Called], span: Span, name: str
    ) -> Shape:
        """Returns a shape that is not written, as XLA infers it; raises DiagnosticError at `span` where it has none."""
        try:
            shape = infer_shape(what, [operand.shape for operand in operands], called)
        except ShapeError as error:
            raise error_at(self.source, span, f"{name} has no shape: {error}") from None
        if shape is None:
            raise error_at(self.source, span, f"the shape of {name} is not written", "write it before the opcode")
        return shape

    def unknown_opcode(self, opcode: Token) -> DiagnosticError:
        """Returns the error of an opcode that is none."""
        close = nearest(opcode.text, HLO_NAMES)
        hint = f"did you mean {close}?" if close else None
        return error_at(self.source, opcode.span, f"unknown opcode {opcode.text}", hint)
