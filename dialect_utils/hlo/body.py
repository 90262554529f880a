"""Reads the instructions of one computation, linking operands as it goes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import length_hint

from dialect_utils.control_flow import in_role_order
from dialect_utils.hlo.calls import CALLING_OPCODES, called_names, is_calling
from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.control import CONTROL
from dialect_utils.hlo.grammar import (
    OPERAND,
    InstructionText,
    OperandText,
    bodies_in,
    is_closed,
    line_pattern,
    read_shape_at,
    scan_instruction,
    split_attributes,
    split_operands,
)
from dialect_utils.hlo.inference import Attributes, ShapeError, infer_shape
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.names import NameTable
from dialect_utils.hlo.provenance import BodyText, Frame, Place, Spelling, line_breaks
from dialect_utils.hlo.tokens import Scanner, Token, without_comments
from dialect_utils.layout import Shape, TokenShape, TupleShape, parse_shape
from dialect_utils.opcodes import HLO_NAMES, is_opcode
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at, nearest

_INDEX_MARK = re.compile(r"/\*index=\d+\*/", re.ASCII)
# int() refuses thousands of digits, and no module has a billion parameters.
_PARAMETER_NUMBER = re.compile(r"\s*\d{1,9}\s*", re.ASCII)
_WITHOUT_OPERANDS = frozenset(("constant", "parameter"))
_FIRST_SIGIL = re.compile(r"\s*+(?:ROOT )?(%?)", re.ASCII)
_FOOTER = re.compile(r"\n[ \t]*\}")

# XLA prints as deep as computations call each other; Python's own stack ends at a few hundred.
_MAX_DEPTH = 64

# An instruction in the operands of another one, and its place if that is known.
_Hidden = tuple[Instruction, Span | None]
_Row = tuple[str, str, str, str, str, str, str]


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


def element_at(shape: Shape, path: Sequence[int]) -> Shape | None:
    """Returns the shape of an element of a tuple, of elements of elements; None where there is none."""
    found: Shape | None = shape
    for index in path:
        is_there = isinstance(found, TupleShape) and index < len(found.elements)
        found = found.elements[index] if is_there else None  # type: ignore[union-attr]  # it is a tuple then
    return found


def _parameters_in_order(computation: Computation, items: list[Instruction]) -> list[Instruction]:
    """Returns the parameters by number; raises DiagnosticError where the numbers have gaps or repeat."""
    found = [item for item in items if item.opcode == "parameter"]
    parameters: list[Instruction | None] = [None] * len(found)
    for item in found:
        number = int(item.contents)
        if number >= len(found):
            place = item.locate("operands") or computation.location
            message = f"parameter number {number}, but %{computation.name} has {len(found)} parameters"
            raise DiagnosticError(Diagnostic(message, place, hint="number them from 0 without gaps"))
        if parameters[number] is not None:
            message = f"parameter number {number} occurs twice in %{computation.name}"
            raise DiagnosticError(Diagnostic(message, item.locate("operands")))
        parameters[number] = item
    return [item for item in parameters if item is not None]


class BodyReader:
    """The reader of one computation's instructions."""

    def __init__(
        self,
        context: ReadingContext,
        computation: Computation,
        *,
        new: BodyText | None = None,
        is_fragment: bool = False,
        depth: int = 0,
    ) -> None:
        self.context = context
        self.source = context.source
        self.computation = computation
        # A new instruction of a computation that was read before has a text of its own.
        self.is_new = new is not None
        self.written = computation.written if new is None else new
        self.visible = computation.by_name
        self.is_fragment = is_fragment
        self.depth = depth
        self.items: list[Instruction] = []
        # The elements of tuples that operands name.
        self.elements: dict[tuple[Instruction, int], Instruction] = {}
        self.root: Instruction | None = None
        # True where the next thing to read is no instruction.
        self.is_done = False
        self.is_irregular = False

    def body(self, position: int) -> int:
        """Reads instructions from `position` on and returns where the last one ends."""
        sigil = _FIRST_SIGIL.match(self.source.text, position)
        assert sigil is not None  # the pattern matches everywhere
        while not self.is_done:
            position = self._lines(position, sigil[1])
        return position

    def _lines(self, position: int, sigil: str) -> int:
        """Reads the lines from `position` to where the computation seems to end; returns where it got to."""
        text = self.source.text
        if self.is_irregular or text[position : position + 1] not in ("\n", "\r"):
            return self._scan(position)
        end = self._footer(position)
        rows = line_pattern(sigil).findall(text, position, end + 2)
        if not rows or len(rows) != text.count("\n", position, end):
            # There is nothing between, or some lines have breaks of their own kind.
            self.is_irregular = bool(rows)
            return self._scan(position)
        breaks: list[int] = []
        lines = iter(rows)
        while True:
            first = len(self.items)
            if self._common_lines(lines, sigil):
                self.written.add_lines(first, position, end, sigil)
                self.is_done = text.startswith(("\n}", "\r\n}"), end)
                return end
            breaks = breaks or line_breaks(text, position, end + 2)
            row = len(rows) - length_hint(lines) - 1
            self.written.add_lines(first, position, breaks[row], sigil)
            position = self._scan_to_line(breaks[row], breaks, end)
            if self.is_done or position >= end:
                return position
            # The scanner has read these.
            deque(islice(lines, bisect_left(breaks, position) - row - 1), maxlen=0)

    def _scan_to_line(self, position: int, breaks: list[int], end: int) -> int:
        """Reads instructions with the scanner until one ends where a line does; returns that end."""
        while True:
            position = self._scan(position)
            following = bisect_left(breaks, position)
            if self.is_done or position >= end or breaks[following] == position:
                return position

    def _footer(self, position: int) -> int:
        """Returns the line break before what seems to be the `}` of this computation."""
        text = self.source.text
        if self.context.indents_footers:
            match = _FOOTER.search(text, position)
            found = match.start() if match else -1
        else:
            found = text.find("\n}", position)
        if found < 0:
            # Bare instruction lines: the last may have no break after it.
            found = max(text.rfind("\n"), position)
        return found - text.startswith("\r", found - 1)

    def _common_lines(self, lines: Iterator[_Row], sigil: str) -> bool:  # noqa: C901  # calls cost a third of the time
        """Reads lines up to the first that needs the scanner; returns whether there was none."""
        computation, visible, items, context = self.computation, self.visible, self.items, self.context
        shapes, opcodes, calling, has_control = (
            context.spelling.shapes,
            context.opcodes,
            context.calling,
            context.has_control,
        )
        separator, skip = f", {sigil}", len(sigil)
        number = len(items)
        for root, name, shape_text, opcode, inner, tail, rest in lines:
            if not name or name in visible or (root and self.root is not None) or (rest and not is_closed(rest)):
                return False
            operands: tuple[Instruction, ...] = ()
            if not inner or opcode in _WITHOUT_OPERANDS:
                contents = inner
                if opcode == "parameter" and not _PARAMETER_NUMBER.fullmatch(inner):
                    return False
            else:
                contents = ""
                if "/" in inner:
                    inner = _INDEX_MARK.sub("", inner)
                try:
                    operands = tuple([visible[operand] for operand in inner[skip:].split(separator)])
                    if sigil and inner[0] != sigil:
                        return False
                except KeyError:
                    found = self._other_operands(inner)
                    if found is None:
                        return False
                    operands, number = found, len(items)
            shape = shapes.get(shape_text) or self._known_shape(shape_text)
            if shape is None:
                return False
            opcode = opcodes.setdefault(opcode, opcode)
            item = Instruction(computation, name, shape, opcode, operands, contents, tail, number)
            visible[name] = item
            items.append(item)
            number += 1
            if root:
                self.root = item
            if "%" in tail or opcode in CALLING_OPCODES or (has_control and CONTROL in tail):
                calling.append(item)
        return True

    def _other_operands(self, inner: str) -> tuple[Instruction, ...] | None:
        """Returns operands with shapes or elements of tuples, or None where the scanner has to say what is wrong."""
        matches = []
        position = 0
        while position < len(inner):
            match = OPERAND.match(inner, position)
            if match is None or match[2] not in self.visible or (match[1] and not self._known_shape(match[1])):
                return None
            matches.append(match)
            position = match.end()
        paths = [[int(part) for part in match[3].split("#")[1:]] for match in matches]
        values = [self.visible[match[2]] for match in matches]
        if any(element_at(value.shape, path) is None for value, path in zip(values, paths, strict=True)):
            return None
        hidden: list[_Hidden] = []
        operands = tuple([self._element(v, path, None, hidden) for v, path in zip(values, paths, strict=True)])
        self._hide(hidden)
        if any(match[1] for match in matches):
            self.written.typed.add(len(self.items))
        return operands

    def _element(self, item: Instruction, path: Sequence[int], span: Span | None, hidden: list[_Hidden]) -> Instruction:
        """Returns an element of a tuple: one get-tuple-element for all that use it."""
        for index in path:
            known = self.elements.get((item, index))
            if known is None:
                assert isinstance(item.shape, TupleShape)  # whoever calls this has looked
                shape = item.shape.elements[index]
                tail = f", index={index}"
                known = Instruction(
                    self.computation, f"{item.name}_{index}", shape, "get-tuple-element", (item,), "", tail
                )
                self.elements[item, index] = known
                hidden.append((known, span))
            item = known
        return item

    def _hide(self, hidden: list[_Hidden]) -> None:
        """Appends instructions that are written in the operands of the one that comes next."""
        owner = len(self.items) + len(hidden)
        for item, span in hidden:
            item.number = item.position = len(self.items)
            self.written.add_inline(item.number, owner, span)
            self.items.append(item)

    def _known_shape(self, text: str) -> Shape | None:
        """Returns the shape of a text; None where the scanner has to say what is wrong."""
        shapes = self.context.spelling.shapes
        if text not in shapes:
            try:
                shapes[text] = parse_shape(without_comments(text))
            except DiagnosticError:
                return None
        return shapes[text]

    def _scan(self, position: int) -> int:
        """Reads the next instruction with the scanner and returns its end; notes where there is none."""
        scanner = Scanner(self.source, position)
        begin = position
        if scanner.token.kind == "end" or scanner.at("}"):
            self.is_done = True
            self.context.indents_footers |= not self.source.text.startswith(("\n}", "}"), position)
            return position
        if self.items and not self._starts_instruction(scanner):
            # What looked like a whole line goes on after it.
            place = self._undo()
            begin = place.begin
            scanner.seek(place.head)
            found = scan_instruction(scanner)
            if found.end == place.end:
                scanner.fail(f"expected an instruction or '}}', found {scanner.found()}")
        else:
            found = scan_instruction(scanner)
        self.add(found, begin)
        return found.end

    @staticmethod
    def _starts_instruction(scanner: Scanner) -> bool:
        token = scanner.token
        if token.kind == "word" and token.text != "ROOT":
            return scanner.peek().text == "="
        return token.is_name

    def _undo(self) -> Place:
        last = self.items.pop()
        del self.visible[last.name]
        if self.root is last:
            self.root = None
        calling = self.context.calling
        if calling and calling[-1] is last:
            calling.pop()
        return self.written.forget(last.number)

    def add(self, found: InstructionText, begin: int) -> Instruction:
        """Appends an instruction that the scanner read."""
        head = self.source.text.rindex("ROOT", 0, found.name.start) if found.is_root else found.name.start
        item = self.instruction(found)
        self.written.add(item.number, Place(begin, head, found.end))
        if item.name in self.visible:
            message = f"%{item.name} is defined twice in %{self.computation.name}"
            first = self.visible[item.name].location
            notes = (Diagnostic("the first one is here", first, "note"),) if first else ()
            raise DiagnosticError(Diagnostic(message, Location(self.source, found.name.span), notes=notes))
        self.visible[item.name] = item
        self.items.append(item)
        self.context.calling.append(item)
        if found.is_root:
            if self.root is not None:
                span = Span(head, head + len("ROOT"))
                raise error_at(self.source, span, f"%{self.root.name} is already the ROOT of %{self.computation.name}")
            self.root = item
        return item

    def instruction(self, found: InstructionText) -> Instruction:
        """Makes the instruction of a split text."""
        text, opcode, inner = self.source.text, found.opcode.text, found.operands
        hidden: list[_Hidden] = []
        try:
            operands, is_typed = self._operands(opcode, inner, hidden)
        except DiagnosticError:
            if is_opcode(opcode):
                raise
            # What is wrong with the operands of `constnt(0)` is the opcode.
            raise self._unknown_opcode(found.opcode) from None
        if hidden and self.is_new:
            raise error_at(self.source, inner, "a new instruction's operands have names", "make each one by itself")
        self._hide(hidden)
        number = -1 if self.is_new else len(self.items)
        tail = text[inner.end + 1 : found.end]
        # Without a shape of its own it gets one when the computations that it calls are known.
        shape = self._shape(*_ends(found.shape)) if found.shape else TokenShape()
        contents = "" if operands else text[inner.start : inner.end]
        item = Instruction(self.computation, found.name.text, shape, opcode, operands, contents, tail, number)
        if is_typed:
            self.written.typed.add(number)
        inline: list[Computation] = []
        for attribute, _, value in found.attributes:
            if is_calling(attribute):
                for body in bodies_in(self.source, value):
                    inline.append(self._inline(item, attribute, body, "%" if found.name.kind == "name" else ""))
        if found.shape is None:
            self.written.shapeless.add(number)
            item.shape = self._infer(found, item, inline)
        return item

    def _inline(self, owner: Instruction, attribute: str, place: Span, sigil: str) -> Computation:
        """Reads a computation that is written as an attribute's value."""
        if self.depth == _MAX_DEPTH:
            raise error_at(self.source, place, f"computations are nested deeper than {_MAX_DEPTH}")
        start = place.start
        frame = Frame(start, start, Span(start, start), None, start + 1, place.end - 1, place.end)
        computation = Computation(
            owner.computation.module, "", sigil, BodyText(self.source, frame, self.context.spelling)
        )
        computation.owner = owner
        reader = BodyReader(self.context, computation, depth=self.depth + 1)
        frame.tail = reader.body(frame.body)
        scanner = Scanner(self.source, frame.tail)
        if scanner.token.start != place.end - 1:
            scanner.fail(f"expected an instruction or '}}', found {scanner.found()}")
        reader.finish()
        self.context.inline.append(InlineComputation(computation, owner, attribute))
        return computation

    def finish(self) -> None:
        """Gives the computation what was read; raises DiagnosticError where that is no computation."""
        computation, items = self.computation, self.items
        if not items:
            place = Location(self.source, self.written.frame.name)
            raise DiagnosticError(Diagnostic(f"computation %{computation.name} has no instructions", place))
        self._name_hidden()
        computation.fill(items, _parameters_in_order(computation, items), self.root)

    def _name_hidden(self) -> None:
        """Gives instructions that were written without a name one that no other has."""
        if not self.written.inline:
            return
        names = NameTable(self.visible)
        for number in self.written.inline:
            item = self.items[number]
            item.name = names.fresh(item.name)
            self.visible[item.name] = item

    def _operands(
        self, opcode: str, span: Span, hidden: list[_Hidden], depth: int = 0
    ) -> tuple[tuple[Instruction, ...], bool]:
        if opcode == "parameter" and not _PARAMETER_NUMBER.fullmatch(self.source.text[span.start : span.end]):
            raise error_at(self.source, span, "expected a parameter number", "write parameter(0)")
        if opcode in _WITHOUT_OPERANDS:
            return (), False
        found = split_operands(self.source, span)
        operands = tuple([self._operand(operand, hidden, depth) for operand in found])
        return operands, any(operand.shape is not None and operand.inner is None for operand in found)

    def _operand(self, text: OperandText, hidden: list[_Hidden], depth: int) -> Instruction:
        shape = self._shape(*_ends(text.shape)) if text.shape else None
        if text.inner is not None:
            return self._in_place(text, text.inner, shape, hidden, depth)
        name = text.name
        item = self.visible.get(name.text)
        if item is None:
            if self.is_fragment and shape is not None and not text.path:
                return self._outside(name, shape)
            raise self._unknown(name)
        for position, token in enumerate(text.path):
            path = [
                int(each.text) for each in text.path[: position + 1] if each.text.isdecimal() and len(each.text) < 10
            ]
            if len(path) <= position or element_at(item.shape, path) is None:
                message = f"%{name.text} has no element #{'#'.join(each.text for each in text.path[: position + 1])}"
                note = Diagnostic(f"its shape is {item.shape}", item.location, "note")
                raise DiagnosticError(Diagnostic(message, Location(self.source, token.span), notes=(note,)))
        return self._element(item, [int(each.text) for each in text.path], text.span, hidden)

    def _in_place(
        self, text: OperandText, inner: Span, shape: Shape | None, hidden: list[_Hidden], depth: int
    ) -> Instruction:
        """Makes an instruction that is written as an operand: no name and no attributes."""
        if depth == _MAX_DEPTH:
            raise error_at(self.source, text.span, f"operands are nested deeper than {_MAX_DEPTH}")
        opcode = text.name
        if not is_opcode(opcode.text):
            raise self._unknown_opcode(opcode)
        operands, _ = self._operands(opcode.text, inner, hidden, depth + 1)
        contents = "" if operands else self.source.text[inner.start : inner.end]
        if shape is None:
            shape = self._inferred(Attributes(opcode.text, {}), operands, (), text.span, f"this {opcode.text}")
        item = Instruction(self.computation, f"{opcode.text}.anon", shape, opcode.text, operands, contents, "")
        hidden.append((item, text.span))
        return item

    def _unknown_opcode(self, opcode: Token) -> DiagnosticError:
        close = nearest(opcode.text, HLO_NAMES)
        hint = f"did you mean {close}?" if close else None
        return error_at(self.source, opcode.span, f"unknown opcode {opcode.text}", hint)

    def _unknown(self, name: Token) -> DiagnosticError:
        known = nearest(name.text, self.visible)
        hint = f"did you mean %{known}?" if known else None
        if self.is_fragment:
            hint = hint or "write its shape before it"
        return error_at(self.source, name.span, f"unknown operand %{name.text}", hint)

    def _shape(self, start: int, end: int) -> Shape:
        return read_shape_at(self.source, Span(start, end))

    def _outside(self, name: Token, shape: Shape) -> Instruction:
        """Makes a parameter for a value that bare instruction lines use and do not define."""
        number = str(len(self.computation.outside))
        place = Location(self.source, name.span)
        item = Instruction(self.computation, name.text, shape, "parameter", (), number, "", origin=place)
        self.visible[name.text] = item
        self.computation.outside.append(item)
        return item

    def _infer(self, found: InstructionText, item: Instruction, inline: Sequence[Computation]) -> Shape:
        """Returns a shape that is not written, as XLA infers it."""
        what = Attributes(item.opcode, split_attributes(item.attribute_text))
        known = self.context.computations
        calls = [known.get(name) for _, name in in_role_order(item.opcode, called_names(what.texts))]
        called = [computation.root.shape for computation in (*inline, *calls) if computation is not None]
        span = Span(found.name.start, found.opcode.end)
        return self._inferred(what, item.operands, called, span, f"%{item.name}")

    def _inferred(
        self, what: Attributes, operands: Sequence[Instruction], called: Sequence[Shape], span: Span, name: str
    ) -> Shape:
        try:
            shape = infer_shape(what, [operand.shape for operand in operands], called)
        except ShapeError as error:
            raise error_at(self.source, span, f"{name} has no shape: {error}") from None
        if shape is None:
            raise error_at(self.source, span, f"the shape of {name} is not written", "write it before the opcode")
        return shape


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end
