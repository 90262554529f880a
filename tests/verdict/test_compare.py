from typing import Any

import numpy as np
import pytest

from dialect_utils.execution import ExecutionError, Program, Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Cause, Method, Options, Verdict, compare_modules, compare_stages
from dialect_utils.verdict.runs import xla_options
from tests.execution.rejected import A_REDUCTION_OF_ANOTHER_TYPE
from tests.paths import ROOT

BOTH = Options(engines=("xla", "interpreter"))

# Each pair: the first module, and forms of it on the physical arrays of f32[3,5]{1,0:T(2,2)}.
HLO = """HloModule m, entry_computation_layout={(f32[3,5]{1,0:T(2,2)})->f32[3,5]{1,0:T(2,2)}}
ENTRY e {
  p = f32[3,5]{1,0:T(2,2)} parameter(0)
  ROOT n = f32[3,5]{1,0:T(2,2)} negate(p)
}
"""
HLO_PHYSICAL = """HloModule m
ENTRY e {
  p = f32[2,3,2,2] parameter(0)
  t = f32[2,2,3,2] transpose(p), dimensions={0,2,1,3}
  r = f32[4,6] reshape(t)
  s = f32[3,5] slice(r), slice={[0:3], [0:5]}
  n = f32[3,5] negate(s)
  z = f32[] constant(0)
  w = f32[4,6] pad(n, z), padding=0_1x0_1
  x = f32[2,2,3,2] reshape(w)
  ROOT y = f32[2,3,2,2] transpose(x), dimensions={0,2,1,3}
}
"""
MLIR = """func.func @main(%p: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"})
    -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) {
  %0 = stablehlo.negate %p : tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
"""
MLIR_PHYSICAL = """func.func @main(%p: tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32> {
  %t = stablehlo.transpose %p, dims = [0, 2, 1, 3] : (tensor<2x3x2x2xf32>) -> tensor<2x2x3x2xf32>
  %r = stablehlo.reshape %t : (tensor<2x2x3x2xf32>) -> tensor<4x6xf32>
  %s = stablehlo.slice %r [0:3, 0:5] : (tensor<4x6xf32>) -> tensor<3x5xf32>
  %n = stablehlo.negate %s : tensor<3x5xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %w = stablehlo.pad %n, %z, low = [0, 0], high = [1, 1], interior = [0, 0]
    : (tensor<3x5xf32>, tensor<f32>) -> tensor<4x6xf32>
  %x = stablehlo.reshape %w : (tensor<4x6xf32>) -> tensor<2x2x3x2xf32>
  %y = stablehlo.transpose %x, dims = [0, 2, 1, 3] : (tensor<2x2x3x2xf32>) -> tensor<2x3x2x2xf32>
  return %y : tensor<2x3x2x2xf32>
}
"""
FORMS = {"hlo": (HLO, HLO_PHYSICAL), "stablehlo": (MLIR, MLIR_PHYSICAL)}

# Faults as edits of the physical form, and the first logical index that must differ.
PLANTED = {
    "swapped transpose": (
        [("f32[2,2,3,2] transpose(p), dimensions={0,2,1,3}", "f32[2,2,3,2] transpose(p), dimensions={0,3,1,2}")],
        [("transpose %p, dims = [0, 2, 1, 3]", "transpose %p, dims = [0, 3, 1, 2]")],
        (0, 1),
    ),
    "wrong slice bound": (
        [("slice={[0:3], [0:5]}", "slice={[0:3], [1:6]}")],
        [("[0:3, 0:5]", "[0:3, 1:6]")],
        (0, 0),
    ),
}


def parse(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


def edited(text: str, edits: list[tuple[str, str]]) -> str:
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize("form", FORMS)
def test_a_form_on_physical_arrays_is_equal(worker: Worker, form: str) -> None:
    first, second = map(parse, FORMS[form])
    assert compare_modules(first, second, BOTH, worker) == Verdict("agrees", ("xla", "interpreter"), "bits")


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_planted_is_found_at_its_first_element(worker: Worker, form: str, planted: str) -> None:
    first, second = FORMS[form]
    hlo_edits, mlir_edits, index = PLANTED[planted]
    wrong = edited(second, hlo_edits if form == "hlo" else mlir_edits)
    engines: tuple[Method, ...] = ("xla", "interpreter")
    for engine in engines:
        verdict = compare_modules(parse(first), parse(wrong), Options(engines=(engine,)), worker)
        assert (verdict.verdict, verdict.methods) == ("different", (engine,))
        assert verdict.counterexample is not None
        assert verdict.counterexample.index == index


@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_tile_is_another_signature(worker: Worker, form: str) -> None:
    first, second = FORMS[form]
    with pytest.raises(DiagnosticError, match="different signatures: parameter 0 is f32"):
        compare_modules(parse(first.replace("T(2,2)", "T(2,4)")), parse(second), worker=worker)


def test_a_wrong_order_under_the_same_signature_is_found(worker: Worker) -> None:
    """The physical form adds rows where the order of the layout has columns."""
    rows = """HloModule m
ENTRY e {
  p = f32[4,4]{1,0:T(2,2)} parameter(0)
  i = f32[4,4]{1,0:T(2,2)} iota(), iota_dimension=0
  ROOT n = f32[4,4]{1,0:T(2,2)} add(p, i)
}
"""
    physical = """HloModule m
ENTRY e {
  p = f32[2,2,2,2] parameter(0)
  i = f32[4,4] iota(), iota_dimension=0
  r = f32[2,2,2,2] reshape(i)
  t = f32[2,2,2,2] transpose(r), dimensions={0,2,1,3}
  ROOT n = f32[2,2,2,2] add(p, t)
}
"""
    assert compare_modules(parse(rows), parse(physical), worker=worker).verdict == "equal"
    other_order = parse(rows.replace("{1,0:", "{0,1:"))
    assert compare_modules(other_order, parse(physical), worker=worker).verdict == "different"


SUM = """HloModule m, entry_computation_layout={(f32[3]{0:T(4)})->f32[]}
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  p = f32[3]{0:T(4)} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add
}
"""
SUM_PHYSICAL = SUM.replace(", entry_computation_layout={(f32[3]{0:T(4)})->f32[]}", "").replace(
    "p = f32[3]{0:T(4)} parameter(0)",
    "q = f32[1,4] parameter(0)\n  f = f32[4] reshape(q)\n  p = f32[3] slice(f), slice={[0:3]}",
)


def test_padding_that_leaks_into_a_sum_is_found(worker: Worker) -> None:
    right = compare_modules(parse(SUM), parse(SUM_PHYSICAL), BOTH, worker)
    assert (right.verdict, right.reason) == ("agrees", "")
    assert right.compared.startswith("bits on small whole numbers, within the original's own error on other")
    leak = SUM_PHYSICAL.replace("p = f32[3] slice(f), slice={[0:3]}", "p = f32[4] copy(f)")
    wrong = compare_modules(parse(SUM), parse(leak), worker=worker)
    assert wrong.verdict == "different"
    assert wrong.reason == "padding reaches a result: it changes with what padding holds"
    assert wrong.cause == Cause(0, "small whole numbers", "values that depend on padding")


def test_the_layout_may_stand_in_a_stage_between(worker: Worker) -> None:
    plain = HLO.replace(":T(2,2)", "")
    stages = [parse(plain), parse(HLO), parse(HLO_PHYSICAL)]
    assert compare_stages(stages, worker=worker).verdict == "equal"
    with pytest.raises(DiagnosticError, match="different signatures"):
        compare_stages([stages[0], stages[2]], worker=worker)


def test_sums_in_another_order_are_close_but_not_different(worker: Worker) -> None:
    """A product of two sums in another order is not a difference; another factor is one."""
    rows = """func.func @main(%p: tensor<16x16xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.tanh %p : tensor<16x16xf32>
  %a = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
  %b = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
  return %b : tensor<f32>
}
"""
    columns = rows.replace("dimensions = [1]", "dimensions = [0]")
    options = Options(engines=("interpreter",))
    verdict = compare_modules(parse(rows), parse(columns), options, worker)
    assert verdict.verdict == "agrees"
    assert "which is not guaranteed to be equal" in verdict.reason
    strict = Options(engines=("interpreter",), compare="bits")
    assert compare_modules(parse(rows), parse(columns), strict, worker).verdict == "different"
    wrong = columns.replace("stablehlo.tanh", "stablehlo.sine")
    assert compare_modules(parse(rows), parse(wrong), options, worker).verdict == "different"


def test_a_factor_beyond_rounding_is_different(worker: Worker) -> None:
    text = (
        SUM.replace("{0:T(4)}", "")
        .replace("ROOT r =", "f = f32[] constant(1)\n  r =")
        .replace("to_apply=add\n}", "to_apply=add\n  t = f32[] tanh(r)\n  ROOT m = f32[] multiply(t, f)\n}")
    )
    reduced_twice = text.replace("reduce(p, z)", "reduce(q, z)").replace("z = ", "q = f32[3] tanh(p)\n  z = ")
    verdicts = [
        compare_modules(parse(reduced_twice), parse(reduced_twice.replace("constant(1)", factor)), worker=worker)
        for factor in ("constant(1.0000001)", "constant(1.0001)", "constant(1.01)")
    ]
    assert [verdict.verdict for verdict in verdicts] == ["agrees", "different", "different"]
    assert "which is not guaranteed to be equal" in verdicts[0].reason


CHECKED = """module {
  func.func public @main() -> tensor<2xf32> {
    %0 = call @inputs() : () -> tensor<2xf32>
    %1 = call @expected() : () -> tensor<2xf32>
    %2 = stablehlo.add %0, %0 : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%2, %1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return %0 : tensor<2xf32>
  }
  func.func private @inputs() -> tensor<2xf32> {
    %cst = stablehlo.constant dense<[1.5, 2.0]> : tensor<2xf32>
    return %cst : tensor<2xf32>
  }
  func.func private @expected() -> tensor<2xf32> {
    %cst = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    return %cst : tensor<2xf32>
  }
}
"""


def test_modules_that_check_themselves(worker: Worker) -> None:
    module = parse(CHECKED)
    assert compare_modules(module, module, BOTH, worker) == Verdict("equal", ("xla", "interpreter"), "bits")
    # One unit in the last place is within the check's tolerance; the bits still differ.
    near = parse(CHECKED.replace("[3.0, 4.0]", "[3.0, 4.00000048]"))
    assert compare_modules(module, near, BOTH, worker).verdict == "different"
    assert compare_modules(near, near, BOTH, worker).reason == ""
    failing = parse(CHECKED.replace("[3.0, 4.0]", "[3.0, 5.0]"))
    verdict = compare_modules(failing, failing, Options(engines=("xla",)), worker)
    assert verdict.verdict == "agrees"
    assert verdict.reason == "xla: the module's own check 0 (expect_close) fails in both modules"
    loose = compare_modules(module, failing, Options(compare="rel:0.5"), worker)
    assert (loose.verdict, loose.reason) == ("different", "check 0 of the module holds before and fails after")
    assert loose.cause == Cause(None, "its own data", "a check of the module itself that fails")


def test_what_no_engine_executes_is_unknown(worker: Worker) -> None:
    text = "HloModule m\nENTRY e {\n  p = f32[3,3] parameter(0)\n  ROOT c = f32[3,3] cholesky(p), lower=true\n}\n"
    verdict = compare_modules(parse(text), parse(text), Options(engines=("interpreter",)), worker)
    assert verdict.verdict == "unknown"
    assert verdict.reason.startswith("interpreter: unsupported: operation stablehlo.cholesky")
    proved = compare_modules(parse(text), parse(text), Options(engines=("proof", "interpreter")), worker)
    assert (proved.verdict, proved.methods, proved.reason) == ("equal", ("proof",), verdict.reason)


def test_nothing_is_proved_of_what_xla_refuses(worker: Worker) -> None:
    module = parse(A_REDUCTION_OF_ANOTHER_TYPE)
    with pytest.raises(ExecutionError, match="reduction-region"):
        compare_modules(module, module, worker=worker)


def test_given_inputs_are_checked_against_the_signature(worker: Worker) -> None:
    module = parse(HLO.replace(":T(2,2)", ""))
    options = Options(inputs=(np.zeros((3, 5), np.float32),))
    assert compare_modules(module, module, options, worker).found_no_difference
    with pytest.raises(DiagnosticError, match="in0 has the type float64"):
        compare_modules(module, module, Options(inputs=(np.zeros((3, 5)),)), worker)


def test_every_output_says_whether_its_bits_were_equal(worker: Worker) -> None:
    text = HLO.replace(":T(2,2)", "")
    assert compare_modules(parse(text), parse(text), worker=worker).outputs == ("output 0 f32[3,5]: all bits equal",)
    assert compare_modules(parse(text), parse(text.replace("negate", "abs")), worker=worker).outputs == ()


def test_a_precision_that_no_engine_heeds_is_named(worker: Worker) -> None:
    text = """HloModule m
ENTRY e {
  p = f32[4,4] parameter(0)
  ROOT d = f32[4,4] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
}
"""
    other = text.replace("highest,highest", "default,default")
    found = compare_modules(parse(text), parse(other), Options(engines=("xla",), power=0), worker)
    assert found.verdict == "agrees"
    assert found.reason.startswith("the modules differ in operand_precision, which no engine here heeds")
    absent = parse(text.replace(", operand_precision={highest,highest}", ""))
    assert compare_modules(parse(other), absent, Options(engines=("xla",), power=0), worker).reason == ""
    assert compare_modules(parse(other), absent, Options(engines=("xla",), power=0), worker).verdict == "agrees"


def test_negative_zeros_of_hlo_text_are_executed(worker: Worker) -> None:
    text = (
        "HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  c = f32[] constant(-0)\n  ROOT r = f32[] divide(x, c)\n}\n"
    )
    for spelled, verdict in (("-0.0", "agrees"), ("0", "different")):
        other = parse(text.replace("constant(-0)", f"constant({spelled})"))
        assert compare_modules(parse(text), other, Options(engines=("xla",), power=0), worker).verdict == verdict


def test_what_draws_numbers_is_not_executed(worker: Worker) -> None:
    text = """HloModule m
ENTRY e {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[8] rng(a, b), distribution=rng_uniform
}
"""
    found = compare_modules(parse(text), parse(text), worker=worker)
    assert (found.verdict, found.methods) == ("equal", ("proof",))
    with pytest.raises(DiagnosticError, match="rng gives other numbers in each run"):
        compare_modules(parse(text), parse(text), Options(engines=("xla",)), worker)


SUMS_OF_SQUARES = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[8,32,64] parameter(0)
  z = f32[] constant(0)
  m = f32[8,32,64] multiply(x, x)
  n = bf16[8,32,64] convert(m)
  w = f32[8,32,64] convert(n)
  ROOT r = f32[8,32] reduce(OPERAND, z), dimensions={2}, to_apply=add
}
"""


def test_xla_keeps_a_rounding_to_bf16_before_a_sum(worker: Worker) -> None:
    # A library of XLA:CPU sums arrays of this size, and reads m in place of w.
    plain, rounded = (parse_bytes(SUMS_OF_SQUARES.replace("OPERAND", name).encode(), "m") for name in "mw")
    verdict = compare_modules(plain, rounded, Options(engines=("xla",), power=0), worker)
    assert verdict.verdict == "different"


EXPONENTIAL = "HloModule m\nENTRY e {\n  x = f32[3,5] parameter(0)\n  ROOT y = f32[3,5] exponential(x)\n}\n"


@pytest.mark.parametrize(
    ("size", "options", "is_optimized"),
    [
        ("3,5", Options(), False),
        ("3,5", Options(engines=("xla",), power=0), True),
        # Each set of inputs has a million elements.
        ("1024,1024", Options(seeds=1), True),
    ],
)
def test_code_of_a_short_run_after_a_proof_is_not_optimized(
    size: str, options: Options, is_optimized: bool, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = set()
    run = Worker.run

    def noted(self: Worker, *arguments: Any, **named: Any) -> Any:
        options = named["options"]
        levels.add((options.get("xla_backend_optimization_level", 2), options.get("xla_cpu_use_fusion_emitters", True)))
        return run(self, *arguments, **named)

    monkeypatch.setattr(Worker, "run", noted)
    first, last = (parse_bytes(EXPONENTIAL.replace("3,5", size).encode(), "m") for _ in range(2))
    assert compare_modules(first, last, options, worker).found_no_difference
    assert levels == {(2, True) if is_optimized else (0, False)}


@pytest.mark.parametrize("is_supported", [False, True])
def test_only_optimized_code_contradicts_a_proof(
    is_supported: bool, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain code may lack an operation, or be wrong: XLA's emitters of it convert some types of 8 bits wrongly."""
    run, ran = Worker.run, []

    def planted(self: Worker, *arguments: Any, **named: Any) -> Any:
        is_plain = not named["options"].get("xla_cpu_use_fusion_emitters", True)
        ran.append("plain" if is_plain else named["options"]["xla_disable_hlo_passes"])
        if is_plain and not is_supported:
            raise ExecutionError("unsupported", "no emitter")
        found = run(self, *arguments, **named)
        return [[array + len(ran) for array in outputs] for outputs in found] if is_plain else found

    monkeypatch.setattr(Worker, "run", planted)
    first, last = (parse_bytes(EXPONENTIAL.encode(), "m") for _ in range(2))
    verdict = compare_modules(first, last, Options(), worker)
    assert (verdict.verdict, verdict.methods, verdict.reason) == ("equal", ("proof", "xla"), "")
    assert ran == [*["plain"] * (1 + is_supported), *["algsimp,reshape-mover"] * 2]


def test_xla_adds_no_transposes_to_a_program(worker: Worker) -> None:
    """Without the simplifier XLA's mover of reshapes would add 3,000 of them."""
    text = (ROOT / "examples/attention.mlir").read_text()
    options = xla_options(has_inputs=True, simplifies=False)
    dumped = worker.dump_passes(Program(text, "stablehlo"), options)
    assert max(module.count(" transpose(") for _, module in dumped) <= 30


def test_an_all_to_all_of_several_arrays_exchanges_the_parts_of_each() -> None:
    text = """module attributes {{mhlo.num_replicas = 2 : i32}} {{
  func.func @main(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {{
    %0:2 = "stablehlo.all_to_all"({}) {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}
      : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    return %0#{}, %0#{} : tensor<2x4xf32>, tensor<2x4xf32>
  }}
}}"""
    first, last, swapped = (
        parse_bytes(text.format(*case).encode(), "all.mlir")
        for case in (("%a, %b", 0, 1), ("%b, %a", 1, 0), ("%a, %b", 1, 0))
    )
    assert compare_modules(first, last, Options(engines=("proof",))).verdict == "equal"
    assert compare_modules(first, swapped, Options(engines=("proof",))).verdict == "unknown"
