"""Every tutorial, and every page with worked examples, is executed: its commands, its Python and their output."""

from __future__ import annotations

from importlib.util import find_spec
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
    "gpu",
    "inputs",
    "jax",
    "layouts",
    "lit",
    "mosaic",
    "optimizers",
    "package",
    "proofs",
    "scale",
    "shapes_and_layouts",
    "targets",
    "tools",
    "validating",
    "why",
)
# Pages that compile for a GPU.
_OF_GPUS = ("gpu", "jax")
PAGES = [*sorted((ROOT / "docs/tutorials").glob("*.md")), *(ROOT / f"docs/{name}.md" for name in WORKED)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_hold(page: Path, tmp_path: Path) -> None:
    if page.stem in _OF_GPUS and not any(find_spec(f"jax_cuda{version}_plugin") for version in (12, 13)):
        pytest.skip("JAX's plug-in for CUDA, the extra relayout[gpu], is not installed")
    jax.clear_caches()
    Reader(checkout(tmp_path)).work_through(page.read_text(encoding="utf-8"))
