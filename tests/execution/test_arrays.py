"""Arrays of every element type convert to bits and back."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution import from_bits
from dialect_utils.execution.arrays import bits_type, from_plain, is_numpy_type, to_bits, to_plain
from dialect_utils.layout import ELEMENT_TYPES, ElementType, parse_array_shape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import DiagnosticError

KINDS = [kind for kind in ELEMENT_TYPES.values() if kind.name not in ("token", "opaque", "c128")]


def all_bits(kind: ElementType) -> np.ndarray:
    """Returns every bit pattern of a narrow type, and some of a wide one."""
    if kind.name == "pred":
        return np.array([0, 1], np.uint8)
    if kind.bits <= 8:
        return np.arange(1 << kind.bits, dtype=bits_type(kind))
    drawn = np.random.default_rng(3).integers(0, 1 << min(kind.bits, 63), 64, np.uint64, endpoint=False)
    return drawn.astype(bits_type(kind))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_bits_come_back(kind: ElementType) -> None:
    bits = all_bits(kind)
    array = from_bits(bits, kind)
    assert array.dtype == dtype_of(kind)
    assert np.array_equal(to_bits(array, kind), bits)
    shape = parse_array_shape(f"{kind}[{len(bits)}]")
    again = from_plain(to_plain(array, kind), shape, "in0")
    assert np.array_equal(to_bits(again, kind), bits)
    assert is_numpy_type(kind) or to_plain(array, kind).dtype.kind in "iu"


def test_both_halves_of_a_wide_complex_number() -> None:
    kind = ELEMENT_TYPES["c128"]
    array = np.array([complex(1, -0.0)])
    assert to_bits(array, kind).tolist() == [[0x3FF0 << 48, 1 << 63]]
    assert to_bits(from_bits(to_bits(array, kind), kind), kind).tolist() == to_bits(array, kind).tolist()


@pytest.mark.parametrize(("name", "numbers"), [("s4", range(-8, 8)), ("u4", range(16)), ("s2", range(-2, 2))])
def test_narrow_integers_keep_their_values(name: str, numbers: range) -> None:
    kind = ELEMENT_TYPES[name]
    bits = np.array([number % (1 << kind.bits) for number in numbers], np.uint8)
    assert from_bits(bits, kind).astype(np.int32).tolist() == list(numbers)
    # ml_dtypes sign-extends a negative number in its byte.
    assert from_bits(bits, kind).view(np.int8).tolist() == list(numbers)


@pytest.mark.parametrize(
    ("text", "array", "message"),
    [
        ("s4[2]", np.array([7, 8], np.int8), "outside -8 to 7"),
        ("s4[2]", np.array([-9, 0], np.int8), "outside -8 to 7"),
        ("u2[2]", np.array([0, 4], np.uint8), "outside 0 to 3"),
        ("pred[2]", np.array([0, 2], np.uint8), "other uint8 than 0 and 1"),
        ("f32[2]", np.zeros(2), "has the type float64"),
        ("bf16[2]", np.zeros(2, np.int16), "has the type int16"),
        ("f32[2]", np.zeros((2, 1), np.float32), r"has the dimensions \[2, 1\]"),
    ],
)
def test_other_dimensions_types_and_ranges_are_rejected_by_name(text: str, array: np.ndarray, message: str) -> None:
    with pytest.raises(DiagnosticError, match=f"in3 .*{message}"):
        from_plain(array, parse_array_shape(text), "in3")
