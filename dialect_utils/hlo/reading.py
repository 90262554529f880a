"""Reads operands, and keeps the data that the readers of one text share.

Operands are names, elements of tuples (`%t#1`), and whole instructions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.graph import CONTROL, NameTable
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.text.attributes import parse_ints
from dialect_utils.hlo.text.grammar import OPERAND, OperandText, read_shape_at, split_operands
from dialect_utils.hlo.text.provenance import Spelling
from dialect_utils.hlo.text.tokens import RESERVED, Token
from dialect_utils.ir.assignments import assign
from dialect_utils.layout import Shape, TupleShape, parse_shape
from dialect_utils.ops import HLO_NAMES, is_opcode, opcode_of
from dialect_utils.ops.control import subshape
from dialect_utils.ops.inference import Called, ShapeError, infer_shape, is_compatible
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at, meant, without_comments

# XLA nests inline computations as deep as calls; Python's stack ends at a few hundred levels.
MAX_DEPTH = 64
# Compilers write the shapes of tuples; only texts by hand omit them.
MOST_INFERRED_LEAVES = 1 << 18
# int() rejects thousands of digits, and no module has a billion parameters.
PARAMETER_NUMBER = re.compile(r"\s*\d{1,9}\s*", re.ASCII)
WITHOUT_OPERANDS = frozenset(("constant", "parameter"))

# An instruction in the operands of another instruction, and its span if that is known.
_Hidden = tuple[Instruction, Span | None]


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
    """The data that all computations of one text share while it is read."""

    def __init__(self, source: Source) -> None:
        text = source.text
        self.source = source
        # One shape object per text of a shape, and one string object per opcode.
        self.spelling = Spelling()
        self.opcodes: dict[str, str] = {}
        # Instructions whose attributes name computations or instructions.
        self.calling: list[Instruction] = []
        # Inline computations, in the order in which they end.
        self.inline: list[InlineComputation] = []
        self.has_control = CONTROL in text
        # The computations that were read, by name.
        self.computations: dict[str, Computation] = {}
        # The leaves of all tuple shapes that are not written: `t1 = tuple(t0, t0)` doubles those of t0.
        self.inferred_leaves = 0
        # True once a computation ended in an indented `}`.
        self.indents_footers = False

    def known_shape(self, text: str) -> Shape | None:
        """Returns the shape of a text, or None for a wrong text, whose error the scanner reports."""
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
        """Infers a shape that is not written, as XLA does; raises DiagnosticError at `span` where that fails."""
        shapes = [operand.shape for operand in operands]
        if what.opcode == "tuple":
            self._count_leaves(shapes, span, name)
        try:
            shape = infer_shape(opcode_of(what.opcode), what, shapes, called)
        except ShapeError as error:
            raise error_at(self.source, span, f"{name} has no shape: {error}") from None
        if shape is None:
            raise error_at(self.source, span, f"the shape of {name} is not written", "write it before the opcode")
        if isinstance(shape, TupleShape) and what.opcode != "tuple":
            self._count_leaves([shape], span, name)
        return shape

    def _count_leaves(self, shapes: Sequence[Shape], span: Span, name: str) -> None:
        """Raises DiagnosticError where the tuples that are not written have too many leaves together."""
        leaves = chain.from_iterable(shape.leaves() for shape in shapes)
        self.inferred_leaves += sum(1 for _ in islice(leaves, MOST_INFERRED_LEAVES + 1))
        if self.inferred_leaves > MOST_INFERRED_LEAVES:
            message = f"the shapes of tuples that are not written, up to {name}, have more than {MOST_INFERRED_LEAVES}"
            raise error_at(self.source, span, f"{message} leaves", "write the shape before the opcode")

    def check_name(self, name: Token) -> None:
        """Raises DiagnosticError for a name without `%` that XLA's lexer reads as another word."""
        if name.kind == "word" and name.text in RESERVED:
            message = f"{name.text} is a word of HLO, not a name"
            raise error_at(self.source, name.span, message, f"write {name.text}_")

    def unknown_opcode(self, opcode: Token) -> DiagnosticError:
        """Returns the error for an unknown opcode."""
        hint = meant(opcode.text, HLO_NAMES)
        return error_at(self.source, opcode.span, f"unknown opcode {opcode.text}", hint)


class OperandReader:
    """The reader of the operands of one computation's instructions.

    Instructions that are written in operands are appended to `items` before their user.
    """

    def __init__(
        self, context: ReadingContext, computation: Computation, items: list[Instruction], *, is_fragment: bool
    ) -> None:
        self.context = context
        self.source = context.source
        self.computation = computation
        self.visible = computation.by_name
        self.written = computation.written
        self.items = items
        self.is_fragment = is_fragment
        # The elements of tuples that operands name.
        self._elements: dict[tuple[Instruction, int], Instruction] = {}

    def read(self, opcode: str, span: Span) -> tuple[Instruction, ...]:
        """Reads the operands in a span of the text; raises DiagnosticError."""
        hidden: list[_Hidden] = []
        operands, is_typed = self._operands(opcode, span, hidden)
        self._hide(hidden)
        if is_typed:
            self.written.typed.add(len(self.items))
        return operands

    def try_common(self, inner: str) -> tuple[Instruction, ...] | None:
        """Returns operands such as `f32[3] %a` and `%t#1`, or None for a text that needs the scanner."""
        matches = []
        position = 0
        while position < len(inner):
            match = OPERAND.match(inner, position)
            if match is None or match[2] not in self.visible or (match[1] and not self.context.known_shape(match[1])):
                return None
            matches.append(match)
            position = match.end()
        paths = [[int(part) for part in match[3].split("#")[1:]] for match in matches]
        values = [self.visible[match[2]] for match in matches]
        if any(subshape(value.shape, path) is None for value, path in zip(values, paths, strict=True)):
            return None
        hidden: list[_Hidden] = []
        operands = tuple([self._element(v, path, None, hidden) for v, path in zip(values, paths, strict=True)])
        for match, operand in zip(matches, operands, strict=True):
            shape = self.context.known_shape(match[1]) if match[1] else None
            if shape is not None and shape is not operand.shape and not is_compatible(shape, operand.shape):
                return None
        self._hide(hidden)
        if any(match[1] for match in matches):
            self.written.typed.add(len(self.items))
        return operands

    def name_hidden(self) -> None:
        """Gives a fresh name to each instruction that was written without one."""
        if not self.written.inline:
            return
        names = NameTable(self.visible)
        for number in self.written.inline:
            item = self.items[number]
            assign(item, "name", names.fresh(item.name))
            self.visible[item.name] = item

    def _hide(self, hidden: list[_Hidden]) -> None:
        """Appends instructions that are written in the operands of the next one."""
        owner = len(self.items) + len(hidden)
        for item, span in hidden:
            for name in ("number", "position"):
                assign(item, name, len(self.items))
            self.written.add_inline(item.number, owner, span)
            self.items.append(item)

    def _element(self, item: Instruction, path: Sequence[int], span: Span | None, hidden: list[_Hidden]) -> Instruction:
        """Returns an element of a tuple: one get-tuple-element for all users."""
        for index in path:
            known = self._elements.get((item, index))
            if known is None:
                assert isinstance(item.shape, TupleShape)  # checked by the caller
                shape = item.shape.elements[index]
                tail = f", index={index}"
                known = Instruction(
                    self.computation, f"{item.name}_{index}", shape, "get-tuple-element", (item,), "", tail
                )
                self._elements[item, index] = known
                hidden.append((known, span))
            item = known
        return item

    def _operands(
        self, opcode: str, span: Span, hidden: list[_Hidden], depth: int = 0
    ) -> tuple[tuple[Instruction, ...], bool]:
        """Returns the operands, and whether shapes are written before their names."""
        if opcode == "parameter" and not PARAMETER_NUMBER.fullmatch(self.source.text[span.start : span.end]):
            raise error_at(self.source, span, "expected a parameter number", "write parameter(0)")
        if opcode in WITHOUT_OPERANDS:
            return (), False
        found = split_operands(self.source, span)
        operands = tuple([self._operand(operand, hidden, depth) for operand in found])
        return operands, any(operand.shape is not None and operand.inner is None for operand in found)

    def _operand(self, text: OperandText, hidden: list[_Hidden], depth: int) -> Instruction:
        shape = read_shape_at(self.source, text.shape) if text.shape else None
        if text.inner is not None:
            return self._in_place(text, text.inner, shape, hidden, depth)
        name = text.name
        item = self.visible.get(name.text)
        if item is None:
            if self.is_fragment and shape is not None and not text.path:
                return self._outside(name, shape)
            otherwise = "write its shape before it" if self.is_fragment else None
            hint = meant(name.text, self.visible, otherwise, sign="%")
            raise error_at(self.source, name.span, f"unknown operand %{name.text}", hint)
        for position, token in enumerate(text.path):
            path = [
                int(each.text) for each in text.path[: position + 1] if each.text.isdecimal() and len(each.text) < 10
            ]
            if len(path) <= position or subshape(item.shape, path) is None:
                message = f"%{name.text} has no element #{'#'.join(each.text for each in text.path[: position + 1])}"
                note = Diagnostic(f"its shape is {item.shape}", item.location, "note")
                raise DiagnosticError(Diagnostic(message, Location(self.source, token.span), notes=(note,)))
        found = self._element(item, [int(each.text) for each in text.path], text.span, hidden)
        if text.shape is not None and shape is not None and not is_compatible(shape, found.shape):
            message = f"the declared operand shape {shape} is not compatible with %{found.name}, which is {found.shape}"
            raise error_at(self.source, text.shape, message)
        return found

    def _in_place(
        self, text: OperandText, inner: Span, shape: Shape | None, hidden: list[_Hidden], depth: int
    ) -> Instruction:
        """Makes an instruction that is written as an operand, without a name and attributes."""
        if depth == MAX_DEPTH:
            raise error_at(self.source, text.span, f"operands are nested deeper than {MAX_DEPTH}")
        opcode = text.name
        if not is_opcode(opcode.text):
            raise self.context.unknown_opcode(opcode)
        operands, _ = self._operands(opcode.text, inner, hidden, depth + 1)
        contents = "" if operands else self.source.text[inner.start : inner.end]
        if shape is None:
            what = Attributes(opcode.text, {})
            shape = self.context.inferred_shape(what, operands, (), text.span, f"this {opcode.text}")
        item = Instruction(self.computation, f"{opcode.text}.anon", shape, opcode.text, operands, contents, "")
        hidden.append((item, text.span))
        return item

    def _outside(self, name: Token, shape: Shape) -> Instruction:
        """Makes a parameter for a value that bare instruction lines use and do not define."""
        number = str(len(self.computation.outside))
        location = Location(self.source, name.span)
        item = Instruction(self.computation, name.text, shape, "parameter", (), number, "", origin=location)
        self.visible[name.text] = item
        self.computation.outside.append(item)
        return item
