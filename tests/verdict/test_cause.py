"""The cause of a difference: output, data, form and size, and the comparison of two causes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.layout import ElementType
from dialect_utils.verdict import Cause, Options, compare_modules
from dialect_utils.verdict.cause import cause_in, with_proofs
from dialect_utils.verdict.outcome import OutputProof, RealEquality
from tests.conftest import Workers

F32, S32, PRED = ElementType("f32", 32), ElementType("s32", 32), ElementType("pred", 8)
NAN, INF = np.float32(np.nan), np.float32(np.inf)
NUMBERS = Cause(1, "random data", "numbers", -3.0)


def cause(first: list[object], second: list[object], kind: ElementType = F32, dtype: object = np.float32) -> Cause:
    pair = np.array(first, dtype), np.array(second, dtype)  # type: ignore[call-overload]  # the types of this test
    return cause_in(0, "random data", pair, kind, np.ones(len(first), np.bool_))


@pytest.mark.parametrize(
    ("first", "second", "form"),
    [
        ([1, 2, NAN], [2, 3, 1], "numbers"),
        ([NAN, NAN, 1], [1, 1, 2], "NaN in the first"),
        ([NAN, 1, 2], [1, 2, 3], "numbers"),
        ([1], [NAN], "NaN in the second"),
        ([INF], [1], "infinities in the first"),
        ([1], [-INF], "infinities in the second"),
        ([INF], [-INF], "opposite infinities"),
        ([0.0], [-0.0], "zeros of opposite signs"),
        ([NAN], [NAN], "bits of NaN"),
        ([INF], [NAN], "NaN in the second"),
        # Of two forms with equally many elements, that of the first element.
        ([0.0, 1.0], [-0.0, 2.0], "zeros of opposite signs"),
        ([1.0, 0.0], [2.0, -0.0], "numbers"),
    ],
)
def test_the_form_is_the_most_frequent_one(first: list[object], second: list[object], form: str) -> None:
    assert cause(first, second).form == form


def test_the_size_is_the_median_difference() -> None:
    """Relative for floats, absolute for integers; other forms have none."""
    assert cause([1.0, 1.0, 1.0], [1.001, 1.001, 3.0]).size == pytest.approx(-3, abs=0.01)
    assert cause([1e-30], [2e-30]).size == pytest.approx(np.log10(0.5))
    assert cause([3e38], [-3e38]).size == pytest.approx(np.log10(2))
    assert cause([5, 5], [105, 106], S32, np.int32).size == pytest.approx(2, abs=0.01)
    assert cause([1 << 60], [(1 << 60) + 1], ElementType("s64", 64), np.int64).size == 0
    assert cause([True], [False], PRED, np.bool_) == Cause(0, "random data", "booleans")
    assert cause([NAN], [1]).size is None
    complex_ = cause([1 + 1j, 1], [1 + 1.001j, 1.001], ElementType("c64", 64), np.complex64)
    assert complex_.form == "numbers"
    assert complex_.size == pytest.approx(-3.1, abs=0.1)


def test_only_the_size_may_vary() -> None:
    assert NUMBERS.is_like(replace(NUMBERS, size=-2.1))
    others = [
        replace(NUMBERS, output=0),
        replace(NUMBERS, data="small whole numbers"),
        replace(NUMBERS, form="NaN in the first"),
        replace(NUMBERS, is_rounding=True),
        replace(NUMBERS, size=-1.9),
        replace(NUMBERS, size=-4.1),
        replace(NUMBERS, size=None),
    ]
    assert not any(NUMBERS.is_like(other) or other.is_like(NUMBERS) for other in others)
    assert replace(NUMBERS, size=None).is_like(replace(NUMBERS, size=None))


def test_a_proof_over_the_reals_makes_it_rounding() -> None:
    proofs = [OutputProof(0, False, "", RealEquality(False)), OutputProof(1, False, "", RealEquality(True))]
    found = with_proofs(NUMBERS, proofs)
    assert found == replace(NUMBERS, is_rounding=True)
    assert with_proofs(replace(NUMBERS, output=0), proofs) == replace(NUMBERS, output=0)
    assert with_proofs(None, proofs) is None
    text = "output 1 on random data: numbers that differ by about 0.001 of their magnitude, equal over the real numbers"
    assert str(found) == text


TEXT = """HloModule m
ENTRY e {
  x = f32[3,2] parameter(0)
  y = s32[4] parameter(1)
  t = f32[2,3] transpose(x), dimensions={1,0}
  n = s32[4] negate(y)
  ROOT r = (f32[2,3], s32[4]) tuple(t, n)
}
"""


def test_a_verdict_has_the_cause(workers: Workers) -> None:
    first = parse_module(TEXT)
    found = compare_modules(first, parse_module(TEXT.replace("negate", "abs")), Options(power=0), workers[1])
    assert found.cause is not None
    assert (found.cause.output, found.cause.data, found.cause.form) == (1, "small whole numbers", "integers")
    assert compare_modules(first, first, Options(power=0), workers[1]).cause is None
    moved = TEXT.replace("f32[2,3] transpose(x), dimensions={1,0}", "f32[2,3] reshape(x)")
    only_proved = compare_modules(first, parse_module(moved), Options(engines=("proof",)))
    assert only_proved.cause == Cause(0, "all data", "elements of an input from different positions")
