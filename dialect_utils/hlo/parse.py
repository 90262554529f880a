"""Reads HLO text into a module in one pass over the lines.

Source: xla/hlo/parser/hlo_parser.cc. Names have to be defined before they are used; a
computation may come after its caller. Gaps in parameter numbers and recursion are errors here,
where XLA fills the gaps and aborts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialect_utils.hlo.body import BodyReader
from dialect_utils.hlo.builder import HloBuilder
from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.graph import CONTROL, NameTable
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule, callees_first
from dialect_utils.hlo.reading import ReadingContext
from dialect_utils.hlo.text import grammar
from dialect_utils.hlo.text.header import Header, end_of_tables
from dialect_utils.hlo.text.provenance import BodyText, Frame
from dialect_utils.hlo.text.tokens import RESERVED, Scanner, check_characters
from dialect_utils.ir.assignments import assign
from dialect_utils.text import DiagnosticError, Source, Span
from dialect_utils.text.input_file import collector_paused

_BEGINNING = "an HLO module begins with HloModule NAME, StableHLO with module or func.func"


@collector_paused
def parse_module(text: str, name: str = "<hlo>", *, first_line: int = 1) -> HloModule:
    """Returns the module of an HLO text; `name` is the file's name in diagnostics, `first_line` its first line there.

    Reads whole modules, computations without a header, and bare instruction lines whose
    operands are defined or carry their shapes. Raises DiagnosticError.
    """
    return _Parser(Source(name, _with_names(text, name), first_line)).module()


def _with_names(text: str, name: str) -> str:
    """Returns a text; one instruction in canonical form, `f32[2] add(f32[2], f32[2])`, gets names."""
    scanner = Scanner(Source(name, text))
    if grammar.scan_shape(scanner) is None or scanner.token.kind != "word" or scanner.peek().text != "(":
        return text
    opcode = scanner.next()
    group = scanner.group()
    scanner.seek(group.start + 1)
    parts, done = list[str](), 0
    while scanner.token.start < group.end - 1:
        if grammar.scan_shape(scanner) is not None and not scanner.token.is_name:
            parts += [text[done : scanner.last_end], f" %operand.{len(parts)}"]
            done = scanner.last_end
        scanner.next()
    return "".join([f"ROOT %{opcode.text} = ", *parts, text[done:]])


class _Maker:
    """The reader of new computations, and the maker of builders."""

    def computation(self, module: HloModule, text: str) -> Computation:
        """Reads one computation and adds it to a module."""
        # An empty line separates computations.
        parser = _Parser(Source("<computation>", f"\n\n{text.strip()}"))
        scanner = parser.scanner
        scanner.seek(parser.computation(module, 0, None))
        if scanner.token.kind != "end":
            scanner.fail(f"unexpected {scanner.found()} after the computation")
        if parser.found[-1].is_marked_entry:
            scanner.fail("a new computation is not the ENTRY", Span(0, len("ENTRY")))
        try:
            parser.name_inline(module)
            module.register(parser.found)
            parser.link(module, [*module.computations, *parser.found])
        except DiagnosticError:
            module.forget(parser.found)
            raise
        module.insert_computations(parser.found)
        return parser.found[-1]

    def builder(
        self, computation: Computation, *, after: Instruction | None = None, before: Instruction | None = None
    ) -> HloBuilder:
        """Returns a builder that inserts before or after an instruction."""
        return HloBuilder(computation, after=after, before=before)


class _Parser:
    def __init__(self, source: Source) -> None:
        check_characters(source)
        self.source = source
        self.scanner = Scanner(source)
        self.found: list[Computation] = []
        self.context = ReadingContext(source)
        self.inline_count = 0

    def module(self) -> HloModule:
        """Reads the whole text."""
        module = self._header()
        position = end_of_tables(self.source, self.scanner.last_end)
        if self._at_bare_instructions(position):
            position = self._bare(module, position)
        header = grammar.HEADER_LINE.match(self.source.text, position)
        while header is not None or not self._at_end(position):
            position = self.computation(module, position, header)
            header = grammar.HEADER_LINE.match(self.source.text, position)
        if not self.found:
            self.scanner.seek(position)
            self.scanner.fail("no HLO computation in this text", hint=_BEGINNING)
        self.name_inline(module)
        # An inline computation is part of another one's text.
        outermost = [computation.written.frame for computation in self.found if computation.owner is None]
        writes_layouts = any("]{" in text for text in self.context.spelling.shapes)
        module.fill(self.found, Span(outermost[0].begin, outermost[-1].end), writes_layouts)
        self.link(module, self.found)
        return module

    def _at_end(self, position: int) -> bool:
        self.scanner.seek(position)
        return self.scanner.token.kind == "end"

    def name_inline(self, module: HloModule) -> None:
        """Names inline computations after their owners, and writes the names in the owners' attributes."""
        if not self.context.inline:
            return
        owners: dict[Instruction, list[Computation]] = {}
        names = NameTable([*(computation.name for computation in (*module.computations, *self.found))])
        for inline in self.context.inline:
            computation = inline.computation
            assign(computation, "name", names.fresh(f"{inline.owner.name}.{inline.attribute}"))
            owners.setdefault(inline.owner, []).append(computation)
        for owner, computations in owners.items():
            end = owner.computation.written.extent(owner.number).end
            start = end - len(owner.attribute_text)
            parts = []
            for computation in computations:
                frame = computation.written.frame
                parts += [self.source.text[start : frame.begin], f"{computation.sigil}{computation.name}"]
                start = frame.end
            assign(owner, "attribute_text", "".join([*parts, self.source.text[start:end]]))

    def link(self, module: HloModule, computations: Sequence[Computation]) -> None:
        """Resolves the computations and control predecessors that attributes name."""
        position = {computation: index for index, computation in enumerate(computations)}
        is_ordered = True
        for item in self.context.calling:
            module.link_calls(item)
            if self.context.has_control and CONTROL in item.attribute_text:
                item.computation.link_control(item)
            for callee in item.called:
                is_ordered = is_ordered and position[callee] < position[item.computation]
        if not is_ordered:
            # Raises where a computation calls itself.
            callees_first(computations)

    def _header(self) -> HloModule:
        scanner = self.scanner
        if scanner.token.text != "HloModule" or scanner.token.kind != "word":
            return HloModule(self.source, "", Header(self.source, None), _Maker())
        start = scanner.next().start
        if not scanner.token.is_name:
            scanner.fail(f"expected the module's name, found {scanner.found()}")
        self.context.check_name(scanner.token)
        name = scanner.next().text
        if scanner.at(":"):
            # XLA's lexer reads `name:` as a name (xla/hlo/parser/hlo_lexer.cc, LexIdentifier).
            scanner.next()
        grammar.scan_attributes(scanner, atoms=True)
        return HloModule(self.source, name, Header(self.source, Span(start, scanner.last_end)), _Maker())

    def _at_bare_instructions(self, position: int) -> bool:
        scanner = self.scanner
        scanner.seek(position)
        if scanner.token.text == "ROOT":
            return True
        return scanner.token.is_name and scanner.peek().text == "="

    def _bare(self, module: HloModule, start: int) -> int:
        frame = Frame(start, start, Span(start, start), None, start, start, start)
        computation = Computation(module, "", self._style(), BodyText(self.source, frame, self.context.spelling))
        reader = BodyReader(self.context, computation, is_fragment=True)
        frame.tail = frame.end = reader.body(start)
        reader.finish()
        self._found(computation)
        self.scanner.seek(frame.end)
        if self.scanner.token.kind != "end":
            self.scanner.fail(f"expected an instruction, found {self.scanner.found()}")
        return frame.end

    def _style(self) -> str:
        return "%" if self.source.text[self.scanner.token.start : self.scanner.token.start + 1] == "%" else ""

    def computation(self, module: HloModule, start: int, match: re.Match[str] | None) -> int:
        """Reads one computation from `start` and returns its end; `match` is its header line in the common form."""
        text = self.source.text
        begin = self.found[-1].written.frame.end if self.found else start
        if match is not None and match[4].count("(") == match[4].count(")") and match[3] not in RESERVED:
            computation = self._fast_header(module, begin, match)
        else:
            computation = self._scan_header(module, begin, start)
        frame = computation.written.frame
        reader = BodyReader(self.context, computation)
        frame.tail = reader.body(frame.body)
        footer = grammar.FOOTER_LINE.match(text, frame.tail)
        frame.end = footer.end() if footer else self._scan_footer(frame.tail)
        reader.finish()
        self._found(computation)
        return frame.end

    def _scan_footer(self, start: int) -> int:
        scanner = self.scanner
        scanner.seek(start)
        if not scanner.at("}"):
            scanner.fail(f"expected an instruction or '}}', found {scanner.found()}")
        scanner.next()
        for name, span, _ in grammar.scan_attributes(scanner, atoms=True):
            if name != "execution_thread":
                scanner.fail(f"a computation has no attribute {name}", span)
        return scanner.last_end

    def _fast_header(self, module: HloModule, begin: int, match: re.Match[str]) -> Computation:
        name = match[3].removeprefix("%")
        end = match.end(3)
        signature = Span(match.start(4), match.end(4) - 1) if match[4] else None
        frame = Frame(begin, match.end(1), Span(end - len(name), end), signature, match.end(), match.end(), match.end())
        style = "%" if match[3][0] == "%" else ""
        return Computation(
            module, name, style, BodyText(self.source, frame, self.context.spelling), is_entry=match[2] is not None
        )

    def _scan_header(self, module: HloModule, begin: int, start: int) -> Computation:
        scanner = self.scanner
        scanner.seek(start)
        head = scanner.token.start
        is_entry = scanner.token.kind == "word" and scanner.token.text == "ENTRY"
        if is_entry:
            scanner.next()
        if not scanner.token.is_name:
            is_first = not module.name and not self.found
            scanner.fail(f"expected a computation, found {scanner.found()}", hint=_BEGINNING if is_first else None)
        style = self._style()
        name = scanner.next()
        if name.kind == "word" and name.text != "HloModule":
            self.context.check_name(name)
        if name.text == "HloModule" and scanner.token.is_name:
            hint = "--module NAME chooses one; opt --split-input-file reads modules that // ----- separates"
            scanner.fail("a second module begins here", name.span, hint)
        signature = None
        if scanner.at("("):
            start = scanner.token.start
            scanner.group()
            scanner.expect("->", "after the parameters")
            if grammar.scan_shape(scanner) is None:
                scanner.fail(f"expected the result's shape, found {scanner.found()}")
            signature = Span(start, scanner.last_end)
        if not scanner.at("{") and not module.name and not self.found:
            scanner.fail(f"{name.text} begins no HLO", name.span, _BEGINNING)
        brace = scanner.expect("{", "at the start of the instructions")
        frame = Frame(begin, head, name.span, signature, brace.end, brace.end, brace.end)
        return Computation(
            module, name.text, style, BodyText(self.source, frame, self.context.spelling), is_entry=is_entry
        )

    def _found(self, computation: Computation) -> None:
        """Records a computation, after its inline computations."""
        inline = self.context.inline[self.inline_count :]
        self.inline_count = len(self.context.inline)
        self.found += [found.computation for found in inline]
        self.found.append(computation)
        self.context.computations[computation.name] = computation
