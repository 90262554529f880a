"""The list of mutants fits the code: every fragment is found once, and every test exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import PurePosixPath

import pytest

from tests.mutants.model import LISTS, Mutant, all_mutants, mutants_of
from tests.paths import ROOT

FEWEST = 60


@cache
def tree_of(code: str) -> str:
    return ast.dump(ast.parse(code))


MUTANTS = tuple(all_mutants())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}:{mutant.fragment.strip()[:40]}")
def test_a_mutant_is_another_program_and_its_tests_exist(mutant: Mutant) -> None:
    code = (ROOT / mutant.file).read_text("utf-8")
    assert ast.dump(ast.parse(mutant.applied(code))) != tree_of(code)
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text("utf-8")
        assert not name or re.search(rf"^def {name.partition('[')[0]}\(", text, re.M), test


def test_every_package_has_mutants() -> None:
    folders = {PurePosixPath(mutant.file).parts[:2] for mutant in MUTANTS}
    packages = {
        file.relative_to(ROOT).parts[:2]
        for package in ("dialect_utils", "passes")
        for file in (ROOT / package).glob("*/__init__.py")
    }
    assert packages - folders == set()
    assert len(MUTANTS) >= FEWEST
    assert all(mutants_of(name) for name in LISTS)


def test_no_mutant_is_listed_twice() -> None:
    assert len({(mutant.file, mutant.fragment, mutant.replacement) for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("fragment", ["a + b", "no such"])
def test_a_fragment_that_does_not_occur_once_is_refused(fragment: str) -> None:
    with pytest.raises(ValueError, match="not once"):
        Mutant("f.py", fragment, "", ("t.py",)).applied("a + b; a + b")
