"""Splits the text of one instruction, one computation header or one list of attributes.

One regular expression (`line_pattern`) splits the common line of a dump; the token scanner
splits everything else. Source: xla/hlo/parser/hlo_parser.cc (ParseInstruction, ParseComputation).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from dialect_utils.hlo.text.tokens import STRING, Kind, Scanner, Token, repeated
from dialect_utils.layout import Shape, parse_shape
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, without_comments

# Spelt out: a character set with \w takes twice the time.
_NAME = r"[A-Za-z_][A-Za-z0-9_.\-]*+"
_PLAIN = r"[^()\r\n\"'/]*+" + repeated(r"/\*index=\d+\*/[^()\r\n\"'/]*+")
_ARRAY = r"[a-z0-9]++\[[^\]\r\n/]*+\](?:\{[^{}\r\n/]*+\})?+"
# A tuple's text ends at the first `) opcode`, which cannot be inside a shape.
_TUPLE = r"\(" + repeated(r"[^\r\n\"'/=%)]++|\)(?! [a-z])|/\*index=\d+\*/") + r"\)"


# Attribute values whose end needs no scanner: words, strings, names, and brackets without parentheses, so without
# instructions. JSON of a few levels is among them.
_WORD = r"[A-Za-z0-9_.\-%>]++"
_STRING = r"\"[^\"\\\r\n]*+\""
_FLAT = r"[^{}()\[\]\"'\r\n/=%]"
_NAMES = rf"\{{%?+{_NAME}{repeated(f', %?+{_NAME}')}\}}"
# Nested braces, as in XLA's configurations; `is_closed` checks deeper ones.
_LEVELS = 1


def _braced(levels: int) -> str:
    flat = rf"{_FLAT}++|{_STRING}|(?<! )=(?! )"
    inner = f"|{_braced(levels - 1)}" if levels else ""
    return r"\{" + repeated(rf"{flat}{inner}|\[{repeated(flat + inner)}\]") + r"\}"


_SIMPLE_VALUE = rf"(?:{_WORD}|{_braced(_LEVELS)}|{_STRING}|{_NAMES})"
_REST = repeated(r", [a-z_\-]++=[^\r\n]*+", "?")
_SIMPLE = repeated(rf", [a-z_\-]++={_SIMPLE_VALUE}(?=[,\r\n])")


# Attribute values that the scanner also reads as one value: brackets of a few levels around anything but comments
# and unpaired quotes, and parentheses around sizes of tiles only.
_INNER = rf"[^{{}}()\[\]\"'/]++|\([\d,]++\)|{STRING}"
_NESTING = 3


def _bracketed(levels: int) -> str:
    inner = _INNER + (f"|{_bracketed(levels - 1)}" if levels else "")
    return rf"\{{{repeated(inner)}\}}|\[{repeated(inner)}\]"


# A word or a number, and `->` with another one after it: `b0f_0io->b0f`, `0bf_io0->0bf`.
_TOKEN_VALUE = r"%?+[A-Za-z][\w.\-]*+(?>(?:(?<=-)>[a-z0-9][\w.]*+)?)|-?+\d[\w.]*+(?>(?:->[a-z0-9][\w.]*+)?)"
_VALUE = rf"{_TOKEN_VALUE}|{_bracketed(_NESTING)}|{STRING}|\[[\d,]++\]<=\[[\d,]++\]"


@functools.cache
def attribute_pattern(name: str = r"[A-Za-z_][\w.]*+(?>(?:-[\w.]++)*)") -> re.Pattern[str]:
    """Returns the pattern of an attribute, by default one of any name, whose end needs no scanner to find.

    Groups: name, value.
    """
    return re.compile(rf", ({name})=({_VALUE})(?=, |\Z)", re.ASCII)


# Metadata as XLA prints most of it: texts without escapes, and numbers. Group: the value.
PLAIN_METADATA = re.compile(
    r", metadata=(\{(?:(?:op_name|op_type|source_file)=\"[^\"\\]*+\" ?"
    r"|(?:source_(?:end_)?(?:line|column)|stack_frame_id)=\d{1,9} ?)*+\})(?=, |\Z)",
    re.ASCII,
)


@functools.cache
def line_pattern(sigil: str) -> re.Pattern[str]:
    """Returns the pattern of a line, which begins with the line break before it.

    Groups: ROOT, name, shape, opcode, operands, attributes, and the part of the attributes that is
    not simple. All are empty for a line without the common form of a dump with this prefix of names.
    """
    left = rf"\r?\n[ \t]*+(ROOT )?+{sigil}({_NAME})"
    right = rf"({_ARRAY}|{_TUPLE}) ([a-z][a-z0-9\-]*+)\(({_PLAIN})\)({_SIMPLE}({_REST}))"
    return re.compile(rf"(?:{left} = {right}|\r?\n[^\r\n]*+)(?=\r?\n)", re.ASCII)


# Groups: shape, name with its sigil, elements of its tuple.
OPERAND = re.compile(repeated(rf"({_ARRAY}|{_TUPLE}) ", "?") + rf"%?+({_NAME})((?>(?:#\d{{1,9}})*))(?:, |\Z)", re.ASCII)

_PLAIN_ARRAY = re.compile(r"[a-z][a-z0-9]*+\[[0-9,]*+\](?>(?:\{[0-9:][^{}\r\n/\"']*+\})?)(?=[,)}])", re.ASCII)

# Groups: ROOT, sigil, name, shape, opcode, operands.
_PARTS = re.compile(
    rf"(ROOT )?+(%?+)({_NAME}) = ({_ARRAY}|{_TUPLE}) ([a-z][a-z0-9\-]*+)\(({_PLAIN})\)(?=[,\r\n])", re.ASCII
)

# Groups: white space, ENTRY, name with its sigil, signature.
HEADER_LINE = re.compile(
    rf"([\r\n]*+)(ENTRY )?+(%?+{_NAME}) ((?:\([^\r\n\"'/]*(?:/\*index=\d+\*/[^\r\n\"'/]*)* )?)\{{(?=\r?\n)", re.ASCII
)

FOOTER_LINE = re.compile(rf"(\r?\n[ \t]*+)\}}(?=[ \t\r\n]*+(?:%|ENTRY |{_NAME} |\Z))", re.ASCII)


@dataclass(slots=True)
class InstructionText:
    """The split text of one instruction."""

    is_root: bool
    name: Token
    shape: Span | None
    opcode: Token
    operands: Span
    # Name, span of the name and span of the value.
    attributes: list[tuple[str, Span, Span]]
    end: int


# The last characters of a line that continues on the next line.
_OPEN_ENDS = frozenset(", \t=<")


def is_closed(attributes: str) -> bool:
    """Is true where an attribute text certainly ends with its line and contains no second instruction.

    It is false where a string, a comment, a bracket or a list may continue on the next line; the scanner decides then.
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
    """Reads one instruction and leaves the scanner after it; raises DiagnosticError."""
    is_root = scanner.token.kind == "word" and scanner.token.text == "ROOT" and scanner.peek().is_name
    if is_root:
        scanner.next()
    if not scanner.token.is_name:
        scanner.fail(f"expected an instruction, found {scanner.found()}")
    name = scanner.next()
    if not scanner.at("="):
        scanner.fail(f"expected '=' after {name.text}, found {scanner.found()}")
    if name.kind == "word" and scanner.token.start == name.end:
        hint = f"write {name.text} = or %{name.text} ="
        scanner.fail(f"{name.text}= without a space is an attribute name", Span(name.start, name.end + 1), hint)
    scanner.next()
    shape = scan_shape(scanner)
    if scanner.token.kind != "word":
        scanner.fail(f"expected an opcode, found {scanner.found()}")
    opcode = scanner.next()
    if not scanner.at("("):
        scanner.fail(f"expected '(' after {opcode.text}, found {scanner.found()}")
    group = scanner.group()
    attributes = scan_attributes(scanner)
    operands = Span(group.start + 1, group.end - 1)
    return InstructionText(is_root, name, shape, opcode, operands, attributes, scanner.last_end)


def scan_parts(source: Source, head: int) -> InstructionText:
    """Splits the text of an instruction that was read before, without its attributes."""
    match = _PARTS.match(source.text, head)
    if match is None:
        return scan_instruction(Scanner(source, head))
    kind: Kind = "name" if match[2] else "word"
    name = Token(kind, match[3], match.start(2), match.end(3))
    opcode = Token("word", match[5], *match.span(5))
    return InstructionText(match[1] is not None, name, Span(*match.span(4)), opcode, Span(*match.span(6)), [], -1)


def scan_shape(scanner: Scanner) -> Span | None:
    """Moves over a shape and returns its span, or None where there is no shape."""
    start = scanner.token.start
    plain = _PLAIN_ARRAY.match(scanner.text, start)
    if plain is not None:
        scanner.seek(plain.end())
        return Span(*plain.span())
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

    With `atoms` a value is one token or one bracketed group, as after `HloModule` and `}`. Each name occurs once.
    """
    attributes: list[tuple[str, Span, Span]] = []
    known: set[str] = set()
    while scanner.at(","):
        scanner.next()
        name = scanner.token
        if name.kind != "word":
            scanner.fail(f"expected an attribute name, found {scanner.found()}")
        if name.text in known:
            scanner.fail(f"the attribute {name.text} is given twice", name.span)
        known.add(name.text)
        scanner.next()
        if not scanner.at("=") or scanner.token.start != name.end:
            scanner.fail(f"expected '=' directly after the attribute name {name.text}, found {scanner.found()}")
        scanner.next()
        attributes.append((name.text, name.span, _scan_value(scanner, name, atoms)))
    return attributes


def _scan_value(scanner: Scanner, name: Token, atoms: bool) -> Span:
    start = scanner.token.start
    first = True
    is_mesh = scanner.token.text == "mesh" and not atoms
    while (is_mesh and _continues_mesh(scanner)) or (not _ends_value(scanner, first) and (first or not atoms)):
        if scanner.token.kind == "mark" and scanner.token.text in "([{":
            scanner.group()
        else:
            scanner.next()
        first = False
    if first:
        scanner.fail(f"attribute {name.text} has no value", name.span)
    return Span(start, scanner.last_end)


def _continues_mesh(scanner: Scanner) -> bool:
    """Is true at the comma of `mesh['x'=2], device_ids=(1,0) {'x'}`, or after it."""
    return scanner.token.text == "device_ids" or (scanner.at(",") and scanner.peek().text == "device_ids")


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
    """Returns the spans of the inline computations in an attribute's value.

    `to_apply={p = ...}` holds one computation, `branch_computations={{p = ...}, {q = ...}}` holds several.
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
    """Returns the values of an attribute text such as `, dimensions={0}, to_apply=%f`, by name in order.

    Raises DiagnosticError for any other text, or for an attribute that is given twice.
    """
    found = attribute_pattern().findall(text)
    by_name = dict(found)
    is_whole = sum([len(name) + len(value) for name, value in found]) + len(", =") * len(found) == len(text)
    if is_whole and len(by_name) == len(found):
        return by_name
    scanner = Scanner(Source("<attributes>", text))
    return {name: text[value.start : value.end] for name, _, value in scan_attributes(scanner)}


@dataclass(frozen=True, slots=True)
class OperandText:
    """The split text of one operand: a name, a tuple element (`%t#1#0`), or a whole instruction."""

    shape: Span | None
    # The name, or the opcode of a whole instruction.
    name: Token
    path: tuple[Token, ...]
    # The text between the parentheses of a whole instruction.
    inner: Span | None
    span: Span


def split_operands(source: Source, span: Span) -> list[OperandText]:
    """Returns the operands that a text names; raises DiagnosticError."""
    scanner = Scanner(source, span.start)
    operands: list[OperandText] = []
    while scanner.token.start < span.end:
        if operands:
            scanner.expect(",", "between operands")
        start = scanner.token.start
        shape = scan_shape(scanner)
        if not scanner.token.is_name:
            scanner.fail(f"expected an operand, found {scanner.found()}")
        name, path, inner = scanner.next(), [], None
        while scanner.take("#"):
            if scanner.token.kind != "number":
                scanner.fail(f"expected the number of a tuple's element, found {scanner.found()}")
            path.append(scanner.next())
        if scanner.at("(") and name.kind == "word" and not path:
            group = scanner.group()
            inner = Span(group.start + 1, group.end - 1)
        operands.append(OperandText(shape, name, tuple(path), inner, Span(start, scanner.last_end)))
    return operands


def read_shape_at(source: Source, span: Span) -> Shape:
    """Returns the shape at a span of a source; an error's span points into that source."""
    try:
        return _known_shape(source.text[span.start : span.end])
    except DiagnosticError as error:
        raise DiagnosticError(_shifted(d, source, span.start) for d in error.diagnostics) from None


@functools.lru_cache(maxsize=4096)
def _known_shape(text: str) -> Shape:
    return parse_shape(without_comments(text))


def _shifted(diagnostic: Diagnostic, source: Source, offset: int) -> Diagnostic:
    assert diagnostic.location is not None  # the shape parser locates every error
    location = Location(source, diagnostic.location.span.shifted(offset))
    return Diagnostic(diagnostic.message, location, diagnostic.severity, diagnostic.hint)
