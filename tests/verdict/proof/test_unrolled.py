"""Loops of a few rounds, and branches that are known: what their regions use from outside changes between rounds."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.proof.dialects import parse

NESTED = """func.func public @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %w:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<f32>
   cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = "stablehlo.if"(%yes) ({
      %v:2 = stablehlo.while(%j = %zero, %z = %b) : tensor<i32>, tensor<f32>
       cond {
        %d = stablehlo.compare LT, %j, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %d : tensor<i1>
      } do {
        %k = stablehlo.add %j, %one : tensor<i32>
        %m = stablehlo.subtract %z, %x : tensor<f32>
        stablehlo.return %k, %m : tensor<i32>, tensor<f32>
      }
      stablehlo.return %v#1 : tensor<f32>
    }, {
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %y : tensor<i32>, tensor<f32>
  }
  return %w#1 : tensor<f32>
}
"""
# Two rounds outside, each of two rounds inside: x becomes b - x - x.
FLAT = """func.func public @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.subtract %b, %a : tensor<f32>
  %1 = stablehlo.subtract %0, %a : tensor<f32>
  %2 = stablehlo.subtract %b, %1 : tensor<f32>
  %3 = stablehlo.subtract %2, %1 : tensor<f32>
  return %3 : tensor<f32>
}
"""


def prove(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return try_prove(modules)


def test_nested_loops_are_their_rounds() -> None:
    assert prove(NESTED, FLAT).answer == "equal"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("subtract %2, %1", "subtract %2, %a"),
        ("subtract %b, %1", "subtract %b, %a"),
        ("subtract %0, %a", "subtract %0, %0"),
    ],
)
def test_a_wrong_round_is_seen(before: str, after: str) -> None:
    assert before in FLAT
    assert prove(NESTED, FLAT.replace(before, after)).answer != "equal"


@pytest.mark.parametrize(("before", "after"), [("dense<2>", "dense<3>"), ("dense<true>", "dense<false>")])
def test_another_count_or_branch_is_seen(before: str, after: str) -> None:
    assert prove(NESTED.replace(before, after), FLAT).answer != "equal"


def test_values_are_not_rounded_to_f32_where_they_are_doubles() -> None:
    call = """func.func public @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @f(%a) {x = VALUE : f64} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    one, other = (call.replace("VALUE", value) for value in ("1.00000000001", "1.00000000002"))
    assert prove(one, one).answer == "equal"
    assert prove(one, other).answer != "equal"
