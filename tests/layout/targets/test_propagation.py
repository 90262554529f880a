"""Layouts that an op suggests, against the positions of every element in both layouts."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from dialect_utils.layout import ArrayShape, Layout, parse_array_shape
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.layout.targets.propagation import (
    agree,
    is_unconstrained,
    laid_out_like,
    propagate_broadcast,
    propagate_reshaped,
    propagate_same,
    propagate_transposed,
    propagate_unbroadcast,
)

TEXTS = ("f32[4,6]{0,1}", "f32[4,6]{1,0:T(2,2)}", "f32[4,6]{0,1:T(2,2)}", "s4[4,6]{0,1:T(2,4)E(4)}")


@pytest.mark.parametrize("text", [*TEXTS, "f32[2,3,4]{0,2,1:T(2,2)}"])
def test_a_transpose_leaves_every_element_in_place(text: str) -> None:
    source = parse_array_shape(text)
    for order in permutations(range(source.rank)):
        target = ArrayShape(source.element_type, tuple(source.dimensions[i] for i in order))
        found = target.with_layout(propagate_transposed(source, target, order))
        for index in np.ndindex(source.dimensions):
            there = tuple(index[i] for i in order)
            assert linear_index(found, there) == linear_index(source, index)


@pytest.mark.parametrize("text", TEXTS)
def test_equal_dimensions_get_equal_layouts(text: str) -> None:
    source = parse_array_shape(text)
    assert propagate_same(source, source.without_layout) == source.layout
    wide = parse_array_shape("f64[4,6]").with_layout(propagate_same(source, parse_array_shape("f64[4,6]")))
    assert wide.effective_layout.minor_to_major == source.effective_layout.minor_to_major
    assert not wide.is_tiled


@pytest.mark.parametrize("text", [*TEXTS[:3], "f32[4,6]{1,0}", "f32[4,6]{1,0:T(1,2)}", "f32[4,6]{1,0:T(4,6)}"])
def test_a_reshape_with_the_layout_found_moves_no_element(text: str) -> None:
    source = parse_array_shape(text)
    found = 0
    for dimensions in ((24,), (2, 2, 6), (4, 2, 3), (1, 4, 6), (12, 2)):
        target = ArrayShape(source.element_type, dimensions)
        layout = propagate_reshaped(source, target)
        if layout is None:
            continue
        found += 1
        # If the tiles cannot stay, only the order is suggested; it moves no element of an untiled array.
        start = source if layout.tiles else source.with_layout(Layout(source.effective_layout.minor_to_major))
        for place, index in enumerate(np.ndindex(dimensions)):
            old = tuple(int(c) for c in np.unravel_index(place, source.dimensions))
            assert linear_index(target.with_layout(layout), index) == linear_index(start, old)
    assert found or source.effective_layout.is_descending


def test_a_broadcast_keeps_the_order_of_its_operand() -> None:
    source, target = parse_array_shape("f32[4,6]{0,1}"), parse_array_shape("f32[4,5,6]")
    layout = propagate_broadcast(source, target, (0, 2))
    assert layout is not None
    kept = [dim for dim in layout.minor_to_major if dim in (0, 2)]
    assert kept == [0, 2]  # dimension 0 of the operand is the operand's most minor one
    assert propagate_unbroadcast(target.with_layout(layout), source.without_layout, (0, 2)) == source.layout


def test_a_tile_stays_where_its_dimensions_stay_together() -> None:
    source, target = parse_array_shape("f32[4,6]{1,0:T(2,2)}"), parse_array_shape("f32[5,4,6]")
    assert str(target.with_layout(propagate_broadcast(source, target, (1, 2)))) == "f32[5,4,6]{2,1,0:T(2,2)}"
    apart = parse_array_shape("f32[4,6,5]")
    assert propagate_broadcast(source, apart, (0, 1)) is None


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        ("f32[4,6]{0,1:T(2,2)}", "s32[4,6]{0,1:T(2,2)}", True),
        ("f32[4,6]{0,1:T(2,2)}", "f32[4,6]{0,1}", False),
        ("f32[4,6]{0,1:T(2,2)}", "bf16[4,6]{0,1}", True),
        ("f32[4,6]{0,1}", "f32[4,6]", False),
        ("f32[4,6]{1,0:S(1)}", "f32[4,6]", True),
    ],
)
def test_layouts_that_agree(one: str, other: str, is_equal: bool) -> None:
    source, target = parse_array_shape(one), parse_array_shape(other)
    assert agree(source, target) == agree(target, source) == is_equal
    assert agree(source, laid_out_like(target, source))


def test_unconstrained_layouts() -> None:
    assert is_unconstrained(parse_array_shape("f32[4,6]{1,0:S(1)}"))
    assert not is_unconstrained(parse_array_shape("f32[4,6]{0,1}"))
