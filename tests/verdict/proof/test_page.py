"""The examples of docs/proofs.md, executed."""

from __future__ import annotations

from pathlib import Path

from tests.pages import Reader, checkout
from tests.paths import ROOT


def test_every_example_prints_what_is_shown(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    Reader(checkout(tmp_path)).work_through(page.split("## XLA's rewrites")[0])
