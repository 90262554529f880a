"""Reads the tables of file names and stack frames after a module's header; they stay text.

Source: xla/hlo/parser/hlo_parser.cc. Either all four tables follow the header, in this order, or none does.
"""

from __future__ import annotations

import re
from functools import cache

from dialect_utils.hlo.text.tokens import Scanner, Token, repeated
from dialect_utils.text import Source

# The fields of an entry; an entry without fields is a string.
_TABLES = {
    "FileNames": (),
    "FunctionNames": (),
    "FileLocations": ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column"),
    "StackFrames": ("file_location_id", "parent_frame_id"),
}
_INT32 = range(-(1 << 31), 1 << 31)
_LONGEST_INT32 = 11


def end_of_tables(source: Source, start: int) -> int:
    """Returns the end of the tables at `start`, or `start` where none is; raises DiagnosticError for a wrong table."""
    scanner = Scanner(source, start)
    if scanner.token.text != next(iter(_TABLES)):
        return start
    for name, fields in _TABLES.items():
        if scanner.token.text != name:
            scanner.fail(f"expected the table {name}, found {scanner.found()}")
        scanner.next()
        while True:
            # Most entries are written as XLA prints them.
            match = _entries(fields).match(source.text, scanner.last_end)
            if match is not None and match.end() > scanner.last_end:
                scanner.seek(match.end())
            if scanner.token.kind != "number":
                break
            _scan_entry(scanner, fields)
    return scanner.last_end


@cache
def _entries(fields: tuple[str, ...]) -> re.Pattern[str]:
    written = " ".join(rf"{field}=\d{{1,9}}" for field in fields)
    value = rf"\{{{written}\}}" if fields else r"\"[^\"\\\n]*+\""
    return re.compile(repeated(rf"\s*+\d++ {value}"), re.ASCII)


def _is_integer(token: Token) -> bool:
    return token.kind == "number" and token.text.removeprefix("-").isdecimal()


def _scan_entry(scanner: Scanner, fields: tuple[str, ...]) -> None:
    if not _is_integer(scanner.token):
        scanner.fail(f"expected the number of an entry, found {scanner.found()}")
    number = scanner.next()
    if not fields:
        if scanner.token.kind != "string":
            scanner.fail(f"entry {number.text} expects a string, found {scanner.found()}")
        scanner.next()
        return
    scanner.expect("{", f"before the fields of entry {number.text}")
    found: set[str] = set()
    while not scanner.take("}"):
        field = scanner.token
        if field.text not in fields or field.text in found:
            expected = ", ".join(each for each in fields if each not in found) or "'}'"
            scanner.fail(f"entry {number.text} expects {expected}, found {scanner.found()}")
        found.add(scanner.next().text)
        scanner.expect("=", f"after {field.text}")
        value = scanner.token.text
        if not _is_integer(scanner.token) or len(value) > _LONGEST_INT32 or int(value) not in _INT32:
            scanner.fail(f"{field.text} expects an integer of 32 bits, found {scanner.found()}")
        scanner.next()
        scanner.take(",")
    missing = [each for each in fields if each not in found]
    if missing:
        scanner.fail(f"entry {number.text} has no {', '.join(missing)}", number.span)
