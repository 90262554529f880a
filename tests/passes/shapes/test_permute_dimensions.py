"""permute-dimensions: each rule is proved and executed; orders cross loops and calls; wrong options are explained."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Module
from dialect_utils.layout.targets.known import TARGETS
from dialect_utils.stablehlo.parse import parse_module as parse_stablehlo
from dialect_utils.verdict import Options, compare_modules
from passes.framework.options import OptionError
from passes.framework.pipeline import Pipeline, verify
from passes.shapes.permute_dimensions import candidates, permute_dimensions

PROOF = Options(engines=("proof",))
BOTH = Options(engines=("proof", "reference"), power=0)
ORDERS = [order for order in permutations(range(3)) if order != (0, 1, 2)]

# Operations on n, an array of 6 x 4 x 3, and on other parameters.
RULES = {
    "elementwise": "ROOT r = s32[6,4,3] add(n, n)",
    "select": "c = pred[] parameter(1)\n  ROOT r = s32[6,4,3] select(c, n, n)",
    "broadcast": "q = s32[4] parameter(1)\n  b = s32[6,4,3] broadcast(q), dimensions={1}\n"
    "  ROOT r = s32[6,4,3] add(n, b)",
    "broadcast of n": "b = s32[6,2,4,3] broadcast(n), dimensions={0,2,3}\n  ROOT r = s32[6,2,4,3] negate(b)",
    "slice": "s = s32[2,4,2] slice(n), slice={[1:5:2], [0:4], [1:3]}\n  ROOT r = s32[2,4,2] abs(s)",
    "pad": "z = s32[] constant(7)\n  s = s32[9,4,4] pad(n, z), padding=1_2x0_0x0_1\n  ROOT r = s32[9,4,4] abs(s)",
    "reverse": "s = s32[6,4,3] reverse(n), dimensions={0,2}\n  ROOT r = s32[6,4,3] abs(s)",
    "concatenate": "q = s32[6,2,3] parameter(1)\n  s = s32[6,6,3] concatenate(n, q), dimensions={1}\n"
    "  ROOT r = s32[6,6,3] abs(s)",
    "iota": "i = s32[6,4,3] iota(), iota_dimension=1\n  ROOT r = s32[6,4,3] add(n, i)",
    "constant": "i = s32[6,4,3] constant({...})\n  ROOT r = s32[6,4,3] add(n, i)",
    "transpose": "t = s32[3,4,6] transpose(n), dimensions={2,1,0}\n  ROOT r = s32[3,4,6] abs(t)",
    "reshape": "t = s32[24,3] reshape(n)\n  ROOT r = s32[24,3] abs(t)",
    "reshape to more": "t = s32[6,2,2,3] reshape(n)\n  ROOT r = s32[6,2,2,3] abs(t)",
    "dynamic-slice": "i = s32[] parameter(1)\n  j = s32[] parameter(2)\n  z = s32[] constant(0)\n"
    "  d = s32[2,4,1] dynamic-slice(n, i, z, j), dynamic_slice_sizes={2,4,1}\n  ROOT r = s32[2,4,1] abs(d)",
    "dynamic-update-slice": "i = s32[] parameter(1)\n  z = s32[] constant(0)\n  u = s32[2,4,3] parameter(2)\n"
    "  d = s32[6,4,3] dynamic-update-slice(n, u, i, z, z)\n  ROOT r = s32[6,4,3] abs(d)",
    "reduce": "z = s32[] constant(0)\n  d = s32[4] reduce(n, z), dimensions={0,2}, to_apply=add\n"
    "  ROOT r = s32[4] abs(d)",
    "reduce one": "z = s32[] constant(0)\n  d = s32[6,3] reduce(n, z), dimensions={1}, to_apply=add\n"
    "  ROOT r = s32[6,3] abs(d)",
    "dot": "w = s32[3,2] parameter(1)\n  d = s32[6,4,2] dot(n, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"
    "  ROOT r = s32[6,4,2] abs(d)",
    "dot with a batch": "w = s32[6,5,3] parameter(1)\n  d = s32[6,4,5] dot(n, w), lhs_batch_dims={0}, "
    "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n  ROOT r = s32[6,4,5] abs(d)",
    "dot with two batches": "d = s32[6,4] dot(n, n), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n  ROOT r = s32[6,4] abs(d)",
    "gather of rows": "i = s32[5,1] parameter(1)\n  g = s32[5,4,3] gather(n, i), offset_dims={1,2}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4,3}\n"
    "  ROOT r = s32[5,4,3] abs(g)",
    "gather of windows": "i = s32[5,2] parameter(1)\n  g = s32[2,5,3] gather(n, i), offset_dims={0,2}, "
    "collapsed_slice_dims={1}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={2,1,3}\n"
    "  ROOT r = s32[2,5,3] abs(g)",
    "gather with a batch": "i = s32[5,4,1] parameter(1)\n  g = s32[5,4,3] gather(n, i), offset_dims={2}, "
    "collapsed_slice_dims={0}, start_index_map={0}, operand_batching_dims={1}, start_indices_batching_dims={1}, "
    "index_vector_dim=2, slice_sizes={1,1,3}\n  ROOT r = s32[5,4,3] abs(g)",
    "scatter": "i = s32[5,1] parameter(1)\n  u = s32[5,4,3] parameter(2)\n  v = s32[5,4,3] negate(u)\n"
    "  g = s32[6,4,3] scatter(n, i, v), update_window_dims={1,2}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n  ROOT r = s32[6,4,3] abs(g)",
    "call": "ROOT r = s32[6,4,3] call(n), to_apply=twice",
}


def program(rule: str) -> str:
    body = RULES[rule].replace("{...}", "{" + ",".join(["{{5,5,5},{5,5,5},{5,5,5},{5,5,5}}"] * 6) + "}")
    return f"""HloModule m

add {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}}

twice {{
  t = s32[6,4,3] parameter(0)
  ROOT u = s32[6,4,3] add(t, t)
}}

ENTRY e {{
  p = s32[6,4,3] parameter(0)
  n = s32[6,4,3] negate(p)
  {body}
}}
"""


def permuted(module: Module, value: str, order: tuple[int, ...]) -> Module:
    verify(module)
    result = permute_dimensions(value=value, order=order).run(module)
    assert result.modified
    verify(result.module)
    return result.module


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_proved_in_every_order(rule: str) -> None:
    module = parse_module(program(rule))
    for order in ORDERS:
        changed = permuted(module, "n", order)
        assert compare_modules(module, changed, PROOF).verdict == "equal", (order, changed.text())
        sizes = ",".join(str((6, 4, 3)[dim]) for dim in order)
        assert f"= s32[{sizes}] negate(p.permuted)" in changed.text()


@pytest.mark.parametrize("rule", RULES)
def test_execution_contradicts_no_proof(rule: str, worker: Worker) -> None:
    module = parse_module(program(rule))
    verdict = compare_modules(module, permuted(module, "n", (2, 0, 1)), BOTH, worker)
    assert verdict.verdict == "equal", verdict
    assert {*verdict.methods} == {"proof", "reference"}


def test_only_the_border_is_transposed() -> None:
    for rule in RULES:
        text = permuted(parse_module(program(rule)), "n", (2, 0, 1)).text()
        # One for each array that comes in, and one for the result unless its order stays.
        assert text.count(" transpose(") <= 1 + len(re.findall(r"= s32\[\d+,\d+,\d+\] parameter", text)), text


@pytest.mark.parametrize("rule", ["elementwise", "reduce one", "dot with a batch", "gather of rows", "reverse"])
def test_a_wrong_transpose_is_different(rule: str, worker: Worker) -> None:
    module = parse_module(program(rule).replace("6,4,3", "4,4,3").replace("6,", "4,"))
    changed = permuted(module, "n", (2, 0, 1)).text()
    wrong = parse_module(changed.replace("transpose(p), dimensions={2,0,1}", "transpose(p), dimensions={2,1,0}"))
    assert wrong.text() != changed
    assert (
        compare_modules(module, wrong, Options(engines=("proof", "reference"), power=0), worker).verdict == "different"
    )


def test_reduced_dimensions_keep_their_sequence() -> None:
    changed = permuted(parse_module(program("reduce")), "n", (2, 1, 0)).text()
    # Dimension 0 is reduced before dimension 2, so the array is read in its own order.
    assert "reduce(n, z), dimensions={0,2}" in changed


LARGE = {
    "elementwise": "ROOT r = f32[3000,7,5] add(n, n)",
    "broadcast": "q = f32[7] parameter(1)\n  b = f32[3000,7,5] broadcast(q), dimensions={1}\n"
    "  ROOT r = f32[3000,7,5] add(n, b)",
    "reverse": "s = f32[3000,7,5] reverse(n), dimensions={0,2}\n  ROOT r = f32[3000,7,5] abs(s)",
    "concatenate": "q = f32[3000,2,5] parameter(1)\n  ROOT r = f32[3000,9,5] concatenate(n, q), dimensions={1}",
    "dynamic-update-slice": "i = s32[] parameter(1)\n  z = s32[] constant(0)\n  u = f32[2,7,5] parameter(2)\n"
    "  v = f32[2,7,5] negate(u)\n  ROOT r = f32[3000,7,5] dynamic-update-slice(n, v, i, z, z)",
    "gather": "i = s32[999,1] parameter(1)\n  ROOT r = f32[999,7,5] gather(n, i), offset_dims={1,2}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,7,5}",
    "scatter": "i = s32[999,1] parameter(1)\n  u = f32[999,7,5] parameter(2)\n  v = f32[999,7,5] negate(u)\n"
    "  ROOT r = f32[3000,7,5] scatter(n, i, v), update_window_dims={1,2}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
}


@pytest.mark.parametrize("rule", LARGE)
def test_large_arrays_are_proved_without_looking_at_each_element(rule: str) -> None:
    text = program("call").replace("s32[]", "f32[]").replace("s32[6,4,3]", "f32[3000,7,5]")
    module = parse_module(text.replace(f"  {RULES['call']}".replace("s32[6,4,3]", "f32[3000,7,5]"), f"  {LARGE[rule]}"))
    for order in ORDERS:
        assert compare_modules(module, permuted(module, "n", order), PROOF).verdict == "equal", order


LOOP = """
func.func public @main(%arg0: tensor<50x4xf32>, %arg1: tensor<30x50x4xf32>) -> (tensor<50x4xf32>, tensor<30x50x4xf32>) {
  %start = stablehlo.sine %arg0 : tensor<50x4xf32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %f0, dims = [] : (tensor<f32>) -> tensor<30x50x4xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %1:3 = stablehlo.while(%i = %zero, %c = %start, %out = %empty) : tensor<i32>, tensor<50x4xf32>, tensor<30x50x4xf32>
  cond {
    %limit = stablehlo.constant dense<30> : tensor<i32>
    %less = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.dynamic_slice %arg1, %i, %zero, %zero, sizes = [1, 50, 4] : (tensor<30x50x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x50x4xf32>
    %flat = stablehlo.reshape %row : (tensor<1x50x4xf32>) -> tensor<50x4xf32>
    %more = func.call @step(%c, %flat) : (tensor<50x4xf32>, tensor<50x4xf32>) -> tensor<50x4xf32>
    %wide = stablehlo.broadcast_in_dim %more, dims = [1, 2] : (tensor<50x4xf32>) -> tensor<1x50x4xf32>
    %all = stablehlo.dynamic_update_slice %out, %wide, %i, %zero, %zero : (tensor<30x50x4xf32>, tensor<1x50x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<30x50x4xf32>
    stablehlo.return %next, %more, %all : tensor<i32>, tensor<50x4xf32>, tensor<30x50x4xf32>
  }
  return %1#1, %1#2 : tensor<50x4xf32>, tensor<30x50x4xf32>
}
func.func private @step(%a: tensor<50x4xf32>, %b: tensor<50x4xf32>) -> tensor<50x4xf32> {
  %0 = stablehlo.add %a, %b : tensor<50x4xf32>
  %1 = stablehlo.tanh %0 : tensor<50x4xf32>
  return %1 : tensor<50x4xf32>
}
"""  # noqa: E501  # operations


@pytest.mark.parametrize("value", ["start", "c", "flat", "step:1", "main:1#1"])
def test_an_order_crosses_loops_and_calls(value: str) -> None:
    module = parse_stablehlo(LOOP)
    changed = permuted(module, value, (1, 0))
    assert "func.func private @step(%arg0: tensor<4x50xf32>, %arg1: tensor<4x50xf32>) -> tensor<4x50xf32>" in str(
        changed
    )
    body = changed.text().partition(" do {")[2].partition("return")[0]
    # Nothing in the loop but the slices of the argument, which keeps its order, is transposed.
    assert body.count("stablehlo.transpose") <= 1
    assert "tensor<30x4x50xf32>" in body
    assert compare_modules(module, changed, PROOF).verdict == "equal"


def test_a_loop_with_another_order_of_its_slices_is_different(worker: Worker) -> None:
    # The definition executes each step of each element: 3 steps of 4 by 4 elements are enough for it.
    module = parse_stablehlo(LOOP.replace("50x", "4x").replace("50, ", "4, ").replace("30", "3"))
    changed = permuted(module, "c", (1, 0)).text()
    wrong = changed.replace("dims = [0, 2, 1]", "dims = [0, 1, 2]", 1)
    assert wrong != changed
    verdict = compare_modules(module, parse_stablehlo(wrong), Options(engines=("proof", "reference"), power=0), worker)
    assert verdict.verdict == "different"


def test_passes_follow_each_other() -> None:
    module = parse_module(program("dot"))
    spec = "permute-dimensions{value=n order=2,0,1},permute-dimensions{value=r order=1,0,2}"
    result = Pipeline.parse(spec).run(module)
    assert "r.permuted = s32[4,6,2]" in result.module.text()
    assert compare_modules(module, result.module, PROOF).verdict == "equal"


@pytest.mark.parametrize(
    ("value", "order", "message"),
    [
        ("", (), "the pass needs a value and an order"),
        ("n", (1, 0), "order is no permutation of the 3 dimensions of n"),
        ("n", (0, 1, 2), "order is the one that n has"),
        ("m", (1, 0, 2), "the module has no value m"),
        ("e:q", (1, 0, 2), "the module has no value e:q"),
    ],
)
def test_an_option_without_effect_is_an_error(value: str, order: tuple[int, ...], message: str) -> None:
    with pytest.raises(OptionError, match=message) as raised:
        permute_dimensions(value=value, order=order).run(parse_module(program("reduce one")))
    assert raised.value.option == ("value" if "module" in message else "order")


def test_candidates_are_passes_that_change_the_program() -> None:
    for module in (parse_stablehlo(LOOP.replace("50", "5000")), parse_module(program("gather of rows"))):
        for target in TARGETS:
            found = list(candidates(module, target))
            # A GPU pads nothing.
            assert 0 < len(found) <= 10 if target.startswith("tpu") else not found
            assert len({*found}) == len(found)
            for spec in found:
                assert Pipeline.parse(spec).run(module).modified


def test_the_first_candidate_removes_the_padding_of_the_state() -> None:
    module = parse_stablehlo(LOOP.replace("50", "5000"))
    changed = Pipeline.parse(next(candidates(module, "tpu-v5e"))).run(module).module
    assert "tensor<4x5000xf32>" in changed.text().partition("stablehlo.while")[2].partition("cond")[0]


def test_a_program_without_padding_has_no_candidate() -> None:
    assert list(candidates(parse_module(program("elementwise").replace("6,4,3", "64,8,128")), "tpu-v5e")) == []
