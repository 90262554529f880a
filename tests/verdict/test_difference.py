import numpy as np
import pytest

from dialect_utils.execution import from_bits
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Tolerance, first_difference

F32 = ELEMENT_TYPES["f32"]


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_first_difference_in_row_major_order() -> None:
    a = np.zeros((2, 3), np.int16)
    b = a.copy()
    b[1, 0], b[1, 2] = -1, 7
    found = first_difference(4, a, b, ELEMENT_TYPES["s16"])
    assert found is not None
    assert (found.output, found.index, found.bits) == (4, (1, 0), ("0x0000", "0xffff"))
    assert (found.values, found.differing, found.elements) == (("0", "-1"), 2, 6)


def test_zeros_of_both_signs_differ() -> None:
    assert first_difference(0, f32(0.0), f32(-0.0), F32) is not None


@pytest.mark.parametrize(
    ("name", "bits"), [("f32", [0x7FC00000, 0xFFC00001]), ("bf16", [0x7FC0, 0xFFC1]), ("f8e5m2", [0x7E, 0xFD])]
)
def test_nans_are_equal_whatever_their_bits(name: str, bits: list[int]) -> None:
    element_type = ELEMENT_TYPES[name]
    a, b = (from_bits(np.array([pattern]), element_type) for pattern in bits)
    assert first_difference(0, a, b, element_type) is None
    assert first_difference(0, a, np.zeros(1).astype(dtype_of(element_type)), element_type) is not None


def test_parts_of_complex_numbers_are_compared_singly() -> None:
    a, b = (np.array([complex(float("nan"), imaginary)], np.complex64) for imaginary in (1, 2))
    assert first_difference(0, a, b, ELEMENT_TYPES["c64"]) is not None
    assert first_difference(0, a, a, ELEMENT_TYPES["c64"]) is None


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("bits", (1.0, 1.0), (1.0, 1.0000001)),
        ("ulp:1", (1.0, 1.0000001), (1.0, 1.0000003)),
        ("ulp:2", (1e-45, -1e-45), (3e-45, -3e-45)),
        ("rel:0.1", (10.0, 9.0), (10.0, 8.9)),
        ("rel:0.1", (float("inf"), float("inf")), (float("inf"), 3e38)),
    ],
)
def test_tolerances(text: str, same: tuple[float, float], other: tuple[float, float]) -> None:
    tolerance = Tolerance.parse(text)
    assert first_difference(0, f32(same[0]), f32(same[1]), F32, tolerance) is None
    assert first_difference(0, f32(other[0]), f32(other[1]), F32, tolerance) is not None


@pytest.mark.parametrize("text", ["", "ulps:1", "ulp:-1", "ulp:x", "rel:nan", "rel:-1", "rel:"])
def test_other_tolerances_are_refused(text: str) -> None:
    with pytest.raises(DiagnosticError, match="hint: write auto, bits, ulp:N, rel:X or of-largest:X"):
        Tolerance.parse(text)


@pytest.mark.filterwarnings("error")
def test_signaling_nans_are_no_warning() -> None:
    signaling, quiet = (np.array([bits], np.uint32).view(np.float32) for bits in (0x7F800001, 0x7FC00000))
    assert first_difference(0, signaling, quiet, ELEMENT_TYPES["f32"]) is None
