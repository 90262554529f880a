"""Layouts by target, by rule and by example, in both dialects; values without a layout are reported in a note."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, parse_shape
from dialect_utils.layout.targets.known import default_layout
from dialect_utils.text import DiagnosticError
from passes.framework.base import Report
from passes.framework.pipeline import Pipeline
from passes.layouts.annotate_layouts import Scope, Target, annotate_layouts
from relayout.testing import parse
from tests.campaign_layouts import Score, measure, pairs

HLO = """HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[3,300]{1,0} parameter(0)
  zero = f32[] constant(0)
  n = f32[3,300]{1,0} negate(x)
  r = f32[3]{0} reduce(n, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[3,300]{1,0}, f32[3]{0}) tuple(n, r)
}
"""
STABLEHLO = """func.func public @main(%x: tensor<3x300xf32>) -> (tensor<3x300xf32>, tensor<3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.negate %x : tensor<3x300xf32>
  %r = stablehlo.reduce(%n init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<3x300xf32>, tensor<f32>) -> tensor<3xf32>
  return %n, %r : tensor<3x300xf32>, tensor<3xf32>
}
"""
LIKE = """HloModule other

ENTRY e {
  y = f32[3,300]{0,1:T(2,128)} parameter(0)
  ROOT t = (f32[3,300]{1,0:T(1,128)S(1)}, f32[3]{0:T(256)}) custom-call(y), custom_call_target="f"
}
"""
TARGETS: tuple[Target, ...] = ("row-major", "tpu-v2", "tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu7x")


@pytest.fixture(params=[HLO, STABLEHLO], ids=["hlo", "stablehlo"])
def module(request: pytest.FixtureRequest) -> Module:
    return parse(request.param, "m")


def shapes(module: Module) -> dict[str, str]:
    values = [*module.entry.parameters, *(value for o in module.entry.operations for value in o.results)]
    return {value.name: str(value.shape) for value in values if isinstance(value.shape, ArrayShape)}


def interface(module: Module) -> list[str]:
    """Returns the shapes that callers see, tuples flattened."""
    text = ", ".join(str(shape).strip("()") for side in module.entry_layout for shape in side)
    return text.split(", ")


@pytest.mark.parametrize("target", TARGETS)
def test_every_array_gets_the_layout_of_the_target(module: Module, target: Target) -> None:
    after = annotate_layouts.with_options(target=target).run(module).module
    for text in [*shapes(after).values(), *interface(after)]:
        shape = parse_shape(text)
        assert isinstance(shape, ArrayShape)
        if target == "row-major":
            assert shape.effective_layout.is_default
        else:
            assert shape.effective_layout == default_layout(shape.element_type, shape.dimensions, target)


def test_layouts_of_targets_differ(module: Module) -> None:
    steps = annotate_layouts.with_options(target="tpu-v2"), annotate_layouts.with_options(target="tpu-v5e")
    v2, v5e = (interface(step.run(module).module) for step in steps)
    assert v2 != v5e


@pytest.mark.parametrize("scope", ["all", "interface"])
def test_the_scope_decides_who_gets_one(module: Module, scope: Scope) -> None:
    after = annotate_layouts.with_options(target="tpu-v5e", scope=scope).run(module).module
    assert all("T(" in text for text in interface(after))
    assert ("T(" in shapes(after)["zero"]) == (scope == "all")


def test_embedded_computations_get_no_layouts(module: Module) -> None:
    after = annotate_layouts.with_options(target="tpu-v5e").run(module).module
    applied = [function for function in after.functions if function.is_embedded]
    inside = [value for f in applied for value in (*f.parameters, *(v for o in f.operations for v in o.results))]
    assert inside
    assert not any("T(" in str(value.shape) for value in inside)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_layouts_of_a_dump_go_to_its_interface(module: Module, tmp_path: Path) -> None:
    after = module.clone()
    annotate_layouts(after, like=written(tmp_path / "like.hlo", LIKE))
    assert interface(after) == ["f32[3,300]{0,1:T(2,128)}", "f32[3,300]{1,0:T(1,128)S(1)}", "f32[3]{0:T(256)}"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (LIKE.replace("f32[3,300]{0,1:T(2,128)}", "f32[300,3]{1,0}"), "parameter 0 is"),
        (LIKE.replace("f32[3]{0:T(256)}", "s32[3]{0}"), "result 1 is"),
        (LIKE.replace(", f32[3]{0:T(256)}", ""), "has 1 results, this one 2"),
    ],
)
def test_a_dump_of_another_program_is_refused(module: Module, wrong: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match=message):
        annotate_layouts(module, like=written(tmp_path / "like.hlo", wrong))


def test_rules_decide_before_the_target(module: Module, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nrank = 2\nopcode = "negate"\nlayout = "{0,1:T(4,4)}"\n')
    after = shapes(annotate_layouts.with_options(target="tpu-v5e", layouts=rules).run(module).module)
    assert after["n"] == "f32[3,300]{0,1:T(4,4)}"
    assert after["x"] == "f32[3,300]{1,0:T(4,128)}"


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (
            "func.func public @main(%x: tensor<?x3xf32>, %y: tensor<?xf32>, %z: tensor<3xf32>) -> tensor<3xf32> {\n"
            "  %k = stablehlo.after_all : !stablehlo.token\n  return %z : tensor<3xf32>\n}\n",
            ["left alone: x and 1 more, dimensions are dynamic", "left alone: k, tokens have no layout"],
        ),
        (
            "HloModule m\n\nENTRY e {\n  x = f32[<=5,3] parameter(0)\n  k = token[] after-all()\n"
            "  z = f32[3] parameter(1)\n  ROOT t = (f32[<=5,3], f32[3], token[]) tuple(x, z, k)\n}\n",
            ["left alone: x and 1 more, dimensions are dynamic", "left alone: k, tokens have no layout"],
        ),
    ],
    ids=["stablehlo", "hlo"],
)
def test_values_that_can_have_no_layout_are_noted(text: str, notes: list[str]) -> None:
    module, report = parse(text, "m"), Report()
    annotate_layouts(module, report, target="tpu-v5e")
    assert [note.message for note in report.diagnostics] == notes
    assert all(note.location is not None for note in report.diagnostics)
    assert [shape for shape in shapes(module).values() if "T(" in shape] == ["f32[3]{0:T(128)}"]


def test_arguments_that_are_tuples_get_layouts() -> None:
    text = """func.func public @main(%t: tuple<tensor<3xf32>, tensor<5xi8>>) -> tensor<3xf32> {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<3xf32>, tensor<5xi8>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
    after = annotate_layouts.with_options(target="tpu-v5e").run(parse(text, "m")).module
    assert str(after.entry_layout[0][0]) == "(f32[3]{0:T(128)}, s8[5]{0:T(512)(128)(4,1)})"


# A layout on one side: of the entry's interface, of a fusion's parameter, of a loop's state.
MEETING = {
    "entry layout": """HloModule m, entry_computation_layout={(f32[8,2]{1,0:T(2,128)})->(f32[8,2]{0,1:T(2,128)})}

ENTRY e {
  p = f32[8,2] parameter(0)
  n = f32[8,2] negate(p)
  ROOT t = (f32[8,2]) tuple(n)
}
""",
    "parameter": """HloModule m, entry_computation_layout={(f32[8,2])->f32[8,2]}

ENTRY e {
  p = f32[8,2]{0,1:T(2,128)} parameter(0)
  ROOT n = f32[8,2] negate(p)
}
""",
    "fusion": """HloModule m

f {
  a = f32[8,2]{0,1:T(2,128)} parameter(0)
  ROOT b = f32[8,2] negate(a)
}

ENTRY e {
  p = f32[8,2] parameter(0)
  q = f32[8,2] negate(p)
  ROOT c = f32[8,2]{0,1:T(2,128)} fusion(q), kind=kLoop, calls=f
}
""",
    "loop": """HloModule m

body {
  s = (s32[], f32[8,2]{0,1:T(2,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,2]{0,1:T(2,128)} get-tuple-element(s), index=1
  ROOT t = (s32[], f32[8,2]) tuple(i, x)
}

condition {
  s = (s32[], f32[8,2]) parameter(0)
  ROOT b = pred[] constant(false)
}

ENTRY e {
  z = s32[] constant(0)
  p = f32[8,2] parameter(0)
  t = (s32[], f32[8,2]) tuple(z, p)
  ROOT w = (s32[], f32[8,2]) while(t), condition=condition, body=body
}
""",
}


@pytest.mark.parametrize("name", MEETING)
def test_the_other_side_of_a_join_gets_the_layout(name: str) -> None:
    result = Pipeline.parse("annotate-layouts{target=tpu-v5e}").run(parse(MEETING[name], name))
    # The module verifies, and the written layout stays.
    chosen = re.findall(r"\{[01],[01]:T\(2,128\)\}", MEETING[name])
    assert set(chosen) <= set(re.findall(r"\{[01],[01]:T\(2,128\)\}", result.module.text()))


def test_predicted_orders_are_those_of_the_compiler() -> None:
    """Pairs of modules around layout assignment, of TPU and GPU dumps: what is wrong there stays in docs/layouts.md."""
    score = Score(*(Counter() for _ in Score._fields))
    for before, after in pairs(Path(__file__).parents[2] / "corpus" / "why"):
        measure(before, after, "tpu-v5e", score)
    assert sum(score.arrays.values()) > sum(score.orders.values()) == sum(score.tiles.values())
    assert sum(score.orders.values()) > sum(score.default.values())


SCORES = """HloModule m

ENTRY e {
  q = f32[2,16,4,8] parameter(0)
  k = f32[2,16,4,8] parameter(1)
  s = f32[2,4,16,16] dot(q, k), lhs_contracting_dims={3}, rhs_contracting_dims={3}, DIMS={0,2}, rhs_batch_dims={0,2}
  n = f32[2,4,16,16] negate(s)
  ROOT o = f32[2,4,8,16] dot(k, n), lhs_contracting_dims={1}, rhs_contracting_dims={3}, DIMS={0,2}, rhs_batch_dims={0,1}
}
""".replace("DIMS", "lhs_batch_dims")


def test_a_copy_is_predicted_where_two_products_disagree() -> None:
    """The product of keys writes rows of the queries, and the next one reads rows of the keys."""
    text = annotate_layouts.with_options(target="tpu-v5e", inner="predicted").run(parse(SCORES, "m.hlo")).module.text()
    assert "n = f32[2,4,16,16]{2,3,1,0:T(8,128)} negate(s)" in text
    assert "n.copy = f32[2,4,16,16]{3,2,1,0:T(8,128)} copy(n)" in text


def test_stablehlo_gets_predicted_orders_and_a_note_about_copies() -> None:
    text = """func.func public @main(%x: tensor<4x8x300xf32>, %y: tensor<4x8x300xf32>) -> tensor<8x8x4xf32> {
  %p = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<4x8x300xf32>, tensor<4x8x300xf32>) -> tensor<4x8x8xf32>
  %t = stablehlo.transpose %p, dims = [1, 2, 0] : (tensor<4x8x8xf32>) -> tensor<8x8x4xf32>
  return %t : tensor<8x8x4xf32>
}
"""
    result = annotate_layouts.with_options(target="gpu-h100", inner="predicted").run(parse(text, "m.mlir"))
    (product, transposed) = result.module.entry.operations
    orders = [next(each.results[0].shape.arrays()).effective_layout.minor_to_major for each in (product, transposed)]
    assert orders == [(2, 1, 0), (2, 1, 0)]
    assert any("copies" in str(note) for note in result.notes)


@pytest.mark.parametrize("options", [{}, {"target": "row-major"}, {"target": "tpu-v5e", "scope": "interface"}])
def test_predicted_without_a_compiler_is_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(DiagnosticError, match="inner=predicted has no effect"):
        annotate_layouts.with_options(inner="predicted", **options).run(parse(HLO, "m.hlo"))


LOOP = """HloModule m

cond {
  s = (f32[4,100], f32[20,6]) parameter(0)
  ROOT p = pred[] constant(true)
}

body {
  s = (f32[4,100], f32[20,6]) parameter(0)
  x = f32[4,100] get-tuple-element(s), index=0
  y = f32[20,6] get-tuple-element(s), index=1
  a = f32[1,6] slice(x), slice={[0:1], [0:6]}
  b = f32[1,6] slice(y), slice={[0:1], [0:6]}
  c = f32[1,6] multiply(a, b)
  z = s32[] constant(0)
  u = f32[4,100] dynamic-update-slice(x, c, z, z)
  ROOT t = (f32[4,100], f32[20,6]) tuple(u, y)
}

ENTRY e {
  x = f32[4,100] parameter(0)
  zero = f32[] constant(0)
  y = f32[20,6] broadcast(zero), dimensions={}
  t = (f32[4,100], f32[20,6]) tuple(x, y)
  w = (f32[4,100], f32[20,6]) while(t), condition=cond, body=body
  ROOT r = f32[4,100] get-tuple-element(w), index=0
}
"""


def test_the_state_of_a_loop_has_the_order_that_its_body_reads() -> None:
    """The state y alone would have the order {0,1}, which pads less; the body multiplies it by rows of x."""
    text = annotate_layouts.with_options(target="tpu-v5e", inner="predicted").run(parse(LOOP, "m.hlo")).module.text()
    assert "y = f32[20,6]{1,0:T(8,128)} broadcast(zero)" in text
    assert " copy(" not in text


def test_a_file_without_a_rule_is_noted(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text("# none yet\n")
    report = Report()
    module = parse(HLO, "m")
    annotate_layouts(module, report, target="tpu-v5e", layouts=tmp_path / "rules.toml")
    assert [each.message for each in report.diagnostics] == [f"{tmp_path / 'rules.toml'} holds no rule"]
