"""Where things are in the text that was read: MLIR's own places, and names it forgets.

MLIR keeps a place in the text as the location of every operation, unless the text gives one
with `loc(...)`: then the text is read a second time with every `loc(...)` blanked, and the
places of that reading are kept beside the operations. The name of a value, which MLIR drops,
is in the text before its operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialect_utils.stablehlo.bindings import ir
from dialect_utils.text import Location, Source, Span

# The name under which MLIR knows a text that was handed over in memory.
_IN_MEMORY = re.compile(r'"-":(\d+):(\d+)')
_QUIET = re.compile(r'"(?:[^"\\]++|\\.)*+"|//[^\n]*|(?<![\w$.#%@!-])(?P<location>(?:#[\w$.-]+\s*=\s*)?loc\()')
_PARENTHESIS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[()]')
_RESULT_NAMES = re.compile(r"((?:%[\w$.\-]+(?::\d+)?\s*,\s*)*%[\w$.\-]+(?::\d+)?)\s*=\s*$")
_NAME_BEHIND = re.compile(r"[\w$.]+\s*$")
_VALUE_NAME = re.compile(r"%([\w$.\-]+)")
_WORD = re.compile(r'"[^"\n]*"|[%@#]?[\w$.\-]+|.')


# The line of what was made for something that is in no text.
NOWHERE = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """A 1-based line and column (in bytes) of the text, and the name given to what was made for it."""

    line: int
    column: int
    name: str | None = None


def blank_locations(text: str) -> str:
    """Returns the text with spaces in place of every `loc(...)` and its aliases; the same length."""
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


def place_of(location: ir.Location) -> Origin | None:
    """Returns the line and column of a location in the text that was read, or None."""
    found = _IN_MEMORY.search(str(location))
    return Origin(int(found[1]), int(found[2])) if found else None


def location_of(source: Source, origin: Origin | None) -> Location | None:
    """Returns the location of the word at an origin, or None where there is none."""
    if origin is None or origin.line == NOWHERE:
        return None
    start = _start(source, origin.line, origin.column)
    word = _WORD.match(source.text, start)
    return Location(source, Span(start, word.end() if word else min(start + 1, len(source.text))))


def _start(source: Source, line: int, column: int) -> int:
    """Returns the offset of an operation's name; MLIR's place of a `reduce` is the parenthesis after it."""
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
    """Returns the name of result `index` of the operation at a place: `a`, or `a#1` of a pack."""
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
    """Returns the name of the block argument at a place."""
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
