"""narrow-padding: every operation that it makes twice is proved to compute the same, and small ones are executed."""

from __future__ import annotations

from functools import partial

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Module
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from dialect_utils.verdict import Options, compare_modules
from passes.framework.pipeline import Pipeline, verify
from passes.shapes.narrow_padding import candidates, narrow_padding
from tests.passes.shapes import programs

PROOF = Options(engines=("proof",))
EXECUTED = Options(engines=("proof", "xla"), power=0)

# Operations on v, an array [3,130,4] whose dimension 1 is cut after 128 elements, and one that shows it.
OPERATIONS = {
    "elementwise": ("w = f32[3,130,4] multiply(v, v)", "f32[3,2,4] multiply(v.1, v.1)"),
    "transpose": ("w = f32[130,3,4] transpose(v), dimensions={1,0,2}", "f32[128,3,4] transpose(v.0)"),
    "slice": ("w = f32[2,130,4] slice(v), slice={[1:3], [0:130], [0:4]}", "slice={[1:3], [0:2], [0:4]}"),
    "pad": ("w = f32[3,130,6] pad(v, zero), padding=0_0x0_0x1_1", "f32[3,128,6] pad(v.0, zero)"),
    "concatenate": ("w = f32[6,130,4] concatenate(v, v), dimensions={0}", "f32[6,2,4] concatenate(v.1, v.1)"),
    "reverse": ("w = f32[3,130,4] reverse(v), dimensions={0}", "f32[3,128,4] reverse(v.0), dimensions={0}"),
    "kept": ("w = f32[130,4] reduce(v, zero), dimensions={0}, to_apply=add", "f32[2,4] reduce(v.1, zero)"),
    "maximum": ("w = f32[3,130] reduce(v, zero), dimensions={2}, to_apply=max", "f32[3,2] reduce(v.1, zero)"),
    "reshape": ("w = f32[3,130,2,2] reshape(v)", "f32[3,128,2,2] reshape(v.0)"),
    "broadcast": (
        "b = f32[3,130] reduce(v, zero), dimensions={2}, to_apply=add\n"
        "  w = f32[3,5,130] broadcast(b), dimensions={0,2}",
        "f32[3,5,2] broadcast(b.1), dimensions={0,2}",
    ),
    "new dimension": (
        "b = f32[3,4] slice(y), slice={[0:3], [0:4]}\n"
        "  c = f32[3,130,4] broadcast(b), dimensions={0,2}\n  w = f32[3,130,4] add(v, c)",
        "f32[3,2,4] broadcast(b), dimensions={0,2}",
    ),
    "splat": ("c = f32[3,130,4] broadcast(zero), dimensions={}\n  w = f32[3,130,4] add(v, c)", "f32[3,2,4] broadcast"),
    "free": (
        "w = f32[3,130,6] dot(v, y), lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        "f32[3,2,6] dot(v.1, y)",
    ),
    "free on the right": (
        "w = f32[6,3,130] dot(y, v), lhs_contracting_dims={1}, rhs_contracting_dims={2}",
        "f32[6,3,2] dot(y, v.1)",
    ),
    "batch": (
        "w = f32[130,3,3] dot(v, v), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={2}",
        "f32[2,3,3] dot(v.1, v.1)",
    ),
}

# Operations on v that need the whole dimension.
OTHERS = {
    "summed": "w = f32[3,4] reduce(v, zero), dimensions={1}, to_apply=add",
    "contracted": "w = f32[3,4,3,4] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "reversed": "w = f32[3,130,4] reverse(v), dimensions={1}",
    "cut": "w = f32[3,129,4] slice(v), slice={[0:3], [0:129], [0:4]}",
    "joined": "w = f32[3,260,4] concatenate(v, v), dimensions={1}",
    "split": "w = f32[3,13,10,4] reshape(v)",
}


program = partial(programs.program, v="f32[3,130,4]", y="f32[6,4]")


def narrowed(module: Module, value: str = "v", dimension: int = 1) -> Module:
    verify(module)
    result = Pipeline((narrow_padding(value=value, dimension=dimension),)).run(module)
    verify(result.module)
    return result.module


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_on_both_parts_is_proved_equal_and_executed(name: str, worker: Worker) -> None:
    operation, shown = OPERATIONS[name]
    module = parse_module(program(operation))
    after = narrowed(module)
    assert shown in after.text()
    verdict = compare_modules(module, after, EXECUTED, worker)
    assert verdict.verdict == "equal", verdict
    assert "proof" in verdict.methods


@pytest.mark.parametrize("name", OTHERS)
def test_an_operation_that_needs_the_whole_dimension_reads_it(name: str) -> None:
    module = parse_module(program(OTHERS[name]))
    after = narrowed(module)
    assert "v.1 = f32[3,2,4] tanh" in after.text()
    assert "v = f32[3,130,4] concatenate(v.0, v.1), dimensions={1}" in after.text()
    assert compare_modules(module, after, PROOF).verdict == "equal"


def attention(batch: int, heads: int, tokens: int, size: int) -> str:
    arrays = f"tensor<{batch}x{tokens}x{heads}x{size}xf32>"
    scores, sums = f"tensor<{batch}x{heads}x{tokens}x{tokens}xf32>", f"tensor<{batch}x{heads}x{tokens}xf32>"
    result = f"tensor<{batch}x{heads}x{tokens}x{size}xf32>"
    return f"""
func.func public @main(%q: {arrays}, %k: {arrays}, %v: {arrays}) -> {result} {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] :
      ({arrays}, {arrays}) -> {scores}
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [3] :
      ({scores}, tensor<f32>) -> {sums}
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : ({sums}) -> {scores}
  %3 = stablehlo.subtract %0, %2 : {scores}
  %4 = stablehlo.exponential %3 : {scores}
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [3] :
      ({scores}, tensor<f32>) -> {sums}
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : ({sums}) -> {scores}
  %7 = stablehlo.divide %4, %6 : {scores}
  %8 = stablehlo.dot_general %7, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] :
      ({scores}, {arrays}) -> {result}
  return %8 : {result}
}}
"""


def test_attention_with_one_token_more_than_two_tiles_is_proved() -> None:
    module = parse_stablehlo(attention(32, 8, 257, 32))
    found = list(candidates(module, "tpu-v5e"))
    assert "narrow-padding{value=%0 dimension=2}" in found
    for text in found:
        after = Pipeline.parse(text).run(module)
        assert after.modified
        assert compare_modules(module, after.module, PROOF).verdict == "equal", text


@pytest.mark.parametrize(
    ("right", "wrong"), [("[128:130]", "[127:129]"), ("negate(v.1)", "abs(v.1)"), ("[0:128]", "[2:130]")]
)
def test_a_mistake_in_one_part_is_found(right: str, wrong: str, worker: Worker) -> None:
    module = parse_module(program("w = f32[3,130,4] negate(v)"))
    text = narrowed(module).text()
    assert text.count(right) == 1
    other = parse_module(text.replace(right, wrong))
    assert compare_modules(module, other, EXECUTED, worker).verdict == "different"


def test_an_array_of_whole_tiles_has_no_candidate() -> None:
    assert not list(candidates(parse_stablehlo(attention(32, 8, 256, 32)), "tpu-v5e"))
