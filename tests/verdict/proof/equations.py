"""Equations of rules: parsed, and written as expressions over arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.verdict.proof import expressions as ex
from tests.verdict.proof.expressions import E

_TOKEN = re.compile(r"\s*(-?\d+(?:\.\d+)?|[a-z][a-z-]*(?:\[\w+\])?|[(),])")
_SIZE = 64
_VARIABLES = {"x": 0, "y": 1, "z": 2, "p": 3, "q": 4}
_BOUNDS = {
    "s8": (-128, 127),
    "u8": (0, 255),
    "s32": (-(1 << 31), (1 << 31) - 1),
    "u32": (0, (1 << 32) - 1),
    "s64": (-(1 << 63), (1 << 63) - 1),
    "pred": ("false", "true"),
}


def sides(equation: str, kind: str) -> tuple[E, E]:
    """Returns both sides of an equation over arrays of a type."""
    left, right = equation.split(" = ")
    return expression(left, kind), expression(right, kind)


_PARAMETERS: dict[tuple[str, str], E] = {}


def expression(text: str, kind: str) -> E:
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == text.replace(" ", ""), text
    found, rest = _parsed(tokens, kind)
    assert not rest, text
    return found


def _parsed(tokens: Sequence[str], kind: str) -> tuple[E, Sequence[str]]:
    head, rest = tokens[0], tokens[1:]
    if list(rest[:1]) != ["("]:
        return _leaf(head, kind), rest
    operands: list[E] = []
    while rest[0] != ")":
        operand, rest = _parsed(rest[1:], kind)
        operands.append(operand)
    name, _, attribute = head.rstrip("]").partition("[")
    if name == "compare":
        return ex.compare(attribute, *operands), rest[1:]
    if name == "convert":
        return ex.convert(operands[0], kind if attribute == "x" else attribute), rest[1:]
    if name == "select":
        return ex.select(*operands), rest[1:]
    return E(name, operands[0].type if name != "clamp" else operands[1].type, operands[-1].dims, tuple(operands)), rest[
        1:
    ]


def _leaf(word: str, kind: str) -> E:
    if word in _VARIABLES:
        own = "pred" if word in "pq" else kind
        return _PARAMETERS.setdefault((word, own), ex.parameter(_VARIABLES[word], own, (_SIZE,)))
    if word in ("true", "false"):
        return ex.full("pred", word, (_SIZE,))
    if word in ("lowest", "highest"):
        low, high = _BOUNDS.get(kind, ("-inf", "inf"))
        return ex.full(kind, low if word == "lowest" else high, (_SIZE,))
    if word in ("zeros", "ones"):
        ones = {"pred": "true", "u8": 255, "u32": (1 << 32) - 1}.get(kind, -1)
        zeros = "false" if kind == "pred" else 0
        return ex.full(kind, zeros if word == "zeros" else ones, (_SIZE,))
    return ex.full(kind, word, (_SIZE,))
