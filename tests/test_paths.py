"""Tests that read data beside the repository have the mark that `pytest -m shared` selects."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import pytest_runtest_setup
from tests.paths import ROOT, SHARED_DATA

# Modules of helpers whose name SHARED is a path of the shared data.
_HELPERS = ("tests.hlo.texts", "tests.passes.dump_files")
_THIS = Path(__file__)


def reads_shared_data(code: str) -> bool:
    """Is true where a file of tests imports a path of the shared data."""
    names = {
        (node.module, alias.name)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return not names.isdisjoint({("tests.paths", "SHARED_DATA"), *((helper, "SHARED") for helper in _HELPERS)})


def test_each_file_of_tests_that_reads_shared_data_has_the_mark() -> None:
    texts = {file: file.read_text("utf-8") for file in sorted((ROOT / "tests").rglob("test_*.py")) if file != _THIS}
    readers = {file for file, text in texts.items() if reads_shared_data(text)}
    assert len(readers) >= 15
    assert {file for file in readers if "mark.shared(" not in texts[file]} == set()


def test_a_file_without_the_mark_is_found() -> None:
    assert reads_shared_data("from tests.paths import ROOT, SHARED_DATA\n")
    assert not reads_shared_data("from tests.paths import ROOT\n")


def test_a_test_of_an_absent_path_is_skipped(request: pytest.FixtureRequest) -> None:
    assert isinstance(request.node, pytest.Item)
    pytest_runtest_setup(request.node)
    request.node.add_marker(pytest.mark.shared(SHARED_DATA / "no such file"))
    with pytest.raises(pytest.skip.Exception, match="shared/no such file is not beside the repository"):
        pytest_runtest_setup(request.node)
