"""The normal form of plans, compared with numpy at every element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.layout import (
    BitcastConvert,
    Pad,
    Reshape,
    Slice,
    Step,
    Transpose,
    parse_array_shape,
    parse_element_type,
)
from dialect_utils.layout.moves.normal_form import is_identity, normal_form, split_at_padding
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan

F32 = parse_element_type("f32")
ANYTHING = -1
FIRST_PADDING = -10


def evaluate(plan: Plan) -> np.ndarray:
    """Numbers every element and moves the numbers; unspecified ones become ANYTHING."""
    dimensions = plan.dimensions
    array = np.arange(int(np.prod(dimensions, dtype=np.int64))).reshape(dimensions)
    for step, padding in zip(plan.steps, plan.paddings, strict=True):
        array = move(array, step, ANYTHING if padding is None else FIRST_PADDING - int(str(padding)))
    return array


def move(array: np.ndarray, step: Step, padding: int) -> np.ndarray:
    if isinstance(step, Transpose):
        return array.transpose(step.permutation)
    if isinstance(step, Reshape):
        return array.reshape(step.dimensions)
    if isinstance(step, Slice):
        strides = step.stride or (1,) * array.ndim
        return array[tuple(map(slice, step.start, step.limit, strides))]
    assert isinstance(step, Pad)
    interior = step.interior or (0,) * array.ndim
    for dim, (low, high, gap) in enumerate(zip(step.low, step.high, interior, strict=True)):
        array = _pad_dimension(array, dim, (low, high, gap), padding)
    return array


def _pad_dimension(array: np.ndarray, dim: int, edges: tuple[int, int, int], padding: int) -> np.ndarray:
    low, high, gap = edges
    size = array.shape[dim]
    positions = [low + i * (gap + 1) for i in range(size)]
    total = low + size + max(0, size - 1) * gap + high
    shape = (*array.shape[:dim], total, *array.shape[dim + 1 :])
    out = np.full(shape, padding)
    for i, at in enumerate(positions):
        if 0 <= at < total:
            out[(slice(None),) * dim + (at,)] = array[(slice(None),) * dim + (i,)]
    return out


def agrees(plan: Plan, other: Plan) -> bool:
    """Is true where every specified element of the first is the same in the other."""
    expected, found = evaluate(plan), evaluate(other)
    return expected.shape == found.shape and bool(np.all((expected == found) | (expected == ANYTHING)))


def divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


@st.composite
def plans(draw: st.DrawFn, *, most_steps: int = 6, with_strides: bool = False) -> Plan:
    dimensions = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=0, max_size=3)))
    start = dimensions
    steps: list[Step] = []
    paddings: list[int | None] = []
    for _ in range(draw(st.integers(0, most_steps))):
        step = draw(_steps(dimensions, with_strides))
        result = step.result(F32, dimensions)[1]
        if np.prod(result, dtype=np.int64) > 200 or len(result) > 5:
            continue
        steps.append(step)
        paddings.append(draw(st.sampled_from([None, None, 0, 1])) if isinstance(step, Pad) else None)
        dimensions = result
    return replace(Plan(F32, start, tuple(steps)), paddings=tuple(paddings))


@st.composite
def _steps(draw: st.DrawFn, dimensions: tuple[int, ...], with_strides: bool) -> Step:
    rank = len(dimensions)
    kind = draw(st.sampled_from(["transpose", "reshape", "pad", "slice"]))
    if kind == "transpose":
        return Transpose(tuple(draw(st.permutations(range(rank)))))
    if kind == "reshape":
        return Reshape(draw(_factors(int(np.prod(dimensions, dtype=np.int64)))))
    if kind == "pad":
        low = tuple(draw(st.integers(0, 2)) for _ in range(rank))
        high = tuple(draw(st.integers(-1 if d + a > 1 else 0, 3)) for d, a in zip(dimensions, low, strict=True))
        interior = tuple(draw(st.integers(0, 1)) for _ in range(rank)) if with_strides else ()
        return Pad(low, high, interior)
    start = tuple(draw(st.integers(0, max(0, d - 1))) for d in dimensions)
    limit = tuple(draw(st.integers(min(a + 1, d), d)) for a, d in zip(start, dimensions, strict=True))
    return Slice(start, limit, tuple(draw(st.integers(1, 2)) for _ in range(rank)) if with_strides else ())


@st.composite
def _factors(draw: st.DrawFn, n: int) -> tuple[int, ...]:
    factors: list[int] = []
    while n > 1 and len(factors) < 3:
        factors.append(draw(st.sampled_from(divisors(n))))
        n //= factors[-1]
    return tuple(factors) + ((n,) if n != 1 or draw(st.booleans()) else ())


@settings(max_examples=200, deadline=None)
@given(plans())
def test_normal_form_keeps_every_specified_element(plan: Plan) -> None:
    assert agrees(plan, normal_form(plan))


@settings(max_examples=80, deadline=None)
@given(plans(with_strides=True))
def test_normal_form_keeps_elements_of_strided_steps(plan: Plan) -> None:
    assert agrees(plan, normal_form(plan))


@settings(max_examples=150, deadline=None)
@given(plans())
def test_normal_form_is_idempotent_and_never_longer(plan: Plan) -> None:
    form = normal_form(plan)
    assert len(form.steps) <= len(plan.steps)
    assert normal_form(form) == form


@settings(max_examples=200, deadline=None)
@given(plans(with_strides=True))
def test_merging_neighbours_keeps_every_element(plan: Plan) -> None:
    simple = plan.simplified()
    assert agrees(plan, simple)
    assert agrees(simple, plan)
    assert len(simple.steps) <= len(plan.steps)
    assert simple.simplified() == simple


@st.composite
def _bijections(draw: st.DrawFn) -> Plan:
    """Draws a split, permutation and merge of one array, the general form of a chain without pads."""
    dimensions = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=4)))
    order = tuple(draw(st.permutations(range(len(dimensions)))))
    moved = tuple(dimensions[i] for i in order)
    cut = draw(st.integers(0, len(moved)))
    merged = (*moved[:cut], int(np.prod(moved[cut:], dtype=np.int64)))
    return Plan(F32, dimensions, (Transpose(order), Reshape(merged)))


@settings(max_examples=100, deadline=None)
@given(_bijections(), st.data())
def test_equal_element_maps_have_equal_normal_forms(plan: Plan, data: st.DataObject) -> None:
    detour = data.draw(st.sampled_from(["unit", "linear", "swap"]))
    result = plan.result[1]
    count = int(np.prod(result, dtype=np.int64))
    steps: dict[str, tuple[Step, ...]] = {
        "unit": (Reshape((1, *result)), Transpose((*range(1, len(result) + 1), 0)), Reshape(result)),
        "linear": (Reshape((count,)), Reshape(result)),
        "swap": (
            Transpose(tuple(reversed(range(len(result))))),
            Transpose(tuple(reversed(range(len(result))))),
        ),
    }
    longer = Plan(F32, plan.dimensions, plan.steps + steps[detour])
    assert normal_form(longer) == normal_form(plan)


LAYOUTS = [
    "f32[3,5]{1,0:T(2,2)}",
    "f32[3,5]{0,1:T(2,2)}",
    "bf16[5,7]{1,0:T(4,4)(2,1)}",
    "f32[2,3,5]{2,1,0:T(*,2,2)}",
    "f32[2,3,5]{0,2,1:T(2,4)}",
    "f32[3]{0:T(4)(2)}",
    "f32[]{:T(4)}",
    "s4[3,5]{1,0:T(2,4)E(4)}",
    "s4[3,1]{1,0:T(2)E(4)}",
    "f32[1,5]{0,1:T(2,4)}",
]


@pytest.mark.parametrize("text", LAYOUTS)
def test_packing_and_unpacking_cancel(text: str) -> None:
    put = physical_plan(parse_array_shape(text))
    back = put.inverse()
    assert is_identity(put.then(back))
    assert is_identity(back.then(put))


@pytest.mark.parametrize("text", LAYOUTS)
def test_a_definite_padding_is_not_reused(text: str) -> None:
    plan = physical_plan(parse_array_shape(text))
    put = replace(plan, paddings=tuple("0" if isinstance(step, Pad) else None for step in plan.steps))
    back = plan.inverse()
    assert is_identity(put.then(back))
    has_padding = any(isinstance(step, Pad) for step in plan.steps)
    assert is_identity(back.then(put)) is not has_padding


@pytest.mark.parametrize("text", LAYOUTS)
def test_an_array_is_packed_in_at_most_three_steps_where_digits_divide(text: str) -> None:
    plan = physical_plan(parse_array_shape(text))
    packing = 2 if "E(" in text else 0
    assert len(normal_form(plan).steps) <= 3 + packing


CASES: list[tuple[str, tuple[int, ...], tuple[Step, ...], tuple[Step, ...]]] = [
    ("transposes", (2, 3, 4), (Transpose((1, 2, 0)), Transpose((1, 2, 0))), (Transpose((2, 0, 1)),)),
    ("reshapes", (2, 3, 4), (Reshape((6, 4)), Reshape((24,))), (Reshape((24,)),)),
    ("smaller slice", (4,), (Pad((1,), (3,)), Slice((2,), (5,))), (Slice((1,), (4,)),)),
    ("smaller pad", (4,), (Pad((1,), (3,)), Slice((0,), (6,))), (Pad((1,), (1,)),)),
    ("pad of slice", (8, 6), (Slice((0, 0), (7, 5)), Pad((0, 0), (1, 3))), (Pad((0, 0), (0, 2)),)),
    (
        "transposes around a split",
        (4, 6),
        (Transpose((1, 0)), Reshape((2, 3, 4)), Transpose((2, 0, 1))),
        (Reshape((4, 2, 3)),),
    ),
    ("moved units", (2, 3), (Reshape((2, 1, 3)), Transpose((1, 0, 2))), (Reshape((1, 2, 3)),)),
    (
        "transposes around a pad",
        (2, 3),
        (Transpose((1, 0)), Pad((0, 1), (0, 0)), Transpose((1, 0))),
        (Pad((1, 0), (0, 0)),),
    ),
    ("slice of outer rows", (8,), (Reshape((4, 2)), Slice((0, 0), (2, 2)), Reshape((4,))), (Slice((0,), (4,)),)),
]


@pytest.mark.parametrize(("name", "dimensions", "steps", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_rule(name: str, dimensions: tuple[int, ...], steps: tuple[Step, ...], wanted: tuple[Step, ...]) -> None:
    assert normal_form(Plan(F32, dimensions, steps)).steps == wanted


def test_paddings_of_two_values_stay_apart() -> None:
    pads = (Pad((0,), (1,)), Pad((0,), (1,)))
    assert normal_form(Plan(F32, (2,), pads, ("0", "0"))).steps == (Pad((0,), (2,)),)
    plan = Plan(F32, (2,), pads, ("0", "1"))
    assert normal_form(plan) == plan


def test_bitcast_converts_that_undo_each_other_cancel() -> None:
    u8 = parse_element_type("u8")
    there = (BitcastConvert(u8), Reshape((8,)), Reshape((2, 4)), BitcastConvert(F32))
    assert is_identity(Plan(F32, (2,), there))
    swapped = Plan(F32, (2,), (BitcastConvert(u8), Transpose((1, 0)), Reshape((2, 4))))
    assert not is_identity(swapped.then(Plan(u8, (2, 4), (BitcastConvert(F32),))))


def test_the_check_finds_a_wrong_form() -> None:
    plan = Plan(F32, (2, 3), (Transpose((1, 0)),))
    assert not agrees(plan, Plan(F32, (2, 3), (Reshape((3, 2)),)))
    padded = replace(Plan(F32, (2,), (Pad((0,), (1,)),)), paddings=("0",))
    assert not agrees(padded, replace(padded, paddings=("1",)))
    assert agrees(padded.with_padding(None), padded)


@given(plans(with_strides=True))
@settings(max_examples=100, deadline=None)
def test_a_plan_split_at_the_padding_has_the_same_effect(plan: Plan) -> None:
    before, after = split_at_padding(plan)
    assert not any(isinstance(step, Pad) for step in before.steps)
    assert agrees(plan, before.then(after))


def test_plans_are_split_identically_wherever_the_pad_is() -> None:
    first = Plan(F32, (2, 3), (Transpose((1, 0)), Pad((0, 0), (1, 0))))
    second = Plan(F32, (2, 3), (Pad((0, 0), (0, 1)), Transpose((1, 0))))
    parts = [split_at_padding(plan) for plan in (first, second)]
    assert parts[0] == parts[1]
    assert [type(step) for step in parts[0][0].steps] == [Transpose, Reshape]
