"""Texts of shapes for fuzzing: from the grammar with good and bad values, real ones with edits, and random pieces."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from dialect_utils.layout import ELEMENT_TYPES
from tests.layout.shapes import GIVEN

SEEDS = [
    *(str(shape) for shape in GIVEN),
    "f32[3,5]{1,0:T(2,2)#(u32)*(u64)E(32)S(3)SC(0:1)M(1)}",
    "(f32[2]{0}, (s32[], token[]), b(f32[4]{0:T(128)}), opaque[])",
    "f32[<=5,?]{1,0:D(D,C+~)T(8,128)L(1024)}",
]
_BRACKETS = ("f32[", "s4[", "pred[]", "token[]", "b(", "(", ")", "[", "]", "{", "}", ":", ",", "{1,0:", "{:", "<=", "?")
_PARTS = (
    "T(",
    "T(8,128)",
    "(2,1)",
    "D(D,C)",
    "L(0)",
    "L(-1)",
    "#(u32)",
    "*(u64)",
    "E(4)",
    "S(1)",
    "SC(0:2)",
    "P(",
    "M(7)",
)
_VALUES = ("*", "d", "-1", "0", "1", "7", "9223372036854775807", "9" * 40, "9" * 5000)
_BLANKS = ("/*", "/* x */", "// y", "\0", "é", "\N{FULLWIDTH DIGIT THREE}", "\xa0", " ", "\n")
PIECES = (*_BRACKETS, *_PARTS, *_VALUES, *_BLANKS)
_SMALL_EDITS = (*",:*d()[]{}0123456789-TLESMCD#", " ", "\n", "")
# Values that occasionally replace a small number.
_ODD_NUMBERS = ("-1", "0", "-0", "007", "9223372036854775807", "9223372036854775808", "?", "*", "d", "", "+1")


def draw_text(source: Random) -> str:
    """Draws a text: half from the grammar, the rest real shapes with edits, and pieces in any order."""
    kind = source.random()
    if kind < 0.5:
        return _Grammar(source).shape()
    if kind < 0.65:
        return _edited(source, _SMALL_EDITS, 1)
    if kind < 0.85:
        return _edited(source, PIECES, 3)
    return "".join(source.choices(PIECES, k=source.randrange(1, 14)))


def _edited(source: Random, edits: tuple[str, ...], most: int) -> str:
    text = source.choice(SEEDS)
    for _ in range(source.randrange(most) + 1):
        start = source.randrange(len(text) + 1)
        end = min(len(text), start + source.randrange(3))
        text = text[:start] + source.choice(edits) + text[end:]
    return text


class _Grammar:
    """A generator of one text by the rules of the grammar; one text in three has invalid values."""

    def __init__(self, source: Random) -> None:
        self.source = source
        self.oddity = source.choice((0.0, 0.0, 0.1))

    def _maybe(self, chance: float) -> bool:
        return self.source.random() < chance

    def _number(self, low: int, high: int) -> str:
        if self._maybe(self.oddity):
            return self.source.choice(_ODD_NUMBERS)
        return str(self.source.randint(low, high))

    def _list(self, items: list[str]) -> str:
        comma = self.source.choice((",", ",", ", ", " ,/* c */ "))
        return comma.join(items)

    def _name(self) -> str:
        if self._maybe(self.oddity):
            return self.source.choice(("F32", "f33", "float", "tuple", "b", "token", "opaque"))
        return self.source.choice(tuple(ELEMENT_TYPES))

    def shape(self, depth: int = 0) -> str:
        kind = self.source.random()
        if kind < 0.1 and depth < 3:
            return f"({self._list([self.shape(depth + 1) for _ in range(self.source.randrange(8))])})"
        if kind < 0.13:
            return self.source.choice(("token[]", "opaque[]", f"b({self.shape(depth + 1)})"))
        rank = self.source.randrange(5)
        dims = [self.source.choice(("", "", "", "<=")) + self._number(0, 9) for _ in range(rank)]
        if rank and self._maybe(0.05):
            dims[0] = "?"
        return f"{self._name()}[{self._list(dims)}]{self._layout(rank) if self._maybe(0.9) else ''}"

    def _layout(self, rank: int) -> str:
        order = [str(i) for i in self.source.sample(range(rank), rank)]
        if order and self._maybe(self.oddity):
            order[0] = self._number(0, rank)
        parts = [part() for part, chance in self._parts(rank) if self._maybe(chance)]
        if self._maybe(self.oddity):
            self.source.shuffle(parts)
        body = self.source.choice(("", "", " ")).join(parts)
        return "{" + self._list(order) + (":" + body if body or not rank else "") + "}"

    def _parts(self, rank: int) -> list[tuple[Callable[[], str], float]]:
        number = self._number
        return [
            (lambda: "D(" + self._list([self.source.choice("DCSH") for _ in range(rank)]) + ")", 0.03),
            (lambda: "T" + "".join(self._tile() for _ in range(self.source.randrange(1, 4))), 0.7),
            (lambda: f"L({number(1, 2048)})", 0.15),
            (lambda: f"#({self.source.choice(('u8', 'u32', 'u64', 's32'))})", 0.1),
            (lambda: f"*({self.source.choice(('u8', 'u32', 'u64', 's32'))})", 0.1),
            (lambda: f"E({number(0, 64)})", 0.2),
            (lambda: f"S({number(0, 6)})", 0.2),
            (lambda: f"SC({number(0, max(0, rank - 1))}:{self._list([number(0, 9)])})", 0.1),
            (lambda: f"M({number(0, 9)})", 0.1),
        ]

    def _tile(self) -> str:
        return "(" + self._list([*self._majors(), self._number(1, 9)]) + ")"

    def _majors(self) -> list[str]:
        draw = self.source.random
        return [
            "*" if draw() < 0.15 else "d" if draw() < 0.05 else self._number(1, 9)
            for _ in range(self.source.randrange(4))
        ]
