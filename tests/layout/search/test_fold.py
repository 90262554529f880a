import pytest
from hypothesis import assume, given, settings

from dialect_utils.layout import (
    ArrayShape,
    Layout,
    Pad,
    Reshape,
    Slice,
    Transpose,
    parse_array_shape,
    parse_element_type,
)
from dialect_utils.layout.index.index_map import physical_element_count
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.bitcast_proof import prove_equal
from dialect_utils.layout.search.fold import fold
from tests.layout.shapes import GIVEN, tiled_shapes

F32 = parse_element_type("f32")
FOLDED = [
    "f32[3,5]{1,0:T(2,2)}",
    "f32[3,5]{0,1}",
    "f32[]{:T(128)}",
    "f32[5]{0:T(2,4)}",
    "f32[300,200]{0,1:T(8,128)}",
    "bf16[9,130]{1,0:T(8,128)(2,1)}",
    "bf16[7,9,130]{2,0,1:T(8,128)(2,1)}",
    "bf16[300]{0:T(256)(128)(2,1)}",
    "s8[33,300]{1,0:T(32,128)(4,1)}",
    "bf16[16,256]{1,0:T(8,128)(2,1,1,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "s4[33,300]{1,0:T(8,128)(8,1)E(4)}",
    "s4[3,5]{1,0:E(4)}",
]


@pytest.mark.parametrize("text", FOLDED)
def test_layouts_come_back(text: str) -> None:
    shape = parse_array_shape(text)
    assert str(fold(physical_plan(shape))) == str(shape.layout)


def check_fold(plan: Plan, layout: Layout | None) -> None:
    """States that what is folded expands to the same plan again."""
    assert layout is not None
    again = physical_plan(ArrayShape(plan.element_type, plan.dimensions, layout))
    assert plan.result == again.result
    assert prove_equal(plan, again).holds


@pytest.mark.parametrize(
    "shape",
    [s for s in GIVEN if s.effective_layout.element_size_in_bits <= 8 and s.element_count and "*,2)" not in str(s)],
    ids=str,
)
def test_given_plans_fold(shape: ArrayShape) -> None:
    plan = physical_plan(shape)
    check_fold(plan, fold(plan))


@pytest.mark.parametrize("wrong", ["f32[4,4]{0,1:T(2,2)}", "f32[4,4]{1,0:T(2,2)(2,1)}", "f32[4,4]{1,0}"])
def test_a_wrong_layout_is_noticed(wrong: str) -> None:
    plan = physical_plan(parse_array_shape("f32[4,4]{1,0:T(2,2)}"))
    check_fold(plan, fold(plan))
    with pytest.raises(AssertionError):
        check_fold(plan, parse_array_shape(wrong).layout)


@given(tiled_shapes(element_types=("f32", "bf16"), largest=5))
@settings(max_examples=60, deadline=None)
def test_what_folds_is_right(shape: ArrayShape) -> None:
    assume(0 < physical_element_count(shape) <= 2000)
    plan = physical_plan(shape)
    layout = fold(plan)
    if layout is not None:
        check_fold(plan, layout)


@pytest.mark.parametrize(
    ("steps", "layout"),
    [
        ((Pad((0, 0), (1, 1)), Reshape((2, 2, 6)), Reshape((2, 2, 3, 2)), Transpose((0, 2, 1, 3))), "{1,0:T(2,2)}"),
        ((Transpose((1, 0)), Transpose((1, 0))), "{1,0}"),
        ((Pad((0, 0), (5, 0)), Pad((0, 0), (0, 123)), Reshape((1, 1, 8, 128))), "{1,0:T(8,128)}"),
        ((Transpose((1, 0)), Pad((0, 0), (3, 1)), Reshape((2, 4, 1, 4)), Transpose((0, 2, 1, 3))), "{0,1:T(4,4)}"),
        ((Reshape((5, 3)),), "{1,0:T(*,3)}"),
        ((Reshape((15,)), Pad((0,), (1,)), Reshape((4, 4))), "{1,0:T(*,4)}"),
    ],
)
def test_hand_written_plans_fold(steps: tuple[Pad | Reshape | Transpose, ...], layout: str) -> None:
    assert str(fold(Plan(F32, (3, 5), steps))) == layout


@pytest.mark.parametrize(
    "steps",
    [
        (Slice((0, 0), (2, 5)),),
        (Pad((1, 0), (0, 1)), Reshape((2, 2, 3, 2)), Transpose((0, 2, 1, 3))),
        (Pad((0, 0), (1, 1)), Reshape((2, 2, 3, 2)), Transpose((1, 2, 0, 3))),
    ],
)
def test_what_is_no_layout_does_not_fold(steps: tuple[Pad | Reshape | Transpose | Slice, ...]) -> None:
    assert fold(Plan(F32, (3, 5), steps)) is None


def test_pads_alone_are_legacy_padded_dimensions() -> None:
    plan = Plan(F32, (2, 3), (Pad((0, 0), (1, 2)), Transpose((1, 0))))
    assert fold(plan) == Layout((0, 1), padded_dimensions=(3, 5))
