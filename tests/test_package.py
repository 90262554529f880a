"""The package: the page of the package, the version, the source distribution, the hook and the action."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import relayout
from relayout.arguments import examples_heading
from tests.pages import Reader
from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PAGE = (ROOT / PROJECT["project"]["readme"]).read_text("utf-8")


def test_the_page_of_the_package_holds_without_a_checkout(tmp_path: Path) -> None:
    Reader(tmp_path).work_through(PAGE)
    assert re.findall(r"\]\((?!https://)[^)]*\)", PAGE) == []


def test_the_version_is_that_of_the_newest_section() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == relayout.__version__


def test_the_source_distribution_has_every_folder_that_the_tests_need() -> None:
    manifest = (ROOT / "MANIFEST.in").read_text("utf-8").split()
    packaged = {pattern.rstrip("*") for pattern in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]}
    folders = {path.parent.name for path in ROOT.glob("[!.]*/*") if path.suffix in (".py", ".md", ".hlo", ".cfg")}
    assert folders - {"build"} <= {*manifest, *packaged}


def test_the_examples_of_the_help_are_packaged() -> None:
    (patterns,) = PROJECT["tool"]["setuptools"]["data-files"].values()
    assert {path.name for pattern in patterns for path in ROOT.glob(pattern)} >= {"attention.mlir", "forces_tpu.hlo"}


def test_the_help_says_where_the_examples_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert examples_heading() == f"examples (files: {ROOT / 'examples'}):"
    (tmp_path / "examples").mkdir()
    assert examples_heading() == "examples:"


def test_the_hook_and_the_action_install_what_lit_needs() -> None:
    hook, action = ((ROOT / name).read_text("utf-8") for name in (".pre-commit-hooks.yaml", "action.yml"))
    extra = PROJECT["project"]["optional-dependencies"]["lit"]
    assert all(f'"{requirement}"' in hook for requirement in extra)
    assert '"${GITHUB_ACTION_PATH}[$EXTRAS]"' in action
    assert "relayout's extras, separated by commas\", default: lit}" in action
