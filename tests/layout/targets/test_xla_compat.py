"""XLA's answers about bitcasts against the positions of elements, and as `relayout explain --bitcast` prints them."""

from __future__ import annotations

from itertools import permutations, product

from hypothesis import given, settings, strategies as st

from dialect_utils.layout import ArrayShape, Layout, parse_array_shape, parse_element_type
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.layout.index.positions import common_factors
from dialect_utils.layout.targets.xla_compat import (
    align_layouts,
    decompose_bitcast,
    deduce_transpose_dimensions_for_bitcast,
    reshape_is_bitcast,
    xla_answers,
)

DIMS = [(12,), (3, 4), (2, 6), (6, 2), (2, 2, 3), (2, 3, 2), (1, 12), (2, 1, 6)]
LAID_OUT = [
    ArrayShape(parse_element_type("f32"), dims, Layout(order))
    for dims in DIMS
    for order in permutations(range(len(dims)))
]


def by_definition(source: ArrayShape, result: ArrayShape) -> bool:
    """Is true where both shapes have every element, in row-major order, at the same offset."""
    places = [
        [linear_index(shape, index) for index in product(*map(range, shape.dimensions))] for shape in (source, result)
    ]
    return places[0] == places[1]


@given(st.sampled_from(LAID_OUT), st.sampled_from(LAID_OUT))
@settings(max_examples=150, deadline=None)
def test_reshape_is_bitcast_is_the_equation(source: ArrayShape, result: ArrayShape) -> None:
    assert reshape_is_bitcast(source, result) == by_definition(source, result)


@given(st.sampled_from(LAID_OUT), st.sampled_from(DIMS))
@settings(max_examples=100, deadline=None)
def test_aligned_layouts_make_reshapes_bitcasts(source: ArrayShape, dims: tuple[int, ...]) -> None:
    aligned = align_layouts(source, dims)
    if aligned is not None:
        assert reshape_is_bitcast(source, aligned)
    else:
        orders = permutations(range(len(dims)))
        assert not any(reshape_is_bitcast(source, ArrayShape(source.element_type, dims, Layout(o))) for o in orders)


def test_transposes() -> None:
    source, result = parse_array_shape("f32[10,5]{1,0}"), parse_array_shape("f32[5,10]{0,1}")
    assert deduce_transpose_dimensions_for_bitcast(source, result) == (1, 0)
    assert deduce_transpose_dimensions_for_bitcast(source, parse_array_shape("f32[10,5]{0,1}")) is None
    assert deduce_transpose_dimensions_for_bitcast(source, parse_array_shape("f32[50]")) is None


def test_decompositions() -> None:
    source = parse_array_shape("f32[16,17,3,7]{3,2,1,0}")
    found = decompose_bitcast(source, parse_array_shape("f32[7,16,51]{0,2,1}"))
    assert found is not None
    assert (found.kind, found.transpose1_dims, found.transpose2_dims) == ("trt", (0, 1, 2, 3), (2, 0, 1))
    assert str(found.reshape_shape) == "f32[16,51,7]{2,1,0}"
    assert decompose_bitcast(parse_array_shape("s4[3,2]"), parse_array_shape("s8[3]")) is None


def test_common_factors() -> None:
    assert common_factors((2, 6), (4, 3)) == [(0, 0), (2, 2)]
    assert common_factors((1, 1), (1,)) == [(0, 0), (1, 1), (2, 1)]


def answers(source: str, destination: str) -> dict[str, str]:
    return xla_answers(parse_array_shape(source), parse_array_shape(destination))


def test_a_transpose_and_a_reshape() -> None:
    assert answers("f32[2,3]{1,0}", "f32[3,2]{0,1}") == {
        "ReshapeIsBitcast": "false",
        "TransposeIsBitcast": "true, {1,0}",
        "DecomposeBitcast": "transpose {1,0}",
        "AlignLayouts": "{1,0}",
    }
    assert answers("f32[2,3]{1,0}", "f32[6]{0}")["DecomposeBitcast"] == "reshape"


def test_three_steps_and_none() -> None:
    three = answers("f32[16,3,17]{1,2,0}", "f32[16,51]{0,1}")
    assert three["DecomposeBitcast"] == "transpose {0,2,1}, reshape f32[51,16]{1,0}, transpose {1,0}"
    assert three["AlignLayouts"] == "none"
    shrinking = answers("f32[7,33]{1,0}", "f32[7,28]{1,0}")
    assert shrinking["AlignLayouts"] == shrinking["DecomposeBitcast"] == "none: the element counts differ"


def test_tiles_are_not_seen() -> None:
    tiled = answers("f32[2,512]{1,0:T(2,128)}", "f32[1024]{0:T(1024)}")
    assert tiled["ReshapeIsBitcast"] == "true"
