"""A broadcast whose sizes are computed by the dialects of shapes and tensors has the sizes of its type."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.certified import prove
from tests.verdict.proof.dialects import parse

HEAD = "func.func @main(%p: tensor<i1>, %x: tensor<3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {\n"
PLAIN = (
    HEAD
    + """  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
  %r = stablehlo.select %p, %b, %y : tensor<i1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
"""
)
ASSUMED = (
    HEAD
    + """  %s = shape.shape_of %x : tensor<3xi32> -> tensor<1xindex>
  %t = shape.shape_of %y : tensor<2x3xi32> -> tensor<2xindex>
  %w = shape.const_witness true
  %a = shape.assuming %w -> (tensor<2x3xi32>) {
    %n = shape.broadcast %s, %t : tensor<1xindex>, tensor<2xindex> -> tensor<?xindex>
    %c = tensor.cast %n : tensor<?xindex> to tensor<2xindex>
    %b = stablehlo.dynamic_broadcast_in_dim %x, %c, dims = [1] : (tensor<3xi32>, tensor<2xindex>) -> tensor<2x3xi32>
    %r = stablehlo.select %p, %b, %y : tensor<i1>, tensor<2x3xi32>
    shape.assuming_yield %r : tensor<2x3xi32>
  }
  return %a : tensor<2x3xi32>
}
"""
)


def answer(first: str, second: str) -> str:
    modules = [parse(first), parse(second)]
    return prove(modules).answer


def test_a_region_under_a_true_witness_is_its_operations() -> None:
    assert answer(PLAIN, ASSUMED) == "equal"
    assert answer(ASSUMED, ASSUMED) == "equal"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("const_witness true", "const_witness false"),
        ("select %p, %b, %y", "select %p, %y, %b"),
        ("shape.assuming_yield %r", "shape.assuming_yield %b"),
    ],
)
def test_another_region_is_not_equal(old: str, new: str) -> None:
    assert old in ASSUMED
    assert answer(PLAIN, ASSUMED.replace(old, new)) == "unknown"
