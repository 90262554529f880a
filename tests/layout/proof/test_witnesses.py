"""Elements that are evidence for the verdict on a bitcast, against reading every element by the layout's definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dialect_utils.layout import ArrayShape, parse_array_shape
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.layout.index.positions import linear_position
from dialect_utils.layout.proof import witnesses
from dialect_utils.layout.proof.bitcast_positions import defined_positions, padding_mask
from dialect_utils.layout.proof.witnesses import find_moved_element, find_padding_read, in_common

SHAPES = [
    parse_array_shape(text)
    for text in (
        "f32[3,5]{1,0:T(2,2)}",
        "f32[4,6]{1,0:T(2,2)}",
        "f32[4,6]{1,0}",
        "f32[6,4]{0,1}",
        "f32[2,3,2,2]{3,2,1,0}",
        "f32[24]{0}",
        "f32[3,5]{1,0:T(3,8)}",
        "f32[24]{0:T(8)}",
        "bf16[4,12]{1,0:T(2,4)(2,1)}",
        "bf16[48]{0}",
        "bf16[7]{0:T(8)}",
        "f32[4]{0}",
    )
]


def atom_of(source: ArrayShape, destination: ArrayShape) -> int:
    return min(source.element_type.bits, destination.element_type.bits)


@pytest.mark.parametrize("is_quick", [True, False])
def test_a_padding_that_is_read_is_found_where_there_is_one(is_quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_quick:
        monkeypatch.setattr(witnesses, "RELATION_BUDGET", 1)
    answers = set()
    for source, destination in product(SHAPES, SHAPES):
        mask = padding_mask(defined_positions(source, destination, atom_of(source, destination)))
        found = find_padding_read(source, destination)
        assert (found is not None) == bool(mask.any()), (source, destination)
        assert found is None or mask[found]
        answers.add(found is None)
    assert answers == {True, False}


def test_an_element_that_moves_is_found_where_there_is_one() -> None:
    answers = set()
    for source, destination in product(SHAPES, SHAPES):
        if source.element_type != destination.element_type or source.element_count != destination.element_count:
            assert find_moved_element(source, destination) is None
            continue
        found = find_moved_element(source, destination)
        moved = {
            index
            for place, index in enumerate(np.ndindex(destination.dimensions))
            if linear_index(destination, index)
            != linear_index(source, tuple(int(c) for c in np.unravel_index(place, source.dimensions)))
        }
        assert found in moved if moved else found is None, (source, destination)
        answers.add(found is None)
    assert answers == {True, False}


def test_common_digits_distinguish_the_same_positions() -> None:
    source, destination = parse_array_shape("f32[4,6]"), parse_array_shape("f32[2,12]")
    found = [tuple(in_common(source, destination, (i, j), 0, 32)) for i in range(4) for j in range(6)]
    assert len(set(found)) == 24
    assert found == sorted(found)


def test_a_linear_position_is_row_major() -> None:
    for index in np.ndindex(2, 3, 4):
        assert linear_position(index, (2, 3, 4)) == np.ravel_multi_index(index, (2, 3, 4))
