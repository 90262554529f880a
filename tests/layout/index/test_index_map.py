from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings

from dialect_utils.layout import ArrayShape, parse_array_shape
from dialect_utils.layout.index.index_map import (
    elements_at,
    final_dimensions,
    linear_index,
    linear_indices,
    logical_index,
    logical_indices,
    physical_element_count,
)
from tests.layout.shapes import GIVEN, tiled_shapes


def check_maps_agree(shape: ArrayShape) -> None:
    """States the equations: both directions agree, one by one and as a whole, and no slot is hit twice."""
    count = physical_element_count(shape)
    indices = list(product(*map(range, shape.dimensions)))
    whole = linear_indices(shape)
    assert whole.shape == shape.dimensions
    assert whole.dtype == np.int64
    assert [linear_index(shape, index) for index in indices] == whole.ravel().tolist()
    assert len(set(whole.ravel().tolist())) == len(indices)
    inverse = logical_indices(shape)
    assert inverse.shape == final_dimensions(shape.dimensions, shape.effective_layout)
    for linear, element in enumerate(inverse.ravel().tolist()):
        assert logical_index(shape, linear) == (indices[element] if element >= 0 else None)
    assert all(0 <= linear < count for linear in whole.ravel().tolist())
    assert inverse.ravel()[whole.ravel()].tolist() == list(range(len(indices)))
    assert int((inverse >= 0).sum()) == len(indices)


@pytest.mark.parametrize("shape", GIVEN, ids=str)
def test_equations_at_every_index(shape: ArrayShape) -> None:
    check_maps_agree(shape)


@given(tiled_shapes())
@settings(max_examples=150, deadline=None)
def test_equations_on_drawn_shapes(shape: ArrayShape) -> None:
    if physical_element_count(shape) <= 3000:
        check_maps_agree(shape)


# From XLA's page "Tiled layout", and by hand from the definition.
KNOWN = [
    ("f32[3,5]{1,0:T(2,2)}", (2, 3), 17),
    ("bf16[8,8]{1,0:T(2,4)(2,1,1,1)}", (6, 5), 51),
    ("bf16[2048]{0:T(1024)(128)(2,1)}", (128,), 1),
    ("f32[4,8]{1,0:T(1,4)(2,1,1)}", (1, 5), 11),
    ("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", (1, 6, 7, 10, 9), 12430),
    ("f32[3,5]{1,0:T(d,2)}", (1, 3), 9),
    ("f32[]{:T(128)}", (), 0),
]


@pytest.mark.parametrize(("text", "index", "linear"), KNOWN)
def test_known_indices(text: str, index: tuple[int, ...], linear: int) -> None:
    shape = parse_array_shape(text)
    assert linear_index(shape, index) == linear
    assert logical_index(shape, linear) == index


def test_a_wrong_tile_is_noticed() -> None:
    right, wrong = parse_array_shape("f32[3,5]{1,0:T(2,2)}"), parse_array_shape("f32[3,5]{1,0:T(2,1)(2,2)}")
    assert linear_indices(right).tolist() != linear_indices(wrong).tolist()


def test_padded_dimensions_lie_as_the_proto_says() -> None:
    shape = next(s for s in GIVEN if s.effective_layout.padded_dimensions == (3, 5))
    letters = [("_" if e < 0 else "abcdef"[e]) for e in logical_indices(shape).ravel().tolist()]
    assert " ".join(letters) == "a d _ b e _ c f _ _ _ _ _ _ _"


def test_elements_at_many_indices() -> None:
    shape = parse_array_shape("f32[3,5]{1,0:T(2,2)}")
    count = physical_element_count(shape)
    inside = np.arange(count).reshape(4, -1)
    assert np.array_equal(elements_at(shape, inside).ravel(), logical_indices(shape).ravel())
    # Slots before and after the physical array hold no element.
    assert elements_at(shape, np.array([-count, -1, count, 2 * count])).tolist() == [-1] * 4


@pytest.mark.parametrize("index", [(3, 0), (0, -1), (0,), (0, 0, 0)])
def test_an_index_outside_is_rejected(index: tuple[int, ...]) -> None:
    with pytest.raises(IndexError):
        linear_index(parse_array_shape("f32[3,5]{1,0:T(2,2)}"), index)


def test_indices_without_a_position_are_rejected() -> None:
    tiled = parse_array_shape("f32[3,5]{1,0:T(2,2)}")
    with pytest.raises(IndexError):
        logical_index(tiled, 24)
    with pytest.raises(ValueError, match="unbounded"):
        linear_index(parse_array_shape("f32[?]{0}"), (0,))
    huge = parse_array_shape("f32[3]{0:T(9223372036854775807,9223372036854775807)}")
    assert linear_index(huge, (2,)) == 2
    assert physical_element_count(huge) == prod(final_dimensions((3,), huge.effective_layout))
    with pytest.raises(ValueError, match="64 bits"):
        linear_indices(huge)
