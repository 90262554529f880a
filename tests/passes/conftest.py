from __future__ import annotations

import pytest

from passes import registry


@pytest.fixture
def toy_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the passes of tests/passes/toy.py the only ones."""
    here = "tests.passes.toy"
    names = {"replace": "Replace", "verify-layouts": "Verify", "stablehlo-only": "StablehloOnly"}
    monkeypatch.setattr(registry, "BUILTIN_PASSES", {name: f"{here}:{cls}" for name, cls in names.items()})
    monkeypatch.setattr(registry, "_entry_points", dict)
