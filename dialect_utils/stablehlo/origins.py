"""Positions and names in the original text, and diagnostics of MLIR's errors.

MLIR keeps each operation's position in the text as its location, unless the text gives one with `loc(...)`. Such a
text is parsed a second time with every `loc(...)` blanked, and our objects keep the positions of that parse. MLIR
drops the names of values, which are in the text before their operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dialect_utils.stablehlo.bindings import ir, operation_names
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, all_nearest

# MLIR's name of a text in memory.
_IN_MEMORY = re.compile(r'"-":(\d+):(\d+)')
_DEEPEST_LOCATION = 100
_QUIET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|//[^\n]*|(?<![\w$.#%@!-])(?P<location>(?:#[\w$.-]+\s*=\s*)?loc\()')
_PARENTHESIS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[()]')
_RESULT_NAMES = re.compile(r"((?:%[\w$.\-]+(?::\d+)?\s*,\s*)*%[\w$.\-]+(?::\d+)?)\s*=\s*$")
_NAME_BEHIND = re.compile(r"[\w$.]+\s*$")
_VALUE_NAME = re.compile(r"%([\w$.\-]+)")
_WORD = re.compile(r'"[^"\n]*"|[%@#]?[\w$.\-]+|.')
# The use of a symbol, plain or quoted.
SYMBOL = re.compile(r'@(?:([\w$.\-]+)|"([^"]*)")')

# The line of a new operation whose `like` is in no text.
NOWHERE = 0
# The begin of a note in which MLIR lists all dialects.
_DIALECT_LIST = "Available dialects:"
# An operation in the syntax of a dialect that jaxlib lacks, or a type of one as an operand or result.
_OTHER_DIALECT = re.compile(
    r"Dialect `(\w+)' not found|'\w+\.\w+' op (?:operand|result) .*but got '[^']*!(?!stablehlo|mhlo)\"?(\w+)"
)
_UNKNOWN_OPERATION = re.compile(r"(?:custom op|unregistered operation) '([\w.]+)'")
_MOST_SUGGESTIONS = 3
_GENERIC = "operations in generic form are kept, as --mlir-print-op-generic prints them"
# Advice for C++ programs.
ADVICE = re.compile(r"\.? If this is intended, please .*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Origin:
    """A 1-based line and column (in bytes) of the text, and the name of a new operation."""

    line: int
    column: int
    name: str | None = None


def blank_locations(text: str) -> str:
    """Returns the text with every `loc(...)` and its aliases replaced by as many spaces."""
    pieces, position = [], 0
    for match in _QUIET.finditer(text):
        if match["location"] is None or match.start() < position:
            continue
        end = _closing(text, match.end())
        pieces.append(text[position : match.start()])
        pieces.append(re.sub(r"[^\n]", " ", text[match.start() : end]))
        position = end
    return "".join([*pieces, text[position:]])


def _closing(text: str, start: int) -> int:
    depth = 1
    for match in _PARENTHESIS.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


def origin_of(location: ir.Location) -> Origin | None:
    """Returns the line and column of a location in the original text, or None."""
    innermost = _innermost(location)
    found = None if innermost is None else _IN_MEMORY.search(str(innermost))
    return Origin(int(found[1]), int(found[2])) if found else None


def _innermost(location: ir.Location) -> ir.Location | None:
    """Returns the innermost first location, or None for a location that nests deeply.

    The text of a location is not read: call sites of call sites may double it at each step.
    """
    inner: object = location
    for _ in range(_DEEPEST_LOCATION):
        if isinstance(inner, ir.FusedLoc):
            inner = next(iter(inner.locations), None)
        elif isinstance(inner, ir.CallSiteLoc):
            inner = inner.callee
        elif isinstance(inner, ir.NameLoc):
            inner = inner.child_loc
        else:
            return inner if isinstance(inner, ir.Location) else None
    return None


def location_of(source: Source, origin: Origin | None) -> Location | None:
    """Returns the location of the word at an origin, or None without an origin."""
    if origin is None or origin.line == NOWHERE:
        return None
    start = _start(source, origin.line, origin.column)
    word = _WORD.match(source.text, start)
    return Location(source, Span(start, word.end() if word else min(start + 1, len(source.text))))


def _start(source: Source, line: int, column: int) -> int:
    """Returns the offset of an operation's name; MLIR's position of a `reduce` is the parenthesis after it."""
    offset = _offset(source, line, column)
    if source.text[offset : offset + 1] != "(":
        return offset
    name = _NAME_BEHIND.search(source.text, source.offset(line, 1), offset)
    return name.start() if name else offset


def _offset(source: Source, line: int, column: int) -> int:
    start = source.offset(line, 1)
    if source.text.isascii():
        return source.offset(line, column)
    characters = source.line(line).encode()[: column - 1].decode(errors="ignore")
    return min(start + len(characters), len(source.text))


def result_name(source: Source, origin: Origin, index: int) -> str | None:
    """Returns the name of result `index` of the operation at an origin: `a`, or `a#1` of a pack."""
    end = _start(source, origin.line, origin.column)
    found = _RESULT_NAMES.search(source.text, source.offset(origin.line, 1), end)
    if found is None:
        return None
    for part in found[1].split(","):
        name, _, count = part.strip().removeprefix("%").partition(":")
        size = int(count or 1)
        if index < size:
            return f"{name}#{index}" if count else name
        index -= size
    return None


def argument_name(source: Source, origin: Origin) -> str | None:
    """Returns the name of the block argument at an origin."""
    found = _VALUE_NAME.match(source.text, _offset(source, origin.line, origin.column))
    return found[1] if found else None


def blocks_of(operation: ir.Operation) -> list[ir.Block]:
    """Returns the blocks of all regions of an operation."""
    return [block for region in operation.regions for block in region.blocks]


def walk(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yields an operation and everything in it, in the order of the text."""
    yield operation
    for block in blocks_of(operation):
        for nested in block.operations:
            yield from walk(nested.operation)


def copy_operations(operations: Sequence[Any], values: dict[Any, Any]) -> None:
    """Copies operations to the current insertion point.

    `values` maps each value to its replacement in the copies; the results of the copies are added to it.
    """
    for operation in operations:
        copy = operation.clone()
        for each in walk(copy):
            for number, value in enumerate(each.operands):
                if value in values:
                    each.operands[number] = values[value]
        values.update(zip(operation.results, copy.results, strict=True))


def diagnostics_of(error: ir.MLIRError, source: Source) -> tuple[Diagnostic, ...]:
    """Returns the diagnostics of an MLIR error, with MLIR's own messages."""
    found = tuple(_diagnostic(info, source) for info in error.error_diagnostics)
    return found or (Diagnostic(str(error).strip()),)


def _diagnostic(info: ir.DiagnosticInfo | ir.Diagnostic, source: Source) -> Diagnostic:
    notes = (note for note in info.notes if not note.message.startswith(_DIALECT_LIST))
    severity: ir.DiagnosticSeverity = info.severity
    message, hint = _in_our_words(re.sub(r"\s+", " ", info.message).strip())
    return Diagnostic(
        message,
        location_of(source, origin_of(info.location)),
        "note" if severity in (ir.DiagnosticSeverity.NOTE, ir.DiagnosticSeverity.REMARK) else "error",
        hint,
        tuple(replace(_diagnostic(note, source), severity="note") for note in notes),
    )


def _in_our_words(message: str) -> tuple[str, str | None]:
    """Returns MLIR's message with a hint about a misspelt operation, or our own for a module of another dialect."""
    operation = _UNKNOWN_OPERATION.match(message)
    if operation is not None:
        close = all_nearest(operation[1], operation_names())[:_MOST_SUGGESTIONS]
        return message, f"did you mean {' or '.join(close)}?" if close else None
    if message.startswith("redefinition of symbol"):
        return message, "opt --split-input-file reads modules that // ----- separates"
    found = _OTHER_DIALECT.match(message)
    if found is None:
        return ADVICE.sub("", message), None
    return f"{found[1] or found[2]} is a dialect that is not read here", _GENERIC if found[1] else None


@contextmanager
def captured(context: ir.Context, source: Source) -> Iterator[list[Diagnostic]]:
    """Collects the messages that MLIR would write to standard error, as notes."""
    found: list[Diagnostic] = []

    def keep(info: ir.Diagnostic) -> bool:
        found.append(replace(_diagnostic(info, source), severity="note"))
        return True

    handler: Any = context.attach_diagnostic_handler(keep)
    try:
        yield found
    finally:
        handler.detach()


def moved_to(error: DiagnosticError, source: Source, near: Location | None) -> DiagnosticError:
    """Returns an error about an annotation's text, moved to the first occurrence of that text after `near`.

    Without an occurrence the location is `near` itself.
    """
    return DiagnosticError(tuple(replace(d, location=_moved(d, source, near)) for d in error.diagnostics))


def _moved(diagnostic: Diagnostic, source: Source, near: Location | None) -> Location | None:
    inner = diagnostic.location
    if inner is None or near is None or inner.source is source:
        return inner if inner is not None and inner.source is source else near
    start = source.text.find(f'"{inner.source.text}"', near.span.start)
    span = Span(inner.span.start, max(inner.span.end, inner.span.start + 1))
    return near if start < 0 else Location(source, span.shifted(start + 1))
