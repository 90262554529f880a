"""Moved and padded arrays: the kind of each move, its bytes by hand, and the iterations around it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dialect_utils.history.moved import Moved, describe, find_moved
from dialect_utils.memory import measure_memory
from dialect_utils.memory.relayouts import kind_of_move
from tests.history.texts import PROGRAM, entry, graph, value

TILED = "{1,0:T(8,128)}"


def moved(text: str) -> dict[str, Moved]:
    found = graph(text)
    return {each.node.name: each for each in find_moved(found, measure_memory(found.module))}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("f32[4,8]{0,1} copy(x)", "relayout"),
        ("f32[4,8]{1,0} copy(x)", "copy"),
        ("f32[4,8]{1,0:S(1)} copy(x)", "memory space"),
        ("f32[4,8]{1,0:T(2,2)} copy(x)", "relayout"),
        ("f32[8,4]{1,0} transpose(x), dimensions={1,0}", "transpose"),
        ("f32[8,4]{0,1} transpose(x), dimensions={1,0}", None),
        ("f32[32]{0} reshape(x)", None),
        ("f32[2,16]{0,1} reshape(x)", "reshape"),
    ],
)
def test_a_move_has_a_kind_iff_a_byte_moves(line: str, kind: str | None) -> None:
    found = entry("x = f32[4,8]{1,0} parameter(0)", f"ROOT m = {line}")
    operation = value(found, "m").operation
    assert operation is not None
    assert kind_of_move(operation) == kind


def test_a_move_reads_and_writes_its_bytes_and_a_bitcast_none() -> None:
    found = moved(PROGRAM)
    assert {name: each.kind for name, each in found.items()} == {"c": "relayout", "y": "relayout"}
    assert found["y"].bytes_moved == found["c"].bytes_moved == 2 * (4 * 8 * 4)
    assert (found["c"].fusion, found["c"].is_alone) == ("f", False)
    assert (found["y"].fusion, found["y"].is_alone) == ("", True)
    assert (str(found["y"].source), str(found["y"].result)) == ("f32[4,8]{0,1}", "f32[4,8]{1,0}")


def test_a_move_in_a_loop_costs_as_often_as_the_loop_runs() -> None:
    once = PROGRAM.replace("w = f32[4,8]{0,1} sine(v)", "q = f32[4,8]{1,0} copy(v)\n  w = f32[4,8]{0,1} copy(q)")
    found = moved(once)
    assert (found["q"].trips, found["y"].trips) == (5, 1)
    assert found["q"].cost == 5 * found["y"].cost == 5 * 256


def test_the_most_expensive_move_is_first_and_those_inside_other_fusions_are_last() -> None:
    text = PROGRAM.replace("w = f32[4,8]{0,1} sine(v)", "q = f32[4,8]{1,0} copy(v)\n  w = f32[4,8]{0,1} copy(q)")
    assert list(moved(text)) == ["q", "w", "y", "c"]


def test_a_padded_array_has_the_bytes_of_its_padding() -> None:
    text = f"HloModule m\n\nENTRY e {{\n  x = f32[4,3]{TILED} parameter(0)\n  ROOT n = f32[4,3]{TILED} negate(x)\n}}\n"
    found = moved(text)
    # 4 rows of 128 lanes hold 4 x 3 elements; a tile has 4 rows where the array has no more.
    assert {each.kind for each in found.values()} == {"padded array"}
    assert {each.padding_bytes for each in found.values()} <= {4 * (4 * 128 - 12), 4 * (8 * 128 - 12)}
    assert all(each.bytes_moved == 0 and each.cost == each.padding_bytes for each in found.values())


def test_any_array_is_described_without_a_move() -> None:
    found = graph(PROGRAM)
    usage = measure_memory(found.module)
    said = describe(found, value(found, "w"), usage)
    assert said is not None
    assert (said.kind, said.bytes_moved, said.trips) == ("instruction", 0, 5)
    assert describe(found, value(found, "loop"), usage) is None


def test_a_move_in_a_loop_of_an_unknown_count_costs_one_iteration() -> None:
    found = entry("x = f32[4,8]{1,0} parameter(0)", "ROOT c = f32[4,8]{0,1} copy(x)")
    usage = measure_memory(found.module)
    [one] = find_moved(found, usage)
    assert (one.trips, one.is_alone) == (1, True)
    assert replace(one, trips=None).cost == one.cost == replace(one, trips=3).cost // 3
