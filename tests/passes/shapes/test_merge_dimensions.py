"""merge-dimensions: every operation that it remakes is proved to compute the same, and executed."""

from __future__ import annotations

import re
from functools import partial

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Module
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules
from passes.framework.pipeline import Pipeline, verify
from passes.shapes.merge_dimensions import candidates, merge_dimensions
from tests.passes.shapes import programs

PROOF = Options(engines=("proof",))
EXECUTED = Options(engines=("proof", "xla"), power=0)

# Operations on v, an array [2,3,4,5] whose dimensions 1 and 2 become one, and one that shows it.
OPERATIONS = {
    "elementwise": ("w = f32[2,3,4,5] multiply(v, v)", "f32[2,12,5] multiply"),
    "select": ("c = pred[] constant(true)\n  w = f32[2,3,4,5] select(c, v, v)", "f32[2,12,5] select(c"),
    "transpose": ("w = f32[3,4,5,2] transpose(v), dimensions={1,2,3,0}", "f32[12,5,2] transpose"),
    "slice": ("w = f32[2,2,4,3] slice(v), slice={[0:2], [1:3], [0:4], [0:5:2]}", "slice={[0:2], [4:12], [0:5:2]}"),
    "pad": ("w = f32[3,6,4,5] pad(v, zero), padding=0_1x1_2x0_0x0_0", "padding=0_1x4_8x0_0"),
    "concatenate": ("w = f32[2,6,4,5] concatenate(v, v), dimensions={1}", "f32[2,24,5] concatenate"),
    "later concatenate": ("w = f32[2,3,4,10] concatenate(v, v), dimensions={3}", "dimensions={2}"),
    "reverse": ("w = f32[2,3,4,5] reverse(v), dimensions={0,3}", "dimensions={0,2}"),
    "kept": ("w = f32[3,4] reduce(v, zero), dimensions={0,3}, to_apply=add", "f32[12] reduce"),
    "reduced": ("w = f32[2,5] reduce(v, zero), dimensions={1,2}, to_apply=add", "f32[2,5] reduce"),
    "reshape": ("w = f32[1,2,3,4,1,5] reshape(v)", "f32[1,2,3,4,1,5] reshape"),
    "broadcast": (
        "b = f32[3,4] reduce(v, zero), dimensions={0,3}, to_apply=add\n  w = f32[7,3,4] broadcast(b), dimensions={1,2}",
        "f32[7,12] broadcast",
    ),
    "new dimensions": (
        "b = f32[2,5] slice(y), slice={[0:2], [0:5]}\n"
        "  c = f32[2,3,4,5] broadcast(b), dimensions={0,3}\n  w = f32[2,3,4,5] add(v, c)",
        "f32[2,12,5] broadcast(b), dimensions={0,2}",
    ),
    "iota": ("n = f32[2,3,4,5] iota(), iota_dimension=3\n  w = f32[2,3,4,5] add(v, n)", "iota_dimension=2"),
    "splat": (
        "c = f32[2,3,4,5] broadcast(zero), dimensions={}\n  w = f32[2,3,4,5] add(v, c)",
        "f32[2,12,5] broadcast",
    ),
    "free": (
        "w = f32[2,3,4,6] dot(v, y), lhs_contracting_dims={3}, rhs_contracting_dims={1}",
        "f32[2,12,6] dot",
    ),
    "batch": (
        "w = f32[3,4,2,2] dot(v, v), lhs_batch_dims={1,2}, rhs_batch_dims={1,2}, "
        "lhs_contracting_dims={3}, rhs_contracting_dims={3}",
        "f32[12,2,2] dot",
    ),
    "contracted": (
        "w = f32[2,5,2,5] dot(v, v), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,2}",
        "f32[2,5,2,5] dot",
    ),
    "gather": (
        "w = f32[7,3,4,5] gather(v, i), offset_dims={1,2,3}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1,3,4,5}",
        "slice_sizes={1,12,5}",
    ),
    "scatter": (
        "u = f32[7,3,4,5] broadcast(zero), dimensions={}\n"
        "  w = f32[2,3,4,5] scatter(v, i, u), update_window_dims={1,2,3}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        "update_window_dims={1,2}, inserted_window_dims={0}",
    ),
    "dynamic slice": (
        "w = f32[1,3,4,5] dynamic-slice(v, k, k, k, k), dynamic_slice_sizes={1,3,4,5}",
        "dynamic-slice(v.merged, k, k, k), dynamic_slice_sizes={1,12,5}",
    ),
    "dynamic update": (
        "u = f32[1,3,4,5] slice(v), slice={[0:1], [0:3], [0:4], [0:5]}\n"
        "  w = f32[2,3,4,5] dynamic-update-slice(v, u, k, k, k, k)",
        "f32[2,12,5] dynamic-update-slice",
    ),
}

# Operations on v that cannot use dimensions 1 and 2 as one.
OTHERS = {
    "apart": "w = f32[3,2,4,5] transpose(v), dimensions={1,0,2,3}",
    "turned": "w = f32[2,4,3,5] transpose(v), dimensions={0,2,1,3}",
    "second cut": "w = f32[2,3,2,5] slice(v), slice={[0:2], [0:3], [0:2], [0:5]}",
    "second joined": "w = f32[2,3,8,5] concatenate(v, v), dimensions={2}",
    "strided": "w = f32[2,2,4,5] slice(v), slice={[0:2], [0:3:2], [0:4], [0:5]}",
    "one reduced": "w = f32[2,3,5] reduce(v, zero), dimensions={2}, to_apply=add",
    "one reversed": "w = f32[2,3,4,5] reverse(v), dimensions={1}",
    "sorted": "w = f32[2,3,4,5] sort(v), dimensions={3}, to_apply=less",
    "one contracted": "w = f32[2,3,5,2,3,5] dot(v, v), lhs_contracting_dims={2}, rhs_contracting_dims={2}",
    "sliced": "w = f32[2,2,4,5] dynamic-slice(v, k, k, k, k), dynamic_slice_sizes={2,2,4,5}",
}


program = partial(programs.program, v="f32[2,3,4,5]", y="f32[6,5]")


def merged(module: Module) -> Module:
    verify(module)
    result = Pipeline((merge_dimensions(value="v", dimension=1),)).run(module)
    verify(result.module)
    return result.module


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_on_merged_dimensions_is_proved_equal_and_executed(name: str, worker: Worker) -> None:
    operation, shown = OPERATIONS[name]
    module = parse_module(program(operation))
    after = merged(module)
    assert shown in after.text()
    verdict = compare_modules(module, after, EXECUTED, worker)
    assert verdict.verdict == "equal", verdict
    assert "proof" in verdict.methods


@pytest.mark.parametrize("name", OTHERS)
def test_an_operation_that_needs_both_dimensions_reads_them(name: str) -> None:
    module = parse_module(program(OTHERS[name]))
    after = merged(module)
    assert "v.merged = f32[2,12,5] tanh" in after.text()
    assert re.search(r"v = f32\[2,3,4,5\] reshape\(v\.merged\)", after.text())
    assert compare_modules(module, after, PROOF).verdict == "equal"


def test_one_value_with_its_dimensions_at_two_places_is_read_in_both_shapes() -> None:
    text = program("w = f32[2,3,2,3] dot(v, v), lhs_contracting_dims={2,3}, rhs_contracting_dims={2,3}")
    module = parse_module(text.replace("f32[2,3,4,5] tanh", "f32[2,3,4,5] abs"))
    result = merge_dimensions(value="v", dimension=0).run(module)
    verify(result.module)
    assert "dot(v.merged, v)" in result.module.text()
    assert compare_modules(module, result.module, PROOF).verdict == "equal"


def test_merged_dimensions_in_another_order_are_different(worker: Worker) -> None:
    module = parse_module(program("w = f32[2,3,4,5] negate(v)"))
    text = merged(module).text()
    wrong = text.replace("reshape(x)", "transpose(x), dimensions={0,2,1,3}", 1)
    wrong = wrong.replace("x.merged = f32[2,12,5]", "x.turned = f32[2,4,3,5]")
    wrong = wrong.replace("  v.merged", "  x.merged = f32[2,12,5] reshape(x.turned)\n  v.merged", 1)
    assert compare_modules(module, parse_module(wrong), EXECUTED, worker).verdict == "different"


LOOP = """
func.func public @main(%arg0: tensor<5x3x4xf32>, %arg1: tensor<5x3x4xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %v = %arg0) : tensor<i32>, tensor<5x3x4xf32>
  cond {
    %n = stablehlo.constant dense<99> : tensor<i32>
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %n = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.add %i, %n : tensor<i32>
    %4 = func.call @f(%v, %arg1) : (tensor<5x3x4xf32>, tensor<5x3x4xf32>) -> tensor<5x3x4xf32>
    stablehlo.return %3, %4 : tensor<i32>, tensor<5x3x4xf32>
  }
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0#1 init: %cst) applies stablehlo.add across dimensions = [1, 2] :
      (tensor<5x3x4xf32>, tensor<f32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}
func.func private @f(%arg0: tensor<5x3x4xf32>, %arg1: tensor<5x3x4xf32>) -> tensor<5x3x4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<5x3x4xf32>
  return %0 : tensor<5x3x4xf32>
}
"""


@pytest.mark.parametrize("name", ["%arg0", "%0#1", "f:%0", "f:arg1"])
def test_a_loop_and_a_function_pass_merged_arrays(name: str, worker: Worker) -> None:
    module = parse_stablehlo(LOOP)
    after = Pipeline.parse(f"merge-dimensions{{value={name} dimension=1}}").run(module).module
    # Only both arguments of the entry are converted.
    assert after.text().count("stablehlo.reshape") == 2
    assert after.text().count("5x3x4") == 4
    assert compare_modules(module, after, EXECUTED, worker).verdict == "equal"


ROWS = """
func.func public @main(%arg0: tensor<1000x3x3xf32>, %arg1: tensor<65536x1xi32>) -> tensor<65536xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3, 3>}> : (tensor<1000x3x3xf32>, tensor<65536x1xi32>) -> tensor<65536x3x3xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<65536x3x3xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1, 2] :
      (tensor<65536x3x3xf32>, tensor<f32>) -> tensor<65536xf32>
  return %2 : tensor<65536xf32>
}
"""


def test_candidates_are_passes_that_apply_and_are_proved() -> None:
    module = parse_stablehlo(ROWS)
    found = list(candidates(module, "tpu-v5e"))
    assert found == ["merge-dimensions{value=%0 dimension=1}"]
    after = Pipeline.parse(found[0]).run(module)
    assert after.modified
    assert compare_modules(module, after.module, PROOF).verdict == "equal"
    assert not list(candidates(after.module, "tpu-v5e"))
    # Rows of one element that a gather splits further are proved, too.
    split = Pipeline.parse(f"{found[0]},split-minor{{most=9}}").run(module)
    assert compare_modules(module, split.module, PROOF).verdict == "equal"


def test_candidates_of_an_array_without_padding() -> None:
    module = parse_stablehlo(
        """func.func public @main(%arg0: tensor<1024x8x4xf32>) -> tensor<1024x8x4xf32> {
        %0 = stablehlo.negate %arg0 : tensor<1024x8x4xf32>
        return %0 : tensor<1024x8x4xf32> }"""
    )
    assert not list(candidates(module, "tpu-v5e"))


def test_an_option_in_python_has_no_place_in_a_text() -> None:
    module = parse_module(program(OPERATIONS["elementwise"][0]))
    with pytest.raises(DiagnosticError, match="the module has no value vv") as error:
        merge_dimensions(value="vv", dimension=1).run(module)
    assert error.value.diagnostics[0].location is None
