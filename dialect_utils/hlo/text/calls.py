"""Knows which attributes name computations.

Source: xla/hlo/parser/hlo_parser.cc (attributes of type kHloComputation and
kBracedHloComputationList).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dialect_utils.hlo.text.grammar import without_strings
from dialect_utils.hlo.text.tokens import without_comments
from dialect_utils.ops import calling_attributes, calling_opcodes

_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)", re.ASCII)
_CALLING_ATTRIBUTES = calling_attributes()
_CALL = re.compile(rf",\s*+({'|'.join(sorted(_CALLING_ATTRIBUTES))})=\s*+(\{{[^{{}}]*+\}}|%?[\w.\-]++)", re.ASCII)
# The opcodes that may name computations without `%`.
CALLING_OPCODES = calling_opcodes()


def is_calling(attribute: str) -> bool:
    """Is true for an attribute that names computations."""
    return attribute in _CALLING_ATTRIBUTES


def called_in(tail: str) -> list[tuple[str, str]]:
    """Returns what `called_names` returns, from an attribute text that is not split."""
    found = list(_CALL.finditer(tail))
    if not found:
        return []
    quote, slash = tail.find('"'), tail.find("/")
    if -1 < quote < found[-1].start() or -1 < slash < found[-1].end():
        # What is in a string or a comment calls nothing.
        tail = without_comments(without_strings(tail) or "")
        found = list(_CALL.finditer(tail))
    return [
        (match[1], name)
        for match in found
        # Inside braces a name means something else.
        if tail.count("{", 0, match.start()) == tail.count("}", 0, match.start())
        for name in names_in(match[2])
    ]


def called_names(attributes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns (attribute, computation name) for every computation that attributes name, in order."""
    return [
        (attribute, name)
        for attribute, text in attributes.items()
        if attribute in _CALLING_ATTRIBUTES
        for name in names_in(text)
    ]


def names_in(text: str) -> list[str]:
    """Returns the names in `%a` or `{%a, %b}`, without `%`."""
    return _NAME.findall(text)


def renamed(text: str, old: str, new: str) -> str:
    """Returns an attribute text in which one name stands for another."""
    return _NAME.sub(lambda match: match[0].replace(old, new) if match[1] == old else match[0], text)
