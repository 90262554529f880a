"""Positions of elements after plans, against running the plans on numbered elements, at every index."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.layout import BitcastConvert, Pad, Reshape, Slice, Step, Transpose, parse_element_type
from dialect_utils.layout.index.positions import Position, follow, regroup, regroup_units, unit_bits
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.enumeration import keeps
from tests.layout.interpret import run_plan

S32 = parse_element_type("s32")
_NOWHERE = -1

STEPS: list[tuple[tuple[int, ...], tuple[Step, ...]]] = [
    ((2, 3), (Transpose((1, 0)),)),
    ((2, 3, 4), (Reshape((6, 4)), Transpose((1, 0)), Reshape((2, 12)))),
    ((5,), (Pad((2,), (1,), (1,)),)),
    ((5,), (Pad((-1,), (-2,)),)),
    ((4, 5), (Slice((1, 0), (4, 5), (2, 3)),)),
    ((4, 5), (Slice((1, 1), (3, 4)),)),
    ((3, 5), (Pad((0, 0), (1, 1)), Reshape((2, 2, 3, 2)), Transpose((0, 2, 1, 3)))),
    ((1, 0, 3), (Reshape((0,)),)),
]


def placed(plan: Plan) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Returns the position of the element at each index according to `follow`, dropped elements left out."""
    found = {}
    for index in np.ndindex(plan.dimensions):
        places = follow(plan, index, 0, plan.element_type.bits)
        if keeps(places, ()):
            found[index] = tuple(int(c) for c in places.coordinates)
    return found


def ran(plan: Plan) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Returns the same by running the plan on an array of numbers."""
    numbers = np.arange(prod(plan.dimensions), dtype=np.int32).reshape(plan.dimensions)
    result = run_plan(plan, numbers, padding_bits=_NOWHERE & 0xFFFFFFFF)
    at = {int(result[index]): index for index in np.ndindex(result.shape)}
    return {index: at[int(numbers[index])] for index in np.ndindex(plan.dimensions) if int(numbers[index]) in at}


@pytest.mark.parametrize(("dimensions", "steps"), STEPS, ids=lambda value: " ".join(map(str, value)))
def test_every_element_is_where_running_the_plan_moves_it(dimensions: tuple[int, ...], steps: tuple[Step, ...]) -> None:
    plan = Plan(S32, dimensions, steps)
    assert placed(plan) == ran(plan)


def test_a_wrong_position_is_noticed() -> None:
    assert placed(Plan(S32, (2, 2), (Transpose((1, 0)),))) != ran(Plan(S32, (2, 2), (Transpose((0, 1)),)))


@given(st.permutations([2, 3, 4, 1]), st.permutations([6, 4, 1]))
@settings(max_examples=40, deadline=None)
def test_regrouped_coordinates_are_at_the_same_position(old: list[int], new: list[int]) -> None:
    for position in range(24):
        there = [int(c) for c in np.unravel_index(position, old)]
        assert regroup(there, old, new) == [int(c) for c in np.unravel_index(position, new)]


@pytest.mark.parametrize(("old", "new"), [(4, 1), (4, 2), (1, 4), (2, 4), (2, 2)])
def test_units_keep_their_position_when_elements_change_their_width(old: int, new: int) -> None:
    dimensions, after = ((3, old // new) if new < old else (3,)), ((3, new // old) if old < new else (3,))
    for position, (*index, unit) in enumerate(np.ndindex((*after, old))):
        places = Position(list(index), unit)
        regroup_units(places, old, new)
        sizes = (*dimensions, new)
        assert int(np.ravel_multi_index((*places.coordinates, places.unit), sizes)) == position


def test_a_unit_is_part_of_every_element_on_the_way() -> None:
    s4, u8 = parse_element_type("s4"), parse_element_type("u8")
    packed = Plan(s4, (3, 2), (BitcastConvert(u8),))
    assert unit_bits(packed) == 4
    assert unit_bits(packed, Plan(parse_element_type("s2"), (3,))) == 2
