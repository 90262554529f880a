"""Strided layouts against the index formula at every index, and CuTe's algebra against its defining equations."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import assume, given, strategies as st

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, parse_array_shape
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.layout.notation.strided import (
    Strided,
    coalesce,
    complement,
    compose,
    divide,
    inverse,
    tiled_layout,
    try_strided,
)
from tests.layout.shapes import GIVEN, tiled_shapes

# Layouts without gaps, overlaps and zeros among the strides: an order of digits, cut into modes.
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def compact(draw: st.DrawFn) -> Strided:
    """Draws a layout that fills its indices."""
    sizes = draw(SIZES)
    order = draw(st.permutations(range(len(sizes))))
    digits = [(size, prod(sizes[other] for other in order[: order.index(i)])) for i, size in enumerate(sizes)]
    cut = draw(st.integers(0, len(digits)))
    return Strided(tuple(tuple(part) for part in (digits[:cut], digits[cut:]) if part))


def check_indices(shape: ArrayShape) -> None:
    found = try_strided(shape)
    if found is None:
        return
    for index in product(*map(range, shape.dimensions)):
        assert (found(*index) if index else 0) == linear_index(shape, index), f"{shape} is not {found} at {index}"


@pytest.mark.parametrize("shape", GIVEN, ids=str)
def test_indices_are_those_of_the_formula(shape: ArrayShape) -> None:
    check_indices(shape)


@given(tiled_shapes())
def test_indices_of_drawn_shapes_are_those_of_the_formula(shape: ArrayShape) -> None:
    check_indices(shape)


def test_a_tile_over_parts_of_dimensions_has_no_strides() -> None:
    assert try_strided(parse_array_shape("f32[2,3,5]{2,1,0:T(*,d,4)}")) is None
    # Here the tiles cut no dimension: they pad the end.
    assert str(try_strided(parse_array_shape("f32[3,4,5]{2,1,0:T(*,3)}"))) == "(3,4,5):(21,5,1)"


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("(3,5):(1,3)", "{0,1}"),
        ("((2,2),(2,3)):((2,12),(1,4))", "{1,0:T(2,2)}"),
        ("((2,4,2),(128,2)):((1,256,2048),(2,1024))", "{1,0:T(8,128)(2,1)}"),
        ("(5,7):(8,1)", "{1,0:T(8)}"),
        ("(2,(3,3),7):(12,(1,4),24)", "{1,0,2:T(3)(4)}"),
        ("(6,5):(20,4)", "{1,0:T(1)(4)}"),
        ("(6,5):(5,0)", None),
        ("(6,5):(1,1)", None),
        # XLA's tiles keep the order of a dimension's digits.
        ("((2,3),2):((3,1),6)", None),
    ],
)
def test_tiles_are_found_for_strides(text: str, layout: str | None) -> None:
    found = tiled_layout(Strided.parse(text))
    assert (None if found is None else str(found)) == layout


@given(tiled_shapes(largest=6))
def test_tiles_that_are_found_place_each_element(shape: ArrayShape) -> None:
    layout = try_strided(shape)
    if layout is None or 0 in layout.dimensions:
        return
    found = tiled_layout(layout)
    if found is not None:
        again = ArrayShape(ELEMENT_TYPES["u8"], layout.dimensions, found)
        assert all(
            linear_index(again, index) == linear_index(shape, index) for index in product(*map(range, shape.dimensions))
        )


def test_cute_texts_are_read_and_written() -> None:
    for text in ("(3,5):(5,1)", "((2,3),4):((1,8),2)", "8:1", "(2,2):(2,1)"):
        assert str(Strided.parse(text)) == text
    assert Strided.parse("(_3,_5):(_5,_1)") == Strided.parse("(3,5):(5,1)")


@pytest.mark.parametrize(
    "text", ["3", "(3,5):(5)", "(3,(5):(5,1)", "(3,5):((5,2),1)", "x:1", "(3,5)):(5,1)", ":", "3:1:2"]
)
def test_other_texts_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Strided.parse(text)


@given(compact(), SIZES, st.data())
def test_a_composition_is_one_function_after_the_other(first: Strided, sizes: list[int], data: st.DataObject) -> None:
    strides = [data.draw(st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12])) for _ in sizes]
    second = Strided(tuple(((size, stride),) for size, stride in zip(sizes, strides, strict=True)))
    assume(second.span <= first.size)
    try:
        found = compose(first, second)
    except ValueError:
        return
    assert found.dimensions == second.dimensions
    assert all(found(i) == first(second(i)) for i in range(second.size))


@given(compact())
def test_an_inverse_gives_the_coordinate_of_each_index(layout: Strided) -> None:
    found = inverse(layout)
    assert [layout(found(i)) for i in range(layout.size)] == [*range(layout.size)]


@given(compact(), st.integers(1, 4), st.integers(1, 64))
def test_a_complement_repeats_a_layout_over_all_indices(layout: Strided, factor: int, size: int) -> None:
    tile = Strided(tuple(tuple((count, stride * factor) for count, stride in mode) for mode in layout.modes))
    rest = complement(tile, size)
    sums = sorted(tile(i) + rest(j) for i in range(tile.size) for j in range(rest.size))
    assert sums == [*range(len(sums))]
    assert len(sums) >= size
    assert [rest(i) for i in range(rest.size)] == sorted(rest(i) for i in range(rest.size))


@given(compact(), st.sampled_from([1, 2, 3, 4]))
def test_a_division_is_the_composition_with_a_tile_and_its_complement(layout: Strided, size: int) -> None:
    assume(layout.size % size == 0)
    tile = Strided((((size, 1),),))
    try:
        found = divide(layout, tile)
    except ValueError:
        return
    rest = complement(tile, layout.size)
    assert all(found(i, j) == layout(tile(i) + rest(j)) for i in range(tile.size) for j in range(rest.size))


def test_layouts_without_an_inverse_or_a_complement_are_errors() -> None:
    for text in ("4:2", "(2,2):(1,1)", "4:0"):
        with pytest.raises(ValueError, match="has no inverse"):
            inverse(Strided.parse(text))
    for text in ("(2,3):(2,3)", "(2,2):(1,3)"):
        with pytest.raises(ValueError, match="has no complement"):
            complement(Strided.parse(text), 12)
    for second in ("2:3", "(2,2):(1,1)"):
        with pytest.raises(ValueError, match="is not strided"):
            compose(Strided.parse("(4,3):(3,1)"), Strided.parse(second))


@given(SIZES)
def test_neighbours_are_joined(sizes: list[int]) -> None:
    digits = [(size, prod(sizes[:i])) for i, size in enumerate(sizes)]
    assert coalesce(digits) == (((prod(sizes), 1),) if prod(sizes) > 1 else ())
