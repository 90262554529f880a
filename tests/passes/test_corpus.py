"""The whole pipeline, from annotate-layouts to cancel-relayouts, on programs of the tree, executed."""

from pathlib import Path

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import read_module
from dialect_utils.verdict import Options, compare_stages
from passes.dumps.executable import executable_form
from passes.framework.pipeline import Pipeline
from tests.paths import OWN_CORPUS

PIPELINE = "annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical},propagate-physical,cancel-relayouts"
# Dumps whose control flow passes tuples; the others go through the same passes in `make campaign`.
DUMPS = ["cond_with_tuples", "momentum_in_loop", "switch_in_scan", "while_nested_tuples"]
PROGRAMS = [*sorted((OWN_CORPUS / "stablehlo").glob("*.mlir"))]
PROGRAMS += [OWN_CORPUS / "tpu" / name / "tpu.hlo" for name in DUMPS]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem if path.stem != "tpu" else path.parent.name)
def test_the_pipeline_keeps_what_a_program_computes(worker: Worker, path: Path) -> None:
    module = read_module(str(path))
    result = Pipeline.parse(PIPELINE).run(module)
    stages = [module, *(run.result.module for run in result.runs)]
    forms = [executable_form(module), *stages, executable_form(result.module)]
    verdict = compare_stages(forms, Options(power=0), worker)
    assert verdict.found_no_difference, verdict


BRANCHES_SHARE_A_TUPLE = """HloModule m

negated (a: (f32[3,5])) -> (f32[3,5]) {
  a = (f32[3,5]) parameter(0)
  x = f32[3,5]{1,0:T(2,2)} get-tuple-element(a), index=0
  n = f32[3,5]{1,0:T(2,2)} negate(x)
  ROOT t = (f32[3,5]) tuple(n)
}

kept (b: (f32[3,5])) -> (f32[3,5]) {
  b = (f32[3,5]) parameter(0)
  y = f32[3,5]{1,0:T(2,2)} get-tuple-element(b), index=0
  m = f32[3,5]{1,0:T(2,2)} abs(y)
  ROOT u = (f32[3,5]) tuple(m)
}

ENTRY main {
  p = f32[3,5]{1,0:T(2,2)} parameter(0)
  q = pred[] parameter(1)
  both = (f32[3,5]) tuple(p)
  c = (f32[3,5]) conditional(q, both, both), true_computation=negated, false_computation=kept
  ROOT r = f32[3,5]{1,0:T(2,2)} get-tuple-element(c), index=0
}
"""


A_PUT_IS_READ_HALFWAY = """HloModule m

ENTRY main {
  x = s32[1]{0:T(2)} parameter(0)
  zero = s32[] constant(0)
  n = s32[1]{0:T(2)} negate(x)
  r = s32[1,1]{1,0} reshape(n)
  p = s32[1,2]{1,0} pad(r, zero), padding=0_0x0_1
  ROOT t = (s32[1,1]{1,0}) tuple(r)
}
"""


@pytest.mark.parametrize("text", [BRANCHES_SHARE_A_TUPLE, A_PUT_IS_READ_HALFWAY], ids=["tuple", "halfway"])
def test_programs_that_stopped_propagate_physical(worker: Worker, tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(text)
    test_the_pipeline_keeps_what_a_program_computes(worker, path)
