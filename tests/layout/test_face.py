"""The face of `dialect_utils.layout`: few names, each one used; all others in their own modules."""

from __future__ import annotations

import ast

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


def test_the_face_is_small_and_used() -> None:
    assert len(face.__all__) <= MOST_NAMES
    assert names_from_the_face() >= set(face.__all__)
    assert {name for name in vars(face) if name[0].isupper()} <= set(face.__all__)
