"""Reads the instructions of one computation, linking uses as it goes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dialect_utils.hlo.attributes import parse_ints
from dialect_utils.hlo.calls import CALLING_OPCODES, is_calling
from dialect_utils.hlo.computation import Computation, Frame
from dialect_utils.hlo.control import CONTROL
from dialect_utils.hlo.grammar import (
    LINE,
    LINE_WITH_CARRIAGE_RETURNS,
    InstructionText,
    bodies_in,
    is_closed,
    read_shape_at,
    scan_instruction,
    split_attributes,
    split_operands,
)
from dialect_utils.hlo.inference import infer_shape
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.tokens import Scanner, Token
from dialect_utils.layout import Shape
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at, nearest

_INDEX_MARK = re.compile(r"/\*index=\d+\*/", re.ASCII)
# int() refuses thousands of digits, and no module has a billion parameters.
_PARAMETER_NUMBER = re.compile(r"\s*\d{1,9}\s*", re.ASCII)
_WITHOUT_OPERANDS = frozenset(("constant", "parameter"))


# XLA prints as deep as computations call each other; Python's own stack ends at a few hundred.
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class InlineComputation:
    """Is a computation that is written as an attribute's value of `owner`."""

    computation: Computation
    owner: Instruction
    attribute: str


class ReadingContext:
    """Holds what all computations of one text share while it is read."""

    def __init__(self, source: Source) -> None:
        text = source.text
        self.source = source
        # One shape, and one text of it, for all that are written alike.
        self.shapes: dict[str, tuple[Shape, str]] = {}
        # Instructions whose attributes name computations or instructions.
        self.calling: list[Instruction] = []
        self.match_line = (LINE_WITH_CARRIAGE_RETURNS if "\r" in text else LINE).match
        # Computations written in place, in the order in which they end.
        self.inline: list[InlineComputation] = []
        self.has_control = CONTROL in text


def _parameters_in_order(computation: Computation, items: list[Instruction]) -> list[Instruction]:
    """Returns the parameters by number; raises DiagnosticError where the numbers have gaps or repeat."""
    found = [item for item in items if item._opcode == "parameter"]
    parameters: list[Instruction | None] = [None] * len(found)
    for item in found:
        number = int(item._inner)
        if number >= len(found):
            place = item.locate("operands") or computation.location
            message = f"parameter number {number}, but %{computation.name} has {len(found)} parameters"
            raise DiagnosticError(Diagnostic(message, place, hint="number them from 0 without gaps"))
        if parameters[number] is not None:
            message = f"parameter number {number} stands twice in %{computation.name}"
            raise DiagnosticError(Diagnostic(message, item.locate("operands")))
        parameters[number] = item
    return [item for item in parameters if item is not None]


class BodyReader:
    """Reads the instructions of one computation."""

    def __init__(
        self,
        context: ReadingContext,
        computation: Computation,
        visible: dict[str, Instruction],
        *,
        is_fragment: bool = False,
        depth: int = 0,
    ) -> None:
        self.context = context
        self.source = context.source
        self.computation = computation
        # Names with `%`, whether it is written or not.
        self.visible = visible
        self.is_fragment = is_fragment
        self.depth = depth
        self.items: list[Instruction] = []
        self.root: Instruction | None = None

    def body(self, position: int) -> int:
        """Reads instructions from `position` on and returns where the last one ends."""
        while True:
            position = self._lines(position)
            end = None if self.source.text.startswith("\n}", position) else self._scan(position)
            if end is None:
                break
            position = end
        self.computation._by_name = self.visible
        return position

    def _lines(self, position: int) -> int:  # noqa: C901  # one flat loop: calls would cost a third of the time
        """Reads common dump lines from `position` on, up to the first that needs the scanner."""
        text, match, shapes = self.source.text, self.context.match_line, self.context.shapes
        computation, visible, items = self.computation, self.visible, self.items
        calling, has_control = self.context.calling, self.context.has_control
        while (line := match(text, position)) is not None:
            lead, root, written, shape_text, opcode, inner, tail, rest = line.groups()
            has_sigil = written[0] == "%"
            key = written if has_sigil else "%" + written
            if key in visible or (root and self.root) or (rest and not is_closed(rest)):
                break
            tail += rest
            if opcode == "parameter":
                if not _PARAMETER_NUMBER.fullmatch(inner):
                    break
                operands: list[Instruction] = []
            elif not inner or opcode == "constant":
                operands = []
            else:
                names = (_INDEX_MARK.sub("", inner) if "/" in inner else inner).split(", ")
                try:
                    operands = [visible[name if has_sigil else "%" + name] for name in names]
                except KeyError:
                    break
            known = shapes.get(shape_text)
            if known is None:
                known = shapes[shape_text] = self._shape(line.start(4), line.end(4)), shape_text
            end = line.end()
            place = (position, position + len(lead), end)
            sigil = "%" if has_sigil else ""
            shape, shape_text = known
            item = Instruction(computation, place, sigil, key[1:], shape, shape_text, opcode, operands, inner, tail)
            visible[key] = item
            for operand in operands:
                users = operand._users
                # An instruction that uses a value twice is one user.
                if not users or users[-1] is not item:
                    users.append(item)
            items.append(item)
            if root:
                self.root = item
            if "%" in tail or opcode in CALLING_OPCODES or (has_control and CONTROL in tail):
                calling.append(item)
            position = end
        return position

    def _shape(self, start: int, end: int) -> Shape:
        return read_shape_at(self.source, Span(start, end))

    def _scan(self, position: int) -> int | None:
        """Reads the next instruction with the scanner; returns its end, or None where none stands."""
        scanner = Scanner(self.source, position)
        begin = position
        if scanner.token.kind == "end" or scanner.at("}"):
            return None
        if self.items and not self._starts_instruction(scanner):
            # What looked like a whole line goes on behind it.
            last = self._undo()
            begin = last._begin
            scanner.seek(last._head)
            found = scan_instruction(scanner)
            if found.end == last._end:
                scanner.fail(f"expected an instruction or '}}', found {scanner.found()}")
        else:
            found = scan_instruction(scanner)
        self.add(self.instruction(found, begin), found)
        return found.end

    @staticmethod
    def _starts_instruction(scanner: Scanner) -> bool:
        token = scanner.token
        if token.kind == "word" and token.text != "ROOT":
            return scanner.peek().text == "="
        return token.is_name

    def _undo(self) -> Instruction:
        last = self.items.pop()
        for operand in last._operands:
            if last in operand._users:
                operand._users.remove(last)
        del self.visible[f"%{last.name}"]
        if self.root is last:
            self.root = None
        calling = self.context.calling
        if calling and calling[-1] is last:
            calling.pop()
        return last

    def add(self, item: Instruction, found: InstructionText) -> None:
        """Appends an instruction that the scanner read."""
        key = f"%{item.name}"
        if key in self.visible:
            message = f"%{item.name} is defined twice in %{self.computation.name}"
            first = self.visible[key].location
            notes = (Diagnostic("the first one stands here", first, "note"),) if first else ()
            raise DiagnosticError(Diagnostic(message, Location(self.source, found.name.span), notes=notes))
        self.visible[key] = item
        self.items.append(item)
        self.context.calling.append(item)
        if found.is_root:
            if self.root is not None:
                span = Span(item._head, item._head + len("ROOT"))
                raise error_at(self.source, span, f"%{self.root.name} is already the ROOT of %{self.computation.name}")
            self.root = item

    def instruction(self, found: InstructionText, begin: int) -> Instruction:
        """Makes the instruction of a split text."""
        text = self.source.text
        name, opcode, inner = found.name, found.opcode.text, found.operands
        head = text.rindex("ROOT", 0, name.start) if found.is_root else name.start
        operands, typed = self._operands(opcode, inner)
        tail = text[inner.end + 1 : found.end]
        shape_text = text[found.shape.start : found.shape.end] if found.shape else ""
        shape = self._shape(*_ends(found.shape)) if found.shape else self._infer(found, operands, tail)
        style = "%" if name.kind == "name" else ""
        place = (begin, head, found.end)
        inner_text = text[inner.start : inner.end]
        item = Instruction(
            self.computation, place, style, name.text, shape, shape_text, opcode, operands, inner_text, tail
        )
        item._typed = typed
        for operand in operands:
            users = operand._users
            # An instruction that uses a value twice is one user.
            if not users or users[-1] is not item:
                users.append(item)
        for attribute, _, value in found.attributes:
            if is_calling(attribute):
                for body in bodies_in(self.source, value):
                    self._inline(item, attribute, body)
        return item

    def _inline(self, owner: Instruction, attribute: str, place: Span) -> None:
        """Reads a computation that is written as an attribute's value."""
        if self.depth == _MAX_DEPTH:
            raise error_at(self.source, place, f"computations stand in each other deeper than {_MAX_DEPTH}")
        start = place.start
        frame = Frame(start, start, Span(start, start), None, start + 1, place.end - 1, place.end)
        computation = Computation(owner.computation.module, self.source, "", owner._sigil, frame, False)
        computation._owner = owner
        reader = BodyReader(self.context, computation, {}, depth=self.depth + 1)
        frame.tail = reader.body(frame.body)
        scanner = Scanner(self.source, frame.tail)
        if scanner.token.start != place.end - 1:
            scanner.fail(f"expected an instruction or '}}', found {scanner.found()}")
        reader.finish()
        self.context.inline.append(InlineComputation(computation, owner, attribute))

    def finish(self) -> None:
        """Gives the computation what was read; raises DiagnosticError where that is no computation."""
        computation, items = self.computation, self.items
        if not items:
            place = Location(self.source, computation._frame.name)
            raise DiagnosticError(Diagnostic(f"computation %{computation.name} has no instructions", place))
        computation._read = items
        computation._root = self.root or items[-1]
        computation._marks_root = self.root is not None
        computation._parameters = _parameters_in_order(computation, items)

    def _operands(self, opcode: str, span: Span) -> tuple[list[Instruction], bool]:
        if opcode == "parameter" and not _PARAMETER_NUMBER.fullmatch(self.source.text[span.start : span.end]):
            raise error_at(self.source, span, "expected a parameter number", "write parameter(0)")
        if opcode in _WITHOUT_OPERANDS:
            return [], False
        found = split_operands(self.source, span)
        shapes = [self._shape(*_ends(shape)) if shape else None for shape, _ in found]
        operands = [self._operand(name, shape) for (_, name), shape in zip(found, shapes, strict=True)]
        return operands, any(shape is not None for shape in shapes)

    def _operand(self, name: Token, shape: Shape | None) -> Instruction:
        item = self.visible.get(f"%{name.text}")
        if item is not None:
            return item
        if self.is_fragment and shape is not None:
            return self._outside(name, shape)
        known = nearest(name.text, (key[1:] for key in self.visible))
        hint = f"did you mean %{known}?" if known else None
        if self.is_fragment:
            hint = hint or "write its shape in front of it"
        raise error_at(self.source, name.span, f"unknown operand %{name.text}", hint)

    def _outside(self, name: Token, shape: Shape) -> Instruction:
        """Makes a parameter for a value that bare instruction lines use and do not define."""
        number = len(self.computation._outside)
        item = Instruction(
            self.computation, (-1, -1, -1), "%", name.text, shape, str(shape), "parameter", [], str(number), ""
        )
        item._location = Location(self.source, name.span)
        self.visible[f"%{name.text}"] = item
        self.computation._outside.append(item)
        return item

    def _infer(self, found: InstructionText, operands: list[Instruction], tail: str) -> Shape:
        index = split_attributes(tail).get("index") if found.opcode.text == "get-tuple-element" else None
        numbers = parse_ints(index) if index is not None else None
        number = numbers[0] if numbers else None
        shape = infer_shape(found.opcode.text, [operand.shape for operand in operands], number)
        if shape is None:
            span = Span(found.name.start, found.opcode.end)
            raise error_at(self.source, span, f"the shape of %{found.name.text} is not written", "write it behind =")
        return shape


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end
