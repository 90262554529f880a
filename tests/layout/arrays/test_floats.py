"""The limits of floats, and numbers without the subnormal ones."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.arrays.floats import (
    digits,
    epsilon,
    largest,
    moderate,
    smallest_normal,
    ulps_of,
    without_subnormals,
)


@pytest.mark.parametrize(("name", "bits"), [("f16", 11), ("bf16", 8), ("f32", 24), ("f64", 53)])
def test_limits_are_those_of_the_format(name: str, bits: int) -> None:
    kind = ELEMENT_TYPES[name]
    assert (digits(kind), epsilon(kind)) == (bits, 2.0 ** (1 - bits))
    assert largest(kind) == float(ml_dtypes.finfo(dtype_of(kind)).max)
    assert ulps_of(np.array([1.0, 3.0]), kind).tolist() == [epsilon(kind), 2 * epsilon(kind)]
    assert ulps_of(np.array([0.0]), kind)[0] == smallest_normal(kind) * epsilon(kind)


def test_subnormal_numbers_become_zeros_of_their_sign() -> None:
    tiny = np.float32(2**-126)
    array = np.array([tiny, tiny / 2, -tiny / 2, 0, -0.0, np.inf, np.nan], np.float32)
    found = without_subnormals(array)
    assert found.tolist()[:6] == [float(tiny), 0, 0, 0, 0, np.inf]
    assert np.signbit(found).tolist()[:5] == [False, False, True, False, True]
    assert np.isnan(found[6])
    assert without_subnormals(np.array([1, 2])).tolist() == [1, 2]
    assert without_subnormals(np.array([complex(tiny / 2, 1)], np.complex64)).tolist() == [1j]


def test_moderate_numbers_keep_their_signs_zeros_and_infinities() -> None:
    found = moderate(np.array([1e30, -1e-30, 0, np.inf, 3], np.float32))
    most = float(np.finfo(np.float32).max) ** (1 / 16)
    assert found.tolist() == pytest.approx([most, -1 / most, 0, np.inf, 3])
