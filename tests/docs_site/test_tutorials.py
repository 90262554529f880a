"""Every tutorial, and every page with worked examples, is executed: its commands, its Python and their output."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from tests.pages import Reader, checkout
from tests.paths import ROOT

# Pages outside docs/tutorials whose examples are executed.
WORKED = (
    "checking",
    "devices",
    "from_mlir_opt",
    "from_xprof",
    "layouts",
    "lit",
    "mosaic",
    "optimizers",
    "package",
    "proofs",
    "shapes_and_layouts",
    "targets",
    "tools",
    "validating",
    "why",
)
PAGES = [*sorted((ROOT / "docs/tutorials").glob("*.md")), *(ROOT / f"docs/{name}.md" for name in WORKED)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_hold(page: Path, tmp_path: Path) -> None:
    jax.clear_caches()
    Reader(checkout(tmp_path)).work_through(page.read_text(encoding="utf-8"))
