"""Injected faults, and the power that a check prints for its data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dialect_utils.execution import ExecutionError, Worker, prepare
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import parse_array_shape
from dialect_utils.verdict import Options, Power, compare_modules
from dialect_utils.verdict.sampling import array_demands, data_sets
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
        "opposite direction",
        "other constant",
        "other dimension",
        "lost last element",
        "narrowing",
    }
    texts = [copy.text() for mutant in mutants if (copy := mutant.plant(module)) is not None]
    assert len(texts) == len(mutants)
    assert all(text != before for text in texts)
    assert module.text() == before
    assert [mutant.planted for mutant in choose_mutants(module, 3)] == [mutant.planted for mutant in mutants[:3]]


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
    """A cosine does not depend on the sign, which no rule says: no data detects that it is lost."""
    blind = parse(
        """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[8] abs(x)
  ROOT g = f32[8] cosine(a)
}
"""
    )
    verdict = compare_modules(blind, blind, Options(engines=("interpreter",), power=20), worker)
    assert verdict.power is not None
    assert verdict.power.share < 0.9
    assert any("omission of abs" in str(planted) for planted in verdict.power.not_seen)


FLOATS = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[9,9] parameter(0)
  z = f32[] constant(0)
  k = f32[] constant(0.001)
  r = f32[9] reduce(x, z), dimensions={1}, to_apply=add
  p = f32[11] pad(r, z), padding=1_1
  c = f32[10] slice(p), slice={[0:10]}
  kb = f32[10] broadcast(k), dimensions={}
  ROOT s = f32[10] divide(c, kb)
}
"""


def test_faults_of_floats_sums_and_positions() -> None:
    module = parse(FLOATS)
    mutants = choose_mutants(module, 1000)
    edits = {mutant.planted.edit for mutant in mutants}
    assert edits >= {
        "constant times 10 of constant",
        "constant times 0.01 of constant",
        "dropped last element of reduce",
        "other dimension of reduce",
        "slice off by one of slice",
        "padding off by one of pad",
        "lost last element of divide",
    }
    planted = [mutant.plant(module) for mutant in mutants]
    assert len({copy.text() for copy in planted if copy is not None}) == len(mutants)


def test_a_fault_that_might_never_end_is_not_injected() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %a = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %y = stablehlo.sine %a : tensor<4xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
"""
    mutants = choose_mutants(parse(text), 100)
    edits = {mutant.planted.edit for mutant in mutants}
    assert "omission of sine" in edits
    assert not any("add" in edit or "omission of compare" in edit for edit in edits)
    # The limit has faults, and neither the step nor the initial number.
    places = {mutant.planted.place for mutant in mutants if mutant.planted.edit.endswith("of constant")}
    assert places == {"m:5:10"}
    assert "other direction of compare" in edits
    unordered = choose_mutants(parse(text.replace("LT", "NE")), 100)
    assert not any("compare" in mutant.planted.edit or "constant" in mutant.planted.edit for mutant in unordered)


def test_limits_of_loops_are_reached(worker: Worker) -> None:
    text = """func.func @main(%x: tensor<8xi32>, %n: tensor<i32>) -> tensor<8xi32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %a = %x) : tensor<i32>, tensor<8xi32>
  cond {
    %most = stablehlo.constant dense<512> : tensor<i32>
    %limit = stablehlo.minimum %n, %most : tensor<i32>
    %p = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %b = stablehlo.add %a, %a : tensor<8xi32>
    %c = stablehlo.add %b, %a : tensor<8xi32>
    %d = stablehlo.add %c, %x : tensor<8xi32>
    stablehlo.return %j, %d : tensor<i32>, tensor<8xi32>
  }
  return %r#1 : tensor<8xi32>
}
"""
    original = parse(text)
    for limit in ("511", "513", "500", "5120"):
        wrong = parse(text.replace("dense<512>", f"dense<{limit}>"))
        assert compare_modules(original, wrong, Options(("xla",)), worker).verdict == "different"


def test_one_special_value_in_a_row_and_rows_beyond_a_mask() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4,8] parameter(0)
  i = s32[8] parameter(1)
  mask = f32[] constant(-1e9)
  masks = f32[4,8] broadcast(mask), dimensions={}
  ROOT m = f32[4,8] maximum(x, masks)
}
"""
    shapes = [parse_array_shape("f32[4,8]"), parse_array_shape("s32[8]")]
    sets = data_sets(array_demands([parse(text)], shapes), 1)
    by_row = [each.arrays for each in sets if each.kind == "sparse"][3:]
    assert [np.isfinite(floats).sum(axis=1).tolist() for floats, _ in by_row] == [[8, 7] * 2, [7, 8] * 2, [8, 7] * 2]
    assert all(len(np.unique(integers)) == 1 for _, integers in by_row)
    shifted = [each.arrays[0] for each in sets if each.kind == "shifted"]
    assert any((floats < -1e9).all(axis=1).any() for floats in shifted)
    assert any((floats.max() < 0) and (floats.min() > -1e6) for floats in shifted)


@pytest.mark.parametrize(
    ("seen", "planted", "interval", "text"),
    [
        (8, 19, (0.2314, 0.6372), "power 42 %, 8 of 19, 95 % interval 23 to 64 %"),
        (2, 2, (0.3424, 1), "power 100 %, 2 of 2, 95 % interval 34 to 100 %"),
        (0, 5, (0, 0.4345), "power 0 %, 0 of 5, 95 % interval 0 to 43 %"),
    ],
)
def test_the_interval_of_a_share(seen: int, planted: int, interval: tuple[float, float], text: str) -> None:
    power = Power(seen, planted)
    assert power.interval == pytest.approx(interval, abs=1e-4)
    assert str(power) == text


@pytest.mark.parametrize("dialect", TEXTS)
def test_programs_run_together_as_they_run_alone(dialect: str, worker: Worker) -> None:
    module = parse(TEXTS[dialect])
    programs = [
        prepare(module, "m"),
        *(prepare(made, "m") for m in choose_mutants(module, 9) if (made := m.plant(module))),
    ]
    inputs = [[np.arange(64, dtype=np.int32).reshape(8, 8)]]
    joined, kept = worker.join(programs)
    assert kept == tuple(range(len(programs)))
    together = worker.run(joined, inputs)[0]
    alone = [worker.run(program, inputs)[0][0] for program in programs]
    assert all((a == b).all() for a, b in zip(together, alone, strict=True))
    assert not all((a == alone[0]).all() for a in alone)


def test_a_program_that_is_not_valid_is_left_out(worker: Worker) -> None:
    good = prepare(parse(MLIR), "m")
    other_type = prepare(parse(MLIR.replace("8x8", "4x4")), "m")
    bad = replace(good, text="func.func @main() { broken }")
    assert worker.join([good, bad, other_type, good])[1] == (0, 3)
    with pytest.raises(ExecutionError):
        worker.join([bad, good])


def test_twenty_faults_are_injected_by_default(worker: Worker) -> None:
    module = parse(FLOATS)
    verdict = compare_modules(module, module, Options(engines=("xla",)), worker)
    assert verdict.power is not None
    assert verdict.power.planted >= 20
    assert verdict.as_json()["power_interval"] == [round(end, 4) for end in verdict.power.interval]
