"""Reads and writes the texts of single attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dialect_utils.hlo.text.tokens import Scanner, without_comments
from dialect_utils.text import Source

# As many digits as an int64 has.
_INTS = re.compile(r"\s*(?:\{\s*(?:-?\d{1,19}\s*(?:,\s*-?\d{1,19}\s*)*)?\}|-?\d{1,19})\s*", re.ASCII)
_INT = re.compile(r"-?\d+", re.ASCII)
_PATH = r"\{((?>(?:(?<!\d)\d{1,9}(?!\d)|[,\s])*))\}"
_ALIAS = re.compile(rf"{_PATH}\s*:\s*\(\s*(\d{{1,9}})\s*,\s*{_PATH}", re.ASCII)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_SIMPLE_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}

# XLA prints these last, in this order (HloInstruction::PrintExtraAttributes and Print).
_LAST = ("sharding", "frontend_attributes", "control-predecessors", "metadata", "backend_config")


def with_attribute(attributes: Mapping[str, str], name: str, text: str) -> dict[str, str]:
    """Returns attributes with one changed, or added where XLA prints it."""
    if name in attributes or name == _LAST[-1]:
        return {**attributes, name: text}
    later = _LAST[_LAST.index(name) + 1 :] if name in _LAST else _LAST
    earlier = {key: value for key, value in attributes.items() if key not in later}
    return {**earlier, name: text, **attributes}


def parse_ints(text: str) -> tuple[int, ...] | None:
    """Returns the integers of `{1,0}` or of a lone `1`, or None for any other text."""
    text = without_comments(text)
    if not _INTS.fullmatch(text):
        return None
    return tuple(map(int, _INT.findall(text)))


def parse_aliases(text: str) -> tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...]:
    """Returns (result index path, parameter number, parameter index path) of an input_output_alias text."""
    return tuple(
        (_index_path(match[1]), int(match[2]), _index_path(match[3]))
        for match in _ALIAS.finditer(without_comments(text))
    )


def _index_path(text: str) -> tuple[int, ...]:
    return tuple(map(int, _INT.findall(text)))


def parse_frontend_attributes(text: str) -> dict[str, str]:
    """Returns the values of `{a="x",b={...}}` by name; strings are unescaped, braces kept."""
    scanner = Scanner(Source("<frontend_attributes>", text))
    scanner.expect("{", "before frontend attributes")
    values: dict[str, str] = {}
    while not scanner.take("}"):
        if values:
            scanner.expect(",", "between frontend attributes")
        name = scanner.next().text
        scanner.expect("=", f"after the frontend attribute {name}")
        if scanner.at("{"):
            start = scanner.token.start
            scanner.group()
            values[name] = text[start : scanner.last_end]
        else:
            values[name] = unescape(scanner.next().text[1:-1])
    return values


def format_frontend_attributes(values: Mapping[str, str]) -> str:
    """Returns `{a="x",b={...}}`, the inverse of `parse_frontend_attributes`."""
    return "{" + ",".join(f"{name}={_frontend_value(value)}" for name, value in values.items()) + "}"


def _frontend_value(value: str) -> str:
    # XLA prints a value in braces as it is and reads it back so.
    return value if value.startswith("{") and value.endswith("}") else f'"{escape(value)}"'


def escape(text: str) -> str:
    """Returns a string as it is between quotes (absl::CEscape for what HLO text holds)."""
    for char, name in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(char, name)
    return text


def unescape(text: str) -> str:
    """Returns the string between quotes (absl::CUnescape)."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    body = match[1]
    if body[0] == "x" and len(body) > 1:
        return chr(int(body[1:], 16) & 0xFF)
    if body[0] in "01234567":
        return chr(int(body, 8) & 0xFF)
    return _SIMPLE_ESCAPES.get(body, body)
