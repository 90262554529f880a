"""Splits the text of one instruction, one computation header or one list of attributes.

The common line of a dump is split by one regular expression (`LINE`); everything else, by the
token scanner. Source: xla/hlo/parser/hlo_parser.cc (ParseInstruction, ParseComputation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dialect_utils.hlo.tokens import Scanner, Token, without_comments
from dialect_utils.layout import Shape, parse_shape
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span

# Spelt out: a set with \w in it takes twice the time.
_NAME = r"[A-Za-z_][A-Za-z0-9_.\-]*+"
_PLAIN = r"[^()\r\n\"'/]*+(?:/\*index=\d+\*/[^()\r\n\"'/]*+)*+"
_ARRAY = r"[a-z0-9]++\[[^\]\r\n/]*+\](?:\{[^{}\r\n/]*+\})?+"
# A tuple's text ends at the first `) opcode`, which cannot stand inside a shape.
_TUPLE = r"\((?:[^\r\n\"'/=%)]++|\)(?! [a-z])|/\*index=\d+\*/)*+\)"


# Attributes that surely end where they seem to: words, lists of numbers, strings and metadata.
_WORD = r"[A-Za-z0-9_.\-%>]++"
_STRING = r"\"[^\"\\\r\n]*+\""
_FLAT = r"[^{}()\[\]\"'\r\n/=%]"
_SIMPLE_VALUE = (
    rf"(?:{_WORD}|\{{(?:{_FLAT}++|\[{_FLAT}*+\])*+\}}|{_STRING}|\{{(?:[a-z_]++=(?:{_STRING}|{_WORD}) ?+)*+\}})"
)
_SIMPLE = rf"(?:, [a-z_\-]++={_SIMPLE_VALUE}(?=[,\r\n]))*+"


def _line(rest: str) -> re.Pattern[str]:
    left = rf"(\r?\n[ \t]*+)(ROOT )?+(%?+{_NAME})"
    right = rf"({_ARRAY}|{_TUPLE}) ([a-z][a-z0-9\-]*+)\(({_PLAIN})\)({_SIMPLE})((?:, [a-z_\-]++={rest})?+)"
    return re.compile(rf"{left} = {right}(?=\r?\n)", re.ASCII)


# Groups: white space, ROOT, name with its sigil, shape, opcode, operands, simple attributes, the other attributes.
LINE = _line(r".*+")
LINE_WITH_CARRIAGE_RETURNS = _line(r"[^\r\n]*+")

# Groups: white space, ENTRY, name with its sigil, signature.
HEADER_LINE = re.compile(
    rf"([\r\n]*+)(ENTRY )?+(%?+{_NAME}) ((?:\([^\r\n\"'/]*(?:/\*index=\d+\*/[^\r\n\"'/]*)* )?)\{{(?=\r?\n)",
    re.ASCII,
)

FOOTER_LINE = re.compile(rf"(\r?\n[ \t]*+)\}}(?=[ \t\r\n]*+(?:%|ENTRY |{_NAME} |\Z))", re.ASCII)


@dataclass(slots=True)
class InstructionText:
    """Is the split text of one instruction."""

    is_root: bool
    name: Token
    shape: Span | None
    opcode: Token
    operands: Span
    # Name, place of the name and place of the value.
    attributes: list[tuple[str, Span, Span]]
    end: int


# What a line that goes on may end in.
_OPEN_ENDS = frozenset(", \t=<")


def is_closed(attributes: str) -> bool:
    """Is true where an attribute text surely ends with its line and holds no second instruction.

    Whether a string, a comment or a bracket goes on in the next line, or a comma asks for more,
    is decided without splitting the attributes; False means that the scanner has to look.
    """
    code = without_strings(attributes) if '"' in attributes else attributes
    return (
        code is not None
        and code[-1] not in _OPEN_ENDS
        and " =" not in code
        and "/" not in code
        and "'" not in code
        and "\t" not in code
        and code.count("{") == code.count("}")
        and ("(" not in code or code.count("(") == code.count(")"))
        and ("[" not in code or code.count("[") == code.count("]"))
        and ("%" not in code or code.count("%") == code.count("=%") + code.count("{%"))
    )


def without_strings(text: str) -> str | None:
    """Returns a text with `"` for every string in it, or None where a string does not end."""
    if '"' not in text:
        return text
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    parts = text.split('"')
    return '"'.join(parts[::2]) if len(parts) % 2 else None


def scan_instruction(scanner: Scanner) -> InstructionText:
    """Reads one instruction and leaves the scanner behind it; raises DiagnosticError."""
    is_root = scanner.token.kind == "word" and scanner.token.text == "ROOT" and scanner.peek().is_name
    if is_root:
        scanner.next()
    if not scanner.token.is_name:
        scanner.fail(f"expected an instruction, found {scanner.found()}")
    name = scanner.next()
    if not scanner.at("="):
        scanner.fail(f"expected '=' behind {name.text}, found {scanner.found()}")
    if name.kind == "word" and scanner.token.start == name.end:
        hint = f"write {name.text} = or %{name.text} ="
        scanner.fail(f"{name.text}= without a space is an attribute name", Span(name.start, name.end + 1), hint)
    scanner.next()
    shape = scan_shape(scanner)
    if scanner.token.kind != "word":
        scanner.fail(f"expected an opcode, found {scanner.found()}")
    opcode = scanner.next()
    if not scanner.at("("):
        scanner.fail(f"expected '(' behind {opcode.text}, found {scanner.found()}")
    group = scanner.group()
    attributes = scan_attributes(scanner)
    operands = Span(group.start + 1, group.end - 1)
    return InstructionText(is_root, name, shape, opcode, operands, attributes, scanner.last_end)


def scan_shape(scanner: Scanner) -> Span | None:
    """Moves over a shape and returns its span, or None where no shape stands."""
    start = scanner.token.start
    if scanner.at("("):
        scanner.group()
        return Span(start, scanner.last_end)
    if scanner.token.kind != "word":
        return None
    follower = scanner.peek()
    if scanner.token.text == "b" and follower.text == "(":
        scanner.next()
        scanner.group()
        return Span(start, scanner.last_end)
    if follower.text != "[":
        return None
    scanner.next()
    scanner.group()
    if scanner.at("{") and scanner.peek().text[:1] in set(":0123456789-"):
        scanner.group()
    return Span(start, scanner.last_end)


def scan_attributes(scanner: Scanner, *, atoms: bool = False) -> list[tuple[str, Span, Span]]:
    """Moves over `, name=value, ...` and returns each name with its span and its value's span.

    With `atoms` a value is one token or one bracketed group, as behind `HloModule` and `}`.
    """
    attributes = []
    while scanner.at(","):
        scanner.next()
        name = scanner.token
        if name.kind != "word":
            scanner.fail(f"expected an attribute name, found {scanner.found()}")
        scanner.next()
        if not scanner.at("=") or scanner.token.start != name.end:
            scanner.fail(f"expected '=' directly behind the attribute name {name.text}, found {scanner.found()}")
        scanner.next()
        attributes.append((name.text, name.span, _scan_value(scanner, name, atoms)))
    return attributes


def _scan_value(scanner: Scanner, name: Token, atoms: bool) -> Span:
    start = scanner.token.start
    first = True
    while not _ends_value(scanner, first) and (first or not atoms):
        if scanner.token.kind == "mark" and scanner.token.text in "([{":
            scanner.group()
        else:
            scanner.next()
        first = False
    if first:
        scanner.fail(f"attribute {name.text} has no value", name.span)
    return Span(start, scanner.last_end)


def _ends_value(scanner: Scanner, first: bool) -> bool:
    token = scanner.token
    if token.kind == "end" or (token.kind == "mark" and token.text in ",)]}"):
        return True
    if first:
        return False
    if token.kind == "name" or token.text in ("ROOT", "ENTRY"):
        return True
    return token.kind == "word" and scanner.peek().text == "="


def bodies_in(source: Source, value: Span) -> list[Span]:
    """Returns the places of the computations that are written in place as an attribute's value.

    `to_apply={p = ...}` holds one, `branch_computations={{p = ...}, {q = ...}}` several.
    """
    if not source.text.startswith("{", value.start):
        return []
    scanner = Scanner(source, value.start + 1)
    if scanner.token.text == "ROOT" or (scanner.token.is_name and scanner.peek().text == "="):
        return [value]
    bodies = []
    while scanner.at("{"):
        start = scanner.token.start
        scanner.group()
        bodies.append(Span(start, scanner.last_end))
        scanner.take(",")
    return bodies


def split_attributes(text: str) -> dict[str, str]:
    """Returns the values of an attribute text such as `, dimensions={0}, to_apply=%f`, by name in order."""
    scanner = Scanner(Source("<attributes>", text))
    return {name: text[value.start : value.end] for name, _, value in scan_attributes(scanner)}


def split_operands(source: Source, span: Span) -> list[tuple[Span | None, Token]]:
    """Returns each operand's written shape, or None, and its name; raises DiagnosticError."""
    scanner = Scanner(source, span.start)
    operands: list[tuple[Span | None, Token]] = []
    while scanner.token.start < span.end:
        if operands:
            scanner.expect(",", "between operands")
        shape = scan_shape(scanner)
        if not scanner.token.is_name:
            scanner.fail(f"expected an operand, found {scanner.found()}")
        name = scanner.next()
        if scanner.at("("):
            scanner.fail(
                f"{name.text}(...) stands as an operand", name.span, "give it a name and an instruction of its own"
            )
        operands.append((shape, name))
    return operands


def read_shape_at(source: Source, span: Span) -> Shape:
    """Returns the shape at a span of a source; an error's span points into that source."""
    text = without_comments(source.text[span.start : span.end])
    try:
        return parse_shape(text)
    except DiagnosticError as error:
        raise DiagnosticError(_shifted(d, source, span.start) for d in error.diagnostics) from None


def _shifted(diagnostic: Diagnostic, source: Source, offset: int) -> Diagnostic:
    assert diagnostic.location is not None  # the shape parser places every error
    location = Location(source, diagnostic.location.span.shifted(offset))
    return Diagnostic(diagnostic.message, location, diagnostic.severity, diagnostic.hint)
