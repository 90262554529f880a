"""Reads the instructions of one computation and links their operands."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import length_hint

from dialect_utils.hlo import reading
from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.graph import CONTROL
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.text.attributes import called_in, is_calling
from dialect_utils.hlo.text.grammar import (
    InstructionText,
    bodies_in,
    is_closed,
    line_pattern,
    read_shape_at,
    scan_instruction,
    split_attributes,
)
from dialect_utils.hlo.text.provenance import BodyText, Extent, Frame, line_breaks
from dialect_utils.hlo.text.tokens import RESERVED, Scanner
from dialect_utils.ir.assignments import assign
from dialect_utils.ir.control_flow import in_role_order
from dialect_utils.layout import Shape, TokenShape
from dialect_utils.ops import CALLING_OPCODES, is_opcode
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Span, error_at

_INDEX_MARK = re.compile(r"/\*index=\d+\*/", re.ASCII)
_FIRST_SIGIL = re.compile(r"\s*+(?:ROOT )?(%?)", re.ASCII)
_FOOTER = re.compile(r"\n[ \t]*\}")

# The mean of lines of instructions is above: `  a = f32[] b(c)`.
_SHORTEST_LINE = 10
_Row = tuple[str, str, str, str, str, str, str]


def _parameters_in_order(computation: Computation, items: list[Instruction]) -> list[Instruction]:
    """Returns the parameters by number; raises DiagnosticError where the numbers have gaps or repeat."""
    found = [item for item in items if item.opcode == "parameter"]
    parameters: list[Instruction | None] = [None] * len(found)
    for item in found:
        number = int(item.contents)
        if number >= len(found):
            location = item.locate("operands") or computation.location
            message = f"parameter number {number}, but %{computation.name} has {len(found)} parameters"
            raise DiagnosticError(message, location, hint="number them from 0 without gaps")
        if parameters[number] is not None:
            message = f"parameter number {number} occurs twice in %{computation.name}"
            raise DiagnosticError(message, item.locate("operands"))
        parameters[number] = item
    return [item for item in parameters if item is not None]


class BodyReader:
    """The reader of one computation's instructions."""

    def __init__(
        self, context: reading.ReadingContext, computation: Computation, *, is_fragment: bool = False, depth: int = 0
    ) -> None:
        self.context = context
        self.source = context.source
        self.computation = computation
        self.written = computation.written
        self.visible = computation.by_name
        self.depth = depth
        self.items: list[Instruction] = []
        self.operands = reading.OperandReader(context, computation, self.items, is_fragment=is_fragment)
        self.root: Instruction | None = None
        # True after the last instruction.
        self.is_done = False
        self.is_irregular = False

    def body(self, position: int) -> int:
        """Reads instructions from `position` and returns the end of the last."""
        sigil = _FIRST_SIGIL.match(self.source.text, position)
        assert sigil is not None  # the pattern matches everywhere
        while not self.is_done:
            position = self._lines(position, sigil[1])
        return position

    def _lines(self, position: int, sigil: str) -> int:
        """Reads the lines from `position` to the apparent end of the computation; returns the end of the last read."""
        text = self.source.text
        if self.is_irregular or text[position : position + 1] not in ("\n", "\r"):
            return self._scan(position)
        end = self._footer(position)
        count = text.count("\n", position, end)
        if count * _SHORTEST_LINE > end - position:
            # Most lines are blank, and a row of the pattern takes more than a hundred bytes for each line.
            self.is_irregular = True
            return self._scan(position)
        rows = line_pattern(sigil).findall(text, position, end + 2)
        if not rows or len(rows) != count:
            # The range is empty, or a line contains a lone carriage return.
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
            # Skips the lines that the scanner has read.
            deque(islice(lines, bisect_left(breaks, position) - row - 1), maxlen=0)

    def _scan_to_line(self, position: int, breaks: list[int], end: int) -> int:
        """Reads instructions with the scanner until one ends at a line break; returns that end."""
        while True:
            position = self._scan(position)
            following = bisect_left(breaks, position)
            if self.is_done or position >= end or breaks[following] == position:
                return position

    def _footer(self, position: int) -> int:
        """Returns the offset of the line break before the apparent `}` of this computation."""
        text = self.source.text
        if self.context.indents_footers:
            match = _FOOTER.search(text, position)
            found = match.start() if match else -1
        else:
            found = text.find("\n}", position)
        if found < 0:
            # Bare instruction lines: the last may end without a line break.
            found = max(text.rfind("\n"), position)
        return found - text.startswith("\r", found - 1)

    def _common_lines(self, lines: Iterator[_Row], sigil: str) -> bool:  # noqa: C901  # calls cost a third of the time
        """Reads lines up to the first that needs the scanner; returns whether it read all."""
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
            if not sigil and name in RESERVED:
                return False
            operands: tuple[Instruction, ...] = ()
            if not inner or opcode in reading.WITHOUT_OPERANDS:
                contents = inner
                if opcode == "parameter" and not reading.PARAMETER_NUMBER.fullmatch(inner):
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
                    found = self.operands.try_common(inner)
                    if found is None:
                        return False
                    operands, number = found, len(items)
            shape = shapes.get(shape_text) or context.known_shape(shape_text)
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

    def _scan(self, position: int) -> int:
        """Reads the next instruction with the scanner and returns its end; sets `is_done` after the last."""
        scanner = Scanner(self.source, position)
        begin = position
        if scanner.token.kind == "end" or scanner.at("}"):
            self.is_done = True
            self.context.indents_footers |= not self.source.text.startswith(("\n}", "}"), position)
            return position
        if self.items and not self._starts_instruction(scanner):
            # The last instruction continues in this line.
            last = self.items.pop()
            del self.visible[last.name]
            if self.root is last:
                self.root = None
            calling = self.context.calling
            if calling and calling[-1] is last:
                calling.pop()
            extent = self.written.forget(last.number)
            begin = extent.begin
            scanner.seek(extent.head)
            found = scan_instruction(scanner)
            if found.end == extent.end:
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

    def add(self, found: InstructionText, begin: int) -> Instruction:
        """Appends an instruction that the scanner read."""
        head = self.source.text.rindex("ROOT", 0, found.name.start) if found.is_root else found.name.start
        if found.name.kind == "word":
            self.context.check_name(found.name)
        item = self.instruction(found)
        self.written.add(item.number, Extent(begin, head, found.end))
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
        """Makes an instruction from its split text."""
        text, opcode, inner = self.source.text, found.opcode.text, found.operands
        try:
            operands = self.operands.read(opcode, inner)
        except DiagnosticError:
            if is_opcode(opcode):
                raise
            # The opcode decides how operands are read: `constnt(0)` fails because of its opcode.
            raise self.context.unknown_opcode(found.opcode) from None
        number = len(self.items)
        tail = text[inner.end + 1 : found.end]
        # A shape that is not written is inferred below, when the called computations are known.
        shape = read_shape_at(self.source, found.shape) if found.shape else TokenShape()
        contents = "" if operands else text[inner.start : inner.end]
        item = Instruction(self.computation, found.name.text, shape, opcode, operands, contents, tail, number)
        inline: list[Computation] = []
        for attribute, _, value in found.attributes:
            if is_calling(attribute):
                for body in bodies_in(self.source, value):
                    inline.append(self._inline(item, attribute, body, "%" if found.name.kind == "name" else ""))
        if found.shape is None:
            for attribute, span, _ in found.attributes:
                if attribute == "origin":  # its tree needs the shape
                    raise error_at(self.source, span, f"the origin of {found.name.text} needs a shape that is written")
            self.written.shapeless.add(number)
            assign(item, "shape", self._infer(found, item, inline))
        return item

    def _inline(self, owner: Instruction, attribute: str, span: Span, sigil: str) -> Computation:
        """Reads a computation that is written as an attribute's value."""
        if self.depth == reading.MAX_DEPTH:
            raise error_at(self.source, span, f"computations are nested deeper than {reading.MAX_DEPTH}")
        start = span.start
        frame = Frame(start, start, Span(start, start), None, start + 1, span.end - 1, span.end)
        computation = Computation(
            owner.computation.module, "", sigil, BodyText(self.source, frame, self.context.spelling)
        )
        assign(computation, "owner", owner)
        reader = BodyReader(self.context, computation, depth=self.depth + 1)
        frame.tail = reader.body(frame.body)
        scanner = Scanner(self.source, frame.tail)
        if scanner.token.start != span.end - 1:
            scanner.fail(f"expected an instruction or '}}', found {scanner.found()}")
        reader.finish()
        self.context.inline.append(reading.InlineComputation(computation, owner, attribute))
        return computation

    def finish(self) -> None:
        """Passes the instructions to the computation; raises DiagnosticError without any."""
        computation, items = self.computation, self.items
        if not items:
            location = Location(self.source, self.written.frame.name)
            raise DiagnosticError(f"computation %{computation.name} has no instructions", location)
        self.operands.name_hidden()
        computation.fill(items, _parameters_in_order(computation, items), self.root)

    def _infer(self, found: InstructionText, item: Instruction, inline: Sequence[Computation]) -> Shape:
        """Returns a shape that is not written, as XLA infers it."""
        what = reading.Attributes(item.opcode, split_attributes(item.attribute_text))
        known = self.context.computations
        calls = [known.get(name) for _, name in in_role_order(item.opcode, called_in(item.attribute_text))]
        called = [reading.interface_of(computation) for computation in (*inline, *calls) if computation is not None]
        span = Span(found.name.start, found.opcode.end)
        return self.context.inferred_shape(what, item.operands, called, span, f"%{item.name}")
