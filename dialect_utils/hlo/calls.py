"""Knows which attributes name computations.

Source: xla/hlo/parser/hlo_parser.cc (attributes of type kHloComputation and
kBracedHloComputationList).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dialect_utils.hlo.grammar import without_strings
from dialect_utils.hlo.tokens import without_comments

_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)", re.ASCII)
_CALLING_ATTRIBUTES_NAMES = (
    "to_apply calls body condition branch_computations true_computation false_computation called_computations "
    "select scatter comparator generator computation"
)
_CALLING_ATTRIBUTES = frozenset(_CALLING_ATTRIBUTES_NAMES.split())
_CALL = re.compile(rf",\s*+({'|'.join(sorted(_CALLING_ATTRIBUTES))})=\s*+(\{{[^{{}}]*+\}}|%?[\w.\-]++)", re.ASCII)
_APPLYING_ATTRIBUTES = frozenset(("to_apply", "select", "scatter", "comparator"))
# `call` names its computation with to_apply, but hands over whole arrays.
_WHOLE_ARRAY_OPCODES = frozenset(("call", "async-start", "custom-call"))
# The opcodes that may name computations without `%`.
CALLING_OPCODES_NAMES = (
    "all-reduce all-reduce-start async-start async-update async-done call call-start conditional custom-call "
    "custom-call-start fusion fusion-start map reduce reduce-scatter reduce-scatter-start reduce-window scatter "
    "select-and-scatter sort while"
)
CALLING_OPCODES = frozenset(CALLING_OPCODES_NAMES.split())


def is_calling(attribute: str) -> bool:
    """Is true for an attribute that names computations."""
    return attribute in _CALLING_ATTRIBUTES


def is_applying(opcode: str, attribute: str) -> bool:
    """Is true where the op applies the named computation per element."""
    return attribute in _APPLYING_ATTRIBUTES and opcode not in _WHOLE_ARRAY_OPCODES


def called_in(tail: str) -> list[tuple[str, str]]:
    """Returns what `called_names` returns, from an attribute text that is not split."""
    code = without_comments(without_strings(tail) or "")
    return [
        (match[1], name)
        for match in _CALL.finditer(code)
        # Inside braces a name means something else.
        if code.count("{", 0, match.start()) == code.count("}", 0, match.start())
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
