"""Rules that give layouts to values by name, type, rank and opcode, read from a TOML file.

    [[rule]]
    name = "kv_cache*"                # a glob over the value's name
    type = "bf16"                     # an element type
    rank = 4
    opcode = "parameter"              # HLO's spelling, in both dialects
    layout = "{3,2,1,0:T(8,128)(2,1)}"

The first rule of which all keys match decides; a value without a matching rule keeps its layout.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from dialect_utils.ir import Value
from dialect_utils.layout import ArrayShape, Layout, parse_element_type, parse_layout
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, nearest, read_input

_KINDS: dict[str, type] = {"name": str, "type": str, "rank": int, "opcode": str, "layout": str}


@dataclass(frozen=True, slots=True)
class LayoutRule:
    """A rule that gives `layout` to the values that match; a key of None matches every value."""

    layout: Layout
    name: str | None = None
    element_type: str | None = None
    rank: int | None = None
    opcode: str | None = None

    def matches(self, value: Value, shape: ArrayShape) -> bool:
        """Is true if all keys of the rule match a value and one array of it, of shape `shape`."""
        opcode = value.operation.opcode if value.operation is not None else "parameter"
        return (
            (self.name is None or fnmatchcase(value.name, self.name))
            and (self.element_type is None or self.element_type == shape.element_type.name)
            and (self.rank is None or self.rank == shape.rank)
            and (self.opcode is None or self.opcode == opcode)
            and len(self.layout.minor_to_major) == shape.rank
        )


def read_layout_rules(path: Path) -> tuple[LayoutRule, ...]:
    """Reads a rules file; raises DiagnosticError at the first error in the file."""
    try:
        text = read_input(str(path)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DiagnosticError(Diagnostic(f"{path}: byte {error.start} is no UTF-8")) from None
    source = Source(str(path), text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_error(source, error) from None
    unknown = [key for key in document if key != "rule"]
    rules = document.get("rule", [])
    if unknown or not isinstance(rules, list):
        key = unknown[0] if unknown else "rule"
        raise _error(source, key, f"a rules file holds [[rule]] tables, found {key!r}", "write [[rule]]")
    return tuple(_rule(source, table, number) for number, table in enumerate(rules))


def _rule(source: Source, table: dict[str, Any], number: int) -> LayoutRule:
    for key, value in table.items():
        kind = _KINDS.get(key)
        if kind is None:
            close = nearest(key, _KINDS)
            raise _error(source, key, f"rule {number} has the unknown key {key!r}", f"write {close or list(_KINDS)}")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _error(source, key, f"{key} of rule {number} must be of type {kind.__name__}, found {value!r}")
    if "layout" not in table:
        raise DiagnosticError(Diagnostic(f"{source.name}: rule {number} gives no layout"))
    try:
        if "type" in table:
            parse_element_type(table["type"])
        layout = parse_layout(table["layout"])
    except DiagnosticError as error:
        raise _within(source, table, error) from None
    return LayoutRule(layout, table.get("name"), table.get("type"), table.get("rank"), table.get("opcode"))


def _within(source: Source, table: dict[str, Any], error: DiagnosticError) -> DiagnosticError:
    """Returns an error of parsing a layout, with the location moved to the layout's text in the file."""
    found = error.diagnostics[0]
    text = table["layout"] if found.location is not None else table.get("type", "")
    start = source.text.find(text)
    span = found.location.span.shifted(start) if found.location is not None else Span(start, start + len(text))
    return DiagnosticError(Diagnostic(found.message, Location(source, span), hint=found.hint))


def _error(source: Source, word: str, message: str, hint: str | None = None) -> DiagnosticError:
    start = max(0, source.text.find(word))
    return DiagnosticError(Diagnostic(message, Location(source, Span(start, start + len(word))), hint=hint))


def _toml_error(source: Source, error: tomllib.TOMLDecodeError) -> DiagnosticError:
    # On Python 3.11 to 3.13 only the message of tomllib's error holds the location.
    found = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
    message = str(error)[: found.start()] if found else str(error).removesuffix(" (at end of document)")
    offset = source.offset(int(found.group(1)), int(found.group(2))) if found else len(source.text)
    return DiagnosticError(Diagnostic(message[:1].lower() + message[1:], Location(source, Span(offset, offset + 1))))
