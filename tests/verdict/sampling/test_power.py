"""Injected faults, and the power that a check prints for its data."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.sampling.faults import choose_mutants

HLO = """HloModule m
ENTRY e {
  x = s32[8,8] parameter(0)
  k = s32[] constant(1000)
  kb = s32[8,8] broadcast(k), dimensions={}
  t = s32[8,8] transpose(x), dimensions={1,0}
  d = s32[8,8] subtract(t, kb)
  ROOT g = pred[8,8] compare(d, x), direction=GT
}
"""
MLIR = """func.func @main(%x: tensor<8x8xi32>) -> tensor<8x8xi1> {
  %k = stablehlo.constant dense<1000> : tensor<i32>
  %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x8xi32>) -> tensor<8x8xi32>
  %d = stablehlo.subtract %t, %kb : tensor<8x8xi32>
  %g = stablehlo.compare GT, %d, %x, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  return %g : tensor<8x8xi1>
}
"""
TEXTS = {"hlo": HLO, "stablehlo": MLIR}


def parse(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


@pytest.mark.parametrize("dialect", TEXTS)
def test_mutants_are_of_every_kind_and_the_same_each_time(dialect: str) -> None:
    module = parse(TEXTS[dialect])
    before = module.text()
    mutants = choose_mutants(module, 100)
    kinds = {mutant.planted.edit.partition(" of ")[0] for mutant in mutants}
    assert kinds >= {
        "omission",
        "swapped operands",
        "other direction",
        "other constant",
        "other dimension",
        "narrowing",
    }
    texts = [copy.text() for mutant in mutants if (copy := mutant.plant(module)) is not None]
    assert len(texts) == len(mutants)
    assert all(text != before for text in texts)
    assert module.text() == before
    again = choose_mutants(module, 3)
    assert [mutant.planted for mutant in again] == [mutant.planted for mutant in choose_mutants(module, 3)]


@pytest.mark.parametrize("dialect", TEXTS)
def test_power_counts_what_the_data_sees(dialect: str, worker: Worker) -> None:
    module = parse(TEXTS[dialect])
    options = Options(engines=("xla", "interpreter"), power=20)
    verdict = compare_modules(module, module, options, worker)
    assert verdict.verdict == "agrees"
    assert verdict.power is not None
    assert verdict.power.planted > 6
    assert verdict.power.share > 0.8
    found = verdict.as_json()
    assert found["power"] == round(verdict.power.share, 4)
    assert len(found["not_seen"]) <= 3
    assert all(" at m:" in each for each in found["not_seen"])


def test_no_power_is_measured_where_none_is_asked_for(worker: Worker) -> None:
    module = parse(HLO)
    assert compare_modules(module, module, Options(engines=("xla",), power=0), worker).power is None
    assert compare_modules(module, module, worker=worker).power is None


def test_data_that_sees_nothing_has_no_power(worker: Worker) -> None:
    """All elements are clamped to one number, so the data detects few faults."""
    blind = parse(
        """HloModule m
ENTRY e {
  x = s32[8] parameter(0)
  z = s32[] constant(5)
  a = s32[8] abs(x)
  ROOT g = s32[8] clamp(z, a, z)
}
"""
    )
    verdict = compare_modules(blind, blind, Options(engines=("interpreter",), power=20), worker)
    assert verdict.power is not None
    assert verdict.power.share < 0.9
    assert any("omission of abs" in str(planted) for planted in verdict.power.not_seen)
