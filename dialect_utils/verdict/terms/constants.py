"""Exact operations on constants, by the definitions on bits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import lru_cache

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.ops import named, opcode_of
from dialect_utils.verdict.rules.formats import float_bits, has, value_of

# Exact operations: the definition leaves nothing of their results to the engine.
_EXACT = named(
    "add subtract multiply divide remainder negate abs sign and or xor not maximum minimum floor ceil convert popcnt "
    "round-nearest-even round-nearest-afz clamp count-leading-zeros sqrt is-finite "
    "shift-left shift-right-logical shift-right-arithmetic"
)
_F32 = ELEMENT_TYPES["f32"]
# Larger numbers round or overflow in f32.
_LARGEST = 1 << 100
# Operations whose result has another type than their operands.
_RETYPED = named("convert is-finite")


@lru_cache(maxsize=65536)
def folded(label: Hashable, result: ElementType, operands: Sequence[tuple[ElementType, int]]) -> int | None:
    """Returns the result bits of an exact operation on constants (type, bits); None for inexact operations."""
    kinds, bits = [kind for kind, _ in operands], [each for _, each in operands]
    # Products of complex numbers are sums, which an engine rounds as it likes.
    if len({*kinds}) != 1 or kinds[0].is_complex or result.is_complex:
        return None
    if isinstance(label, tuple) and label[:1] == ("compare",) and len(label) == len(("opcode", "direction", "order")):
        return _compared(str(label[1]), kinds[0], bits) if label[2] is False and result.name == "pred" else None
    if label == ("bitcast-convert", result):
        return bits[0] if kinds[0].bits == result.bits else None
    if label == "negate" and has(result, "sign"):
        return bits[0] ^ 1 << (result.bits - 1)
    is_divided = label in ("divide", "remainder") and kinds[0].is_integral and bits[-1] == 0
    is_open = is_divided or (label == "clamp" and not result.is_integral)
    is_open |= label == "convert" and _may_round_twice(kinds[0], result, bits[0])
    # A power is exact for integers only.
    is_exact = label in _EXACT or (label == "power" and kinds[0].is_integral)
    is_whole = is_exact and len(bits) == opcode_of(str(label)).operand_count
    if not is_whole or is_open or (kinds[0] != result and label not in _RETYPED):
        return None
    return _computed(str(label), result, kinds[0], bits)


def _may_round_twice(kind: ElementType, result: ElementType, bits: int) -> bool:
    """Is true for a number that f32 rounds before it is rounded to a narrower float."""
    value = value_of(kind, bits)
    if not result.is_floating or result.bits >= _F32.bits or not isinstance(value, Fraction | int):
        return False
    exact = Fraction(value)
    return abs(exact) > _LARGEST or exact != float(exact) or float_bits(_F32, float(exact)) is None


def _computed(opcode: str, result: ElementType, kind: ElementType, bits: Sequence[int]) -> int | None:
    """Returns the result of an operation on scalars by the reference evaluator."""
    import numpy as np

    from dialect_utils.execution.reference.elementwise import each
    from dialect_utils.layout.arrays.dtypes import as_bits, dtype_of
    from dialect_utils.ops.domain import UndefinedError

    try:
        dtype = dtype_of(kind)
        arrays = [np.array([value], f"u{dtype.itemsize}").view(dtype) for value in bits]
        found = int(as_bits(np.asarray(each(opcode, result, arrays), dtype_of(result)))[0])
    except (UndefinedError, ValueError):
        return None
    return found & ((1 << result.bits) - 1)


def _compared(direction: str, kind: ElementType, bits: Sequence[int]) -> int | None:
    left, right = (value_of(kind, each) for each in bits)
    if left is None or right is None:
        return None
    below, same, above = left < right, left == right, left > right
    found = {"LT": below, "LE": below or same, "GT": above, "GE": above or same, "EQ": same, "NE": not same}
    return int(found[direction])
