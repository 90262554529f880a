import time
import tracemalloc

import pytest
from hypothesis import assume, given, settings, strategies as st

from dialect_utils.layout import ArrayShape, Pad, Reshape, Slice, Transpose, parse_array_shape, parse_element_type
from dialect_utils.layout.index.index_map import linear_index, physical_element_count
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.bitcast_proof import prove_bitcast
from tests.layout.proof.claims import prove_equal, prove_injective, prove_layout
from tests.layout.shapes import GIVEN, tiled_shapes
from tests.profiling import least_seconds

# With so small a budget isl gives up at once, and blocks are enumerated.
NO_BUDGET = 1
PLANNED = [s for s in GIVEN if s.effective_layout.element_size_in_bits <= 8]


def check_layout(shape: ArrayShape) -> None:
    """States that both methods agree, on the right plan and on a wrong one."""
    plan = physical_plan(shape)
    for budget in (NO_BUDGET, 10_000_000):
        assert prove_layout(plan, shape, budget=budget).holds
        assert prove_injective(shape, budget=budget).holds
    wrong = _with_first_two_swapped(plan)
    if wrong is None:
        return
    by_isl, by_blocks = prove_equal(plan, wrong), prove_equal(plan, wrong, budget=NO_BUDGET)
    assert by_isl.holds == by_blocks.holds
    if not by_isl.holds:
        assert by_isl.counterexample is not None
        assert by_blocks.counterexample is not None


def _with_first_two_swapped(plan: Plan) -> Plan | None:
    """Returns the plan with the first two equal neighbouring dimensions of the result swapped, or None."""
    dims = plan.result[1]
    for i in range(len(dims) - 1):
        if dims[i] == dims[i + 1]:
            order = list(range(len(dims)))
            order[i : i + 2] = [i + 1, i]
            return plan.with_steps((*plan.steps, Transpose(tuple(order))))
    return None


@pytest.mark.parametrize("shape", PLANNED, ids=str)
def test_plans_are_proved_and_enumerated(shape: ArrayShape) -> None:
    check_layout(shape)


@given(tiled_shapes())
@settings(max_examples=60, deadline=None)
def test_proof_and_enumeration_agree(shape: ArrayShape) -> None:
    assume(physical_element_count(shape) <= 5000)
    check_layout(shape)


@pytest.mark.parametrize(
    "text",
    [
        "f32[100003,70001]{1,0:T(8,128)}",
        "bf16[100003,70001]{1,0:T(8,128)(2,1)}",
        "s4[100003,70001]{0,1:T(64,128)(8,1)E(4)}",
        "bf16[100003,70001]{1,0:T(8,128)(2,1,1,1)}",
    ],
)
def test_proofs_do_not_grow_with_the_array(text: str) -> None:
    shape = parse_array_shape(text)
    assert least_seconds(lambda: prove_layout(physical_plan(shape), shape), 1) < 1
    found = prove_layout(physical_plan(shape), shape)
    assert (found.holds, found.method) == (True, "isl")
    assert prove_injective(shape).holds


def test_a_wrong_plan_gets_a_counterexample() -> None:
    shape = parse_array_shape("f32[100003,70001]{1,0:T(8,128)}")
    right = physical_plan(shape)
    wrong = right.with_steps((Pad((1, 0), (4, 15)), *right.steps[1:]))
    for found in (prove_layout(wrong, shape), prove_equal(right, wrong)):
        assert not found.holds
        assert found.counterexample is not None
        assert linear_index(shape, found.counterexample) >= 0


def test_dropped_elements_are_a_difference() -> None:
    f32 = parse_element_type("f32")
    plain, cut = Plan(f32, (6,)), Plan(f32, (6,), (Slice((0,), (5,)), Pad((0,), (1,))))
    for budget in (NO_BUDGET, 10_000_000):
        assert prove_equal(plain, cut, budget=budget).counterexample == (5,)
        assert prove_equal(plain, plain, budget=budget).holds


def test_enumeration_says_so() -> None:
    shape = parse_array_shape("f32[30,50]{1,0:T(8,128)}")
    assert prove_layout(physical_plan(shape), shape, budget=NO_BUDGET).method == "enumeration"


def _shuffled(size: int, factors: tuple[int, ...]) -> Plan:
    """Returns pads and transposes by factors without a common divisor: a map of many terms."""
    steps: list[Pad | Reshape | Transpose] = []
    total = size
    for factor in factors:
        padded = -(-(total + 1) // factor) * factor
        steps += [Pad((0,), (padded - total,)), Reshape((padded // factor, factor))]
        steps += [Transpose((1, 0)), Reshape((padded,))]
        total = padded
    return Plan(parse_element_type("f32"), (size,), tuple(steps))


def test_a_map_that_isl_does_not_decide_in_time_is_enumerated_in_little_memory() -> None:
    there = _shuffled(1_000_003, (7, 11, 13, 17, 19, 23))
    back = there.then(there.inverse())
    started = time.process_time()
    tracemalloc.start()
    found = prove_equal(back, Plan(there.element_type, there.dimensions))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.holds, found.method) == (True, "enumeration")
    assert peak < 100 * 2**20
    assert time.process_time() - started < 20
    moved = there.with_steps((*there.steps[:-2], Transpose((0, 1)), *there.steps[-1:]))
    wrong = prove_equal(there, moved)
    assert not wrong.holds
    assert wrong.counterexample is not None


@given(st.permutations([2, 3, 4]), st.permutations(range(3)))
@settings(max_examples=30, deadline=None)
def test_inverse_plans_give_everything_back(dims: list[int], order: list[int]) -> None:
    f32 = parse_element_type("f32")
    plan = Plan(f32, tuple(dims), (Transpose(tuple(order)), Reshape((24,)), Reshape((4, 6)), Transpose((1, 0))))
    assert prove_equal(plan.then(plan.inverse()), Plan(f32, tuple(dims))).holds


def test_plans_of_different_arrays_are_rejected() -> None:
    f32 = parse_element_type("f32")
    with pytest.raises(ValueError, match="different arrays"):
        prove_equal(Plan(f32, (3,)), Plan(f32, (4,)))
    with pytest.raises(ValueError, match="says nothing"):
        prove_layout(Plan(f32, (3,)), parse_array_shape("f32[4]"))


def test_bitcasts_are_proved_at_any_size() -> None:
    source = parse_array_shape("bf16[100008,70016]{1,0:T(8,128)(2,1)}")
    found = prove_bitcast(source, parse_array_shape("f32[50004,70016]{1,0:T(4,128)}"))
    assert found.holds
    assert found.method == "isl"
