"""Results have the dimensions and the element type of the operation; a function of scalars may compute on arrays."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution.reference import evaluate
from dialect_utils.execution.reference.evaluator import UnsupportedOperationError
from dialect_utils.hlo import parse_module


def module(body: str, computations: str = "") -> str:
    return f"HloModule m\n\n{computations}ENTRY e {{\n  p = f32[2] parameter(0)\n  {body}\n}}\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ROOT r = f32[3] negate(p)", r"negate gives the dimensions \[2\], but its shape is f32\[3\]"),
        ("ROOT r = f32[] negate(p)", r"negate gives the dimensions \[2\], but its shape is f32\[\]"),
        ("ROOT r = f32[2,1] reverse(p), dimensions={0}", r"reverse gives the dimensions \[2\]"),
    ],
)
def test_a_result_of_other_dimensions_than_the_type_is_rejected(body: str, message: str) -> None:
    with pytest.raises(UnsupportedOperationError, match=message):
        evaluate(parse_module(module(body)), [np.zeros(2, np.float32)])


def test_a_function_of_scalars_is_evaluated_on_arrays_of_them() -> None:
    square = "f {\n  x = f32[] parameter(0)\n  ROOT s = f32[] multiply(x, x)\n}\n\n"
    text = module("ROOT r = f32[2] map(p), dimensions={0}, to_apply=f", square)
    assert evaluate(parse_module(text), [np.array([2, 3], np.float32)])[0].tolist() == [4, 9]


def test_an_array_is_no_scalar_after_a_function_of_scalars() -> None:
    square = "f {\n  x = f32[] parameter(0)\n  ROOT s = f32[] multiply(x, x)\n}\n\n"
    text = module("m = f32[2] map(p), dimensions={0}, to_apply=f\n  ROOT r = f32[] negate(m)", square)
    with pytest.raises(UnsupportedOperationError, match="negate gives the dimensions"):
        evaluate(parse_module(text), [np.zeros(2, np.float32)])


def test_a_wrong_type_inside_a_function_of_scalars_is_rejected() -> None:
    square = "f {\n  x = f32[] parameter(0)\n  ROOT s = f32[5] multiply(x, x)\n}\n\n"
    text = module("ROOT r = f32[2] map(p), dimensions={0}, to_apply=f", square)
    with pytest.raises(UnsupportedOperationError, match="multiply gives the dimensions"):
        evaluate(parse_module(text), [np.zeros(2, np.float32)])


def test_a_value_inside_a_function_of_scalars_is_rounded_to_its_type() -> None:
    narrow = "f {\n  x = f32[] parameter(0)\n  c = bf16[] copy(x)\n  ROOT r = f32[] convert(c)\n}\n\n"
    text = module("ROOT r = f32[2] map(p), dimensions={0}, to_apply=f", narrow)
    assert evaluate(parse_module(text), [np.array([1.001, 2], np.float32)])[0].tolist() == [1, 2]
