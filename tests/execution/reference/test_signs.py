"""Negate and abs change the sign bit alone: the payload of a NaN stays."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution.arrays import from_bits, to_bits
from dialect_utils.execution.reference import elementwise
from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ELEMENT_TYPES

WITH_SIGN = [name for name, form in FLOAT_FORMATS.items() if form.specials in ("ieee", "fn", "finite")]


@pytest.mark.parametrize("name", WITH_SIGN)
def test_sign_operations_change_one_bit(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    width = min(kind.bits, 16)
    # Of wide formats the highest 16 bits vary: they hold the sign, the exponent and part of a NaN's payload.
    bits = np.arange(1 << width, dtype=np.uint64) << np.uint64(kind.bits - width) | np.uint64(kind.bits > width)
    bits = bits.astype(f"u{kind.storage_bytes}")
    sign = bits.dtype.type(1 << (kind.bits - 1))
    array = from_bits(bits, kind)
    for opcode, expected in (("negate", bits ^ sign), ("abs", bits & ~sign)):
        assert np.array_equal(to_bits(elementwise.each(opcode, kind, [array]), kind), expected), opcode
