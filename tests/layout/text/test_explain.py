"""Explanations of shapes: the words, the formula evaluated as Python, and the numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings

from dialect_utils.layout import ArrayShape, Layout, parse_array_shape
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.layout.text.explain import (
    describe_dimensions,
    describe_order,
    dimension_letters,
    explain_shape,
    index_formula,
)
from dialect_utils.text import DiagnosticError
from tests.layout.shapes import GIVEN, tiled_shapes


def test_letters() -> None:
    assert dimension_letters(2) == ("y", "x")
    assert dimension_letters(4) == ("p", "z", "y", "x")
    assert dimension_letters(5) == ()


def test_orders() -> None:
    assert describe_order(Layout((0, 1))) == "dim 0 is minor, dim 1 is major"
    assert describe_order(Layout((2, 1, 0))) == "dim 2 is minor, dim 1 is next, dim 0 is major (the default layout)"
    assert describe_order(Layout((1, 0), memory_space=1)).endswith("(the default order)")
    assert describe_order(Layout((0,))) == "dim 0 is minor and major"
    assert "scalar" in describe_order(Layout(()))


def test_names_of_dimensions() -> None:
    assert describe_dimensions((3, 5)) == "y = dim 0 = dim -2: 3, x = dim 1 = dim -1: 5"
    assert describe_dimensions((2, 3, 4, 5, -1)).endswith("dim 3 = dim -2: 5, dim 4 = dim -1: ?")
    assert describe_dimensions(()) == ""


def test_ranks() -> None:
    shape = parse_array_shape("f32[1,3,1,5]")
    assert (shape.rank, shape.true_rank) == (4, 2)


def check(shape: ArrayShape) -> None:
    code = compile(index_formula(shape), "formula", "eval")
    for index in np.ndindex(shape.dimensions):
        names = {f"i{dim}": i for dim, i in enumerate(index)}
        assert eval(code, {"__builtins__": {}}, names) == linear_index(shape, index)


@pytest.mark.parametrize("shape", [s for s in GIVEN if s.element_count < 3000], ids=str)
def test_given_shapes(shape: ArrayShape) -> None:
    check(shape)


@given(tiled_shapes(largest=5))
@settings(max_examples=30, deadline=None)
def test_drawn_shapes(shape: ArrayShape) -> None:
    assume(shape.element_count <= 400)
    check(shape)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("f32[3,5]", "i0*5 + i1"),
        ("f32[1,5]", "i1"),
        ("f32[]", "0"),
        ("f32[8]{0:T(8)}", "i0"),
        ("f32[4,2]{0,1}", "i1*4 + i0"),
    ],
)
def test_parts_that_are_always_0_are_left_out(text: str, formula: str) -> None:
    assert index_formula(parse_array_shape(text)) == formula


def test_an_unbounded_dimension_has_no_formula() -> None:
    with pytest.raises(ValueError, match="unbounded"):
        index_formula(parse_array_shape("f32[?]"))


SHAPES = [
    "f32[3,5]{1,0:T(2,2)}",
    "f32[3,5]{0,1}",
    "f32[3,5]{1,0:T(2,2)(4,1)}",
    "bf16[8,8]{1,0:T(2,4)(2,1,1,1)}",
    "f32[2,3,4,3]{3,2,1,0:T(*,2,*,3)}",
    "f32[2,3,5]{0,2,1:T(d,4,2)}",
    "f32[1,7,1]{2,1,0:T(4,128)}",
    "s32[]{:T(128)}",
    "s4[5,9]{1,0:T(8,128)(2,1)E(4)}",
    "f32[5]",
]
KEYS = """
    shape element_type dimensions rank true_rank layout physical_dimensions physical_elements byte_size xla_byte_size
    allocation_bytes padding_fraction steps warnings
"""


def formula_is_right(formula: str, text: str) -> bool:
    shape = parse_array_shape(text)
    for index in itertools.product(*map(range, shape.dimensions)):
        names = {f"i{dim}": entry for dim, entry in enumerate(index)}
        if eval(formula, {"__builtins__": {}}, names) != linear_index(shape, index):
            return False
    return True


@pytest.mark.parametrize("text", SHAPES)
def test_the_formula_is_the_linear_index_of_every_element(text: str) -> None:
    assert formula_is_right(index_formula(parse_array_shape(text)), text)


def test_the_formula_of_another_layout_is_wrong() -> None:
    assert not formula_is_right(index_formula(parse_array_shape("f32[3,5]{1,0:T(2,2)}")), "f32[3,5]{1,0:T(2,3)}")


def test_the_formula_leaves_out_what_is_always_zero() -> None:
    assert index_formula(parse_array_shape("f32[3,5]{1,0:T(2,2)}")) == "i0//2*12 + i1//2*4 + i0%2*2 + i1%2"
    assert index_formula(parse_array_shape("f32[1,5]{1,0:T(8,128)}")) == "i1"
    assert index_formula(parse_array_shape("f32[]")) == "0"


def test_an_explanation_has_every_number() -> None:
    found = explain_shape(parse_array_shape("f32[3,5]{1,0:T(2,2)}")).as_json()
    assert set(KEYS.split()) <= set(found)
    assert found["physical_dimensions"] == [2, 3, 2, 2]
    assert (found["physical_elements"], found["byte_size"], found["xla_byte_size"]) == (24, 96, 96)
    assert (found["allocation_bytes"], found["padding_fraction"], found["warnings"]) == (512, 0.375, [])
    assert found["steps"] == ["pad[0_1x0_1]", "reshape[2,2,3,2]", "transpose{0,2,1,3}"]


def test_a_target_gives_its_layout_to_a_shape_without_one_only() -> None:
    assert explain_shape(parse_array_shape("bf16[128,256]"), "tpu-v5e").as_json()["layout"] == "{1,0:T(8,128)(2,1)}"
    assert explain_shape(parse_array_shape("bf16[128,256]{1,0}"), "tpu-v5e").as_json()["layout"] == "{1,0}"
    with pytest.raises(DiagnosticError, match="unknown target"):
        explain_shape(parse_array_shape("f32[3]"), "tpu-v99")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("f32[3,5]{1,0:T(2,2)(4,1)}", "XLA's ArraySize says 96 bytes, the elements span 192"),
        ("f32[4,6]{1,0:T(*,2)}", "cannot size a tile that combines"),
        ("s4[3]", "takes a whole byte without E(n)"),
        ("f32[<=4,5]", "bounds of the dynamic dimensions"),
        ("f32[?,5]", "unbounded dimension"),
    ],
)
def test_common_mistakes_are_warnings(text: str, warning: str) -> None:
    assert any(warning in each for each in explain_shape(parse_array_shape(text)).warnings)
