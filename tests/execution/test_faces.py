"""The packages whose names are imported on first use."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from tests.paths import ROOT


@pytest.mark.parametrize("package", ["dialect_utils.execution", "dialect_utils.verdict"])
def test_a_package_has_the_names_that_type_checkers_see(package: str) -> None:
    face = import_module(package)
    tree = ast.parse(Path(ROOT, *package.split("."), "__init__.py").read_text("utf-8"))
    seen = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in seen.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    assert homes == vars(face)["_HOME"]
    assert set(homes) == set(face.__all__)
    for name, home in homes.items():
        assert getattr(face, name) is getattr(import_module(str(home)), name)


def test_a_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match=r"module dialect_utils\.verdict has no attribute compare_module$"):
        vars(import_module("dialect_utils.verdict"))["__getattr__"]("compare_module")
