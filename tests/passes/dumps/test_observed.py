"""The values of a module as a graph, and the first wrong ones among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dialect_utils.execution import Worker, run_module
from dialect_utils.hlo import Instruction, parse_module
from passes.dumps.observed import Observed, observe

LOOP = """HloModule m

body {
  state = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[3] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  squared = f32[3] multiply(x, x)
  ROOT t = (s32[], f32[3]) tuple(next, squared)
}

condition {
  state.1 = (s32[], f32[3]) parameter(0)
  j = s32[] get-tuple-element(state.1), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(j, three), direction=LT
}

twice {
  a = f32[3] parameter(0)
  ROOT d = f32[3] add(a, a)
}

ENTRY e {
  p = f32[3] parameter(0)
  n = s32[] constant(0)
  q = f32[3] call(p), to_apply=twice
  s = f32[1] slice(q), slice={[0:1]}
  init = (s32[], f32[3]) tuple(n, q)
  w = (s32[], f32[3]) while(init), condition=condition, body=body
  r = f32[3] get-tuple-element(w), index=1
  v = f32[3] negate(r)
  u = f32[3] add(v, q)
  ROOT o = (f32[3], f32[3], f32[1]) tuple(u, r, s)
}
"""


def observed() -> Observed:
    return observe(parse_module(LOOP, "m"))


def named(found: Observed, *names: str) -> list[Instruction]:
    items = {item.name: item for item in found.module.entry.instructions}
    return [items[name] for name in names]


def inputs(found: Observed, name: str) -> list[str]:
    return [each.name for each in found.inputs_of(*named(found, name))]


def test_values_of_calls_and_of_first_iterations_are_in_the_entry() -> None:
    found = observed()
    assert [each.name for each in found.arrays] == ["q", "s", "squared.1", "squared.2", "r", "v", "u"]
    assert inputs(found, "r") == ["squared.2"]
    assert inputs(found, "squared.2") == ["squared.1", "squared.1"]
    assert inputs(found, "squared.1") == ["q", "q"]
    assert inputs(found, "q") == ["p", "p"]
    assert [each.name for each in found.results] == ["u", "r", "s"]
    assert [found.loops[each].name for each in named(found, "squared.1", "next.2")] == ["w", "w"]
    assert named(found, "u")[0] not in found.loops


@pytest.mark.parametrize(("bound", "count"), [("constant(1)", 1), ("constant(2)", 2), ("parameter(1)", 1)])
def test_a_loop_is_observed_for_no_more_iterations_than_it_surely_runs(bound: str, count: int) -> None:
    text = LOOP.replace("three = s32[] constant(3)", f"three = s32[] {bound}")
    if "parameter" in bound:
        text = text.replace(f"three = s32[] {bound}", "three = s32[] multiply(j, j)")
    found = observe(parse_module(text, "m"))
    assert sum(each.name.startswith("squared") for each in found.arrays) == count


def test_a_module_returns_chosen_values_after_its_own_results(worker: Worker) -> None:
    found = observed()
    p = np.array([1, 2, 3], np.float32)
    before = run_module(found.module, [p], worker=worker)
    after = run_module(found.returning(named(found, "squared.2", "q")), [p], worker=worker)
    for got, wanted in zip(after, [*before, (2 * p) ** 4, 2 * p], strict=True):
        np.testing.assert_array_equal(got, wanted)
    single = observe(parse_module("ENTRY e {\n  p = f32[3] parameter(0)\n  ROOT n = f32[3] negate(p)\n}\n", "m"))
    for got, wanted in zip(run_module(single.returning(single.arrays), [p], worker=worker), [-p, -p], strict=True):
        np.testing.assert_array_equal(got, wanted)


def suspected(
    found: Observed, wrong: list[str], outputs: list[int], uniform: Sequence[str] = ()
) -> list[tuple[str, list[str], tuple[int, ...]]]:
    suspects = found.suspects(named(found, *wrong), named(found, *uniform), outputs)
    return [(each.value.name, [item.name for item in each.moved], each.outputs) for each in suspects]


def test_the_first_wrong_value_is_the_one_that_is_computed_from_right_ones() -> None:
    found = observed()
    assert suspected(found, ["v", "u"], [0]) == [("v", [], (0,))]
    assert suspected(found, ["squared.1", "squared.2", "r", "v", "u"], [0, 1]) == [("squared.1", [], (0, 1))]
    # A wrong value on no way to a wrong output is none of its reasons.
    assert suspected(found, ["squared.2", "r", "v", "u"], [1]) == [("squared.2", [], (1,))]
    assert suspected(found, ["q", "u"], [0]) == [("q", [], (0,))]
    assert suspected(found, ["q", "v", "u"], [0]) == [("q", [], (0,)), ("v", [], (0,))]
    # The first iterations are right, and a later one is not.
    assert suspected(found, ["r", "v", "u"], [0, 1]) == [("r", [], (0, 1))]
    # An output that is another value of the source, but not the right one.
    assert suspected(found, [], [0]) == [("u", [], (0,))]


def test_values_that_explain_more_outputs_come_first() -> None:
    found, wrong = observed(), ["s", "squared.1", "squared.2", "r", "v", "u"]
    assert suspected(found, wrong, [0, 1, 2]) == [("squared.1", [], (0, 1)), ("s", [], (2,))]


def test_a_value_with_equal_elements_is_wrong_if_it_is_computed_from_a_wrong_one() -> None:
    found = observed()
    assert suspected(found, ["squared.1", "r", "v", "u"], [0]) == [("r", [], (0,))]
    assert suspected(found, ["squared.1", "r", "v", "u"], [0], ["squared.2"]) == [("squared.1", [], (0,))]
    assert suspected(found, ["r", "v", "u"], [0], ["squared.2"]) == [("r", [], (0,))]


MOVING = """ENTRY e {
  p = f32[4] parameter(0)
  s = f32[2] slice(p), slice={[0:2]}
  r = f32[2] reverse(s), dimensions={0}
  n = f32[2] negate(r)
  ROOT x = f32[2] exponential(n)
}
"""


def test_values_that_only_move_elements_are_named_beside_the_first_computed_one() -> None:
    found = observe(parse_module(MOVING, "m"))
    assert suspected(found, ["s", "r", "n", "x"], [0]) == [("n", ["s", "r"], (0,))]
    assert suspected(found, ["s", "n", "x"], [0]) == [("n", [], (0,))]
    moved = observe(parse_module(MOVING.replace("exponential(n)", "reverse(s), dimensions={0}"), "m"))
    assert suspected(moved, ["s", "x"], [0]) == [("x", ["s"], (0,))]
