"""The packages whose names are imported on first use."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from tests.paths import ROOT


@pytest.mark.parametrize("package", ["dialect_utils.execution", "dialect_utils.verdict", "relayout"])
def test_a_package_has_the_names_that_type_checkers_see(package: str) -> None:
    face = import_module(package)
    tree = ast.parse(Path(ROOT, *package.split("."), "__init__.py").read_text("utf-8"))
    seen = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in seen.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}
    assert len(homes) >= 20
    for name, home in homes.items():
        wanted = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        assert getattr(face, name) is wanted


def test_a_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match=r"module dialect_utils\.verdict has no attribute compare_module$"):
        vars(import_module("dialect_utils.verdict"))["__getattr__"]("compare_module")
