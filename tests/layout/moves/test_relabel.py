"""Runs of steps as transpose, reshape, transpose: the same map at every index, or no result."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.layout import BitcastConvert, Pad, Reshape, Slice, Step, Transpose, parse_element_type
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.relabel import try_relabel
from tests.layout.interpret import run_plan

S32 = parse_element_type("s32")
DIMENSIONS = [(12,), (3, 4), (2, 6), (2, 2, 3), (2, 3, 2), (1, 12), (4, 1, 3)]


@st.composite
def runs(draw: st.DrawFn) -> Plan:
    """Draws up to four transposes and reshapes of twelve elements."""
    dimensions = start = draw(st.sampled_from(DIMENSIONS))
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            steps.append(Transpose(tuple(draw(st.permutations(range(len(dimensions)))))))
            dimensions = tuple(dimensions[i] for i in steps[-1].permutation)  # type: ignore[attr-defined]
        else:
            dimensions = draw(st.sampled_from(DIMENSIONS))
            steps.append(Reshape(dimensions))
    return Plan(S32, start, tuple(steps))


def ran(plan: Plan) -> np.ndarray:
    return run_plan(plan, np.arange(prod(plan.dimensions), dtype=np.int32).reshape(plan.dimensions))


@given(runs())
@settings(max_examples=80, deadline=None)
def test_a_relabelling_is_the_same_map_in_at_most_three_steps(plan: Plan) -> None:
    found = try_relabel(plan)
    if found is None:
        return
    assert np.array_equal(ran(found), ran(plan))
    assert found.opcodes in [
        (),
        ("transpose",),
        ("reshape",),
        ("transpose", "reshape"),
        ("reshape", "transpose"),
        ("transpose", "reshape", "transpose"),
    ]


@pytest.mark.parametrize(
    ("dimensions", "steps", "opcodes"),
    [
        ((2, 3), (Transpose((1, 0)), Transpose((1, 0))), ()),
        ((2, 3, 4), (Reshape((6, 4)), Reshape((2, 12))), ("reshape",)),
        ((2, 3, 4), (Reshape((6, 4)), Transpose((1, 0)), Reshape((4, 2, 3))), ("transpose",)),
        ((4, 6), (Transpose((1, 0)), Slice((0, 1), (6, 3))), ("slice", "transpose")),
        ((0, 3), (Transpose((1, 0)), Reshape((0,))), ("reshape",)),
    ],
)
def test_the_fewest_steps(dimensions: tuple[int, ...], steps: tuple[Step, ...], opcodes: tuple[str, ...]) -> None:
    found = try_relabel(Plan(S32, dimensions, steps))
    assert found is not None
    assert sorted(found.opcodes) == sorted(opcodes)
    assert np.array_equal(ran(found), ran(Plan(S32, dimensions, steps)))


@pytest.mark.parametrize(
    ("dimensions", "steps"),
    [
        # Visible tiles: parts of a dimension move, and one dimension of the result contains them again.
        ((4, 4), (Reshape((2, 2, 2, 2)), Transpose((0, 2, 1, 3)), Reshape((4, 4)))),
        ((3, 4), (Transpose((1, 0)), Pad((0, 0), (1, 0)), Transpose((1, 0)))),
        (
            (4, 4),
            (
                Transpose((1, 0)),
                Reshape((4, 2, 2)),
                BitcastConvert(parse_element_type("s64")),
                Reshape((8,)),
                Transpose((0,)),
                BitcastConvert(S32),
                Reshape((16,)),
                Reshape((4, 4)),
                Transpose((1, 0)),
            ),
        ),
    ],
)
def test_runs_that_are_no_relabelling(dimensions: tuple[int, ...], steps: tuple[Step, ...]) -> None:
    assert try_relabel(Plan(S32, dimensions, steps)) is None
