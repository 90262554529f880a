"""propagate-layouts: propagated layouts, inserted copies, and unchanged results."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.execution import Worker
from dialect_utils.hlo import HloModule, Instruction, parse_module
from dialect_utils.ir.elementwise import is_elementwise
from dialect_utils.layout import ArrayShape, Reshape, Transpose, parse_array_shape
from dialect_utils.layout.moves.bitcast import is_bitcast
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.targets.propagation import (
    agree,
    propagate_broadcast,
    propagate_reshaped,
    propagate_same,
    propagate_transposed,
    propagate_unbroadcast,
)
from dialect_utils.verdict import Options, compare_stages
from passes.framework.pipeline import verify
from passes.layouts import propagate_layouts as room
from passes.layouts.propagate_layouts import Direction, propagate_layouts
from tests.layout.shapes import tiled_shapes
from tests.passes.evaluate import evaluate
from tests.passes.random_layouts import laid_out
from tests.passes.random_modules import modules
from tests.passes.tiling.test_relayout_passes import arguments, same_results

DIRECTIONS: tuple[Direction, ...] = ("forward", "backward", "both")
PROGRAMS = ["case_of_three", "scan_with_outputs", "private_functions", "reshapes_and_transposes"]


def entry(*lines: str, before: str = "", header: str = "HloModule m") -> HloModule:
    return parse_module(header + "\n\n" + before + "ENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")


def run(module: HloModule, direction: Direction = "both") -> HloModule:
    step = propagate_layouts.with_options(direction=direction)
    result = step.run(module).module
    assert isinstance(result, HloModule)
    verify(result)
    assert not step.run(parse_module(result.text())).modified
    return result


def shapes(module: HloModule) -> dict[str, str]:
    return {item.name: str(item.shape) for function in module.functions for item in function.instructions}


def is_apart(item: Instruction) -> bool:
    """Is true for an elementwise op whose layout differs from that of an operand."""
    if not is_elementwise(item) or item.opcode == "copy":
        return False
    arrays = [value.shape for value in (item, *item.operands)]
    result, *operands = (shape for shape in arrays if isinstance(shape, ArrayShape))
    decided = [shape for shape in operands if not shape.effective_layout.is_default]
    return not result.effective_layout.is_default and not all(agree(result, shape) for shape in decided)


@settings(max_examples=80, deadline=None)
@given(modules(is_mixed=True), st.sampled_from(DIRECTIONS))
def test_results_stay_and_layouts_agree(text: str, direction: Direction) -> None:
    module = parse_module(text)
    after = run(module, direction)
    assert same_results(module, after)
    assert not any(map(is_apart, after.entry.operations))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_the_same(name: str, worker: Worker) -> None:
    module = laid_out(name, share=0.3, seed=1)
    result = propagate_layouts.run(module)
    assert result.modified
    verify(result.module)
    assert not propagate_layouts.run(result.module).modified
    assert compare_stages([module, result.module], Options(power=0), worker).found_no_difference


READ_BY_A_BITCAST = (
    "p = s32[3,5]{0,1} parameter(0)",
    "q = s32[3,5] parameter(1)",
    "a = s32[3,5] add(p, q)",
    "b = s32[15]{0} bitcast(a)",
    "ROOT r = (s32[15]{0}, s32[3,5]) tuple(b, a)",
)


def test_the_operand_of_a_bitcast_keeps_its_layout() -> None:
    module = entry(*READ_BY_A_BITCAST)
    after = run(module)
    assert same_results(module, after)
    assert shapes(after)["a"] == "s32[3,5]"
    # The layouts of the two operands conflict.
    assert shapes(after)["p.copy"] == "s32[3,5]{1,0}"


def test_a_bitcast_whose_operand_changes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "fixed_nodes", lambda module: set())
    module = entry(*READ_BY_A_BITCAST)
    after = propagate_layouts.run(module).module
    assert isinstance(after, HloModule)
    values = arguments(module)
    assert not np.array_equal(evaluate(module, values)[0], evaluate(after, values)[0])


def test_an_alias_keeps_the_callers_buffer() -> None:
    header = "HloModule m, input_output_alias={ {0}: (1, {}, may-alias) }"
    lines = ["p = s32[3,5]{0,1} parameter(0)", "q = s32[3,5] parameter(1)", "a = s32[3,5] add(p, q)"]
    after = run(entry(*lines, "ROOT r = (s32[3,5]) tuple(a)", header=header))
    assert shapes(after)["q"] == "s32[3,5]"
    assert after.entry.root.operands[0].name == "a.copy"
    assert str(after.entry.root.shape) == "(s32[3,5])"


def test_tiles_stay_with_their_width_and_join_an_order_that_came_alone() -> None:
    found = shapes(
        run(
            entry(
                "p = bf16[4,6]{0,1:T(8,128)(2,1)} parameter(0)",
                "q = f32[4,6]{0,1:T(8,128)} parameter(1)",
                "w = f32[4,6] convert(p)",
                "ROOT a = f32[4,6] add(w, q)",
            )
        )
    )
    assert found["w"] == found["a"] == "f32[4,6]{0,1:T(8,128)}"


def test_the_memory_space_stays_behind() -> None:
    found = shapes(run(entry("p = f32[4,6]{0,1:T(2,2)S(1)} parameter(0)", "ROOT n = f32[4,6]{1,0:S(5)} negate(p)")))
    assert found["n"] == "f32[4,6]{0,1:T(2,2)S(5)}"


CALLED = """twice (x: f32[4,6]) -> f32[4,6] {
  x = f32[4,6]{0,1} parameter(0)
  ROOT y = f32[4,6]{0,1} add(x, x)
}

body (s: (f32[4,6], pred[])) -> (f32[4,6], pred[]) {
  s = (f32[4,6], pred[]) parameter(0)
  v = f32[4,6]{1,0:T(2,2)} get-tuple-element(s), index=0
  w = pred[] get-tuple-element(s), index=1
  ROOT u = (f32[4,6], pred[]) tuple(v, w)
}

condition (c: (f32[4,6], pred[])) -> pred[] {
  c = (f32[4,6], pred[]) parameter(0)
  ROOT d = pred[] get-tuple-element(c), index=1
}

"""


def test_copies_stand_at_boundaries() -> None:
    module = entry(
        "p = f32[4,6]{1,0:T(4,2)} parameter(0)",
        "q = pred[] parameter(1)",
        "t = f32[4,6]{1,0:T(4,2)} call(p), to_apply=twice",
        "b = (f32[4,6]{1,0:T(4,2)}, pred[]) tuple(t, q)",
        "l = (f32[4,6]{0,1:T(4,2)}, pred[]) while(b), condition=condition, body=body",
        "g = f32[4,6] get-tuple-element(l), index=0",
        "ROOT r = f32[4,6]{1,0:T(4,2)} negate(g)",
        before=CALLED,
    )
    after = run(module)
    found = shapes(after)
    assert found["p.copy"] == found["t"] == "f32[4,6]{0,1}"
    assert found["t.copy"] == "f32[4,6]{1,0:T(4,2)}"
    assert found["l"] == found["s"] == found["c"] == "(f32[4,6]{0,1:T(4,2)}, pred[])"
    assert found["g.copy"] == "f32[4,6]{1,0:T(4,2)}"


def test_control_flow_with_copies_computes_the_same(worker: Worker) -> None:
    body = CALLED.replace("tuple(v, w)", "tuple(n, w.not)").replace(
        "  ROOT u", "  n = f32[4,6]{1,0} negate(v)\n  w.not = pred[] not(w)\n  ROOT u"
    )
    module = entry(
        "p = f32[4,6]{1,0:T(4,2)} parameter(0)",
        "q = pred[] parameter(1)",
        "b = (f32[4,6]{1,0:T(4,2)}, pred[]) tuple(p, q)",
        "l = (f32[4,6]{0,1:T(4,2)}, pred[]) while(b), condition=condition, body=body",
        "g = f32[4,6] get-tuple-element(l), index=0",
        "t = f32[4,6]{1,0:T(4,2)} call(g), to_apply=twice",
        "ROOT c = f32[4,6] conditional(q, t, g), true_computation=other, false_computation=third",
        before=body + CALLED.partition("body")[0].replace("twice", "other") + "third (z: f32[4,6]) -> f32[4,6] {\n"
        "  z = f32[4,6]{1,0:T(2,2)} parameter(0)\n  ROOT o = f32[4,6]{1,0:T(2,2)} abs(z)\n}\n\n",
    )
    assert compare_stages([module, run(module)], Options(power=0), worker).found_no_difference


@settings(max_examples=150, deadline=None)
@given(tiled_shapes(element_types=("f32", "s4"), largest=6), st.data())
def test_movement_between_carried_layouts_moves_nothing(source: ArrayShape, data: st.DataObject) -> None:
    permutation = tuple(data.draw(st.permutations(range(source.rank))))
    moved = ArrayShape(source.element_type, tuple(source.dimensions[i] for i in permutation))
    if 0 in source.dimensions or source.effective_layout.padded_dimensions is not None:
        return
    transposed = moved.with_layout(propagate_transposed(source, moved, permutation))
    plan = Plan(source.element_type, source.dimensions, (Transpose(permutation),))
    source = source.with_layout(source.effective_layout.replace(tail_padding_alignment_in_elements=1, split_configs=()))
    assert is_bitcast(source, plan, transposed)
    flat = ArrayShape(source.element_type, (*source.dimensions[:1], 1, *source.dimensions[1:]))
    reshaped = propagate_reshaped(source, flat)
    plan = Plan(source.element_type, source.dimensions, (Reshape(flat.dimensions),))
    if reshaped is not None and (reshaped.tiles or not source.is_tiled):
        assert is_bitcast(source, plan, flat.with_layout(reshaped))


@pytest.mark.parametrize(
    ("carry", "source", "target", "found"),
    [
        (propagate_same, "f32[4,6]{0,1:T(8,128)S(1)}", "s32[4,6]", "{0,1:T(8,128)}"),
        (propagate_same, "f32[4,6]{0,1:T(8,128)}", "bf16[4,6]", "{0,1}"),
        (propagate_same, "f32[4,6]{1,0:T(8,128)}", "bf16[4,6]", None),
        (propagate_same, "s4[4,6]{1,0:T(8,128)(8,1)E(4)}", "u4[4,6]", "{1,0:T(8,128)(8,1)E(4)}"),
        (propagate_same, "s4[4,6]{0,1:T(8,128)(8,1)E(4)}", "s8[4,6]", "{0,1}"),
        (propagate_reshaped, "f32[16,128]{1,0:T(8,128)}", "f32[2,8,128]", "{2,1,0:T(8,128)}"),
        (propagate_reshaped, "f32[3,5]{1,0:T(8,128)}", "f32[3,1,5]", "{2,0,1:T(8,128)}"),
        (propagate_reshaped, "f32[3,5]{1,0:T(8,128)}", "f32[15]", None),
        (propagate_reshaped, "f32[6,5]{0,1:T(8,128)}", "f32[2,3,5]", "{1,0,2}"),
        (propagate_reshaped, "f32[6,5]{0,1}", "f32[30]", None),
        (propagate_reshaped, "f32[128]{0:T(128)}", "f32[1,128]", None),
        (partial(propagate_broadcast, dimensions=(0, 2)), "f32[2,3]{0,1:T(2,2)}", "f32[2,7,3]", "{0,1,2}"),
        (partial(propagate_broadcast, dimensions=(1, 2)), "f32[2,3]{0,1:T(2,2)}", "f32[7,2,3]", "{1,2,0:T(2,2)}"),
        (partial(propagate_broadcast, dimensions=(1,)), "f32[3]{0:T(128)}", "f32[7,3]", None),
        (partial(propagate_unbroadcast, dimensions=(0, 2)), "f32[2,7,3]{0,1,2:T(2,2)}", "f32[2,3]", "{0,1}"),
        (partial(propagate_unbroadcast, dimensions=(1, 2)), "f32[7,2,3]{1,2,0:T(2,2)}", "f32[2,3]", "{0,1:T(2,2)}"),
    ],
)
def test_propagation_rules(carry: partial[object], source: str, target: str, found: str | None) -> None:
    layout = carry(parse_array_shape(source), parse_array_shape(target))
    assert (None if layout is None else str(layout)) == found
