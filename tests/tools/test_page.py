"""The page of the tools, and the examples of their functions, run as they are written."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import relayout
from dialect_utils.tools.checks import check_lines
from dialect_utils.tools.conversion import convert
from dialect_utils.tools.counting import count_operations
from dialect_utils.tools.extraction import extract
from dialect_utils.tools.printing import format_short
from tests.pages import Reader, checkout
from tests.paths import ROOT

FUNCTIONS = (extract, convert, count_operations, format_short, check_lines)


def test_every_command_of_the_page_runs(tmp_path: Path) -> None:
    Reader(checkout(tmp_path)).work_through((ROOT / "docs" / "tools.md").read_text("utf-8"))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_function_has_an_example_that_runs(
    function: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = inspect.getdoc(function) or ""
    scope = {"relayout": relayout, function.__name__: function}
    example = doctest.DocTestParser().get_doctest(text, scope, function.__name__, None, None)
    assert example.examples
    failures: list[str] = []
    doctest.DocTestRunner().run(example, out=failures.append)
    assert failures == []
