"""The TPU compiler's figures with and without the advised layouts, where libtpu is installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError
from relayout.report.trial import trial_page, try_advice

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
    assert trial.before.memory["argument_bytes"] == trial.report.usage.argument_bytes
    page = trial_page(trial)
    assert "compiled for tpu-v5e" in page
    assert ("as advised" in page) == (trial.after is not None)


def test_a_dump_is_not_compiled() -> None:
    with pytest.raises(DiagnosticError, match="is HLO; the TPU compiler"):
        try_advice(parse_bytes(b"HloModule m\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n", "m.hlo"), "tpu-v5e")


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu, the extra relayout[tpu], is not installed")
def test_what_the_compiler_refuses_is_said() -> None:
    text = b"module @m { func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> } }"
    with pytest.raises(DiagnosticError, match="unknown target"):
        try_advice(parse_bytes(text, "m.mlir"), "tpu-v99")
