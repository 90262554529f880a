"""Accessors for terms in steps, and plans that read the same elements."""

from __future__ import annotations

import pytest

from dialect_utils.layout import BitcastConvert, Reshape, Transpose, TupleShape, parse_element_type
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.replay.moving import (
    array_of,
    chain_of,
    is_converted,
    plan_of,
    same_reads,
    transposition,
    without_conversion,
)
from dialect_utils.verdict.terms.wellformed import RefusedError
from tests.verdict.replay.forging import array, each, moved, parameter, term

F32, U8, S32 = (parse_element_type(name) for name in ("f32", "u8", "s32"))
X = parameter(0, "f32", 2, 3)
FLAT = Plan(F32, (2, 3), (Reshape((6,)),))
# Through bytes, which are regrouped to the same floats.
THROUGH_BYTES = Plan(F32, (2, 3), (BitcastConvert(U8), Reshape((6, 4)), BitcastConvert(F32)))


def test_a_tuple_is_no_array() -> None:
    with pytest.raises(RefusedError, match="is no array"):
        array_of(term("op", ("made",), TupleShape((array("f32"),))))


def test_movement_is_read_from_the_first_plan_to_the_last() -> None:
    base, plans = chain_of(moved(moved(moved(X, Transpose((1, 0))), Reshape((6,))), Reshape((2, 3))))
    assert base is X
    assert [plan.steps for plan, _ in plans] == [(Transpose((1, 0)),), (Reshape((6,)),), (Reshape((2, 3)),)]


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (FLAT, Plan(F32, (2, 3), (Transpose((1, 0)), Transpose((1, 0)), Reshape((6,)))), True),
        (FLAT, Plan(F32, (2, 3), (Transpose((1, 0)), Reshape((6,)))), False),
        (FLAT, THROUGH_BYTES, True),
        (FLAT, Plan(F32, (2, 3), (BitcastConvert(U8), Reshape((4, 6)), Transpose((1, 0)), BitcastConvert(F32))), False),
        # Of other sizes, of another type, to other sizes, and to another type.
        (FLAT, Plan(F32, (3, 2), (Reshape((6,)),)), False),
        (FLAT, Plan(S32, (2, 3), (Reshape((6,)),)), False),
        (FLAT, Plan(F32, (2, 3), (Reshape((1, 6)),)), False),
        (FLAT, Plan(F32, (2, 3), (BitcastConvert(S32), Reshape((6,)))), False),
    ],
)
def test_plans_read_the_same_elements_of_one_array(first: Plan, second: Plan, is_same: bool) -> None:
    assert same_reads(first, second) == same_reads(second, first) == is_same


def test_a_transpose_alone_has_a_permutation() -> None:
    assert transposition(moved(X, Transpose((1, 0)))) == (1, 0)
    assert transposition(moved(X, Reshape((3, 2)))) is None
    assert transposition(moved(X, Transpose((1, 0)), Reshape((6,)))) is None
    assert transposition(X) is None


def test_only_movement_moves() -> None:
    """The label of a choice, which tells its effects, may be anything."""
    odd = term("choice", Plan(F32, (2, 3), (Transpose((1, 0)),)), array("f32", 2, 3), parameter(1, "pred"), X, X)
    assert chain_of(odd) == (odd, [])
    assert transposition(odd) is None
    for other in (odd, each("negate", X.shape, X)):
        with pytest.raises(RefusedError, match="is no movement"):
            plan_of(other)
    assert plan_of(moved(X, Transpose((1, 0)))).steps == (Transpose((1, 0)),)
    assert not is_converted(term("choice", "convert", X.shape, X), X)
    for other in (term("choice", "convert", X.shape, X), each("negate", X.shape, X)):
        assert without_conversion(other) is other
