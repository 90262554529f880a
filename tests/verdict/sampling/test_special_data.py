"""NaN and infinities reach loops and convolutions, wherever an engine keeps their meaning."""

from __future__ import annotations

from itertools import permutations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, parse_shape
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.sampling import Demand, array_demands, data_sets
from dialect_utils.verdict.sampling.demands import Use
from dialect_utils.verdict.sampling.values import special_floats

HLO_LOOP = """HloModule m
c { s = (s32[], f32[4], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 l = f32[] get-tuple-element(s), index=2
 f = f32[] convert(i)
 ROOT p = pred[] compare(f, l), direction=LT }
b { s = (s32[], f32[4], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[4] get-tuple-element(s), index=1
 l = f32[] get-tuple-element(s), index=2
 o = s32[] constant(1)
 j = s32[] add(i, o)
 y = f32[4] maximum(x, x)
 ROOT t = (s32[], f32[4], f32[]) tuple(j, y, l) }
ENTRY e {
 x = f32[4] parameter(0)
 l = f32[] parameter(1)
 z = s32[] constant(0)
 t = (s32[], f32[4], f32[]) tuple(z, x, l)
 w = (s32[], f32[4], f32[]) while(t), condition=c, body=b
 ROOT r = f32[4] get-tuple-element(w), index=1
}
"""
MLIR_LOOP = """func.func @main(%x: tensor<4xf32>, %l: tensor<f32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %z, %a = %x, %m = %l) : tensor<i32>, tensor<4xf32>, tensor<f32>
  cond {
    %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %p = stablehlo.compare LT, %f, %m : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %y = stablehlo.maximum %a, %a : tensor<4xf32>
    stablehlo.return %j, %y, %m : tensor<i32>, tensor<4xf32>, tensor<f32>
  }
  return %r#1 : tensor<4xf32>
}
"""
CONVOLUTION = """HloModule m
ENTRY e {
 x = f32[1,8,4] parameter(0)
 k = f32[3,%d,4] parameter(1)
 ROOT c = f32[1,%d,4] convolution(x, k), window={size=3%s}, dim_labels=b0f_0io->b0f%s
}
"""


def parse(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


@pytest.mark.parametrize("text", [HLO_LOOP, MLIR_LOOP], ids=["hlo", "stablehlo"])
def test_only_what_the_condition_sees_counts_rounds(text: str) -> None:
    module = parse(text)
    shapes = [shape for parameter in module.entry.parameters for shape in parameter.shape.arrays()]
    assert [bool(demand.use.counts) for demand in array_demands([module], shapes)] == [False, True]


def test_what_a_loop_carries_is_special_too(worker: Worker) -> None:
    text, options = HLO_LOOP, Options(engines=("xla",), power=0)
    found = compare_modules(parse(text), parse(text), options, worker)
    assert found.verdict == "agrees"
    assert [line for line in found.unreached if "NaN" in line] == [
        "not reached: NaN, infinities and extreme magnitudes in input 1 (the end of a loop meets them)"
    ]
    # The rewrite loses NaN, and keeps all other elements.
    saved = " v = f32[4] maximum(x, x)\n q = pred[4] compare(x, x), direction=EQ\n n = f32[] constant(0)\n"
    saved += " m = f32[4] broadcast(n), dimensions={}\n y = f32[4] select(q, v, m)"
    wrong = compare_modules(parse(text), parse(text.replace(" y = f32[4] maximum(x, x)", saved)), options, worker)
    assert wrong.verdict == "different"


@pytest.mark.parametrize(
    ("inputs", "size", "window", "groups", "is_reached"),
    [(4, 6, "", "", True), (4, 8, " pad=1_1", "", True), (2, 6, "", ", feature_group_count=2", False)],
)
def test_convolutions_without_groups_get_special_data(
    worker: Worker, inputs: int, size: int, window: str, groups: str, is_reached: bool
) -> None:
    module = parse(CONVOLUTION % (inputs, size, window, groups))
    found = compare_modules(module, module, Options(engines=("xla",), power=0), worker)
    assert found.verdict == "agrees"
    assert any("NaN" in line for line in found.unreached) is not is_reached


@pytest.mark.parametrize("dims", ["3", "8", "4,8"])
@pytest.mark.parametrize("name", ["f16", "f32"])
def test_each_special_value_meets_an_ordinary_and_a_special_one(name: str, dims: str) -> None:
    shape = parse_shape(f"{name}[{dims}]")
    assert isinstance(shape, ArrayShape)
    demands = [Demand(shape, Use(), (), False, (), True)] * 3
    special = {each.tobytes() for each in special_floats(shape.element_type)}
    sets = [each for each in data_sets(demands, 1) if each.kind == "special"]
    for first, second in permutations(range(3), 2):
        pairs = [pair for each in sets for pair in zip(each.arrays[first].flat, each.arrays[second].flat, strict=True)]
        met = {(x.tobytes(), y.tobytes() in special) for x, y in pairs if x.tobytes() in special}
        # Of 12 values, one may miss a kind where arrays have few elements.
        assert len(met) >= 2 * len(special) - 1


def test_sets_without_floats_hold_all_indices_together() -> None:
    shape = parse_shape("s32[16]")
    assert isinstance(shape, ArrayShape)
    sets = data_sets([Demand(shape, Use(limits=(300,)), (), False, (), False)], 1)
    assert set(range(300)) - {int(each) for data in sets for each in data.arrays[0].flat} == set()
    assert len(sets) <= 32
