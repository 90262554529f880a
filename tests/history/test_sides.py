"""Both sides of a move: what makes the array and what reads it, through everything that leaves the bytes in place."""

from __future__ import annotations

import pytest

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.moved import Side, consumers, producer, result_numbers, through_same_bytes
from dialect_utils.history.tracing import Introduced
from tests.history.texts import PROGRAM, entry, graph, value

X = "x = f32[4,8]{1,0} parameter(0)"


def of(found: FlatGraph, name: str) -> Introduced:
    return Introduced(0, found, value(found, name))


def said(sides: list[Side]) -> list[str]:
    return [str(each) for each in sides]


def test_an_argument_and_a_result_have_their_numbers() -> None:
    found = entry(
        "w = f32[] parameter(0)",
        "x = f32[4,8]{1,0} parameter(1)",
        "c = f32[4,8]{0,1} copy(x)",
        "ROOT t = (f32[], f32[4,8]{0,1}) tuple(w, c)",
    )
    made = producer(of(found, "c"))
    assert (str(made), made.number, made.shape) == ("argument 1 (x)", 1, "f32[4,8]{1,0}")
    [read] = consumers(of(found, "c"))
    assert (str(read), read.number, read.shape) == ("result 1", 1, "f32[4,8]{0,1}")


def test_bitcasts_and_transposes_that_move_nothing_are_passed_over() -> None:
    found = entry(
        X,
        "n = f32[4,8]{1,0} negate(x)",
        "b = f32[8,4]{0,1} transpose(n), dimensions={1,0}",
        "c = f32[8,4]{1,0} copy(b)",
        "d = f32[32]{0} bitcast(c)",
        "ROOT s = f32[32]{0} sine(d)",
    )
    assert str(producer(of(found, "c"))) == "n (negate)"
    assert said(consumers(of(found, "c"))) == ["s (sine)"]
    assert through_same_bytes(found, value(found, "d")).name == "c"
    assert through_same_bytes(found, value(found, "b"), value(found, "b")).name == "b"


def test_a_transpose_that_moves_bytes_is_a_reader_itself() -> None:
    found = entry(
        X,
        "c = f32[4,8]{0,1} copy(x)",
        "t = f32[8,4]{0,1} transpose(c), dimensions={1,0}",
        "ROOT s = f32[8,4]{0,1} sine(t)",
    )
    assert said(consumers(of(found, "c"))) == ["t (transpose)"]


def test_the_reader_that_asks_for_its_layout_most_firmly_is_first() -> None:
    dot = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    found = entry(
        X,
        "k = f32[8,4]{1,0} parameter(1)",
        "c = f32[4,8]{0,1} copy(x)",
        "n = f32[4,8]{0,1} negate(c)",
        f"d = f32[4,4]{{1,0}} dot(c, k), {dot}",
        "ROOT t = (f32[4,8]{0,1}, f32[4,4]{1,0}, f32[4,8]{0,1}) tuple(n, d, c)",
    )
    assert said(consumers(of(found, "c"))) == ["result 2", "d (dot)", "n (negate)"]


def test_the_state_of_a_loop_is_a_side() -> None:
    text = PROGRAM.replace("tuple(zero, k)", "tuple(zero, q)").replace(
        "  state =", "  q = f32[4,8]{0,1} copy(k)\n  state ="
    )
    found = graph(text)
    assert said(consumers(of(found, "q"))) == ["loop state 1 (loop)"]
    assert str(producer(of(found, "y"))) == "loop state 1 (r)"
    inner = graph(PROGRAM.replace("sine(v)", "copy(v)"))
    assert str(producer(of(inner, "w"))) == "loop state 1 (v)"


@pytest.mark.parametrize(("name", "numbers"), [("c", [0, 1]), ("x", [])])
def test_a_node_may_be_several_results(name: str, numbers: list[int]) -> None:
    found = entry(
        X, "c = f32[4,8]{0,1} copy(x)", "b = f32[32]{0} bitcast(c)", "ROOT t = (f32[4,8], f32[32]) tuple(c, b)"
    )
    assert result_numbers(found, value(found, name)) == numbers
