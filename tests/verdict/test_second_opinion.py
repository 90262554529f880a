"""Differences that one engine alone computes, choices of an engine, and outputs that are not executed."""

from __future__ import annotations

import pytest

from dialect_utils.execution import ExecutionError, Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict import Options, Verdict, compare_modules
from tests.verdict.proof import test_batch_norm

QUICK = Options(power=0)


def compared(worker: Worker, first: str, last: str, options: Options = QUICK) -> Verdict:
    a, b = (
        parse_bytes(text.encode(), f"{name}.{'hlo' if 'HloModule' in text else 'mlir'}")
        for name, text in (("a", first), ("b", last))
    )
    return compare_modules(a, b, options, worker)


def entry(body: str) -> str:
    return f"HloModule m\nENTRY e {{\n{body}\n}}\n"


X = "x = f32[8] parameter(0)\n zero = f32[] constant(0)\n zeros = f32[8] broadcast(zero), dimensions={}\n"
BITS = (
    "i = s32[8] bitcast-convert(x)\n m = s32[] constant(2147483647)\n mb = s32[8] broadcast(m), dimensions={{}}\n"
    " a = s32[8] and(i, mb)\n o = s32[] constant({least})\n ob = s32[8] broadcast(o), dimensions={{}}\n"
    " ROOT r = pred[8] compare(a, ob), direction={direction}"
)


def test_a_truth_value_of_a_flushed_number_is_a_choice(worker: Worker) -> None:
    by_value = entry(X + "ROOT r = pred[8] compare(x, zeros), direction=EQ")
    found = compared(worker, by_value, entry(X + BITS.format(least=0, direction="EQ")))
    assert found.verdict == "agrees"
    assert any("subnormal numbers, which XLA counts as zeros" in line for line in found.lines())
    # A subnormal number that one program alone takes for zero is a difference on every engine.
    wrong = entry(X + BITS.format(least=100000, direction="LT"))
    assert compared(worker, by_value, wrong).verdict == "different"


def test_only_arithmetic_flushes(worker: Worker) -> None:
    padded = "x = f32[200000] parameter(0)\n c = f32[] constant({})\n ROOT r = f32[200001] pad(x, c), padding=0_1"
    assert compared(worker, entry(padded.format("1e-40")), entry(padded.format(0))).verdict == "different"
    scaled = (
        X + "one = f32[] constant(1)\n ones = f32[8] broadcast(one), dimensions={}\n ROOT r = f32[8] multiply(x, ones)"
    )
    found = compared(worker, entry(scaled), entry("x = f32[8] parameter(0)\n ROOT r = f32[8] copy(x)"))
    assert found.verdict == "equal"


POPCNT = """func.func @main(%x: tensor<8xi4>) -> tensor<8xi4> {
  %r = stablehlo.popcnt %x : tensor<8xi4>
  return %r : tensor<8xi4>
}
"""
WIDE_POPCNT = """func.func @main(%x: tensor<8xi4>) -> tensor<8xi4> {
  %u = stablehlo.bitcast_convert %x : (tensor<8xi4>) -> tensor<8xui4>
  %w = stablehlo.convert %u : (tensor<8xui4>) -> tensor<8xi32>
  %p = stablehlo.popcnt %w : tensor<8xi32>
  %r = stablehlo.convert %p : (tensor<8xi32>) -> tensor<8xi4>
  return %r : tensor<8xi4>
}
"""


def test_an_engine_that_stands_alone_is_named(worker: Worker) -> None:
    found = compared(worker, POPCNT, WIDE_POPCNT)
    assert (found.verdict, found.methods) == ("agrees", ("interpreter",))
    assert "by XLA alone" in "\n".join(found.lines())
    assert compared(worker, POPCNT, WIDE_POPCNT, Options(("xla",), power=0)).verdict == "different"
    wrong = WIDE_POPCNT.replace("stablehlo.popcnt %w", "stablehlo.count_leading_zeros %w")
    assert compared(worker, POPCNT, wrong).verdict == "different"


def test_a_batch_norm_excuses_its_own_output_alone(worker: Worker) -> None:
    options = Options(("proof", "xla"))
    right = compared(worker, test_batch_norm.HLO, test_batch_norm.decomposed())
    assert right.verdict == "equal"
    assert "by XLA alone" in "\n".join(right.lines())
    assert compared(worker, test_batch_norm.HLO, test_batch_norm.decomposed(), options).verdict == "unknown"


NAN = """x = bf16[] parameter(0)
  q = bf16[] constant(nan)
  n = pred[] compare(x, x), direction=NE
  ROOT r = bf16[] select(n, q, x)"""


def test_bits_of_nan_decide_where_both_only_move_it(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    # Both are equal in bits if x is never NaN.
    monkeypatch.setattr("dialect_utils.verdict.compare.prove_conditionally", lambda *arguments: None)
    found = compared(worker, entry("x = bf16[] parameter(0)\n ROOT r = bf16[] copy(x)"), entry(NAN))
    assert (found.verdict, found.methods) == ("different", ("xla",))
    made = "x = bf16[] parameter(0)\n {} ROOT r = bf16[] {}"
    doubled = made.format("", "add(x, x)")
    canonical = (
        NAN.replace("ROOT r", "s")
        .replace("(n, q, x)", "(n, q, d)")
        .replace("n = pred", "d = bf16[] add(x, x)\n n = pred")
    )
    found = compared(worker, entry(doubled), entry(canonical + "\n ROOT r = bf16[] copy(s)"))
    assert found.verdict in ("equal", "agrees")
    assert found.verdict == "agrees" or found.choices == ("NaN bits",)


def test_a_text_that_xla_refuses_is_unknown(worker: Worker) -> None:
    # XLA reads `nan` as a number.
    text = entry("x = f32[8] parameter(0)\n ROOT nan = f32[8] negate(x)")
    with pytest.raises(ExecutionError) as error:
        compared(worker, text, text)
    assert error.value.is_refusal


def test_a_large_constant_output_is_not_executed(worker: Worker) -> None:
    body = "x = f32[8] parameter(0)\n n = f32[8] {}\n z = s8[] constant({})\n"
    body += " w = s8[2097152] broadcast(z), dimensions={{}}\n ROOT r = (f32[8], s8[2097152]) tuple(n, w)"
    equal = compared(worker, entry(body.format("negate(x)", 0)), entry(body.format("negate(x)", 0)))
    assert (equal.verdict, equal.methods) == ("equal", ("proof", "xla"))
    assert compared(worker, entry(body.format("negate(x)", 0)), entry(body.format("abs(x)", 0))).verdict == "different"
    assert (
        compared(worker, entry(body.format("negate(x)", 0)), entry(body.format("negate(x)", 1))).verdict == "different"
    )


def trained(variance: str) -> str:
    """Returns the normalization of a batch by the definition of a training step, with some elements per feature."""
    return f"""HloModule m
add {{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }}
ENTRY e {{ x = f32[8,3] parameter(0)
 scale = f32[3] parameter(1)
 offset = f32[3] parameter(2)
 zero = f32[] constant(0)
 eight = f32[] constant(8)
 n = f32[3] broadcast(eight), dimensions={{}}
 t = f32[3] reduce(x, zero), dimensions={{0}}, to_apply=add
 mean = f32[3] divide(t, n)
 means = f32[8,3] broadcast(mean), dimensions={{1}}
 c = f32[8,3] subtract(x, means)
 cc = f32[8,3] multiply(c, c)
 u = f32[3] reduce(cc, zero), dimensions={{0}}, to_apply=add
 count = f32[] constant({variance})
 counts = f32[3] broadcast(count), dimensions={{}}
 v = f32[3] divide(u, counts)
 epsilon = f32[] constant(0.001)
 es = f32[3] broadcast(epsilon), dimensions={{}}
 ve = f32[3] add(v, es)
 r = f32[3] rsqrt(ve)
 k = f32[3] multiply(r, scale)
 ks = f32[8,3] broadcast(k), dimensions={{1}}
 y = f32[8,3] multiply(c, ks)
 os = f32[8,3] broadcast(offset), dimensions={{1}}
 z = f32[8,3] add(y, os)
 ROOT out = (f32[8,3], f32[3], f32[3]) tuple(z, mean, v) }}"""


def test_an_engine_that_rounds_a_definition_otherwise_confirms_no_difference(worker: Worker) -> None:
    whole = entry(
        "x = f32[8,3] parameter(0)\n s = f32[3] parameter(1)\n o = f32[3] parameter(2)\n"
        " ROOT r = (f32[8,3], f32[3], f32[3]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1"
    )
    assert compared(worker, whole, trained("8")).verdict in ("agrees", "close")
    assert compared(worker, whole, trained("7")).verdict == "different"
