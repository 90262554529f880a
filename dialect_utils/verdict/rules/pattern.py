"""Patterns of expressions, parsed from text such as `select(compare[LT](x, y), y, x)`.

Operations on whole arrays are in the form of `terms/primitives.py`: `reduce[add](x, y)` is the sum of [kept, reduced]
with the initial value y. The fields of a label are words, or names: a letter is the same field everywhere, and `*` is
the rest of the label.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.ops import named

# variable: matches any expression. constant: any constant (c, d, e). number: one given constant. each: an elementwise
# operation. whole: an operation on whole arrays. empty: an array without elements.
Kind = Literal["variable", "constant", "number", "empty", "each", "whole"]

VARIABLES, TRUTHS, CONSTANTS = "xyzw", "pqr", "cde"
# Variables of types of their own, A and B.
_TYPED = {"a": "A", "b": "B"}
_TOKEN = re.compile(r"\s*(-?\d+(?:\.\d+)?|[a-z][a-z\d-]*(?:\[[\w* ]+\])?|[(),])")
# Forms of terms, not opcodes. repeat: an array that repeats a scalar, or the scalar. as: the operand where it has
# the type, else its conversion.
_FORMS = frozenset({"any-order", "as", "choice", "repeat"})
# Operations on whole arrays.
_WHOLE = _FORMS | named("convolution dot reduce reduce-window reshape")
# Operations whose first field is the type of the result.
_RESULT_FIRST = ("as", "convolution", "dot")
# Operations whose result has the type of their second operand.
_TYPED_BY_SECOND = ("select", "clamp")
_REREAD = "bitcast-convert"
_CONVERSIONS = ("convert", _REREAD)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A variable, a constant, or an operation on patterns.

    `type` names the element type: T is the type of variables and numbers, U and V are written in brackets
    (`convert[U](x)`); `pred` and other lower-case names are themselves. A comparison has a direction. `fields` are the
    fields of the label after the opcode.
    """

    kind: Kind
    name: str
    type: str
    operands: tuple[Pattern, ...] = ()
    direction: str = ""
    is_total: bool = False
    fields: tuple[str, ...] = ()

    def label(self, types: Mapping[str, ElementType]) -> object:
        """Returns the label of the operation's term."""
        return (_REREAD, types[self.type]) if self.name == _REREAD else self.root

    @property
    def root(self) -> Hashable:
        """Returns the opcode, with the direction and the order of a comparison; what terms are looked up by."""
        return ("compare", self.direction, self.is_total) if self.name == "compare" else self.name

    def parts(self) -> Iterator[Pattern]:
        """Yields the pattern and all patterns in it."""
        yield self
        for operand in self.operands:
            yield from operand.parts()

    def __str__(self) -> str:
        if self.kind not in ("each", "whole"):
            return self.name
        typed = [self.type] if self.name in (*_CONVERSIONS, *_RESULT_FIRST) else []
        attribute = f"[{' '.join((*typed, *self.fields))}]" if typed or self.fields else ""
        if self.direction:
            attribute = f"[{self.direction} TOTAL]" if self.is_total else f"[{self.direction}]"
        return f"{self.name}{attribute}({', '.join(map(str, self.operands))})"


def element_type(name: str, types: Mapping[str, ElementType]) -> ElementType | None:
    """Returns the type that a type name stands for; None for a name that is not bound."""
    return types.get(name) or ELEMENT_TYPES.get(name)


def parse_pattern(text: str) -> Pattern:
    """Returns the pattern of a text; raises ValueError."""
    tokens = _TOKEN.findall(text)
    if "".join("".join(tokens).split()) != "".join(text.split()):
        raise ValueError(f"{text!r} is not a pattern")
    found, rest = _parsed(tokens)
    if rest:
        raise ValueError(f"{text!r} goes on after {found}")
    return found


def _parsed(tokens: Sequence[str]) -> tuple[Pattern, Sequence[str]]:
    head, rest = tokens[0], tokens[1:]
    if list(rest[:1]) != ["("]:
        return _leaf(head), rest
    operands: list[Pattern] = []
    while rest[0] != ")":
        operand, rest = _parsed(rest[1:])
        operands.append(operand)
    name, _, attribute = head.rstrip("]").partition("[")
    return _operation(name, attribute, _typed(name, operands)), rest[1:]


def _leaf(word: str) -> Pattern:
    if word in VARIABLES:
        return Pattern("variable", word, "T")
    if word in TRUTHS:
        return Pattern("variable", word, "pred")
    if word in _TYPED:
        return Pattern("variable", word, _TYPED[word])
    if word == "empty":
        return Pattern("empty", word, "T")
    if word in CONSTANTS:
        return Pattern("constant", word, "T")
    return Pattern("number", word, "pred" if word in ("true", "false") else "T")


def _typed(name: str, operands: Sequence[Pattern]) -> tuple[Pattern, ...]:
    """Returns operands, where numbers get the type of the other operands."""
    others = [each.type for each in operands[name == "select" :] if each.kind != "number"]
    return tuple(
        replace(each, type=others[0]) if others and each.kind == "number" and each.type == "T" else each
        for each in operands
    )


def _operation(name: str, attribute: str, operands: tuple[Pattern, ...]) -> Pattern:
    if name == "compare":
        direction, _, order = attribute.partition(" ")
        return Pattern("each", name, "pred", operands, direction, order == "TOTAL")
    if name in _CONVERSIONS:
        return Pattern("each", name, attribute, operands)
    if name in _WHOLE:
        return _whole(name, attribute.split(), operands)
    if name in ("complex", "real", "imag"):
        # One of T and U is a complex type, the other is the type of its parts.
        return Pattern("each", name, "U" if operands[0].type == "T" else "T", operands)
    if name == "is-finite":
        return Pattern("each", name, "pred", operands)
    return Pattern("each", name, operands[1 if name in _TYPED_BY_SECOND else 0].type, operands)


def _whole(name: str, fields: Sequence[str], operands: tuple[Pattern, ...]) -> Pattern:
    if name in _RESULT_FIRST:
        return Pattern("whole", name, fields[0], operands, fields=tuple(fields[1:]))
    return Pattern("whole", name, operands[int(name == "choice")].type, operands, fields=tuple(fields))
