"""The TPU compiler's figures with and without the advised layouts, where libtpu is installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from dialect_utils.execution.compilers import Compiled, Figures, compile_for
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError, format_bytes
from relayout.causes.trial import trial_page, try_advice

PROGRAM = b"""
module @m {
  func.func public @main(%x: tensor<4x32x32x3xf32>, %k: tensor<3x3x3x64xf32>) -> tensor<4x32x32x64xf32> {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x32x32x3xf32>, tensor<3x3x3x64xf32>) -> tensor<4x32x32x64xf32>
    return %0 : tensor<4x32x32x64xf32>
  }
}
"""


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu, the extra relayout[tpu], is not installed")
def test_a_program_is_compiled_for_a_tpu_and_its_figures_agree_with_the_report() -> None:
    trial = try_advice(parse_bytes(PROGRAM, "conv.mlir"), "tpu-v5e")
    compiled = compile_for(PROGRAM.decode(), "tpu-v5e")
    assert compiled.figures.argument == trial.before.usage.argument_bytes
    page = trial_page(trial, 200)
    assert "compiled for tpu-v5e" in page
    assert ("as advised" in page) == (trial.after is not None)


STABLEHLO = b"""
module @m {
  func.func public @main(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.negate %x : tensor<8x16xf32>
    return %0, %x : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
"""


def compiled(order: str) -> Compiled:
    """Returns a program whose argument and first result have an order, and are copied to and from {0,1}."""
    entry, inner = f"f32[8,16]{{{order}:T(8,128)}}", "f32[8,16]{0,1:T(8,128)}"
    text = (
        f"HloModule m, is_scheduled=true, entry_computation_layout={{({entry})->({entry}, {entry})}}\n\nENTRY e {{\n"
        f"  p = {entry} parameter(0)\n  a = {inner} copy(p)\n  n = {inner} negate(a)\n  c = {entry} copy(n)\n"
        f"  ROOT t = ({entry}, {entry}) tuple(c, p)\n}}\n"
    )
    return Compiled(text, Figures(peak=4096))


@pytest.mark.parametrize("accepted", [True, False])
def test_arguments_and_results_are_tried_in_the_order_within_the_program(
    accepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    def compile_(text: str, target: str) -> Compiled:
        given.append(text)
        return compiled("0,1" if accepted and len(given) == 2 else "1,0")

    monkeypatch.setattr("relayout.causes.trial.compile_for", compile_)
    trial = try_advice(parse_bytes(STABLEHLO, "m.mlir"), "tpu-v5e")
    assert [name for name, _ in trial.layouts] == ["argument 0", "result 0"]
    # The second result is not copied: it stays free.
    assert given[1].count('mhlo.layout_mode = "{0,1}"') == 2
    page = trial_page(trial, 200)
    assert f"peak  {format_bytes(trial.before.usage.main_memory_peak_bytes)}" in page
    assert "argument 0 handed over as f32[8,16]{0,1}" in page
    assert "result 0 handed back as f32[8,16]{0,1}" in page
    assert ("for which the compiler took f32[8,16]{1,0:T(8,128)}" in page) is not accepted


def test_a_dump_is_not_compiled() -> None:
    with pytest.raises(DiagnosticError, match="is HLO; the compiler"):
        try_advice(parse_bytes(b"HloModule m\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n", "m.hlo"), "tpu-v5e")


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu, the extra relayout[tpu], is not installed")
def test_what_the_compiler_refuses_is_said() -> None:
    text = b"module @m { func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> } }"
    with pytest.raises(DiagnosticError, match="unknown target"):
        try_advice(parse_bytes(text, "m.mlir"), "tpu-v99")


def test_arrays_that_a_gpu_transposes_are_tried_in_the_order_that_it_transposes_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[str] = []
    outer, inner = "f32[8,16,4]{2,1,0}", "f32[16,4,8]{2,1,0}"
    dump = (
        f"HloModule m, is_scheduled=true, entry_computation_layout={{({outer})->{outer}}}\n\nENTRY e {{\n"
        f"  p = {outer} parameter(0)\n  t = {inner} transpose(p), dimensions={{1,2,0}}\n  n = {inner} negate(t)\n"
        f"  ROOT r = {outer} transpose(n), dimensions={{2,0,1}}\n}}\n"
    )

    def compile_(text: str, target: str) -> Compiled:
        given.append(text)
        return Compiled(dump if len(given) == 1 else dump.replace(outer, "f32[8,16,4]{0,2,1}"), Figures())

    monkeypatch.setattr("relayout.causes.trial.compile_for", compile_)
    array = "tensor<8x16x4xf32>"
    text = f"module @m {{ func.func public @main(%x: {array}) -> {array} {{ return %x : {array} }} }}".encode()
    trial = try_advice(parse_bytes(text, "m.mlir"), "gpu-h100")
    # Element (i,j,k) of the argument is element (j,k,i) of the transposed array, and of the result that of its source.
    assert trial.layouts == (("argument 0", "f32[8,16,4]{0,2,1}"), ("result 0", "f32[8,16,4]{0,2,1}"))
    assert given[1].count('mhlo.layout_mode = "{0,2,1}"') == 2
