"""Programs that cancel-relayouts must not change: values with other users, memory spaces, different paddings."""

from __future__ import annotations

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from passes.tiling.cancel_relayouts import cancel_relayouts


def entry(*lines: str) -> HloModule:
    return parse_module("HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")


TURNED_TWICE = """func.func @main(%p: tensor<2x3x4xi32>) -> (RESULTS) {
  %t = stablehlo.transpose %p, dims = [1, 0, 2] : (tensor<2x3x4xi32>) -> tensor<3x2x4xi32>
  %u = stablehlo.transpose %t, dims = [0, 2, 1] : (tensor<3x2x4xi32>) -> tensor<3x4x2xi32>
  return RETURNED
}
"""


def test_a_value_that_is_returned_stays_so_that_nothing_is_gained_beside_it() -> None:
    both = TURNED_TWICE.replace("RESULTS", "tensor<3x2x4xi32>, tensor<3x4x2xi32>")
    both = both.replace("RETURNED", "%t, %u : tensor<3x2x4xi32>, tensor<3x4x2xi32>")
    assert not cancel_relayouts.run(parse_stablehlo(both)).modified
    one = TURNED_TWICE.replace("RESULTS", "tensor<3x4x2xi32>").replace("RETURNED", "%u : tensor<3x4x2xi32>")
    assert cancel_relayouts.run(parse_stablehlo(one)).modified


def test_a_chain_into_another_memory_space_is_not_its_source() -> None:
    lines = (
        "p = s32[2,3]{1,0} parameter(0)",
        "t = s32[3,2]{1,0:S(1)} transpose(p), dimensions={1,0}",
        "u = s32[2,3]{1,0:S(1)} transpose(t), dimensions={1,0}",
        "ROOT n = s32[2,3]{1,0:S(1)} negate(u)",
    )
    assert not cancel_relayouts.run(entry(*lines)).modified
    assert cancel_relayouts.run(entry(*(line.replace(":S(1)", "") for line in lines))).modified


def test_pads_of_different_padding_stay_two() -> None:
    lines = (
        "p = s32[2]{0} parameter(0)",
        "one = s32[] constant(1)",
        "two = s32[] constant(2)",
        "a = s32[3]{0} pad(p, one), padding=0_1",
        "b = s32[3]{0} pad(p, two), padding=0_1",
        "ROOT r = s32[3]{0} add(a, b)",
    )
    assert not cancel_relayouts.run(entry(*lines)).modified
    merged = cancel_relayouts.run(entry(*(line.replace("constant(2)", "constant(1)") for line in lines))).module
    assert sum(operation.opcode == "pad" for operation in merged.functions[-1].operations) == 1
