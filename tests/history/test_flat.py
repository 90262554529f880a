"""One graph of a module: the borders of fusions and calls are passed over, those of loops are not."""

from __future__ import annotations

import pytest

from tests.history.texts import PROGRAM, entry, graph, names, value

GRAPH = graph(PROGRAM)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("f", "c"),
        ("a", "x"),
        ("b", "c"),
        ("k", "n"),
        ("x", "x"),
        ("r", "r"),
        ("t", "t"),
        ("loop", "loop"),
    ],
)
def test_the_source_of_a_value_is_in_no_fusion_and_no_call(name: str, source: str) -> None:
    assert GRAPH.source(value(GRAPH, name)).name == source


def test_nodes_are_the_values_that_are_their_own_source() -> None:
    found = names(GRAPH.nodes)
    assert {"e", "c", "n", "s", "t", "loop", "y", "out", "x"} <= {*found}
    assert {*found} & {"f", "a", "k", "b"} == set()


def test_operands_and_users_cross_fusions_and_calls() -> None:
    assert names(GRAPH.operands(value(GRAPH, "e"))) == ["x"]
    assert names(GRAPH.operands(value(GRAPH, "n"))) == ["c"]
    assert names(GRAPH.users(value(GRAPH, "x"))) == ["e"]
    assert names(GRAPH.users(value(GRAPH, "c"))) == ["n"]
    assert names(GRAPH.users(value(GRAPH, "n"))) == ["state", "out"]
    assert GRAPH.operands(value(GRAPH, "x")) == []


def test_the_results_are_the_elements_of_the_tuple() -> None:
    assert names(GRAPH.results) == ["y", "n"]
    assert names(entry("x = f32[4] parameter(0)", "ROOT n = f32[4] negate(x)").results) == ["n"]


def test_an_element_of_a_tuple_is_what_the_tuple_holds() -> None:
    found = entry(
        "x = f32[4] parameter(0)",
        "y = f32[4] parameter(1)",
        "t = (f32[4], f32[4]) tuple(x, y)",
        "a = f32[4] get-tuple-element(t), index=0",
        "b = f32[4] get-tuple-element(t), index=1",
        "ROOT s = f32[4] subtract(a, b)",
    )
    assert names(found.operands(value(found, "s"))) == ["x", "y"]
    # The tuple is read by its elements alone.
    assert names(found.users(value(found, "x"))) == ["s"]


def test_a_state_is_carried_into_a_loop_and_by_its_body() -> None:
    state, returned = value(GRAPH, "state"), value(GRAPH, "u")
    assert [(loop.name, i) for loop, i in GRAPH.carried_by(state, value(GRAPH, "n"))] == [("loop", 1)]
    assert [(loop.name, i) for loop, i in GRAPH.carried_by(returned, value(GRAPH, "w"))] == [("loop", 1)]
    assert GRAPH.carried_by(state, value(GRAPH, "x")) == []
    assert [(loop.name, i) for loop, i in GRAPH.carried(state)] == [("loop", 0)]
    assert GRAPH.carried(value(GRAPH, "less")) == []


def test_bodies_of_fusions_and_calls_are_inlined() -> None:
    functions = {each.name: each for each in GRAPH.module.functions}
    inlined = {name: GRAPH.is_inlined(function) for name, function in functions.items()}
    assert inlined == {"fused": True, "called": True, "condition": False, "body": False, "e": False}
    assert [name for name, node in (("c", True), ("n", False)) if GRAPH.is_fused(value(GRAPH, name)) is not node] == []
    callers = {name: GRAPH.caller(function) for name, function in functions.items()}
    assert {name: each and each.results[0].name for name, each in callers.items()} == {
        "fused": "f",
        "called": "k",
        "condition": "loop",
        "body": "loop",
        "e": None,
    }


def test_a_function_of_two_callers_is_not_inlined() -> None:
    found = graph(
        "HloModule m\n\nf {\n  a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a)\n}\n\nENTRY e {\n"
        "  x = f32[4] parameter(0)\n  b = f32[4] call(x), to_apply=f\n  ROOT c = f32[4] call(b), to_apply=f\n}\n"
    )
    assert names(found.operands(value(found, "c"))) == ["b"]


def test_readers_are_beyond_moves_and_tuples() -> None:
    found = entry(
        "x = f32[4,8]{1,0} parameter(0)",
        "c = f32[4,8]{0,1} copy(x)",
        "t = f32[8,4]{1,0} transpose(c), dimensions={1,0}",
        "n = f32[8,4]{1,0} negate(t)",
        "ROOT e = f32[4,8]{0,1} exponential(c)",
    )
    assert names(found.readers(value(found, "x"))) == ["e", "n"]
    assert found.unmoved(value(found, "t")).name == "x"
    assert found.unmoved(value(found, "n")).name == "n"


def test_an_asynchronous_copy_ends_at_its_start() -> None:
    found = graph(
        "HloModule m\n\nf {\n  a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a)\n}\n\nENTRY e {\n"
        "  x = f32[4] parameter(0)\n  s = ((f32[4]), f32[4], s32[]) async-start(x), calls=f\n"
        "  ROOT d = f32[4] async-done(s)\n}\n"
    )
    assert found.source(value(found, "d")).name == "n"


def test_an_asynchronous_body_reads_what_updates_bind() -> None:
    late = graph("""HloModule late
body {
  a = f32[8]{0} parameter(0)
  ROOT n = f32[8]{0} negate(a)
}
ENTRY e {
  x = f32[8]{0} parameter(0)
  y = f32[8]{0} sine(x)
  s = ((), (), ()) async-start(), calls=body
  u = ((f32[8]{0}), f32[8]{0}, ()) async-update(s, y)
  ROOT d = f32[8]{0} async-done(u)
}
""")
    assert late.source(value(late, "a")).name == "y"
    assert names(late.operands(value(late, "n"))) == ["y"]
