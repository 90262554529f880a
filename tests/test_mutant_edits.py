"""Edits of mutants: how a definition is found, what is replaced in it, and which edits are rejected."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.mutants import edits
from tests.mutants.edits import Edit

CODE = """SIZE = 3
ONE, TWO = 1, "é 2"


class Range:
    low: int = 0

    @property
    def size(self) -> int:
        return self.high - self.low  # high is excluded

    @size.setter
    def size(self, size: int) -> None:
        self.high = self.low + size


def is_within(x: int, y: int) -> bool:
    if x < 0 or (
        y is not None and f"{x < 3}" and y not in (x, 1)  # or: a comment
    ):
        raise ValueError(x)
    x += 1
    print(x)
    return x > y
"""
EDITS = [
    (Edit("SIZE", "3", "4"), "SIZE = 3", "SIZE = 4"),
    (Edit("TWO", '"é 2"', '"é 3"'), '"é 2"', '"é 3"'),
    (Edit("Range.low", "0", "1"), "int = 0", "int = 1"),
    (Edit("Range.size", "-", "+"), "high - self", "high + self"),
    (Edit("Range.size", "self.low + size", "size"), "self.low + size", "size"),
    (Edit("Range", "self.high - self.low", "0"), "self.high - self.low", "0"),
    (Edit("is_within", "<", "<="), "x < 0", "x <= 0"),
    (Edit("is_within", "not in", "in"), "y not in", "y in"),
    (Edit("is_within", "is not", "is"), "y is not", "y is"),
    (Edit("is_within", "or", "and"), "0 or (", "0 and ("),
    (Edit("is_within", "x<0", "x < 1"), "x < 0", "x < 1"),
    (Edit("is_within", "(x, 1)", "()"), "(x, 1)", "()"),
    (Edit("is_within", "y", "x", occurrence=2), "y not in", "x not in"),
    (Edit("is_within", "x += 1", "pass"), "x += 1", "pass"),
    (Edit("is_within", "x += 1\nprint(x)", ""), "x += 1\n    print(x)", ""),
    (Edit("is_within", "raise ValueError(x)", ""), "raise ValueError(x)", "pass"),
    (Edit("is_within", "print(x)", "if y:\n    print(x)"), "print(x)", "if y:\n        print(x)"),
    (Edit("a:is_within", ">", ">="), "x > y", "x >= y"),
    (Edit("dialect_utils.a:is_within", ">", ">="), "x > y", "x >= y"),
    (Edit("a.b:is_within", ">", ">="), "x > y", "x >= y"),
]


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a product of three files."""
    monkeypatch.setattr(edits, "ROOT", tmp_path)
    for name in ("_names_in_product", "_tree_of", "_file_of"):
        monkeypatch.setattr(edits, name, cache(getattr(edits, name).__wrapped__))
    folder = tmp_path / "dialect_utils" / "a"
    folder.mkdir(parents=True)
    (folder / "b.py").write_text(CODE, "utf-8")
    (tmp_path / "dialect_utils" / "c.py").write_text("def _check() -> None: ...\n", "utf-8")
    (tmp_path / "dialect_utils" / "b.py").write_text("class C:\n    def _check(self) -> None: ...\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(("edit", "old", "new"), EDITS)
@pytest.mark.usefixtures("product")
def test_an_edit_changes_its_definition_alone(edit: Edit, old: str, new: str) -> None:
    assert edit.file == "dialect_utils/a/b.py"
    assert CODE.count(old) == 1
    assert edit.applied(CODE) == CODE.replace(old, new)
    assert edit.line(CODE) == CODE[: CODE.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit("is_within", "y", "x"), "occurs 3 times, not once"),
        (Edit("is_within", "y", "x", occurrence=4), "occurs 3 times, not once"),
        (Edit("is_within", "z", "x"), "occurs 0 times, not once"),
        (Edit("is_within", "x < 3", "x"), "occurs 0 times, not once"),
        (Edit("is_within", "==", "!="), "occurs 0 times, not once"),
        (Edit("Range.size", "self.high", "0"), "occurs 2 times, not once"),
        (Edit("is_within", "x<0", "x  <  0"), "are the same"),
    ],
)
@pytest.mark.usefixtures("product")
def test_an_edit_that_is_not_one_change_is_rejected(edit: Edit, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        edit.applied(CODE)


@pytest.mark.parametrize("where", ["is_beyond", "c:is_within", "Range.is_within", "is_within.x"])
@pytest.mark.usefixtures("product")
def test_a_name_that_is_not_defined_is_rejected(where: str) -> None:
    with pytest.raises(ValueError, match=f"0 files define {where}, not one"):
        assert Edit(where, "x", "y").file


def test_a_definition_may_move_while_its_name_is_unique(product: Path) -> None:
    edit = Edit("is_within", ">", ">=")
    (product / "dialect_utils" / "a" / "b.py").rename(product / "dialect_utils" / "moved.py")
    assert edit.file == "dialect_utils/moved.py"


def test_one_of_two_definitions_is_selected_by_its_package(product: Path) -> None:
    (product / "passes").mkdir()
    (product / "passes" / "c.py").write_text("def _check() -> None: ...\n", "utf-8")
    with pytest.raises(ValueError, match=r"2 files define _check, not one: dialect_utils/c\.py, passes/c\.py"):
        assert Edit("_check", "x", "y").file
    assert Edit("passes:_check", "x", "y").file == "passes/c.py"
    assert Edit("dialect_utils.c:_check", "x", "y").file == "dialect_utils/c.py"
    assert Edit("C._check", "x", "y").file == "dialect_utils/b.py"
