"""Short texts: they are read again as the same operations, and hold no detail that was not asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import relayout
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.printing import DETAILS, Detail, format_short
from passes.framework.pipeline import verify
from tests.paths import OWN_CORPUS, ROOT

LONG = """// a comment
HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%fused_computation.17.clone (param_0.1: f32[4]) -> f32[4] {
  %param_0.1 = f32[4]{0} parameter(0)
  ROOT %negate.12345 = f32[4]{0} negate(f32[4]{0} %param_0.1), metadata={op_name="jit(f)/neg"}
}

ENTRY %main.4 (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), metadata={op_name="x"}
  %wide_name = f32[4]{0} fusion(%x.1), kind=kLoop, calls=%fused_computation.17.clone, backend_config={"a":[1]}
  %wide_name.2 = f32[4]{0} fusion(%wide_name), kind=kLoop, calls=%fused_computation.17.clone
  ROOT %s = f32[4]{0} add(%wide_name, %wide_name.2), control-predecessors={%wide_name.2}
}
"""
SHORT = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%fused {
  %p0 = f32[4]{0} parameter(0)
  ROOT %negate = f32[4]{0} negate(f32[4]{0} %p0)
}

ENTRY %main.4 {
  %p0 = f32[4]{0} parameter(0)
  %fusion = f32[4]{0} fusion(%p0), kind=kLoop, calls=%fused
  %fusion.1 = f32[4]{0} fusion(%fusion), kind=kLoop, calls=%fused
  ROOT %s = f32[4]{0} add(%fusion, %fusion.1), control-predecessors={%fusion.1}
}
"""


def test_names_are_short_and_details_are_left_out() -> None:
    module = relayout.parse(LONG)
    assert format_short(module) == SHORT
    assert module.text() == LONG


@pytest.mark.parametrize(
    ("keep", "kept"),
    [("metadata", 'metadata={op_name="x"}'), ("backend_config", '{"a":[1]}'), ("names", "%negate.12345 =")],
)
def test_what_is_kept_stays(keep: Detail, kept: str) -> None:
    assert kept in LONG
    assert kept not in SHORT
    assert kept in format_short(relayout.parse(LONG), keep=[keep])


def test_a_name_is_not_given_twice() -> None:
    text = LONG.replace("%wide_name.2", "%fusion").replace("%s", "%p0")
    short = format_short(relayout.parse(text))
    # The second fusion is called `fusion` already, and the root `p0`.
    assert "%wide_name = f32[4]{0} fusion(%x.1)" in short
    assert "ROOT %p0 = f32[4]{0} add(%wide_name, %fusion)" in short


def test_one_computation() -> None:
    short = format_short(relayout.parse(LONG), computation="fused_computation.17.clone")
    assert short == SHORT[SHORT.index("%fused {") : SHORT.index("\nENTRY")]
    with pytest.raises(DiagnosticError, match="no computation is called fused"):
        format_short(relayout.parse(LONG), computation="fused")


def test_stablehlo_is_printed_without_locations() -> None:
    text = (ROOT / "examples" / "attention.mlir").read_text("utf-8")
    located = relayout.parse(text.replace("tensor<50x50xi32>\n", 'tensor<50x50xi32> loc("f.py":1:2)\n', 1))
    assert "loc(" not in format_short(located)
    assert 'loc("f.py":1:2)' in format_short(located, keep=["metadata"])
    function = format_short(located, computation="_where")
    assert function.startswith("func.func private @_where(")
    assert "@main" not in function


def described(module: Module) -> list[tuple[str, list[str]]]:
    return [(each.opcode, [str(value.shape) for value in each.results]) for each in module.operations()]


FILES = sorted(
    file
    for pattern in ("hlo/*.hlo", "stablehlo/*.mlir", "tpu/[a-c]*/tpu.hlo", "gpu/*.hlo")
    for file in OWN_CORPUS.glob(pattern)
)


@pytest.mark.parametrize("file", [*FILES, *sorted((ROOT / "examples").glob("*.hlo"))], ids=lambda file: file.stem)
def test_a_short_text_is_read_again_as_the_same_operations(file: Path) -> None:
    try:
        module = relayout.read(file)
        verify(module)
    except DiagnosticError:
        pytest.skip("not a valid module")
    short = format_short(module)
    assert "metadata={" not in short
    assert len(short) <= len(format_short(module, keep=DETAILS))
    again = relayout.parse(short)
    verify(again)
    assert described(again) == described(module)
    if module.dialect == "stablehlo":
        return  # MLIR numbers the values
    whole = relayout.parse(format_short(module, keep=DETAILS))
    assert [value.name for value in whole.values()] == [value.name for value in module.values()]


def test_each_instruction_has_a_line_of_its_own() -> None:
    for file in sorted((OWN_CORPUS / "hlo").glob("*operand*.hlo")):
        module = relayout.read(file)
        short = format_short(module)
        count = sum(len(function.values()) for function in module.functions)
        assert len(re.findall(r"^  (?:ROOT )?\S+ = ", short, re.MULTILINE)) == count
