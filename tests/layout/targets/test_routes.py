"""Routes between layouts: each moves the elements as the plan does, in arrays with less padding."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from dialect_utils.layout import ArrayShape, Reshape, Step, Transpose, parse_shape
from dialect_utils.layout.moves.bitcast import source_index
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.targets.known import allocation_bytes, parse_target
from dialect_utils.layout.targets.routes import cheapest_route

TARGET = "tpu-v5e"
_LARGE = 1 << 40
SPLIT = (Reshape((2, 3, 8, 16, 8)), Transpose((0, 3, 1, 2, 4)))
CASES: dict[str, tuple[str, tuple[Step, ...], str]] = {
    "lanes become rows": ("f32[2,24,128]{2,1,0:T(8,128)}", SPLIT, "f32[2,16,3,8,8]{2,1,4,3,0:T(4,128)}"),
    "dimensions are joined": (
        "f32[3,8,5,16]{3,2,1,0:T(8,128)}",
        (Transpose((1, 3, 0, 2)), Reshape((128, 15))),
        "f32[128,15]{0,1:T(8,128)}",
    ),
    "narrow types are on the way": (
        "f32[2,24,128]{2,1,0:T(8,128)}",
        SPLIT,
        "bf16[2,16,3,8,8]{1,3,4,2,0:T(8,128)(2,1)}",
    ),
    "rows that no tile divides": (
        "f32[2,12,128]{2,1,0:T(8,128)}",
        (Reshape((2, 3, 4, 128)), Transpose((0, 3, 1, 2))),
        "f32[2,128,3,4]{1,3,2,0:T(4,128)}",
    ),
    "a unit dimension": ("f32[1,24,128]{1,2,0:T(8,128)}", (Reshape((24, 1, 128)),), "f32[24,1,128]{2,0,1:T(8,128)}"),
}


def array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def reinterpreted(numbers: np.ndarray[Any, Any], source: ArrayShape, shape: ArrayShape) -> np.ndarray[Any, Any]:
    """Returns what a bitcast reads, element by element."""
    found = np.empty(shape.dimensions, int)
    for index in product(*map(range, shape.dimensions)):
        origin = source_index(source, shape, index)
        assert origin is not None
        found[index] = numbers[origin]
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_route_moves_the_elements_as_the_plan_does(name: str) -> None:
    start, steps, end = CASES[name]
    source, destination = array(start), array(end)
    plan = Plan(*source.type_and_dimensions, steps)
    route = cheapest_route(source, plan, destination, parse_target(TARGET), _LARGE)
    assert route is not None
    before, moved = source, np.arange(source.element_count).reshape(source.dimensions)
    wanted = moved
    for step in steps:
        wanted = wanted.reshape(step.dimensions) if isinstance(step, Reshape) else wanted.transpose(step.order)
    for opcode, shape in route:
        if opcode == "bitcast":
            moved = reinterpreted(moved, before, shape)
        before = shape
    assert before == destination
    assert (moved == wanted).all()
    assert all(shape.element_type == destination.element_type for _, shape in route[1:])


def test_no_route_is_found_that_writes_as_many_bytes() -> None:
    start, steps, end = CASES["lanes become rows"]
    source, chip = array(start), parse_target(TARGET)
    plan = Plan(*source.type_and_dimensions, steps)
    route = cheapest_route(source, plan, array(end), chip, _LARGE)
    assert route is not None
    written = sum(allocation_bytes(shape, TARGET) for opcode, shape in route if opcode == "copy")
    assert cheapest_route(source, plan, array(end), chip, written) is None
    again = cheapest_route(source, plan, array(end), chip, written + 1)
    assert again == route


@pytest.mark.parametrize("start", ["f32[24,200]{1,0}", "f32[24,200]{1,0:T(16,128)}"])
def test_there_is_no_route_from_tiles_that_the_target_does_not_use(start: str) -> None:
    source, end = array(start), array("f32[24,200]{0,1:T(8,128)}")
    assert cheapest_route(source, Plan(*source.type_and_dimensions), end, parse_target(TARGET), _LARGE) is None


def test_an_array_in_its_own_layout_needs_no_route() -> None:
    source = array("f32[24,200]{1,0:T(8,128)}")
    assert cheapest_route(source, Plan(*source.type_and_dimensions), source, parse_target(TARGET), _LARGE) is None
