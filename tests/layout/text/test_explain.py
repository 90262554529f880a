from __future__ import annotations

import itertools

import pytest

from dialect_utils.layout import linear_index, parse_array_shape
from dialect_utils.layout.text.explain import explain_shape
from dialect_utils.layout.text.formula import index_formula
from dialect_utils.text import DiagnosticError

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
def test_what_people_trip_over_is_a_warning(text: str, warning: str) -> None:
    assert any(warning in each for each in explain_shape(parse_array_shape(text)).warnings)
