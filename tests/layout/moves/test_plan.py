import numpy as np
import pytest
from hypothesis import given, settings

from dialect_utils.layout import (
    ArrayShape,
    BitcastConvert,
    Pad,
    Reshape,
    Slice,
    Step,
    Transpose,
    parse_array_shape,
    parse_element_type,
)
from dialect_utils.layout.index.index_map import final_dimensions
from dialect_utils.layout.moves.physical import physical_plan, physical_shape
from dialect_utils.layout.moves.plan import Plan, try_with_leading
from dialect_utils.layout.proof.reads import origin_of
from tests.layout.shapes import GIVEN, tiled_shapes

F32 = parse_element_type("f32")

# Plans of f32[4,3,5] that leave the first dimension alone, and plans that do not.
AFTER_THE_FIRST = [
    (Transpose((0, 2, 1)), Pad((0, 1, 0), (0, 2, 3)), Reshape((4, 48))),
    (Slice((0, 1, 0), (4, 3, 5), (1, 1, 2)), Pad((0, 0, 0), (0, 0, 1), (0, 2, 0)), Transpose((0, 2, 1))),
    (Reshape((4, 15)), Slice((0, 2), (4, 14)), Reshape((4, 3, 2, 2)), Transpose((0, 3, 1, 2))),
]
OF_THE_FIRST = [
    (Transpose((1, 0, 2)),),
    (Reshape((2, 6, 5)),),
    (Reshape((12, 5)), Reshape((4, 3, 5))),
    (Pad((1, 0, 0), (0, 0, 0)),),
    (Pad((0, 0, 0), (0, 0, 0), (1, 0, 0)),),
    (Slice((0, 0, 0), (4, 3, 5), (2, 1, 1)),),
    (Slice((1, 0, 0), (4, 3, 5)), Pad((1, 0, 0), (0, 0, 0))),
]


def of_cubes(steps: tuple[Step, ...]) -> Plan:
    return Plan(F32, (4, 3, 5), steps, tuple("p" if isinstance(step, Pad) else None for step in steps))


@pytest.mark.parametrize("steps", AFTER_THE_FIRST, ids=str)
def test_a_plan_does_the_same_under_other_leading_dimensions(steps: tuple[Step, ...]) -> None:
    plan = of_cubes(steps)
    other = try_with_leading(plan, 1, (2, 7))
    assert other is not None
    assert other.result[1] == (2, 7, *plan.result[1][1:])
    for index in np.ndindex(plan.result[1][1:]):
        of_one, of_two = origin_of(plan, (3, *index)), origin_of(other, (1, 6, *index))
        assert of_one.padding == of_two.padding
        if of_one.index is not None:
            assert of_one.index[0] == 3
            assert of_two.index == (1, 6, *of_one.index[1:])


@pytest.mark.parametrize("steps", OF_THE_FIRST, ids=str)
def test_a_plan_of_the_leading_dimension_is_not_one_of_others(steps: tuple[Step, ...]) -> None:
    assert try_with_leading(of_cubes(steps), 1, (2, 7)) is None


# The fewest steps: one each for padding, splitting and reordering.
PLANS = [
    ("f32[3,5]", ""),
    ("f32[3,5]{0,1}", "transpose{1,0}"),
    ("f32[]{:T(128)}", "reshape[1,1] -> pad[0_0x0_127]"),
    ("f32[3,5]{1,0:T(2,2)}", "pad[0_1x0_1] -> reshape[2,2,3,2] -> transpose{0,2,1,3}"),
    ("f32[3,5]{1,0:T(8,128)}", "pad[0_5x0_123] -> reshape[1,1,8,128]"),
    ("f32[5]{0:T(2,4)}", "pad[0_3] -> reshape[1,2,1,4] -> pad[0_0x0_0x0_1x0_0]"),
    ("bf16[9,130]{1,0:T(8,128)(2,1)}", "pad[0_7x0_126] -> reshape[2,4,2,2,128,1] -> transpose{0,3,1,4,2,5}"),
    ("f32[7,8,6]{2,1,0:T(*,4,3)}", "reshape[14,4,2,3] -> transpose{0,2,1,3}"),
    ("s4[3,5]{1,0:E(4)}", "reshape[15] -> pad[0_1] -> reshape[8,2] -> bitcast-convert[u8]"),
    (
        "s4[16,128]{1,0:T(8,128)(8,1)E(4)}",
        "reshape[2,1,4,2,1,128] -> transpose{0,4,1,5,2,3} -> bitcast-convert[u8]",
    ),
]


@pytest.mark.parametrize(("text", "steps"), PLANS)
def test_plans_have_the_fewest_steps(text: str, steps: str) -> None:
    plan = physical_plan(parse_array_shape(text))
    assert " -> ".join(map(str, plan.steps)) == steps
    assert str(plan).startswith(text.split("]")[0] + "]")


def check_plan(shape: ArrayShape) -> None:
    plan = physical_plan(shape)
    assert plan.simplified() == plan
    assert plan.inverse().result == (shape.element_type, shape.dimensions)
    assert physical_shape(shape).dimensions == plan.result[1]
    if plan.result[0] == shape.element_type:
        assert plan.result[1] == final_dimensions(shape.dimensions, shape.effective_layout)


@pytest.mark.parametrize("shape", [s for s in GIVEN if s.effective_layout.element_size_in_bits <= 8], ids=str)
def test_plans_of_given_shapes(shape: ArrayShape) -> None:
    check_plan(shape)


@given(tiled_shapes())
@settings(max_examples=150, deadline=None)
def test_plans_of_drawn_shapes(shape: ArrayShape) -> None:
    check_plan(shape)


def test_nested_tiles_that_divide_share_their_steps() -> None:
    for text in ("bf16[9,130]{1,0:T(8,128)(2,1)}", "s8[40,300]{0,1:T(32,128)(4,1)}", "bf16[300]{0:T(256)(128)(2,1)}"):
        kinds = [type(step) for step in physical_plan(parse_array_shape(text)).steps]
        assert kinds == [Pad, Reshape, Transpose]


def test_plans_compose_and_invert() -> None:
    there = physical_plan(parse_array_shape("f32[3,5]{1,0:T(2,2)}"))
    back = there.inverse()
    assert str(back) == "f32[2,3,2,2] -> transpose{0,2,1,3} -> reshape[4,6] -> slice[0:3,0:5]"
    assert there.then(back).result == (F32, (3, 5))
    with pytest.raises(ValueError, match="cannot follow"):
        there.then(there)


def test_simplify_merges_neighbours() -> None:
    steps = (Transpose((1, 0)), Transpose((1, 0)), Pad((0, 0), (1, 1)), Pad((1, 0), (0, 0)), Reshape((30,)))
    plan = Plan(F32, (3, 5), (*steps, Reshape((5, 6)))).simplified()
    assert plan.steps == (Pad((1, 0), (1, 1)),)


def test_a_step_that_undoes_the_last_one_takes_it_away() -> None:
    plan = Plan(F32, (3, 5))
    for step in (Pad((1, 0), (0, 2)), Transpose((1, 0)), BitcastConvert(parse_element_type("s8"))):
        longer = plan.append(step, "zero" if step.adds_elements else None)
        assert len(longer.steps) == 1
        assert longer.append(step.inverse(*plan.result)) == plan


def test_pads_of_two_values_do_not_merge() -> None:
    plan = Plan(F32, (3,)).append(Pad((0,), (2,)), "zero")
    assert plan.append(Pad((0,), (1,)), "zero") == Plan(F32, (3,), (Pad((0,), (3,)),), ("zero",))
    assert plan.append(Pad((0,), (1,)), "one").paddings == ("zero", "one")
    assert plan.append(Pad((0,), (1,))).paddings == ("zero", None)


def test_only_bitcast_converts_of_two_widths_merge() -> None:
    u8, s16, u16 = map(parse_element_type, ("u8", "s16", "u16"))
    narrowed = Plan(F32, (3,)).append(BitcastConvert(s16))
    assert narrowed.append(BitcastConvert(u16)) == Plan(F32, (3,), (BitcastConvert(u16),))
    assert narrowed.append(BitcastConvert(u8)).opcodes == ("bitcast-convert", "bitcast-convert")


def test_paddings_are_as_many_as_steps() -> None:
    with pytest.raises(ValueError, match="2 paddings for 1 steps"):
        Plan(F32, (3,), (Pad((0,), (1,)),), ("zero", None))


def test_pads_that_cut_do_not_merge() -> None:
    plan = Plan(F32, (3,), (Pad((0,), (2,)), Pad((0,), (-3,))))
    assert plan.simplified() == plan


def test_steps_must_fit() -> None:
    for step in (Transpose((0, 0)), Reshape((4, 4)), Pad((0,), (0,)), Slice((0, 0), (4, 5))):
        with pytest.raises(ValueError, match=r"\{|\["):
            Plan(F32, (3, 5), (step,))


def test_shapes_without_a_physical_array_are_rejected() -> None:
    for text in ("f32[<=3]{0}", "s4[4]{0:E(2)}", "pred[5]{0:E(32)}"):
        with pytest.raises(ValueError, match=r"dynamic|does not pack"):
            physical_plan(parse_array_shape(text))
