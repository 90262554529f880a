"""`relayout validate` on steps of XLA:GPU: calls of libraries in place of ops, and mistakes planted in them."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, Verdict
from passes.dumps.executable import is_optimized_dump
from passes.framework.pipeline import verify
from relayout.elided import compare_forms
from relayout.validation.judging import Judge
from relayout.validation.steps import TEXT, Step, StepResult, find_steps
from tests.campaign_gpu_steps import planted
from tests.paths import SHARED_DATA

CONVOLUTION = """HloModule m
ENTRY e {
  x = f32[2,6,6,3]{3,2,1,0} parameter(0)
  k = f32[3,3,3,4]{3,2,1,0} parameter(1)
  ROOT c = f32[2,6,6,4]{3,2,1,0} convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
}
"""
CUDNN = """HloModule m
ENTRY e {
  x = f32[2,6,6,3]{3,2,1,0} parameter(0)
  k = f32[3,3,3,4]{3,2,1,0} parameter(1)
  call = (f32[2,6,6,4]{3,2,1,0}, u8[0]{0}) custom-call(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f,
    custom_call_target="__cudnn$convForward", backend_config={"cudnn_conv_backend_config":{"activation_mode":"kNone",
    "conv_result_scale":1,"side_input_scale":0,"leakyrelu_alpha":0}}
  ROOT c = f32[2,6,6,4]{3,2,1,0} get-tuple-element(call), index=0
}
"""
PRODUCT = """HloModule m
ENTRY e {
  a = f32[5,8]{1,0} parameter(0)
  b = f32[8,6]{1,0} parameter(1)
  bias = f32[6]{0} parameter(2)
  d = f32[5,6]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  two = f32[] constant(2)
  twos = f32[5,6]{1,0} broadcast(two), dimensions={}
  scaled = f32[5,6]{1,0} multiply(d, twos)
  wide = f32[5,6]{1,0} broadcast(bias), dimensions={1}
  ROOT r = f32[5,6]{1,0} add(scaled, wide)
}
"""
CUBLAS = """HloModule m
ENTRY e {
  a = f32[5,8]{1,0} parameter(0)
  b = f32[8,6]{1,0} parameter(1)
  bias = f32[6]{0} parameter(2)
  call = (f32[5,6]{1,0}, s8[64]{0}) custom-call(a, b, bias), custom_call_target="__cublas$lt$matmul",
    backend_config={"gemm_backend_config":{"alpha_real":2,"alpha_imag":0,"beta":0,"dot_dimension_numbers":
    {"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],
    "rhs_batch_dimensions":[]},"precision_config":{"operand_precision":["DEFAULT","DEFAULT"],"algorithm":"ALG_UNSET"},
    "epilogue":"BIAS","lhs_stride":"40","rhs_stride":"48","grad_x":false,"grad_y":false,"damax_output":false}}
  ROOT r = f32[5,6]{1,0} get-tuple-element(call), index=0
}
"""
# A call that no pass here defines.
FACTORS = """HloModule m
ENTRY e {
  a = f32[4,4]{1,0} parameter(0)
  t = f32[4,4]{1,0} transpose(a), dimensions={1,0}
  s = f32[4,4]{1,0} add(a, t)
  call = (f32[4,4]{0,1}, s32[]) custom-call(s), custom_call_target="cusolver_unheard_of_ffi",
    operand_layout_constraints={f32[4,4]{0,1}}, output_to_operand_aliasing={{0}: (0, {})},
    api_version=API_VERSION_TYPED_FFI, backend_config={lower = true}
  f = f32[4,4]{0,1} get-tuple-element(call), index=0
  ROOT r = f32[4,4]{1,0} negate(f)
}
"""


TWICE = "v = f32[4,4]{1,0} transpose(s), dimensions={1,0}\n  u = f32[4,4]{1,0} transpose(v), dimensions={1,0}"


def compared(before: str, after: str, worker: Worker) -> Verdict:
    modules = [
        parse_bytes(" ".join(text.split("\n    ")).encode(), name) for text, name in ((before, "a"), (after, "b"))
    ]
    for module in modules:
        verify(module)
    return compare_forms(modules, Options(power=0, proof_seconds=10.0), worker)


@pytest.mark.parametrize(("before", "after"), [(CONVOLUTION, CUDNN), (PRODUCT, CUBLAS)], ids=["cudnn", "cublas"])
def test_a_call_of_a_library_is_proved_by_its_definition(before: str, after: str, worker: Worker) -> None:
    found = compared(before, after, worker)
    assert (found.verdict, found.methods) == ("equal", ("proof", "xla"))
    assert "calls of libraries have the definitions of the pass expand-custom-calls" in found.lines()
    # A certificate is about modules as they are, without the definitions.
    assert found.certificate is None


MISTAKES = {
    "operands": (CONVOLUTION, CUDNN, "pad=1_1x1_1}, dim_labels=b01f_01io", "pad=2_0x1_1}, dim_labels=b01f_01io"),
    "scale of a convolution": (CONVOLUTION, CUDNN, '"conv_result_scale":1', '"conv_result_scale":2'),
    "activation": (CONVOLUTION, CUDNN, "dim_labels=b01f_01io", "dim_labels=b10f_01io"),
    "alpha": (PRODUCT, CUBLAS, '"alpha_real":2', '"alpha_real":1'),
    "bias": (PRODUCT, CUBLAS.replace("custom-call(a, b, bias)", "custom-call(a, b)"), '"BIAS"', '"DEFAULT"'),
    "activation of a product": (PRODUCT, CUBLAS, '"BIAS"', '"BIAS_RELU"'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_call_of_a_library_is_found(mistake: str, worker: Worker) -> None:
    before, after, old, new = MISTAKES[mistake]
    assert old in after
    assert compared(before, after.replace(old, new), worker).verdict == "different"


def test_a_call_that_is_not_known_here_may_stay_in_a_proof(worker: Worker) -> None:
    found = compared(
        FACTORS, FACTORS.replace("custom-call(s)", "custom-call(u)").replace("call =", f"{TWICE}\n  call ="), worker
    )
    assert (found.verdict, found.methods) == ("equal", ("proof",))
    assert "not executed: the custom call cusolver_unheard_of_ffi must not run here" in str(found)


@pytest.mark.parametrize(("old", "new"), [("lower = true", "lower = false"), ("custom-call(s)", "custom-call(a)")])
def test_another_call_is_not_proved(old: str, new: str, worker: Worker) -> None:
    assert old in FACTORS
    with pytest.raises(DiagnosticError, match="cusolver_unheard_of_ffi must not run here"):
        compared(FACTORS, FACTORS.replace(old, new), worker)


def judged(before: str, after: str, worker: Worker) -> StepResult:
    """Returns the verdict on a step, the module before and the one after it."""
    names = ("module_0000.f.0000.p.after_a.before_b.txt", "module_0000.f.0001.p.after_b.before_c.txt")
    read = [
        Input(name, name, kind="hlo text", content=text.encode())
        for name, text in zip(names, (before, after), strict=True)
    ]
    (step,) = find_steps(read, "dump")
    return Judge(Options(power=0), worker).judge(step, 10.0)


# The difference of x / 3 and of nearly x / 3 has few digits, and each rounding of x / 3 changes all of them.
QUOTIENT = """HloModule f

ENTRY e {
  x = f32[64] parameter(0)
  c = f32[] constant(3)
  cs = f32[64] broadcast(c), dimensions={}
  d = f32[64] divide(x, cs)
  n = f32[] constant(0.3333333)
  ns = f32[64] broadcast(n), dimensions={}
  near = f32[64] multiply(x, ns)
  ROOT r = f32[64] subtract(d, near)
}
"""
PRODUCT_OF_QUOTIENT = QUOTIENT.replace("constant(3)", "constant(0.333333343)").replace("divide", "multiply")


def test_a_product_in_place_of_a_quotient_is_close_whatever_follows(worker: Worker) -> None:
    found = judged(QUOTIENT, PRODUCT_OF_QUOTIENT, worker)
    assert found.verdict == "close"
    assert "over the real numbers both are equal" in found.reason
    assert judged(QUOTIENT, PRODUCT_OF_QUOTIENT.replace("(0.333333343)", "(0.3334)"), worker).verdict == "different"


ROUNDED = """HloModule f

ENTRY e {
  x = f32[16,8] parameter(0)
  y = f32[16,8] exponential(x)
  n = bf16[16,8] convert(y)
  w = f32[16,8] convert(n)
  ROOT r = f32[16,8] multiply(w, w)
}
"""
EXCESS = "agrees [excess precision: 1 rounding to narrower floats left out]"


def test_a_rounding_that_a_pass_leaves_out_is_named(worker: Worker) -> None:
    kept = ROUNDED.replace("multiply(w, w)", "multiply(y, y)")
    dropped = "\n".join(line for line in kept.splitlines() if " convert(" not in line)
    found = judged(ROUNDED, dropped, worker)
    assert found.answer == f"{EXCESS} (proof, xla)"
    # A pass may leave out a rounding, but may not add one, nor change the values beside it.
    assert judged(dropped, ROUNDED, worker).verdict in ("different", "close")
    assert judged(ROUNDED, dropped.replace("multiply", "add"), worker).verdict == "different"


def test_the_partitioning_for_several_devices_is_judged(worker: Worker) -> None:
    whole = "HloModule f, num_partitions=4\n\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] negate(x)\n}\n"
    parts = whole.replace("f32[8]", "f32[2]")
    assert judged(whole, parts, worker).verdict == "equal"
    assert judged(whole, parts.replace("negate", "abs"), worker).verdict == "different"


TOP = """HloModule f

ENTRY e {
  x = bf16[3,9] parameter(0)
  ROOT t = (bf16[3,2], s32[3,2]) custom-call(x), custom_call_target="TopK", called_computations={c}
}
"""


def test_a_call_of_topk_runs_for_types_that_the_engine_lacks() -> None:
    text = (
        "c {\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n"
        "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
        "  ROOT g = pred[] compare(a, b), direction=GT, type=TOTALORDER\n}\n\nENTRY"
    )
    module = parse_bytes(TOP.replace("ENTRY", text).encode(), "m")
    assert is_optimized_dump(module)
    assert not is_optimized_dump(parse_bytes(TOP.replace("ENTRY", text).replace("bf16", "f32").encode(), "m"))


CORPUS = SHARED_DATA / "corpus"


def passes_of(program: str, folder: Path) -> list[Step]:
    with tarfile.open(CORPUS / program / "passes.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return find_steps(find_inputs([str(folder)]).modules, program)


@pytest.mark.shared(CORPUS / "gpu")
@pytest.mark.parametrize("program", ["gpu/eigh", "gpu/transpose_add"])
def test_every_step_of_a_compilation_for_a_gpu_is_proved(program: str, tmp_path: Path, worker: Worker) -> None:
    judge = Judge(Options(power=0), worker)
    found = [judge.judge(step, 10.0) for step in passes_of(program, tmp_path)]
    assert len(found) > 60
    # The whole compilation is the last.
    assert found[-1].is_whole
    assert [each.label for each in found if each.verdict != "equal" or not {TEXT, "proof"} & {*each.methods}] == []


@pytest.mark.shared(CORPUS / "gpu_cublas")
@pytest.mark.parametrize(
    ("program", "edit", "change"),
    [
        ("gpu_cublas/conv", "dropped activation", "cudnn-fused-convolution-rewriter"),
        ("gpu_cublas/train_step", "dropped beta", "cublas-gemm-rewriter"),
    ],
)
def test_a_mistake_planted_in_a_compilation_is_found(
    program: str, edit: str, change: str, tmp_path: Path, worker: Worker
) -> None:
    step = next(each for each in passes_of(program, tmp_path) if each.change == change)
    wrong = planted(step, edit)
    assert wrong is not None
    assert Judge(Options(power=0), worker).judge(wrong, 2.0).verdict in ("different", "unknown")
