"""Plans read backwards, compared with numpy moving numbers forwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.layout import BitcastConvert, Pad, Reshape, Transpose, parse_array_shape, parse_element_type
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.enumeration import Proof
from dialect_utils.layout.proof.reads import Origin, origin_of, origins, try_prove_same_reads
from tests.layout.moves.test_normal_form import ANYTHING, F32, evaluate, plans

NOTHING_IS_SMALL = -1


def both_methods(first: Plan, second: Plan) -> Proof:
    """Returns the proof of isl after a check that enumeration agrees."""
    by_isl = try_prove_same_reads(first, second, small=NOTHING_IS_SMALL)
    by_blocks = try_prove_same_reads(first, second)
    assert by_isl is not None
    assert by_blocks is not None
    assert by_isl.holds == by_blocks.holds
    return by_isl


@given(plans(with_strides=True), st.data())
@settings(max_examples=100, deadline=None)
def test_every_element_comes_from_where_numpy_takes_it(plan: Plan, data: st.DataObject) -> None:
    result = evaluate(plan)
    if result.size:
        index = data.draw(st.tuples(*(st.integers(0, size - 1) for size in result.shape)))
        origin = origin_of(plan, index)
        if origin.index is None:
            assert result[index] == (ANYTHING if origin.padding is None else -10 - int(str(origin.padding)))
        else:
            assert result[index] == np.ravel_multi_index(origin.index, plan.dimensions)


@given(plans(with_strides=True))
@settings(max_examples=100, deadline=None)
def test_every_element_has_its_number(plan: Plan) -> None:
    result = evaluate(plan)
    found = origins(plan, plan.element_type.bits)[..., 0]
    assert found.shape == result.shape
    # `evaluate` has negative numbers in padding.
    assert np.array_equal(found, np.where(result < 0, -1, result))


@given(plans(with_strides=True))
@settings(max_examples=60, deadline=None)
def test_the_normal_form_reads_the_same(plan: Plan) -> None:
    assert both_methods(plan, normal_form(plan)).holds


@given(plans(most_steps=4, with_strides=True), plans(most_steps=4, with_strides=True))
@settings(max_examples=60, deadline=None)
def test_a_difference_is_one(first: Plan, second: Plan) -> None:
    shape = first.result[1]
    tail = (Reshape((int(np.prod(shape, dtype=np.int64)),)), Reshape(shape), Transpose(tuple(range(len(shape)))[::-1]))
    turned = replace(first.with_steps((*first.steps, *tail)), paddings=(*first.paddings, None, None, None))
    if turned.result != first.result:
        return
    proof = both_methods(first, turned)
    expected, found = evaluate(first), evaluate(turned)
    assert proof.holds == bool(np.all((expected == found) | (expected == ANYTHING)))
    if proof.counterexample is not None:
        assert expected[proof.counterexample] != found[proof.counterexample]


def test_packed_bits_are_read_by_unit() -> None:
    shape = parse_array_shape("s4[4,6]{1,0:T(2,2)E(4)}")
    plan = physical_plan(shape)
    back = plan.then(plan.inverse())
    identity = Plan(shape.element_type, shape.dimensions)
    assert both_methods(identity, back).holds
    rows = Plan(*plan.result, (Transpose((1, 0, 2, 3)), Reshape(plan.result[1])))
    assert not both_methods(identity, plan.then(rows).then(plan.inverse())).holds


def test_bytes_in_another_order_are_found() -> None:
    plan = Plan(F32, (4,), (BitcastConvert(parse_element_type("u8")), Transpose((0, 1))))
    turned = Plan(
        F32, (4,), (BitcastConvert(parse_element_type("u8")), Reshape((2, 2, 4)), Transpose((1, 0, 2)), Reshape((4, 4)))
    )
    assert both_methods(plan, plan).holds
    assert both_methods(plan, turned).counterexample == (1, 0)


def test_different_paddings_are_a_difference() -> None:
    padded = replace(Plan(F32, (3,), (Pad((0,), (1,)),)), paddings=("zero",))
    assert not both_methods(padded, replace(padded, paddings=("one",))).holds
    assert both_methods(padded.with_padding(None), padded).holds
    assert not both_methods(padded, padded.with_padding(None)).holds
    assert origin_of(padded, (3,)) == Origin(None, "zero")
    assert [str(origin_of(padded, index)) for index in [(2,), (3,)]] == ["[2]", "padding"]


def test_large_arrays_are_left_to_isl() -> None:
    shape = parse_array_shape("bf16[100000,1000]{1,0:T(8,128)(2,1)}")
    plan = physical_plan(shape)
    identity = Plan(shape.element_type, shape.dimensions)
    back = plan.then(plan.inverse())
    proof = try_prove_same_reads(identity, back)
    assert proof is not None
    assert (proof.holds, proof.method) == (True, "isl")
    assert try_prove_same_reads(identity, back, budget=1) is None


def test_other_arrays_are_rejected() -> None:
    with pytest.raises(ValueError, match="different arrays"):
        try_prove_same_reads(Plan(F32, (3,)), Plan(F32, (4,)))
