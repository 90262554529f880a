"""Generated FileCheck lines: they match the text that they were made of, other names too, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import relayout
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.checks import check_lines, without_directives
from relayout.cli import main
from relayout.comments import strip_comments
from tests.paths import OWN_CORPUS, ROOT

FILECHECK = Path(sys.executable).with_name("filecheck")
pytest.importorskip("filecheck")

TEXT = """HloModule m

ENTRY e {
  p.1 = f32[3,5] parameter(0)
  add = f32[3,5] add(p.1, p.1)
  c = s32[1,2] constant({{7, 8}})
  ROOT t = (f32[3,5], s32[1,2]) tuple(add, c)
}
"""


def matches(checks: str, text: str, folder: Path) -> bool:
    file = folder / "checks"
    file.write_text(checks, "utf-8", "surrogateescape")
    data = text.encode("utf-8", "surrogateescape")
    done = subprocess.run([FILECHECK, str(file)], input=data, capture_output=True, check=False)
    return done.returncode == 0


def test_names_are_captured_and_braces_are_literal() -> None:
    assert check_lines(TEXT, "hlo").splitlines() == [
        "// CHECK: HloModule m",
        "// CHECK: ENTRY e {",
        "// CHECK-NEXT: {{^ *}}[[P_1:[^ ]+]] = f32[3,5] parameter(0)",
        "// CHECK-NEXT: {{^ *}}[[ADD:[^ ]+]] = f32[3,5] add([[P_1]], [[P_1]])",
        r"// CHECK-NEXT: {{^ *}}[[C:[^ ]+]] = s32[1,2] constant({{\{\{}}7, 8}})",
        "// CHECK-NEXT:   ROOT [[T:[^ ]+]] = (f32[3,5], s32[1,2]) tuple([[ADD]], [[C]])",
        "// CHECK-NEXT: }",
    ]


@pytest.mark.parametrize(
    ("old", "new", "is_match"),
    [
        ("p.1", "renamed", True),
        ("add =", "sum =", False),  # the tuple still uses `add`
        ("add(p.1, p.1)", "add(p.1, add)", False),
        ("tuple(add, c)", "tuple(c, add)", False),
        ("f32[3,5] add", "f32[3,5] multiply", False),
        ("7, 8", "7, 9", False),
        ("  c = ", "  d = f32[] constant(0)\n  c = ", False),
    ],
)
def test_an_edit_is_noticed_but_for_names(old: str, new: str, is_match: bool, tmp_path: Path) -> None:
    assert matches(check_lines(TEXT, "hlo"), TEXT.replace(old, new), tmp_path) is is_match


def test_values_of_mlir_are_captured_in_each_function() -> None:
    text = """module @m {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0:2 = "a.b"(%arg0) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %cst = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi32>
    return %0#1 : tensor<3xf32>
  }
  func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
"""
    assert check_lines(text, "stablehlo").splitlines()[1:] == [
        "// CHECK-NEXT:   func.func @main(%[[ARG0:[^ ]+]]: tensor<3xf32>) -> tensor<3xf32> {",
        '// CHECK-NEXT:     %[[V0:[^ ]+]]:2 = "a.b"(%[[ARG0]]) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)',
        r"// CHECK-NEXT:     %[[CST:[^ ]+]] = stablehlo.constant dense<{{\[\[}}1, 2]]> : tensor<1x2xi32>",
        "// CHECK-NEXT:     return %[[V0]]#1 : tensor<3xf32>",
        "// CHECK-NEXT:   }",
        "// CHECK-NEXT:   func.func @f(%[[ARG0:[^ ]+]]: tensor<2xf32>) -> tensor<2xf32> {",
    ]


FILES = [*sorted((OWN_CORPUS / "hlo").glob("*.hlo")), *sorted((OWN_CORPUS / "stablehlo").glob("[a-e]*.mlir"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_text_matches_its_own_lines(file: Path, tmp_path: Path) -> None:
    try:
        module = relayout.read(file)
    except DiagnosticError:
        pytest.skip("not one module")
    text = strip_comments(module.text())
    checks = check_lines(text, module.dialect)
    assert checks.count("\n") == sum(bool(line.strip()) for line in text.splitlines())
    assert matches(checks, text, tmp_path)
    assert without_directives(checks) == ""


def lit(folder: Path) -> subprocess.CompletedProcess[str]:
    configuration = "from relayout.lit_config import configure\nconfigure(config, lit_config)\n"
    (folder / "lit.cfg.py").write_text(configuration)
    command = [str(FILECHECK.with_name("lit")), "-v", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_generated_file_is_a_lit_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lit")
    file, other = tmp_path / "negate.hlo", tmp_path / "attention.mlir"
    spec = "annotate-layouts{target=tpu-v5e},expand-tiling"
    for example, target, given in (("negate.hlo", file, "expand-tiling"), ("attention.mlir", other, spec)):
        command = ["opt", str(ROOT / "examples" / example), "-p", given, "--generate-checks", "-o", str(target)]
        assert main(command) == 0
    assert file.read_text().startswith("// RUN: relayout opt %s -p expand-tiling --strip-comments | FileCheck %s\n")
    done = lit(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "Passed: 2" in done.stdout
    # A second generation changes nothing, and the file itself is still the module.
    written = file.read_text()
    assert main(["opt", str(file), "-p", "expand-tiling", "--generate-checks"]) == 0
    assert capsys.readouterr().out == written
    assert strip_comments(written).strip() == (ROOT / "examples" / "negate.hlo").read_text().strip()
    file.write_text(written.replace("negate(x)", "abs(x)"))
    done = lit(tmp_path)
    assert done.returncode == 1
    assert "FAIL: relayout :: negate.hlo" in done.stdout
    assert "PASS: relayout :: attention.mlir" in done.stdout


def test_each_module_of_a_file_gets_its_lines(tmp_path: Path) -> None:
    pytest.importorskip("lit")
    one = "HloModule {0}\n\nENTRY e {{\n  ROOT p = f32[{0}]{{0}} parameter(0)\n}}\n"
    file = tmp_path / "several.hlo"
    file.write_text("// -----\n".join([one.format(3), one.format(4)]).replace("HloModule ", "HloModule m"))
    command = ["opt", str(file), "-p", "strip-layouts", "--split-input-file", "--generate-checks"]
    for _ in range(2):
        assert main([*command, "-o", str(tmp_path / "new.hlo")]) == 0
        (tmp_path / "new.hlo").replace(file)
    text = file.read_text()
    assert text.count("// RUN:") == 1
    assert text.index("// CHECK: HloModule m3") < text.index("// -----") < text.index("// CHECK: HloModule m4")
    done = lit(tmp_path)
    assert done.returncode == 0, done.stdout


def test_what_is_no_text_has_no_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = tmp_path / "m.pb"
    assert main(["convert", str(ROOT / "examples" / "negate.hlo"), "-o", str(proto)]) == 0
    assert main(["opt", str(proto), "--generate-checks"]) == 1
    assert "a test is a text, and this is hlo proto" in capsys.readouterr().err
    assert main(["opt", "examples/negate.hlo", "--generate-checks", "--emit", "pb"]) == 2
