"""normalize-layouts: XLA's cases, results under random layouts, and the remaining layouts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings

from dialect_utils.execution import Worker
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.ir import Operation
from dialect_utils.ir.factors import Groups, NamedInts
from dialect_utils.layout import ArrayShape
from dialect_utils.verdict import Options, compare_stages
from passes.bitcasts.form_bitcasts import form_bitcasts
from passes.framework.pipeline import verify
from passes.layouts import normalize_layouts as room
from passes.layouts.normalize_layouts import normalize_layouts
from tests.passes.random_layouts import laid_out
from tests.passes.random_modules import modules
from tests.passes.tiling.test_relayout_passes import same_results
from tests.paths import SHARED_DATA

CASES = SHARED_DATA / "reference" / "cases.json"
# Together these programs have every op that is normalized, loops and branches.
PROGRAMS = [
    "case_of_three",
    "scan_with_outputs",
    "dynamic_slices",
    "elementwise_chain",
    "pads_and_joins",
    "one_hot_and_iota",
]


def xla_cases() -> list[Any]:
    if not CASES.exists():
        return []
    cases = json.loads(CASES.read_text())["cases"]
    return [pytest.param(case, id=case["id"]) for case in cases if case["kind"] == "layout_normalization"]


def entry(*lines: str) -> HloModule:
    return parse_module("HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")


def run(module: HloModule) -> HloModule:
    result = normalize_layouts.run(module).module
    assert isinstance(result, HloModule)
    return result


def with_shapes(lines: list[str]) -> list[str]:
    """Writes the shapes that XLA infers: an elementwise op has the shape of its operand."""
    shapes: dict[str, str] = {}
    written = []
    for line in lines:
        name, _, rest = line.removeprefix("ROOT ").partition(" = ")
        if not re.match(r"\w+\[", rest):
            operand = re.search(r"\((\w+)\)", rest)
            assert operand is not None
            line = line.replace(" = ", f" = {shapes[operand[1]]} ")
        else:
            shapes[name] = rest.split(" ")[0]
        written.append(line)
    return written


@pytest.mark.shared(CASES)
@pytest.mark.parametrize("case", xla_cases())
def test_the_result_is_xlas_with_bitcasts_for_free_transposes(case: dict[str, Any]) -> None:
    module = run(entry(*with_shapes(case["input"])))
    form_bitcasts(module)
    made = iter(module.entry.instructions)
    for line in case["expected"]:
        shape, opcode, *attributes = line.removeprefix("ROOT ").split(" ")
        found = next(item for item in made if (str(item.shape), item.opcode) == (shape, opcode.partition("(")[0]))
        assert found.is_root or not line.startswith("ROOT ")
        for name, _, text in (attribute.partition("=") for attribute in attributes):
            assert found.attribute(name) == text


@settings(max_examples=80, deadline=None)
@given(modules(is_mixed=True))
def test_results_stay_and_all_layouts_descend(text: str) -> None:
    module = parse_module(text)
    after = run(module)
    verify(after)
    assert same_results(module, after)
    assert not normalize_layouts.run(after).modified
    kept = [item for item in after.entry.operations if not is_descending(item)]
    # The remaining transposes restore an element of the returned tuple, or had no users before.
    assert all(item.opcode == "transpose" and set(item.users) <= {after.entry.root} for item in kept)


def is_descending(item: Operation) -> bool:
    shape = item.results[0].shape
    return not isinstance(shape, ArrayShape) or shape.effective_layout.is_descending


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_the_same(name: str, worker: Worker) -> None:
    module = laid_out(name, share=0.9)
    result = normalize_layouts.run(module)
    assert result.modified
    verify(result.module)
    assert not normalize_layouts.run(result.module).modified
    assert compare_stages([module, result.module], Options(power=0), worker).found_no_difference


def unpermuted(operation: Operation, groups: Mapping[int, Groups]) -> Iterator[NamedInts]:
    yield from ()


def test_an_attribute_that_does_not_follow_is_found(monkeypatch: pytest.MonkeyPatch, worker: Worker) -> None:
    module = entry(
        "p = f32[4,4]{0,1} parameter(0)",
        "r = f32[4,4]{0,1} reverse(p), dimensions={0}",
        "ROOT n = f32[4,4]{0,1} negate(r)",
    )
    assert compare_stages([module, run(module)], Options(power=0), worker).found_no_difference
    monkeypatch.setattr(room, "regrouped_ints", unpermuted)
    assert compare_stages([module, run(module)], worker=worker).verdict == "different"


def test_a_region_uses_no_view_that_stands_behind_it(worker: Worker) -> None:
    from dialect_utils.stablehlo import parse_module as parse_stablehlo

    text = """
    func.func public @main(%p: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}, %q: tensor<i1>) -> tensor<3x2xf32> {
      %0 = "stablehlo.if"(%q) ({
        %1 = stablehlo.negate %p {xla_shape = "f32[2,3]{0,1}"} : tensor<2x3xf32>
        stablehlo.return %1 : tensor<2x3xf32>
      }, {
        stablehlo.return %p : tensor<2x3xf32>
      }) : (tensor<i1>) -> tensor<2x3xf32>
      %2 = stablehlo.transpose %p, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %3 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %4 = stablehlo.add %2, %3 : tensor<3x2xf32>
      return %4 : tensor<3x2xf32>
    }"""
    module = parse_stablehlo(text)
    after = normalize_layouts.run(module).module
    verify(after)
    assert not normalize_layouts.run(after).modified
    assert compare_stages([module, after], Options(power=0), worker).found_no_difference


def test_a_sharded_op_and_dynamic_dimensions_stay() -> None:
    module = entry(
        "p = f32[5,4]{0,1} parameter(0)",
        "q = f32[<=5,4]{0,1} parameter(1)",
        "a = f32[5,4]{0,1} abs(p), sharding={devices=[1,2]<=[2]}",
        "b = f32[<=5,4]{0,1} abs(q)",
        "ROOT r = (f32[5,4]{0,1}, f32[<=5,4]{0,1}) tuple(a, b)",
    )
    assert not normalize_layouts.run(module).modified


def test_a_copy_into_other_tiles_stays_a_copy() -> None:
    after = run(
        entry(
            "p = f32[5,4]{0,1:T(2,2)} parameter(0)",
            "c = f32[5,4]{0,1:T(4,2)S(1)} copy(p)",
            "d = f32[4,5]{1,0:T(8,2)} transpose(c), dimensions={1,0}",
            "ROOT n = f32[4,5]{1,0:T(8,2)} negate(d)",
        )
    )
    opcodes = [(item.opcode, str(item.shape)) for item in after.entry.operations]
    assert opcodes == [
        ("transpose", "f32[4,5]{1,0:T(2,2)}"),
        ("copy", "f32[4,5]{1,0:T(4,2)S(1)}"),
        ("copy", "f32[4,5]{1,0:T(8,2)}"),
        ("negate", "f32[4,5]{1,0:T(8,2)}"),
    ]
