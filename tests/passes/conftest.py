from __future__ import annotations

import pytest

from passes.framework import base


@pytest.fixture
def toy_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the passes of tests/passes/toy.py the only ones."""
    here = "tests.passes.toy"
    names = ("replace", "verify-layouts", "stablehlo-only")
    monkeypatch.setattr(base, "BUILTIN_PASSES", dict.fromkeys(names, here))
    monkeypatch.setattr(base, "_entry_points", dict)
