"""The face of `dialect_utils.layout`: few names, each one used; all others in their own modules."""

from __future__ import annotations

import ast
from pathlib import Path

import dialect_utils.layout as face
from tests.paths import ROOT

MOST_NAMES = 20


def names_from_the_face() -> set[str]:
    found: set[str] = set()
    for package in ("dialect_utils", "passes", "relayout", "tests"):
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module == "dialect_utils.layout":
                    found |= {alias.name for alias in node.names}
    return found


def own_names() -> set[str]:
    tree = ast.parse(Path(face.__file__ or "").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports for alias in node.names if alias.name == alias.asname}


def test_the_face_is_small_and_used() -> None:
    assert 0 < len(own_names()) <= MOST_NAMES
    assert names_from_the_face() >= own_names()
    assert {name for name in vars(face) if name[0].isupper()} <= own_names()
