"""Reads HLO text into a module: one pass over the lines, linking uses as it goes.

Source: xla/hlo/parser/hlo_parser.cc. Names have to be defined before they are used; a
computation may stand behind its caller. Unlike XLA, which fills in or aborts, gaps in
parameter numbers and recursion are errors here.
"""

from __future__ import annotations

import re

from dialect_utils.hlo.calls import CALLING_OPCODES
from dialect_utils.hlo.computation import Computation, Frame
from dialect_utils.hlo.grammar import (
    HEADER_LINE,
    LINE,
    LINE_WITH_CARRIAGE_RETURNS,
    InstructionText,
    is_closed,
    read_shape_at,
    scan_attributes,
    scan_instruction,
    scan_shape,
    split_attributes,
    split_operands,
)
from dialect_utils.hlo.inference import infer_shape
from dialect_utils.hlo.instruction import CONTROL, Instruction
from dialect_utils.hlo.module import HloModule, callees_first
from dialect_utils.hlo.pause import collector_paused
from dialect_utils.hlo.tokens import Scanner, Token
from dialect_utils.layout import Shape
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at, nearest

_TABLE = re.compile(
    r"\s*+(?:FileNames|FunctionNames|FileLocations|StackFrames)\b"
    r"(?:\s*+\d++\s*+(?:\"(?:[^\"\\]|\\.)*+\"|\{[^{}\"]*+\}))*+",
    re.ASCII | re.DOTALL,
)
_INDEX_MARK = re.compile(r"/\*index=\d+\*/", re.ASCII)
_PARAMETER_NUMBER = re.compile(r"\s*\d+\s*", re.ASCII)
_WITHOUT_OPERANDS = frozenset(("constant", "parameter"))


@collector_paused
def parse_module(text: str, name: str = "<hlo>") -> HloModule:
    """Returns the module of an HLO text; `name` is the file's name in diagnostics.

    Reads whole modules, computations without a header, and bare instruction lines whose
    operands are defined or carry their shapes. Raises DiagnosticError.
    """
    return _Parser(Source(name, text)).module()


def parse_new_instruction(computation: Computation, place: Instruction | None, text: str) -> Instruction:
    """Reads one instruction and adds it to a computation behind `place` (None: first)."""
    source = Source("<instruction>", text)
    scanner = Scanner(source)
    found = scan_instruction(scanner)
    if scanner.token.kind != "end":
        scanner.fail(f"unexpected {scanner.found()} behind the instruction")
    if found.is_root:
        scanner.fail("a new instruction is not the ROOT", Span(0, found.name.start), "use set_root")
    order = computation._order()
    visible = {
        key: item for key, item in computation._by_name.items() if place is not None and not order.precedes(place, item)
    }
    if f"%{found.name.text}" in computation._by_name:
        scanner.fail(f"%{found.name.text} is defined twice in %{computation.name}", found.name.span)
    reader = _BodyReader(source, computation, visible, {})
    made = reader.instruction(found, 0)
    made._begin = made._head = made._end = -1
    made._edited = True
    for operand in made._operands:
        del operand._users[made]
    computation._module._note_name(made.name)
    computation._adopt(made, place)
    return made


def parse_new_computation(module: HloModule, text: str) -> Computation:
    """Reads one computation and adds it to a module."""
    parser = _Parser(Source("<computation>", text.strip()))
    parser.computation(module)
    scanner = parser.scanner
    if scanner.token.kind != "end":
        scanner.fail(f"unexpected {scanner.found()} behind the computation")
    computation = parser.found[0]
    if computation._is_entry:
        scanner.fail("a new computation is not the ENTRY", Span(0, len("ENTRY")))
    parser.register(module, computation)
    parser.link(module)
    module._note_name(computation.name)
    for item in computation._read:
        module._note_name(item.name)
    module._insert_computation(computation)
    return computation


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.scanner = Scanner(source)
        self.found: list[Computation] = []
        self.calling: list[Instruction] = []
        self.shapes: dict[str, Shape] = {}

    def module(self) -> HloModule:
        module = self._header()
        self._tables()
        if self._at_bare_instructions():
            self._bare(module)
        while self.scanner.token.kind != "end":
            self.computation(module)
            self._tables()
        if not self.found:
            self.scanner.fail("no HLO computation in this text", hint="an HLO module begins with HloModule NAME")
        for computation in self.found:
            self.register(module, computation)
        module._computations = self.found
        module._read_begin, module._read_end = self.found[0]._frame.begin, self.found[-1]._frame.end
        self.link(module)
        return module

    def register(self, module: HloModule, computation: Computation) -> None:
        """Makes a computation known by its name."""
        name = computation.name
        if name in module._by_name:
            raise error_at(self.source, computation._frame.name, f"computation %{name} is defined twice")
        if name:
            module._by_name[name] = computation
        if computation._is_entry:
            if module._entry is not None:
                raise error_at(self.source, computation._frame.name, "a module has only one ENTRY computation")
            module._entry = computation

    def link(self, module: HloModule) -> None:
        """Resolves the computations and control predecessors that attributes name."""
        for item in self.calling:
            module._link_calls(item)
            if CONTROL in item._tail:
                item._computation._link_control(item)
        callees_first(module._computations or self.found)

    def _header(self) -> HloModule:
        scanner = self.scanner
        if scanner.token.text != "HloModule" or scanner.token.kind != "word":
            return HloModule(self.source, "", None)
        start = scanner.next().start
        if not scanner.token.is_name:
            scanner.fail(f"expected the module's name, found {scanner.found()}")
        name = scanner.next().text
        scan_attributes(scanner, atoms=True)
        return HloModule(self.source, name, Span(start, scanner.last_end))

    def _tables(self) -> None:
        """Moves over the tables of file names and stack frames, which stay text."""
        end = self.scanner.last_end
        while (match := _TABLE.match(self.source.text, end)) is not None:
            end = match.end()
        if end != self.scanner.last_end:
            self.scanner.seek(end)

    def _at_bare_instructions(self) -> bool:
        scanner = self.scanner
        if scanner.token.text == "ROOT":
            return True
        return scanner.token.is_name and scanner.peek().text == "="

    def _bare(self, module: HloModule) -> None:
        start = self.scanner.last_end
        frame = Frame(start, start, Span(start, start), None, start, start, start)
        computation = Computation(module, self.source, "", self._style(), frame, False)
        reader = _BodyReader(self.source, computation, {}, self.shapes, is_fragment=True)
        frame.tail = reader.body(start)
        frame.end = frame.tail
        self._finish(computation, reader)
        self.scanner.seek(frame.end)
        if self.scanner.token.kind != "end":
            self.scanner.fail(f"expected an instruction, found {self.scanner.found()}")

    def _style(self) -> str:
        return "%" if self.source.text[self.scanner.token.start : self.scanner.token.start + 1] == "%" else ""

    def computation(self, module: HloModule) -> None:
        """Reads one computation."""
        start = self.scanner.last_end
        # A table between two computations belongs to the text in front of the second.
        begin = self.found[-1]._frame.end if self.found else start
        match = HEADER_LINE.match(self.source.text, start)
        if match is not None and match[4].count("(") == match[4].count(")"):
            computation = self._fast_header(module, begin, match)
        else:
            computation = self._scan_header(module, begin)
        frame = computation._frame
        reader = _BodyReader(self.source, computation, {}, self.shapes)
        frame.tail = reader.body(frame.body)
        self.scanner.seek(frame.tail)
        if not self.scanner.at("}"):
            self.scanner.fail(f"expected an instruction or '}}', found {self.scanner.found()}")
        self.scanner.next()
        scan_attributes(self.scanner, atoms=True)
        frame.end = self.scanner.last_end
        self._finish(computation, reader)

    def _fast_header(self, module: HloModule, begin: int, match: re.Match[str]) -> Computation:
        name = match[3].removeprefix("%")
        end = match.end(3)
        signature = Span(match.start(4), match.end(4) - 1) if match[4] else None
        frame = Frame(begin, match.end(1), Span(end - len(name), end), signature, match.end(), match.end(), match.end())
        style = "%" if match[3][0] == "%" else ""
        return Computation(module, self.source, name, style, frame, match[2] is not None)

    def _scan_header(self, module: HloModule, begin: int) -> Computation:
        scanner = self.scanner
        head = scanner.token.start
        is_entry = scanner.token.kind == "word" and scanner.token.text == "ENTRY"
        if is_entry:
            scanner.next()
        if not scanner.token.is_name:
            scanner.fail(f"expected a computation, found {scanner.found()}")
        style = self._style()
        name = scanner.next()
        signature = None
        if scanner.at("("):
            start = scanner.token.start
            scanner.group()
            scanner.expect("->", "behind the parameters")
            if scan_shape(scanner) is None:
                scanner.fail(f"expected the result's shape, found {scanner.found()}")
            signature = Span(start, scanner.last_end)
        brace = scanner.expect("{", "at the start of the instructions")
        frame = Frame(begin, head, name.span, signature, brace.end, brace.end, brace.end)
        return Computation(module, self.source, name.text, style, frame, is_entry)

    def _finish(self, computation: Computation, reader: _BodyReader) -> None:
        items = reader.items
        if not items:
            span = computation._frame.name
            raise error_at(self.source, span, f"computation %{computation.name} has no instructions")
        computation._read = items
        computation._root = reader.root or items[-1]
        computation._marks_root = reader.root is not None
        computation._parameters = _parameters_in_order(computation, items)
        self.calling += reader.calling
        self.found.append(computation)


def _parameters_in_order(computation: Computation, items: list[Instruction]) -> list[Instruction]:
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


class _BodyReader:
    """Reads the instructions of one computation."""

    def __init__(
        self,
        source: Source,
        computation: Computation,
        visible: dict[str, Instruction],
        shapes: dict[str, Shape],
        *,
        is_fragment: bool = False,
    ) -> None:
        self.source = source
        self.computation = computation
        # Names with `%`, whether it is written or not.
        self.visible = visible
        # One shape per text, for the whole module.
        self.shapes = shapes
        self.is_fragment = is_fragment
        self.items: list[Instruction] = []
        self.calling: list[Instruction] = []
        self.root: Instruction | None = None

    def body(self, position: int) -> int:
        """Reads instructions from `position` on and returns where the last one ends."""
        text = self.source.text
        match = (LINE_WITH_CARRIAGE_RETURNS if "\r" in text else LINE).match
        while True:
            line = match(text, position)
            if line is not None and self._line(line, position):
                position = line.end()
                continue
            end = self._scan(position)
            if end is None:
                break
            position = end
        self.computation._by_name = self.visible
        return position

    def _line(self, line: re.Match[str], begin: int) -> bool:
        """Adds the instruction of a common dump line; False where the scanner has to read it."""
        lead, root, written, shape_text, opcode, inner, tail = line.groups()
        visible = self.visible
        if tail and not is_closed(tail):
            return False
        style = "%"
        key = written
        if written[0] != "%":
            style = ""
            key = "%" + written
        operands: list[Instruction] = []
        if inner and opcode not in _WITHOUT_OPERANDS:
            names = (_INDEX_MARK.sub("", inner) if "/" in inner else inner).split(", ")
            try:
                operands = [visible[name] for name in names] if style else [visible["%" + name] for name in names]
            except KeyError:
                return False
        elif opcode == "parameter" and not inner.isdecimal():
            return False
        if key in visible or (root and self.root):
            return False
        shape = self.shapes.get(shape_text)
        if shape is None:
            shape = self._shape(line.start(4), line.end(4))
            self.shapes[shape_text] = shape
        item = Instruction(
            self.computation,
            (begin, begin + len(lead), line.end()),
            style,
            key[1:],
            shape,
            shape_text,
            opcode,
            operands,
            inner,
            tail,
        )
        visible[key] = item
        for operand in operands:
            operand._users[item] = None
        self.items.append(item)
        if root:
            self.root = item
        if "%" in tail or opcode in CALLING_OPCODES or CONTROL in tail:
            self.calling.append(item)
        return True

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
            operand._users.pop(last, None)
        del self.visible[f"%{last.name}"]
        if self.root is last:
            self.root = None
        if self.calling and self.calling[-1] is last:
            self.calling.pop()
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
        self.calling.append(item)
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
            operand._users[item] = None
        return item

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
        number = int(index) if index is not None and index.isdecimal() else None
        shape = infer_shape(found.opcode.text, [operand.shape for operand in operands], number)
        if shape is None:
            span = Span(found.name.start, found.opcode.end)
            raise error_at(self.source, span, f"the shape of %{found.name.text} is not written", "write it behind =")
        return shape


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end
