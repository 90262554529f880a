"""The passes over data movement preserve every result of random modules, evaluated with numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.layout import ArrayShape
from passes.framework.base import Pass
from passes.tiling.cancel_relayouts import cancel_relayouts
from passes.tiling.expand_tiling import expand_tiling
from passes.tiling.fold_tiling import fold_tiling
from passes.tiling.propagate_physical import propagate_physical
from tests.passes.evaluate import evaluate, pack, unpack
from tests.passes.random_modules import modules

MOVEMENT = ("transpose", "reshape", "pad", "slice", "bitcast-convert")


def movements(module: HloModule) -> int:
    return sum(operation.opcode in MOVEMENT for operation in module.entry.operations)


def run(step: Pass, module: HloModule) -> HloModule:
    result = step.run(module).module
    assert isinstance(result, HloModule)
    return parse_module(result.text())


def arguments(module: HloModule) -> list[np.ndarray]:
    shapes = [shape for parameter in module.entry.parameters for shape in parameter.shape.arrays()]
    return [
        np.arange(shape.element_count).reshape(shape.dimensions) * 7 + 100 * i + 3 for i, shape in enumerate(shapes)
    ]


def same_results(module: HloModule, other: HloModule) -> bool:
    values = arguments(module)
    return all(map(np.array_equal, evaluate(module, values), evaluate(other, values)))


@settings(max_examples=60, deadline=None)
@given(modules(), st.sampled_from([cancel_relayouts, propagate_physical]))
def test_results_stay_and_ops_do_not_grow(text: str, step: Pass) -> None:
    module = parse_module(text)
    after = run(step, module)
    assert same_results(module, after)
    assert movements(after) <= movements(module)
    assert not step.run(after).modified


@settings(max_examples=60, deadline=None)
@given(modules(is_tiled=True, most=6), st.sampled_from(["logical", "physical"]))
def test_folding_what_was_expanded_gives_the_same_text(text: str, interface: str) -> None:
    module = parse_module(text)
    # Explicit tiling ops that were in the module fold as well.
    assume(not fold_tiling.run(module).modified)
    expanded = run(expand_tiling.with_options(interface=interface), module)  # type: ignore[arg-type]  # drawn from its choices
    assert fold_tiling.run(expanded).module.text() == text


@settings(max_examples=50, deadline=None)
@given(modules(is_tiled=True, most=6), st.permutations([cancel_relayouts, propagate_physical]))
def test_tiled_modules_keep_their_results_through_physical_interfaces(text: str, steps: list[Pass]) -> None:
    module = parse_module(text)
    shapes = list(module.entry.root.shape.arrays())
    wanted = evaluate(module, arguments(module))
    after = run(expand_tiling.with_options(interface="physical"), module)
    for step in steps:
        after = run(step, after)
    packed = [
        pack_if_tiled(value, parameter.shape)
        for value, parameter in zip(arguments(module), module.entry.parameters, strict=True)
    ]
    found = evaluate(after, packed)
    for array, expected, shape in zip(found, wanted, shapes, strict=True):
        assert np.array_equal(unpack(array, shape) if shape.is_tiled else array, expected)


def pack_if_tiled(value: np.ndarray, shape: object) -> np.ndarray:
    assert isinstance(shape, ArrayShape)
    return pack(value, shape) if shape.is_tiled else value


def entry(*lines: str) -> HloModule:
    return parse_module("HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")


def test_the_check_finds_a_wrong_rewrite() -> None:
    right = entry("p = s32[2,3]{1,0} parameter(0)", "ROOT t = s32[3,2]{1,0} transpose(p), dimensions={1,0}")
    wrong = entry("p = s32[2,3]{1,0} parameter(0)", "ROOT t = s32[3,2]{1,0} reshape(p)")
    assert not same_results(right, wrong)


def test_a_padding_that_is_read_stays() -> None:
    module = entry(
        "p = s32[4]{0} parameter(0)",
        "zero = s32[] constant(0)",
        "s = s32[3]{0} slice(p), slice={[0:3]}",
        "ROOT q = s32[4]{0} pad(s, zero), padding=0_1",
    )
    assert not cancel_relayouts.run(module).modified


@pytest.mark.parametrize("reader", ["slice(n), slice={[0:3]}", "slice(n), slice={[0:2]}"])
def test_a_padding_that_every_use_drops_gives_the_array_back(reader: str) -> None:
    size = reader[-3]
    module = entry(
        "p = s32[4]{0} parameter(0)",
        "zero = s32[] constant(0)",
        "s = s32[3]{0} slice(p), slice={[0:3]}",
        "q = s32[4]{0} pad(s, zero), padding=0_1",
        "n = s32[4]{0} negate(q)",
        f"ROOT r = s32[{size}]{{0}} {reader}",
    )
    after = run(cancel_relayouts, module)
    assert movements(after) == 1
    assert same_results(module, after)


def test_an_op_with_another_user_stays_for_it() -> None:
    module = entry(
        "p = s32[2,3]{1,0} parameter(0)",
        "t = s32[3,2]{1,0} transpose(p), dimensions={1,0}",
        "u = s32[2,3]{1,0} transpose(t), dimensions={1,0}",
        "ROOT r = (s32[3,2]{1,0}, s32[2,3]{1,0}) tuple(t, u)",
    )
    after = run(cancel_relayouts, module)
    assert movements(after) == 1
    assert after.entry.root.operands[1].name == "p"


def test_equal_movements_are_one() -> None:
    module = entry(
        "p = s32[2,3]{1,0} parameter(0)",
        "t = s32[3,2]{1,0} transpose(p), dimensions={1,0}",
        "u = s32[3,2]{1,0} transpose(p), dimensions={1,0}",
        "ROOT a = s32[3,2]{1,0} add(t, u)",
    )
    assert movements(run(cancel_relayouts, module)) == 1


def test_a_sharded_movement_stays() -> None:
    module = entry(
        "p = s32[2,3]{1,0} parameter(0)",
        "t = s32[3,2]{1,0} transpose(p), dimensions={1,0}, sharding={devices=[1,2]<=[2]}",
        "ROOT u = s32[2,3]{1,0} transpose(t), dimensions={1,0}",
    )
    assert not cancel_relayouts.run(module).modified


TILED = (
    "p = s32[3,5]{1,0:T(2,2)} parameter(0)",
    "q = s32[3,5]{1,0:T(2,2)} parameter(1)",
    "c = s32[] constant(3)",
    "b = s32[3,5]{1,0:T(2,2)} broadcast(c), dimensions={}",
    "m = s32[3,5]{1,0:T(2,2)} multiply(p, b)",
    "x = s32[3,5]{1,0:T(2,2)} maximum(m, q)",
    "ROOT a = s32[3,5]{1,0:T(2,2)} add(x, m)",
)


def test_a_chain_between_tiled_values_holds_no_movement() -> None:
    expanded = run(expand_tiling.with_options(interface="physical"), entry(*TILED))
    assert movements(run(propagate_physical, expanded)) == 0


def test_padding_reaches_no_sum() -> None:
    text = "HloModule m\n\nadd {\n  l = s32[] parameter(0)\n  r = s32[] parameter(1)\n  ROOT s = s32[] add(l, r)\n}\n\n"
    lines = "\n  ".join([*TILED[:-2], "zero = s32[] constant(0)", "ROOT s = s32[] reduce(m, zero), dimensions={0,1}"])
    module = parse_module(text + "ENTRY e {\n  " + lines + ", to_apply=add\n}\n")
    after = module
    for step in (expand_tiling.with_options(interface="physical"), propagate_physical, cancel_relayouts):
        after = run(step, after)
    shape = module.entry.parameters[0].shape
    assert isinstance(shape, ArrayShape)
    values = arguments(module)
    expected = evaluate(module, values)[0]
    assert np.array_equal(evaluate(after, [pack(value, shape) for value in values])[0], expected)


LOOP = """HloModule m

cond {
  cp = (s32[3,5]{1,0:T(2,2)}, s32[]) parameter(0)
  i = s32[] get-tuple-element(cp), index=1
  n = s32[] constant(3)
  ROOT lt = pred[] compare(i, n), direction=LT
}

body {
  bp = (s32[3,5]{1,0:T(2,2)}, s32[]) parameter(0)
  x = s32[3,5]{1,0:T(2,2)} get-tuple-element(bp), index=0
  j = s32[] get-tuple-element(bp), index=1
  one = s32[] constant(1)
  y = s32[3,5]{1,0:T(2,2)} OP
  k = s32[] add(j, one)
  ROOT r = (s32[3,5]{1,0:T(2,2)}, s32[]) tuple(y, k)
}

ENTRY e {
  p = s32[3,5]{1,0:T(2,2)} parameter(0)
  z = s32[] constant(0)
  t = (s32[3,5]{1,0:T(2,2)}, s32[]) tuple(p, z)
  w = (s32[3,5]{1,0:T(2,2)}, s32[]) while(t), condition=cond, body=body
  ROOT o = s32[3,5]{1,0:T(2,2)} get-tuple-element(w), index=0
}
"""


@pytest.mark.parametrize(
    ("operation", "dimensions"), [("add(x, x)", (2, 3, 2, 2)), ("reverse(x), dimensions={1}", (3, 5))]
)
def test_a_loop_passes_physical_arrays_where_its_body_can_use_them(operation: str, dimensions: tuple[int, ...]) -> None:
    expanded = run(expand_tiling.with_options(interface="physical"), parse_module(LOOP.replace("OP", operation)))
    after = run(propagate_physical, expanded)
    loop = next(item for item in after.entry.operations if item.opcode == "while")
    assert next(loop.shape.arrays()).dimensions == dimensions
    assert fold_tiling.run(expanded).module.text() == LOOP.replace("OP", operation)


CALL = """HloModule m

f {
  a = s32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT n = s32[3,5]{1,0:T(2,2)} negate(a)
}

ENTRY e {
  p = s32[3,5]{1,0:T(2,2)} parameter(0)
  c = s32[3,5]{1,0:T(2,2)} call(p), to_apply=f
  ROOT d = s32[3,5]{1,0:T(2,2)} call(c), to_apply=f
}
"""

BRANCHES = """HloModule m

f {
  a = s32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT n = s32[3,5]{1,0:T(2,2)} negate(a)
}

g {
  b = s32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT o = s32[3,5]{1,0:T(2,2)} add(b, b)
}

ENTRY e {
  p = s32[3,5]{1,0:T(2,2)} parameter(0)
  q = pred[] parameter(1)
  ROOT c = s32[3,5]{1,0:T(2,2)} conditional(q, p, p), true_computation=f, false_computation=g
}
"""


@pytest.mark.parametrize("text", [LOOP.replace("OP", "negate(x)"), CALL, BRANCHES])
def test_boundaries_hold_no_movement(text: str) -> None:
    expanded = run(expand_tiling.with_options(interface="physical"), parse_module(text))
    after = run(propagate_physical, expanded)
    assert not any(item.opcode in MOVEMENT for function in after.functions for item in function.operations)
    assert fold_tiling.run(expanded).module.text() == text


def test_an_integer_division_by_padding_does_not_move() -> None:
    lines = [line.replace("maximum(m, q)", "divide(m, q)") for line in TILED]
    expanded = run(expand_tiling.with_options(interface="physical"), entry(*lines))
    after = run(propagate_physical, expanded)
    division = next(operation for operation in after.entry.operations if operation.opcode == "divide")
    shape = division.shape
    assert isinstance(shape, ArrayShape)
    assert shape.dimensions == (3, 5)


HAND_WRITTEN = (
    "p = s32[3,5]{1,0} parameter(0)",
    "zero = s32[] constant(0)",
    "wide = s32[3,6]{1,0} pad(p, zero), padding=0_0x0_1",
    "split = s32[3,3,2]{2,1,0} reshape(wide)",
    "high = s32[4,3,2]{2,1,0} pad(split, zero), padding=0_1x0_0x0_0",
    "tiles = s32[2,2,3,2]{3,2,1,0} reshape(high)",
    "put = s32[2,3,2,2]{3,2,1,0} transpose(tiles), dimensions={0,2,1,3}",
    "rows = s32[2,2,3,2]{3,2,1,0} transpose(put), dimensions={0,2,1,3}",
    "whole = s32[4,6]{1,0} reshape(rows)",
    "back = s32[3,5]{1,0} slice(whole), slice={[0:3], [0:5]}",
    "ROOT n = s32[3,5]{1,0} negate(back)",
)


def test_a_hand_written_tiling_folds() -> None:
    folded = run(fold_tiling, entry(*HAND_WRITTEN))
    assert [str(item.shape) for item in folded.entry.instructions] == ["s32[3,5]{1,0:T(2,2)}", "s32[3,5]{1,0}"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("put), dimensions={0,2,1,3}", "put), dimensions={1,2,0,3}"),
        ("slice={[0:3], [0:5]}", "slice={[1:4], [0:5]}"),
        ("negate(back)", 'add(back, back), metadata={op_name="x"}'),
    ],
)
def test_a_tiling_folds_only_where_it_is_read_back_unchanged(old: str, new: str) -> None:
    lines = [line.replace(old, new) for line in HAND_WRITTEN]
    is_same = "add" in new
    assert fold_tiling.run(entry(*lines)).modified is is_same


def test_a_physical_array_that_is_returned_does_not_fold() -> None:
    lines = [*HAND_WRITTEN[:-1], "ROOT r = (s32[3,5]{1,0}, s32[2,3,2,2]{3,2,1,0}) tuple(back, put)"]
    assert not fold_tiling.run(entry(*lines)).modified


def test_a_mark_that_the_ops_contradict_counts_for_nothing() -> None:
    marked = [
        line + ', frontend_attributes={relayout.layout="s32[3,5]{0,1:T(2,2)}"}' if line.startswith("put") else line
        for line in HAND_WRITTEN
    ]
    folded = run(fold_tiling, entry(*marked))
    assert str(folded.entry.parameters[0].shape) == "s32[3,5]{1,0:T(2,2)}"


def test_a_marked_array_without_one_of_the_rows_does_not_fold() -> None:
    text = """HloModule m
ENTRY e {
  p = f32[3,5]{1,0} parameter(0)
  n = f32[3,5]{1,0} negate(p)
  z = f32[] constant(7)
  s = f32[ROWS,5]{1,0} slice(n), slice={[0:ROWS], [0:5]}
  q = f32[4,6]{1,0} pad(s, z), padding=0_HIGHx0_1
  r = f32[2,2,3,2]{3,2,1,0} reshape(q)
  ROOT t = f32[2,3,2,2]{3,2,1,0} transpose(r), dimensions={0,2,1,3}, MARK
}
""".replace("MARK", 'frontend_attributes={relayout.layout="f32[3,5]{1,0:T(2,2)}"}')
    for rows, folds in ((2, False), (3, True)):
        module = parse_module(text.replace("ROWS", str(rows)).replace("HIGH", str(4 - rows)))
        assert fold_tiling.run(module).modified is folds


BITCASTS = """HloModule m, entry_computation_layout={(f32[9,33]{1,0:T(8,128)})->f32[9,33]{1,0:T(8,128)}}

ENTRY %e (p: f32[9,33]) -> f32[9,33] {
  %p = f32[9,33]{1,0:T(8,128)} parameter(0)
  %b = f32[1,9,33]{2,1,0:T(8,128)} bitcast(%p), metadata={op_name="b"}
  %c = f32[9,1,33]{2,0,1:T(8,128)} bitcast(%b)
  ROOT %d = f32[9,33]{1,0:T(8,128)} bitcast(%c), frontend_attributes={k="v"}
}
"""


@pytest.mark.parametrize("interface", ["logical", "physical"])
def test_bitcasts_come_back(interface: str) -> None:
    expanded = run(expand_tiling.with_options(interface=interface), parse_module(BITCASTS))  # type: ignore[arg-type]
    assert "bitcast(" not in expanded.text()
    assert fold_tiling.run(expanded).module.text() == BITCASTS


def test_folding_ends_where_a_loop_is_tiled_at_one_end_only() -> None:
    text = """HloModule m
body {
  state = (s32[], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4,6] get-tuple-element(state), index=1
  y = f32[4,6] negate(x)
  ROOT next = (s32[], f32[4,6]) tuple(i, y)
}
condition {
  state.1 = (s32[], f32[4,6]) parameter(0)
  ROOT less = pred[] constant(false)
}
ENTRY main {
  p = f32[4,6]{0,1:T(8,128)} parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[4,6]) tuple(zero, p)
  ROOT loop = (s32[], f32[4,6]) while(init), condition=condition, body=body
}
"""
    module = parse_module(text)
    fold_tiling(module)
    (body,) = (function for function in module.functions if function.name == "body")
    shapes = {str(value.shape) for value in (*module.entry.results, *body.parameters, *body.results)}
    assert shapes == {"(s32[], f32[4,6]{0,1:T(8,128)})"}
