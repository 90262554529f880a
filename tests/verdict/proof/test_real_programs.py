"""The project's own pipelines on programs with loops, custom calls and bytes: proved, and replayed."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.certified import prove
from passes.framework.pipeline import Pipeline
from tests.verdict.proof.dialects import parse

LAID = "annotate-layouts{target=tpu-v5e}"
PIPELINES = [
    f"{LAID},expand-tiling",
    f"{LAID},expand-tiling{{interface=physical}},propagate-physical,cancel-relayouts",
]

# The body is short without what expand-tiling adds to it.
SHORT_LOOP = """func.func public @main(%x: tensor<5x9xf32>, %row: tensor<1x9xf32>) -> tensor<5x9xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %w:3 = stablehlo.while(%i = %zero, %y = %x, %r = %row) : tensor<i32>, tensor<5x9xf32>, tensor<1x9xf32>
   cond {
    %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a = stablehlo.add %r, %r : tensor<1x9xf32>
    %b = stablehlo.dynamic_update_slice %y, %a, %i, %zero : (tensor<5x9xf32>, tensor<1x9xf32>, tensor<i32>, tensor<i32>) -> tensor<5x9xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %b, %a : tensor<i32>, tensor<5x9xf32>, tensor<1x9xf32>
  }
  return %w#1 : tensor<5x9xf32>
}
"""  # noqa: E501

# The rules make a product of the quotient, which may have another NaN: the custom call observes that.
OBSERVED = """func.func public @main(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<6x6xf32>
  %h = stablehlo.divide %x, %two : tensor<6x6xf32>
  %q = stablehlo.custom_call @Qr(%h) : (tensor<6x6xf32>) -> tensor<6x6xf32>
  return %q : tensor<6x6xf32>
}
"""

NIBBLES = """func.func public @main(%x: tensor<9x130xi4>) -> tensor<4x130xi4> {
  %s = stablehlo.slice %x [0:4, 0:130] : (tensor<9x130xi4>) -> tensor<4x130xi4>
  return %s : tensor<4x130xi4>
}
"""

CHOSEN = """func.func public @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %k = stablehlo.clamp %zero, %five, %one : tensor<i32>
  %y = "stablehlo.case"(%k) ({
    %a = stablehlo.negate %x : tensor<4x4xf32>
    stablehlo.return %a : tensor<4x4xf32>
  }, {
    %b = stablehlo.abs %x : tensor<4x4xf32>
    stablehlo.return %b : tensor<4x4xf32>
  }) : (tensor<i32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
"""

CUSTOM = """HloModule m
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  ROOT c = f32[8,128]{1,0:T(8,128)} custom-call(p), custom_call_target="Qr"
}
"""


@pytest.mark.parametrize("pipeline", PIPELINES, ids=["logical", "physical"])
@pytest.mark.parametrize(
    "text", [SHORT_LOOP, OBSERVED, NIBBLES, CHOSEN, CUSTOM], ids=["loop", "observed", "nibbles", "chosen", "custom"]
)
def test_the_projects_own_pipelines_are_proved(text: str, pipeline: str) -> None:
    module = parse(text)
    stages = [module, *(run.result.module for run in Pipeline.parse(pipeline).run(module).runs)]
    found = prove(stages)
    assert found.answer == "equal", found.reason


def test_a_quotient_before_an_operation_that_observes_nan_is_no_product() -> None:
    stages = [parse(OBSERVED), parse(OBSERVED.replace("divide", "multiply").replace("2.0", "0.5"))]
    assert prove(stages).answer == "unknown"


def test_a_loop_whose_update_is_at_another_row_is_not_equal() -> None:
    other = SHORT_LOOP.replace("%y, %a, %i, %zero", "%y, %a, %zero, %zero")
    expanded = [run.result.module for run in Pipeline.parse(PIPELINES[0]).run(parse(other)).runs]
    stages = [parse(SHORT_LOOP), *expanded]
    assert prove(stages).answer != "equal"


def test_an_attribute_that_is_not_relayouts_own_still_counts() -> None:
    noted = CUSTOM.replace('"Qr"', '"Qr", frontend_attributes={relayout.layout="x"}')
    other = CUSTOM.replace('"Qr"', '"Qr", frontend_attributes={kernel="x"}')
    for text, answer in ((noted, "equal"), (other, "unknown")):
        stages = [parse(CUSTOM), parse(text)]
        assert prove(stages).answer == answer
