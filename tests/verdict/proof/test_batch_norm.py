"""Batch normalization and its decomposition: equal in bits to StableHLO's, over the reals to one with rsqrt."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.proof.dialects import parse

F, V = "tensor<2x3x4xf32>", "tensor<3xf32>"
SIGNATURE = f"(%a: {F}, %s: {V}, %o: {V}, %m: {V}, %v: {V}, %g: {F}) -> ({F}, {F}, {V}, {V}, {F}, {V}, {V})"
RETURN = f"return %i, %t, %tm, %tv, %ga, %gs, %go : {F}, {F}, {V}, {V}, {F}, {V}, {V}"


def operations(epsilon: str = "1.000000e-03", feature: int = 1) -> str:
    norm = f"<{{epsilon = {epsilon} : f32, feature_index = {feature} : i64}}>"
    return f"""func.func public @main{SIGNATURE} {{
  %i = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v) {norm} : ({F}, {V}, {V}, {V}, {V}) -> {F}
  %t, %tm, %tv = "stablehlo.batch_norm_training"(%a, %s, %o) {norm} : ({F}, {V}, {V}) -> ({F}, {V}, {V})
  %ga, %gs, %go = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g) {norm} : ({F}, {V}, {V}, {V}, {F}) -> ({F}, {V}, {V})
  {RETURN}
}}
"""


HLO = """HloModule m
ENTRY e {
  a = f32[2,3,4] parameter(0)
  s = f32[3] parameter(1)
  o = f32[3] parameter(2)
  m = f32[3] parameter(3)
  v = f32[3] parameter(4)
  g = f32[2,3,4] parameter(5)
  i = f32[2,3,4] batch-norm-inference(a, s, o, m, v), epsilon=0.001, feature_index=1
  t = (f32[2,3,4], f32[3], f32[3]) batch-norm-training(a, s, o), epsilon=0.001, feature_index=1
  t0 = f32[2,3,4] get-tuple-element(t), index=0
  t1 = f32[3] get-tuple-element(t), index=1
  t2 = f32[3] get-tuple-element(t), index=2
  b = (f32[2,3,4], f32[3], f32[3]) batch-norm-grad(a, s, m, v, g), epsilon=0.001, feature_index=1
  b0 = f32[2,3,4] get-tuple-element(b), index=0
  b1 = f32[3] get-tuple-element(b), index=1
  b2 = f32[3] get-tuple-element(b), index=2
  ROOT r = (f32[2,3,4], f32[2,3,4], f32[3], f32[3], f32[2,3,4], f32[3], f32[3]) tuple(i, t0, t1, t2, b0, b1, b2)
}
"""


def _spread(name: str, of: str) -> str:
    return f"%{name} = stablehlo.broadcast_in_dim %{of}, dims = [1] : ({V}) -> {F}"


def _sum(name: str, of: str) -> str:
    return (
        f"%{name} = stablehlo.reduce(%{of} init: %zero) applies stablehlo.add across dimensions = [0, 2] "
        f": ({F}, tensor<f32>) -> {V}"
    )


def _each(name: str, opcode: str, *operands: str, of: str = F) -> str:
    return f"%{name} = stablehlo.{opcode} {', '.join('%' + each for each in operands)} : {of}"


def _inferred(name: str, mean: str, variance: str, *, is_by_root: bool) -> list[str]:
    p = f"{name}_"
    deviation = [_each(p + "d", "sqrt", p + "w"), _each(p + "n", "divide", p + "c", p + "d")]
    reciprocal = [_each(p + "d", "rsqrt", p + "w"), _each(p + "n", "multiply", p + "c", p + "d")]
    return [
        _spread(p + "m", mean),
        _spread(p + "v", variance),
        _each(p + "c", "subtract", "a", p + "m"),
        _each(p + "w", "add", p + "v", "e"),
        *(deviation if is_by_root else reciprocal),
        _each(p + "x", "multiply", "ss", p + "n"),
        _each(name, "add", p + "x", "os"),
    ]


def decomposed(*, is_by_root: bool = True) -> str:
    """Returns what the specification decomposes the operations into; `is_by_root` false: with rsqrt, as XLA."""
    rows = [
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>",
        f"%e = stablehlo.constant dense<1.000000e-03> : {F}",
        f"%nf = stablehlo.constant dense<8.0> : {V}",
        f"%n = stablehlo.constant dense<8.0> : {F}",
        _spread("ss", "s"),
        _spread("os", "o"),
        *_inferred("i", "m", "v", is_by_root=is_by_root),
        _sum("ts", "a"),
        _each("tm", "divide", "ts", "nf", of=V),
        _spread("tb", "tm"),
        _each("tc", "subtract", "a", "tb"),
        _each("tq", "multiply", "tc", "tc"),
        _sum("tt", "tq"),
        _each("tv", "divide", "tt", "nf", of=V),
        *_inferred("t", "tm", "tv", is_by_root=is_by_root),
        _each("i1", "multiply", "g", "n"),
        _sum("go", "g"),
        _spread("i2", "go"),
        _each("i3p", "multiply", "g", "i_c"),
        _sum("i3s", "i3p"),
        _spread("i3", "i3s"),
        _each("i4", "multiply", "i3", "i_c"),
        _each("i5", "divide", "i4", "i_w"),
        _each("i6a", "subtract", "i1", "i2"),
        _each("i6", "subtract", "i6a", "i5"),
        *([_each("f", "divide", "ss", "i_d")] if is_by_root else [_each("f", "multiply", "ss", "i_d")]),
        _each("fn", "divide", "f", "n"),
        _each("ga", "multiply", "fn", "i6"),
        _each("gn", "multiply", "g", "i_n"),
        _sum("gs", "gn"),
    ]
    return f"func.func public @main{SIGNATURE} {{\n  " + "\n  ".join([*rows, RETURN]) + "\n}\n"


def prove(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return try_prove(modules, over_reals=True)


@pytest.mark.parametrize("text", [operations(), HLO], ids=["stablehlo", "hlo"])
def test_batch_normalization_is_its_decomposition(text: str) -> None:
    found = prove(text, decomposed())
    assert found.answer == "equal", found.reason
    assert "batch-norm" in [rule.name for rule in found.rules]


def test_with_the_reciprocal_root_it_is_equal_over_the_reals() -> None:
    found = prove(HLO, decomposed(is_by_root=False))
    assert found.answer == "unknown"
    assert found.is_equal_over_reals


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("dense<8.0> : tensor<3xf32>", "dense<7.0> : tensor<3xf32>"),
        ("dense<8.0> : tensor<2x3x4xf32>", "dense<4.0> : tensor<2x3x4xf32>"),
        ("1.000000e-03", "1.000000e-05"),
        ("multiply %tc, %tc", "multiply %a, %a"),
        ("subtract %i6a, %i5", "add %i6a, %i5"),
        ("reduce(%g init", "reduce(%i1 init"),
        ("%t_m = stablehlo.broadcast_in_dim %tm", "%t_m = stablehlo.broadcast_in_dim %m"),
    ],
)
@pytest.mark.parametrize("is_by_root", [True, False], ids=["root", "rsqrt"])
def test_a_wrong_decomposition_is_not_equal(before: str, after: str, is_by_root: bool) -> None:
    right = decomposed(is_by_root=is_by_root)
    assert before in right
    wrong = right.replace(before, after)
    found = prove(HLO, wrong)
    assert found.answer != "equal"
    assert not found.is_equal_over_reals
