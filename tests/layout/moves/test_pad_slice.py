"""Dimensions that a pad or slice keeps, and those that a transpose or reshape keeps, on arrays of tagged elements."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.layout import Pad, Reshape, Slice, Step, Transpose, parse_element_type
from dialect_utils.layout.moves.plan import Plan
from tests.layout.interpret import run_plan

S32 = parse_element_type("s32")
DIMENSIONS = (2, 3, 4)


def after(step: Step, array: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns an array after one step, with -1 as padding."""
    return run_plan(Plan(S32, array.shape, (step,)), array, padding_bits=0xFFFFFFFF)


# Steps on arrays of DIMENSIONS that keep some of them.
KEEPING: list[Step] = [
    Transpose((2, 0, 1)),
    Pad((1, 0, 0), (0, 0, 2)),
    Pad((-1, 0, 2), (0, 0, 0), (0, 0, 1)),
    Slice((0, 0, 1), (2, 3, 3)),
    Slice((1, 0, 0), (2, 3, 4), (1, 1, 2)),
]
TAGGED = np.arange(1, prod(DIMENSIONS) + 1, dtype=np.int32).reshape(DIMENSIONS)


@pytest.mark.parametrize("step", KEEPING, ids=str)
def test_a_shared_dimension_has_equal_elements_at_each_index(step: Step) -> None:
    made = after(step, TAGGED)
    shared = list(step.shared_dimensions(DIMENSIONS))
    assert shared
    for source, dimension, is_whole in shared:
        kept = [{*made.take(index, dimension).flat} - {-1} for index in range(made.shape[dimension])]
        rows = [{*TAGGED.take(index, source).flat} for index in range(DIMENSIONS[source])]
        held = [next((index for index, row in enumerate(rows) if each <= row), None) for each in kept if each]
        # Neighbours stay neighbours, and a whole dimension keeps every index.
        assert held == list(range(held[0] or 0, (held[0] or 0) + len(held)))
        assert is_whole == (len(kept) == len(rows) and held == list(range(len(rows))))


@pytest.mark.parametrize("step", [*KEEPING, Reshape((1, 6, 4))], ids=str)
def test_a_resized_step_keeps_the_first_elements(step: Step) -> None:
    """Cutting the array before the step and the result after it are the same."""
    made, tried = after(step, TAGGED), 0
    sources = (
        {2: 2}
        if step.opcode == "reshape"
        else {dimension: source for source, dimension, is_whole in step.shared_dimensions(DIMENSIONS) if is_whole}
    )
    for dimension in range(len(made.shape)):
        resized = step.try_resized(DIMENSIONS, dimension, 1)
        if dimension in sources:
            assert resized is not None
            cut = TAGGED.take([0], sources[dimension])
            assert np.array_equal(after(resized, cut), made.take([0], dimension))
            tried += 1
        else:
            assert resized is None or step.opcode == "reshape"
    assert tried


@pytest.mark.parametrize("step", [*KEEPING, Reshape((1, 2, 3, 4))], ids=str)
@pytest.mark.parametrize("dimension", [0, 1])
def test_a_merged_step_moves_two_dimensions_as_one(step: Step, dimension: int) -> None:
    made = after(step, TAGGED)
    second = made.shape.index(DIMENSIONS[dimension + 1]) if step.order or step.opcode == "reshape" else dimension + 1
    result = (*made.shape[: second - 1], made.shape[second - 1] * made.shape[second], *made.shape[second + 1 :])
    merged = step.try_merged(DIMENSIONS, dimension, result)
    shared = {source: whole for source, _, whole in step.shared_dimensions(DIMENSIONS)}
    if step.order == (2, 0, 1) and dimension == 1:
        # The transpose separates these two, which the caller has to rule out.
        return
    is_possible = step.opcode == "reshape" or (dimension in shared and shared.get(dimension + 1))
    assert (merged is not None) == bool(is_possible)
    if merged is not None:
        sizes = (*DIMENSIONS[:dimension], prod(DIMENSIONS[dimension : dimension + 2]), *DIMENSIONS[dimension + 2 :])
        assert np.array_equal(after(merged, TAGGED.reshape(sizes)), made.reshape(result))
