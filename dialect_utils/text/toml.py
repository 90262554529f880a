"""TOML files of users: read with a diagnostic at the place of a mistake, and checked against the known keys."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialect_utils.text.diagnostics import Diagnostic, DiagnosticError, Source, Span, error_at, meant
from dialect_utils.text.input_file import read_input

_ARTICLED = "an integer", "a number", "a string", "true or false", "an array", "a table"
_KINDS = dict(zip((int, float, str, bool, list, dict), _ARTICLED, strict=True))


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file: its values, its title in messages, and where it begins in the text."""

    source: Source
    values: Mapping[str, Any]
    title: str
    start: int = 0

    def check(self, keys: Mapping[str, type], needed: Sequence[str] = ()) -> None:
        """Raises DiagnosticError for an unknown key, a value of another type, or a key that is missing."""
        for key, value in self.values.items():
            kind = keys.get(key)
            if kind is None:
                hint = meant(key, keys, f"it may have {', '.join(keys)}")
                raise self.error(key, f"{self.title} has the unknown key {key!r}", hint)
            fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
            if not fits or (isinstance(value, bool) and kind is not bool):
                message = f"{key} of {self.title} must be {_KINDS[kind]}, found {value!r}"
                raise self.error(key, message, _correction(key, value, kind))
        for key in needed:
            if key not in self.values:
                raise self.error("", f"{self.title} has no {key}", f"{key} is {_KINDS[keys[key]]}")

    def tables(self, key: str) -> list[Table]:
        """Returns the tables `[key]` or `[[key]]`; raises DiagnosticError where a value is none."""
        found = self.values.get(key, [])
        listed = found if isinstance(found, list) else [found]
        if not all(isinstance(each, dict) for each in listed):
            raise self.error(key, f"{key} is a table, not {found!r}", f"write [{key}]")
        head = re.compile(rf"^[ \t]*\[+\s*{re.escape(key)}\s*\]", re.MULTILINE)
        heads = [each.start() for each in head.finditer(self.source.text)]
        starts = heads if len(heads) == len(listed) else [self.start] * len(listed)
        numbers = range(len(listed))
        return [Table(self.source, listed[i], f"{key} {i}" if len(listed) > 1 else key, starts[i]) for i in numbers]

    def error(self, word: str, message: str, hint: str | None = None) -> DiagnosticError:
        """Returns an error at a key of the table, or at its beginning."""
        written = re.compile(rf"^[^#\n]*?(?<![\w.-])({re.escape(word)})[\"']?\s*[=.\]]", re.MULTILINE)
        found = written.search(self.source.text, self.start) if word else None
        span = Span(self.start, self.start + 1) if found is None else Span(*found.span(1))
        return error_at(self.source, span, message, hint)


def _correction(key: str, value: object, kind: type) -> str | None:
    """Returns a hint for a value that lacks brackets, or has quotation marks."""
    if kind is int and isinstance(value, float) and value.is_integer():
        return f"write {key} = {int(value)}"
    if kind is list and not isinstance(value, dict):
        return f"write {key} = [{json.dumps(value, default=str)}]"
    if kind is str and not isinstance(value, dict | list):
        return f'write {key} = "{value}"'
    if kind not in (int, float, bool) or not isinstance(value, str):
        return None
    is_right = re.fullmatch(r"true|false" if kind is bool else r"[+-]?\d[\d_]*(\.\d*)?([eE][+-]?\d+)?", value)
    return f"write {key} = {value}" if is_right else "write it without quotation marks or a unit"


def read_toml(file: str, hint: str | None = None) -> Table:
    """Reads a TOML file; raises DiagnosticError where it is none, at the place that tomllib's message ends with."""
    source = Source(file, read_input(file).decode("utf-8", "surrogateescape"))
    try:
        return Table(source, tomllib.loads(source.text), "the file")
    except RecursionError:
        raise DiagnosticError(Diagnostic(f"{file}: its values nest too deep")) from None
    except ValueError as error:  # int() raises it, too, and tomllib forwards it
        place = re.fullmatch(r"(.)(.*) \((?:at line (\d+), column (\d+)|at end of document)\)", str(error))
    if place is None:
        raise DiagnosticError(Diagnostic(f"{file}: holds a number that is too long"))
    offset = source.offset(int(place[3]), int(place[4])) if place[3] else len(source.text.rstrip())
    twice = re.fullmatch(r"annot declare \('(\w+)',\) twice", place[2])
    hint = f"rename one, or write [[{twice[1]}]] for a list of tables" if twice else hint
    raise error_at(source, Span(offset, offset + 1), f"no TOML: {place[1].lower()}{place[2]}", hint)
