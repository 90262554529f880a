"""Whether the text of a constant holds as many numbers as its shape has elements, and whether its type has them.

Source: xla/hlo/parser/hlo_parser.cc, ParseDenseLiteral and CheckParsedValueIsInRange.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dialect_utils.hlo.text.literals import FLOAT_FORMATS, integer_range, parse_integer, parse_scalar
from dialect_utils.layout import ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.layout.shape import UNBOUNDED
from dialect_utils.text import without_comments

# The parts of a complex number are in parentheses.
_TOKEN = re.compile(r"\{|\}|,|\([^()]*\)|[^\s{},()]+(?:\([^()]*\))?|\S")
_PUNCTUATION = re.compile(r"[(){},]")
_NAN = re.compile(r"[-+]?nan(?:\(0x[0-9a-fA-F]+\))?", re.IGNORECASE)
_WORDS = frozenset({"true", "false"})
_ELIDED, _IN_BRACES = "...", re.compile(r"\{\s*\.\.\.\s*\}")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# Most numbers are short, and fit these types without a closer look.
_SHORT_DECIMAL = re.compile(r"-?\d{1,18}(?:\.\d*)?(?:[eE][+-]?[01]?\d)?", re.ASCII)
_WIDE = frozenset({"f64", "f32", "bf16"})


def literal_problem(text: str, shape: Shape) -> str | None:
    """Returns why a text, `{...}` for many numbers, is not the literal of a shape, or None."""
    if _ELIDED in text and isinstance(shape, ArrayShape) and not shape.rank:
        return f"the literal nests deeper than {_bare(shape)}"
    if _ELIDED in _IN_BRACES.sub("", text):
        return "the literal leaves numbers out, but not in braces as {...}"
    return None if _ELIDED in text else _problem(without_comments(text).strip(), shape)


def _problem(text: str, shape: Shape) -> str | None:
    if isinstance(shape, TupleShape):
        return _tuple_problem(text, shape)
    if not isinstance(shape, ArrayShape):
        return f"{shape} has no literal"
    # A literal fills the bounds of dynamic dimensions.
    return None if UNBOUNDED in shape.dimensions else _array_problem(text, shape)


def _tuple_problem(text: str, shape: TupleShape) -> str | None:
    if not (text.startswith("(") and text.endswith(")")):
        return f"the literal of {shape.without_layout} is not in parentheses"
    parts = _parts(text[1:-1])
    if len(parts) != len(shape.elements):
        return f"the literal has {len(parts)} parts, but {shape.without_layout} has {len(shape.elements)}"
    found = (_problem(part.strip(), element) for part, element in zip(parts, shape.elements, strict=True))
    return next((problem for problem in found if problem is not None), None)


def _parts(text: str) -> list[str]:
    """Returns the parts of a text between commas that are in no braces or parentheses."""
    parts, depth, start = [], 0, 0
    for found in _PUNCTUATION.finditer(text):
        mark = found[0]
        depth += (mark in "({") - (mark in ")}")
        if mark == "," and not depth:
            parts.append(text[start : found.start()])
            start = found.end()
    rest = text[start:]
    return [*parts, rest] if parts or rest.strip() else []


def _array_problem(text: str, shape: ArrayShape) -> str | None:
    tokens = _TOKEN.findall(text)
    # XLA reads a lone number where an array's literal is as the first element; the others are 0.
    is_first_only = len(tokens) == 1 and shape.rank > 0 and shape.element_count > 0
    walk = _Walk(shape, is_first_only=is_first_only and not shape.element_type.is_complex)
    for token in tokens:
        problem = walk.take(token)
        if problem is not None:
            return problem
    if not walk.is_first_only and (walk.counts or walk.numbers != shape.element_count):
        return f"the literal has {walk.numbers} elements, but {_bare(shape)} has {shape.element_count}"
    return None


@dataclass(slots=True)
class _Walk:
    """A walk through the braces and numbers of a literal: how many elements each open brace has so far."""

    shape: ArrayShape
    counts: list[int] = field(default_factory=list)
    numbers: int = 0
    is_first_only: bool = False

    def take(self, token: str) -> str | None:
        """Checks the next token: returns its problem, or None."""
        if token == "{":
            if len(self.counts) == self.shape.rank:
                return f"the literal nests deeper than {_bare(self.shape)}"
            if self.counts:
                self.counts[-1] += 1
            self.counts.append(0)
            return None
        if token == "}":
            if not self.counts:
                return "the literal closes a brace that it did not open"
            needed = self.shape.dimensions[len(self.counts) - 1]
            found = self.counts.pop()
            return None if found == needed else f"a row of the literal has {found} elements, but needs {needed}"
        return None if token == "," else self._number(token)

    def _number(self, token: str) -> str | None:
        if len(self.counts) != self.shape.rank and not self.is_first_only:
            return f"the literal does not nest as {_bare(self.shape)} does"
        if self.counts:
            self.counts[-1] += 1
        self.numbers += 1
        return _number_problem(token, self.shape.element_type)


def _bare(shape: ArrayShape) -> ArrayShape:
    return shape.without_layout


def _number_problem(token: str, element_type: ElementType) -> str | None:
    if token in _WORDS:
        # XLA's parser ends the process here (`F32 is not PRED type`).
        return None if element_type.name == "pred" else f"{token} is not a {element_type}"
    if element_type.is_complex:
        parts = token[1:-1].split(",")
        if not token.startswith("(") or len(parts) != 2:
            return f"{token} is not a {element_type}: write (real, imaginary)"
        problems = (_float_problem(part.strip(), element_type.part) for part in parts)
        return next((problem for problem in problems if problem is not None), None)
    if element_type.is_integral or element_type.name == "pred":
        value = parse_integer(token)
        if value is None:
            return f"{token} is not a {element_type}"
        if element_type.name == "pred":
            return None
        low, high = integer_range(element_type)
        return None if low <= value <= high else f"{token} is out of the range {low} to {high} of {element_type}"
    return _float_problem(token, element_type)


def _float_problem(token: str, element_type: ElementType) -> str | None:
    if _NAN.fullmatch(token):
        payload, form = token.rpartition("(0x")[2].rstrip(")"), FLOAT_FORMATS[element_type.name]
        if "(" not in token or form.specials == "finite":
            return None
        if form.specials != "ieee":
            return f"{token[:40]} has a NaN payload, but {element_type} has one NaN"
        if 0 < int(payload, 16) < 1 << form.mantissa_bits:
            return None
        return f"{token[:40]} has a payload of more than the {form.mantissa_bits} bits of {element_type}, or none"
    if _SHORT_DECIMAL.fullmatch(token) and element_type.name in _WIDE:
        return None
    try:
        parse_scalar(element_type, token)
    except ValueError:
        is_number = _NUMBER.fullmatch(token)
        return f"{token[:40]} is {'out of the range of' if is_number else 'not a'} {element_type}"
    return None
