"""The list of mutants fits the code: every edit applies once, and every test exists."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from tests.mutants.equivalents import EQUIVALENTS
from tests.mutants.model import LISTS, Mutant, all_mutants, mutants_of
from tests.paths import ROOT

FEWEST = 60


MUTANTS = tuple(all_mutants())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.where}: {mutant.old[:40]}")
def test_a_mutant_is_another_program_and_its_tests_exist(mutant: Mutant) -> None:
    assert mutant.edit.applied((ROOT / mutant.edit.file).read_text("utf-8"))
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text("utf-8")
        assert not name or re.search(rf"^def {name.partition('[')[0]}\(", text, re.M), test


def test_every_package_has_mutants() -> None:
    folders = {PurePosixPath(mutant.edit.file).parts[:2] for mutant in MUTANTS}
    packages = {
        file.relative_to(ROOT).parts[:2]
        for package in ("dialect_utils", "passes")
        for file in (ROOT / package).glob("*/__init__.py")
    }
    assert packages - folders == set()
    assert len(MUTANTS) >= FEWEST
    assert all(mutants_of(name) for name in LISTS)


def test_no_mutant_is_listed_twice() -> None:
    assert len({mutant.edit for mutant in MUTANTS}) == len(MUTANTS)


def test_every_equivalent_edit_applies() -> None:
    for edit, why in EQUIVALENTS:
        assert why
        assert edit.applied((ROOT / edit.file).read_text("utf-8"))
