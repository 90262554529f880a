"""GPU dumps, written by hand, have the results of plain HLO and of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution import Array, Worker, entry_arrays, prepare
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules, random_inputs
from passes.dumps.make_portable import make_portable
from passes.framework.pipeline import verify
from tests.passes.dump_files import UNOPTIMIZED, difference
from tests.passes.dumps.test_make_portable import leftovers
from tests.passes.gpu_references import REFERENCES, threefry
from tests.paths import OWN_CORPUS

CORPUS = OWN_CORPUS / "gpu"
NAMES = sorted(path.stem for path in CORPUS.glob("*.hlo") if not path.stem.endswith("_plain"))
WITH_TWINS = [name for name in NAMES if (CORPUS / f"{name}_plain.hlo").exists()]


def text_of(name: str) -> str:
    return (CORPUS / f"{name}.hlo").read_text("utf-8")


def portable(text: str, name: str = "dump.hlo") -> HloModule:
    module = parse_module(text, name)
    make_portable(module)
    return module


def wrong_outputs(module: HloModule, name: str, worker: Worker) -> list[str]:
    """Returns the outputs of seeded inputs that differ from the reference's."""
    parameters, results = entry_arrays(module)
    inputs = random_inputs(parameters, seed=7)
    wide = [
        array.astype(np.result_type(array.dtype, "f8") if shape.element_type.is_complex else "f8")
        if shape.element_type.is_floating or shape.element_type.is_complex
        else array.astype("i8")
        for array, shape in zip(inputs, parameters, strict=True)
    ]
    expected = REFERENCES[name](wide)
    actual = worker.run(prepare(module, name), [inputs], options=UNOPTIMIZED)[0]
    found = []
    for i, (out, wanted, shape) in enumerate(zip(actual, expected, results, strict=True)):
        assert out.shape == np.shape(wanted)
        text = difference(out, np.asarray(wanted).astype(dtype_of(shape.element_type)), shape)
        found += [] if text is None else [f"out{i}: {text}"]
    return found


def test_every_dump_has_a_reference() -> None:
    assert sorted(REFERENCES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_dump_becomes_portable_and_computes_what_numpy_does(name: str, worker: Worker) -> None:
    module = portable(text_of(name), name)
    verify(module)
    assert leftovers(module) == []
    again = portable(module.text(), name)
    assert again.text() == module.text()
    assert wrong_outputs(module, name, worker) == []


@pytest.mark.parametrize("name", WITH_TWINS)
def test_a_dump_equals_plain_hlo(name: str, worker: Worker) -> None:
    plain = parse_module(text_of(f"{name}_plain"), f"{name}_plain")
    verdict = compare_modules(portable(text_of(name), name), plain, Options(power=0), worker)
    assert verdict.found_no_difference


PLANTED = [
    ("dense_layers", '"alpha_real":0.5', '"alpha_real":0.25'),
    ("dense_layers", '"epilogue":"BIAS_GELU"', '"epilogue":"BIAS_RELU"'),
    ("dense_layers", "f32[8,7]{0,1} bitcast(%v.1)", "f32[8,7]{1,0} bitcast(%v.1)"),
    ("attention", "bf16[2,3,8,4]{3,1,2,0} bitcast(%parameter_1)", "bf16[2,3,8,4]{3,2,1,0} bitcast(%parameter_1)"),
    ("products", '"alpha_imag":-1', '"alpha_imag":1'),
    ("products", '"beta":2', '"beta":1'),
    (
        "eighth_products",
        "%a.1, %b.1, %s.1, %t.1, %c.1, /*index=5*/%d.1",
        "%a.1, %b.1, %d.1, %t.1, %c.1, /*index=5*/%s.1",
    ),
    ("convolutions", "f32[3,2,2,6]{2,1,0,3} bitcast(%wrapped", "f32[3,2,2,6]{3,2,1,0} bitcast(%wrapped"),
    (
        "convolutions",
        "%bitcast.3), window={size=3x2 stride=2x2 pad=1_1",
        "%bitcast.3), window={size=3x2 stride=2x2 pad=2_0",
    ),
    ("convolutions", "%g.1), window={size=3x2 stride=2x2 pad=1_1", "%g.1), window={size=3x2 stride=2x2 pad=2_0"),
    ("convolutions", '"side_input_scale":2', '"side_input_scale":1'),
    ("byte_convolution", '"leakyrelu_alpha":0.125', '"leakyrelu_alpha":0.5'),
    ("solvers", '"transpose_a":"TRANSPOSE"', '"transpose_a":"NO_TRANSPOSE"'),
    ("sorts", '"descending":true', '"descending":false'),
    ("streams", '"alpha_real":0.125', '"alpha_real":0.25'),
]


@pytest.mark.parametrize(("name", "right", "wrong"), PLANTED)
def test_a_planted_mistake_is_found(name: str, right: str, wrong: str, worker: Worker) -> None:
    assert right in text_of(name)
    text = text_of(name).replace(right, wrong)
    try:
        module = portable(text, name)
    except DiagnosticError:
        return
    assert wrong_outputs(module, name, worker) != []


def test_threefry_gives_the_published_words() -> None:
    assert threefry((0, 0), (0, 0)) == (0x6B200159, 0x99BA4EFE)
    ones = 2**32 - 1
    assert threefry((ones, ones), (ones, ones)) == (0x1CB996FC, 0xBB002BE7)


def call(target: str, attributes: str = "", operands: str = "a, b", result: str = "f32[4,4]{1,0}") -> str:
    return f"""HloModule m
ENTRY e {{
  a = f32[4,4]{{1,0}} parameter(0)
  b = f32[4,4]{{1,0}} parameter(1)
  ROOT c = {result} custom-call({operands}), custom_call_target="{target}"{attributes}
}}"""


NUMBERS = '"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}'
REFUSED = [
    (call("__cublas$gemm"), "it has no backend_config"),
    (call("__cublas$gemm", ", backend_config={x}"), "cannot be read"),
    (call("__cublas$gemm", f', backend_config={{"beta":0,{NUMBERS}}}'), "does not say alpha_real"),
    (call("__cublas$gemm", f', backend_config={{"alpha_real":1,"beta":1,{NUMBERS}}}'), "it has 2 operands"),
    (call("__cublas$gemm", ', backend_config={"alpha_real":1,"beta":0}', "a"), "it has 1 operands"),
    (call("__cublas$gemm", f', backend_config={{"alpha_real":1,"alpha_imag":1,"beta":0,{NUMBERS}}}'), "its alpha is"),
    (call("__cublas$gemm", ', backend_config={"alpha_real":1,"beta":0,"epilogue":"D_RELU"}'), "its epilogue is D_RELU"),
    (
        call("__cublas$gemm", f', backend_config={{"alpha_real":1,"beta":0,{NUMBERS}}}', result="f32[4,5]{1,0}"),
        "its result is",
    ),
    (call("__cublas$gemm", f', backend_config={{"alpha_real":1,"beta":0,{NUMBERS.replace("1", "2")}}}'), "do not fit"),
    (call("__cudnn$convForward", ", dim_labels=bf?_oi?->bf?"), "have features in vectors"),
    (call("__cudnn$convForward", ", dim_labels=bf_oi"), "is not of the form"),
    (call("__cudnn$convBiasActivationForward", ", dim_labels=bf_io->bf"), "it has 2 operands"),
    (call("__cublas$triangularSolve", ', backend_config={"lower":true}'), "does not say transpose_a"),
    (call("__gpu$TopK"), "it has 2 operands"),
    (call("__gpu$TopK", operands="a"), "where 2 arrays are expected"),
    (call("cu_threefry2x32_ffi"), "where 4 are expected"),
    (
        call("__cudnn$fmhaSoftmaxF8"),
        "calls __cudnn$fmhaSoftmaxF8, which is not known here; operands: (a: f32[4,4]{1,0}, b:",
    ),
    (call("__cudnn$fmhaSoftmax", ', backend_config={"fmha_scale":1,"mask_type":"ALIBI"}'), "it has biases or pages"),
    (call("__cudnn$fmhaSoftmax", ', backend_config={"fmha_scale":1,"dropout_rate":0.5}'), "it has dropout"),
    (call("__cudnn$fmhaSoftmax", ', backend_config={"fmha_scale":1}'), "it has 2 operands, where 3 are expected"),
    (call("__cudnn$norm"), "calls __cudnn$norm, which is not known here"),
    (call("__cudnn$convForwardGraph", ", dim_labels=bf_io->bf"), "it has no backend_config"),
    (
        call("__cudnn$convForwardGraph", ', dim_labels=bf_io->bf, backend_config={"serialized_graph":"1:[f32]tan();"}'),
        "its graph has the operation tan",
    ),
    (
        call("__cudnn$convForwardGraph", ', dim_labels=bf_io->bf, backend_config={"serialized_graph":"conv"}'),
        "its graph conv does not explain its operands",
    ),
    (call("__gpu$xla.gpu.triton"), "calls __gpu$xla.gpu.triton, which is not known here"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_unsupported_calls_are_named(text: str, why: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        portable(text)
    message = str(caught.value)
    assert "dump.hlo:5:8: error: custom call c calls " in message
    assert why in message
    assert "hint: give its computation: --custom-call " in message


def test_everything_that_cannot_be_run_is_named_at_once() -> None:
    first = call("__cublas$gemm")
    text = first.replace("  ROOT c", '  d = f32[4,4]{1,0} custom-call(a), custom_call_target="__cudnn$norm"\n  ROOT c')
    with pytest.raises(DiagnosticError) as caught:
        portable(text)
    assert [error.message.split(",")[0] for error in caught.value.diagnostics] == [
        "custom call d calls __cudnn$norm",
        "custom call c calls __cublas$gemm",
    ]


def test_every_activation_of_a_fused_convolution(worker: Worker) -> None:
    x = np.linspace(-3, 8, 12).reshape(3, 4)
    wanted = {
        "kNone": x,
        "kSigmoid": 1 / (1 + np.exp(-x)),
        "kRelu": np.maximum(x, 0),
        "kRelu6": np.clip(x, 0, 6),
        "kTanh": np.tanh(x),
        "kElu": np.where(x > 0, x, np.expm1(x)),
        "kLeakyRelu": np.where(x > 0, x, 0.25 * x),
    }
    for mode, expected in wanted.items():
        module = portable(fused(mode))
        arrays: list[Array] = [x.astype("f4"), np.eye(4, dtype="f4"), np.zeros(4, "f4")]
        actual = worker.run(prepare(module, mode), [arrays], options=UNOPTIMIZED)[0][0]
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6, err_msg=mode)


FUSED = "__cudnn$convBiasActivationForward"


def fused(mode: str) -> str:
    config = f'{{"activation_mode":"{mode}","conv_result_scale":1,"side_input_scale":0,"leakyrelu_alpha":0.25}}'
    return f"""HloModule m
ENTRY e {{
  x = f32[3,4]{{1,0}} parameter(0)
  k = f32[4,4]{{1,0}} parameter(1)
  b = f32[4]{{0}} parameter(2)
  c = (f32[3,4]{{1,0}}, u8[0]{{0}}) custom-call(x, k, b), dim_labels=bf_io->bf, custom_call_target="{FUSED}",
      backend_config={config}
  ROOT r = f32[3,4]{{1,0}} get-tuple-element(c), index=0
}}"""


def test_a_gradient_in_the_form_of_cudnn_is_refused() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[2,4,4,3]{3,2,1,0} parameter(0)
  k = f32[1,1,3,3]{3,2,1,0} parameter(1)
  ROOT c = f32[2,4,4,3]{3,2,1,0} convolution(x, k), window={size=1x1}, dim_labels=b01f_01io->b01f, conv_kind=dgrad
}"""
    with pytest.raises(DiagnosticError, match="convolution c is a gradient in cuDNN's form"):
        portable(text)
    portable(text.replace("dgrad", "fprop"))
