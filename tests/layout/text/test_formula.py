"""The printed formula, evaluated as Python, against the linear index at every index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from dialect_utils.layout import ArrayShape, linear_index, parse_array_shape
from dialect_utils.layout.text.formula import index_formula
from tests.layout.shapes import GIVEN, tiled_shapes


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
