"""Elements that count as different, by data and guarantee."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution import Array
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.comparator import Comparator, Finding
from dialect_utils.verdict.rounding.guarantees import Guarantee
from dialect_utils.verdict.rounding.scale import Scale
from dialect_utils.verdict.sampling import DataSet

ALWAYS, ON_INTEGERS, NEVER = Guarantee.ALWAYS, Guarantee.ON_INTEGERS, Guarantee.NEVER
F32, S32, PRED = (ELEMENT_TYPES[name] for name in ("f32", "s32", "pred"))
SUBNORMAL = 1e-40


def found(
    guarantee: Guarantee, x: Array, y: Array, *, kind: str = "random", name: str = "f32", **more: bool
) -> Finding:
    flushes, keeps_signs = more.pop("flushes", False), more.pop("signs_of_zero", True)
    open_signs, computed = (frozenset({0} if is_set else ()) for is_set in (not keeps_signs, flushes))
    comparator = Comparator((ELEMENT_TYPES[name],), (guarantee,), open_signs=open_signs, computed=computed)
    return comparator.find(DataSet(kind, []), [x], [y], None, flushes=flushes)


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


ONES = np.ones(1000, np.float32)


def with_one(value: float) -> Array:
    array = ONES.copy()
    array[3] = value
    return array


def test_one_element_of_a_thousand_may_not_flip() -> None:
    finding = found(ALWAYS, ONES, with_one(1.0000001))
    assert finding.answer == "different"
    assert finding.counterexample is not None
    assert (finding.counterexample.index, finding.counterexample.differing) == ((3,), 1)
    flags = np.ones(1000, np.bool_)
    flipped = flags.copy()
    flipped[3] = False
    assert found(ALWAYS, flags, flipped, name="pred").answer == "different"


@pytest.mark.parametrize(
    ("guarantee", "kind", "answer"),
    [
        (ALWAYS, "random", "different"),
        (ON_INTEGERS, "whole", "different"),
        (ON_INTEGERS, "random", "agrees"),
        (NEVER, "whole", "agrees"),
    ],
)
def test_bits_are_asked_for_where_they_are_guaranteed(guarantee: Guarantee, kind: str, answer: str) -> None:
    finding = found(guarantee, ONES, with_one(2), kind=kind)
    assert finding.answer == answer
    # The scale of the original's error decides later.
    assert finding.undecided == (frozenset() if answer == "different" else {0})


@pytest.mark.parametrize(
    ("guarantee", "kind", "answer", "undecided"),
    [
        (NEVER, "saturated", "agrees", frozenset()),
        (NEVER, "random", "agrees", frozenset({0})),
        (ALWAYS, "saturated", "different", frozenset()),
    ],
)
def test_sums_that_are_proved_equal_may_overflow_in_one_order_alone(
    guarantee: Guarantee, kind: str, answer: str, undecided: frozenset[int]
) -> None:
    comparator = Comparator((F32,), (guarantee,), are_proved=True)
    finding = comparator.find(DataSet(kind, []), [with_one(np.nan)], [ONES], None)
    assert (finding.answer, finding.undecided) == (answer, undecided)
    assert ("not guaranteed" in finding.reason) == (guarantee is NEVER and kind == "saturated")


def test_zeros_of_both_signs_differ_where_they_count() -> None:
    assert found(ALWAYS, floats(0.0), floats(-0.0)).answer == "different"
    assert found(ALWAYS, floats(0.0), floats(-0.0), signs_of_zero=False).answer == "agrees"
    assert found(ALWAYS, floats(0.0), floats(1.0), signs_of_zero=False).answer == "different"


@pytest.mark.parametrize(
    ("x", "y", "signs_of_zero", "answer"),
    [
        (SUBNORMAL, 0.0, True, "agrees"),
        (SUBNORMAL, -0.0, True, "different"),
        (SUBNORMAL, -0.0, False, "agrees"),
        (SUBNORMAL, 1e-30, True, "different"),
        (1.0, 0.0, False, "different"),
    ],
)
def test_an_engine_that_flushes_takes_subnormal_numbers_for_zeros(
    x: float, y: float, signs_of_zero: bool, answer: str
) -> None:
    assert found(ALWAYS, floats(x), floats(y), flushes=True, signs_of_zero=signs_of_zero).answer == answer
    if y == 0:
        assert found(ALWAYS, floats(x), floats(y), signs_of_zero=signs_of_zero).answer == "different"


def test_what_is_no_float_is_never_flushed() -> None:
    assert found(ALWAYS, np.zeros(2, np.int32), np.ones(2, np.int32), name="s32", flushes=True).answer == "different"


def rounded(amount: float) -> tuple[Array, Array, Scale]:
    noise = np.random.default_rng(0).uniform(-1, 1, (8, 1000))
    runs = [(ONES * (1 + 1e-6 * each)).astype(np.float64) for each in noise]
    return ONES, with_one(1 + amount), Scale.of(F32, ONES, runs)


@pytest.mark.parametrize(("amount", "answer"), [(1e-7, "agrees"), (1e-2, "different")])
def test_the_scale_of_the_error_decides_the_rest(amount: float, answer: str) -> None:
    x, y, scale = rounded(amount)
    finding = Comparator((F32,), (NEVER,)).find(DataSet("random", []), [x], [y], lambda _: scale)
    assert finding.answer == answer
    assert (finding.counterexample is None) == (answer == "agrees")
    assert "not guaranteed" in finding.reason or "rounding explains" in finding.reason


def test_a_tolerance_asked_for_is_all_that_is_asked() -> None:
    comparator = Comparator((F32,), (ALWAYS,), compare="rel:0.1")
    assert comparator.find(DataSet("random", []), [ONES], [with_one(1.05)], None).answer == "agrees"
    assert comparator.find(DataSet("random", []), [ONES], [with_one(1.2)], None).answer == "different"
    with pytest.raises(DiagnosticError, match="write auto, bits"):
        Comparator((F32,), (ALWAYS,), compare="nearly")


def test_what_is_compared_names_the_outputs() -> None:
    comparator = Comparator((F32, S32, PRED), (ALWAYS, ON_INTEGERS, NEVER))
    said = comparator.compared()
    assert "sums of floats: output 1)" in said
    assert "exact on no data: output 2)" in said
    assert Comparator((F32,), (ALWAYS,)).compared() == "bits"
    assert [each.output for each in comparator.differences([ONES] * 3, [ONES, with_one(2), ONES])] == [1]


def test_a_scalar_that_depends_on_rounding_may_flip() -> None:
    runs = [np.array(each, np.float64) for each in (0.0, 0.0, 0.0, 1e9)]
    scale = Scale.of(F32, np.array(0.0, np.float32), runs)
    assert not scale.beyond(np.array(0.0, np.float32), np.array(1e12, np.float32), is_saturated=False).any()
