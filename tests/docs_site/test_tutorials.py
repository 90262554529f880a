"""Every tutorial is worked through: its commands, its Python, and what it says they print."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from tests.pages import Reader, checkout
from tests.paths import ROOT

TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_holds(page: Path, tmp_path: Path) -> None:
    jax.clear_caches()
    Reader(checkout(tmp_path)).work_through(page.read_text(encoding="utf-8"))
