"""Lit tests whose checks cannot fail are rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

from relayout.lit_config import self_matching_run_line
from tests.paths import ROOT


@pytest.mark.parametrize(
    ("run", "is_refused"),
    [
        ("relayout opt %s -p strip-layouts | FileCheck %s", True),
        ("%relayout opt %s -p 'a{b=1}'|filecheck %s --check-prefix=A", True),
        ("relayout opt %s -p strip-layouts --strip-comments | FileCheck %s", False),
        ("relayout opt --strip-comments %s | FileCheck %s", False),
        ("relayout opt %s -o %t 2>&1 | FileCheck %s", False),
        ("not relayout opt %s 2>&1 | FileCheck %s", False),
        ("relayout opt %S/Inputs/other.hlo | FileCheck %s", False),
        ("relayout opt %s | FileCheck %S/Inputs/expected.txt", False),
        ("relayout run %s | FileCheck %s", False),
    ],
)
def test_a_run_line_that_matches_its_own_checks_is_rejected(tmp_path: Path, run: str, is_refused: bool) -> None:
    file = tmp_path / "a.hlo"
    file.write_text(f"// RUN: {run}\n// CHECK: f32\nHloModule m\n")
    assert self_matching_run_line(file) == (run if is_refused else None)
    mlir = file.rename(tmp_path / "a.mlir")  # MLIR is printed without its comments
    assert self_matching_run_line(mlir) is None


def test_no_lit_test_of_this_project_is_rejected() -> None:
    files = [*ROOT.glob("lit_tests/**/*.hlo"), *ROOT.glob("examples/**/*.hlo")]
    assert len(files) > 50
    assert [file for file in files if self_matching_run_line(file)] == []
