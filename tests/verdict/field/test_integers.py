"""Integers whose values are known, against Python's: at the ends of each type."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.field import integers
from dialect_utils.verdict.field.draw import Draw

DRAW = Draw.of(3)


def quotient(a: int, b: int) -> int:
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "divide": quotient,
    "remainder": lambda a, b: a - quotient(a, b) * b,
    "maximum": max,
    "minimum": min,
    "and": int.__and__,
    "or": int.__or__,
    "xor": int.__xor__,
}


@pytest.mark.parametrize("kind", ["s4", "s8", "u8", "s32", "u32", "s64"])
@pytest.mark.parametrize("opcode", OPERATIONS)
def test_known_integers_are_computed(opcode: str, kind: str) -> None:
    element_type = ELEMENT_TYPES[kind]
    bits = element_type.bits
    low, high = (0, (1 << bits) - 1) if element_type.is_unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    edges = (low, low + 1, low // 2, -1, 0, 1, 2, 3, 7, high // 2, high - 1, high)
    values = sorted({each for each in edges if low <= each <= high})
    pairs = [(a, b) for a, b in product(values, repeat=2) if b or opcode not in ("divide", "remainder")]
    sides = [integers.known(DRAW, np.array(side, np.int64), element_type) for side in zip(*pairs, strict=True)]
    found = integers.apply(opcode, element_type, sides)
    assert found.is_known
    assert found.words.tolist() == [OPERATIONS[opcode](a, b) % (1 << bits) for a, b in pairs]


def test_a_division_by_zero_is_not_known() -> None:
    s32 = ELEMENT_TYPES["s32"]
    sides = [integers.known(DRAW, np.array(each), s32) for each in ([1, 2], [0, 1])]
    assert not integers.apply("divide", s32, sides).known.any()
