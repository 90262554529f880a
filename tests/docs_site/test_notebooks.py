"""Every notebook is executed, and gives the outputs and pictures that are kept with it."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from docs_site.notebooks import NOTEBOOKS, as_markdown, read_cells, text_of
from tests.markup import problems
from tests.paths import ROOT


def execute(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Returns what a cell prints, and the value of its last expression (None where there is none)."""
    *statements, last = ast.parse(source).body
    shown = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(statements, []), "cell", "exec"), names)
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        else:
            exec(compile(ast.Module([*statements, last], []), "cell", "exec"), names)
    return printed.getvalue(), shown


def differing(output: dict[str, Any], printed: str, shown: Any) -> str:
    """Says which part of a kept output is not what the cell gives now; empty where all are."""
    if output["output_type"] == "stream":
        return "" if text_of(output["text"]) == printed else "printed"
    kept = {kind: text_of(value) for kind, value in output["data"].items()}
    if "image/svg+xml" in kept and kept["image/svg+xml"].strip() != shown._repr_svg_().strip():
        return "picture"
    if "text/html" in kept and kept["text/html"] != shown._repr_html_():
        return "table"
    # Notebooks break long lines of what is shown.
    return "" if kept["text/plain"].split() == repr(shown).split() else "shown"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_its_outputs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in read_cells(path):
        if cell["cell_type"] == "code":
            printed, shown = execute(text_of(cell["source"]), names)
            assert [differing(output, printed, shown) for output in cell["outputs"]] == [""] * len(cell["outputs"])
            assert len(cell["outputs"]) == bool(printed) + (shown is not None)


def test_all_notebooks_have_pictures() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["gallery", "memory", "newcomers_hour"]
    assert all("<svg" in as_markdown(path) for path in NOTEBOOKS)


def kept_markup() -> list[str]:
    """Returns the HTML and SVG that the notebooks keep."""
    cells = [cell for path in NOTEBOOKS for cell in read_cells(path) if cell["cell_type"] == "code"]
    data = [output.get("data", {}) for cell in cells for output in cell["outputs"]]
    return [text_of(each[kind]) for each in data for kind in ("text/html", "image/svg+xml") if kind in each]


def test_the_markup_of_the_notebooks_is_well_formed_and_loads_nothing() -> None:
    markup = kept_markup()
    assert len(markup) >= 12
    assert [problems(each) for each in markup] == [[]] * len(markup)


def test_the_gallery_shows_every_kind_of_object() -> None:
    (path,) = [path for path in NOTEBOOKS if path.stem == "gallery"]
    text = as_markdown(path)
    for shown in ("most major first", "linear index", "<summary>text</summary>", "<b>equal (proof)</b>", "<polygon"):
        assert shown in text
    assert "1.01 GiB" in text
    assert "1000 MiB" in text


@pytest.mark.skipif(not all(map(find_spec, ("nbclient", "ipykernel"))), reason="nbclient is not installed")
def test_a_kernel_gives_the_outputs_of_the_gallery(tmp_path: Path) -> None:
    kept = ROOT / "docs/notebooks/gallery.ipynb"
    cells = read_cells(kept)
    copy = tmp_path / "gallery.ipynb"
    empty = [{**cell, "outputs": []} if cell["cell_type"] == "code" else cell for cell in cells]
    copy.write_text(json.dumps({**json.loads(kept.read_text("utf-8")), "cells": empty}))
    command = [sys.executable, "-m", "docs_site.notebooks", str(copy)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert read_cells(copy) == cells


def test_a_changed_output_is_noticed() -> None:
    printed, shown = execute("print(1)\n[2, 3]", {})
    assert differing({"output_type": "stream", "text": ["2\n"]}, printed, shown) == "printed"
    assert differing({"output_type": "execute_result", "data": {"text/plain": "[2,\n 4]"}}, printed, shown) == "shown"
    assert differing({"output_type": "execute_result", "data": {"text/plain": "[2,\n 3]"}}, printed, shown) == ""
