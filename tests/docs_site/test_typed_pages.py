"""The Python of every page and of every docstring passes mypy and pyright, and wrong names and values do not."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.pages import examples
from tests.paths import ROOT

# Blocks inside of lists are indented.
_PYTHON = re.compile(r'^( *)```(?:python|py)(?: title="([^"]*)")?\n(.*?)^ *```$', re.MULTILINE | re.DOTALL)
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
# Names that a program finds without an import, by the name of the file.
_GIVEN = {"lit.cfg.py": "from typing import Any\n\nconfig: Any = None\nlit_config: Any = None\n"}

WRONG = """import relayout
import relayout.jax


@relayout.module_pass
def swap(module: relayout.Module, report: relayout.Report, *, count: int = 1) -> None: ...


@relayout.module_pass
def plain(module, *, count=1): ...


shape = relayout.parse_shape("f32[3,5]{1,0}")
relayout.optimize("a.hlo", [swap, swap(count=2), plain(count=2), plain])
print(shape.layout.tiles, relayout.jax.to_jax_layout(shape.layout))
relayout.reed("a.hlo")  # wrong
shape.layoot  # wrong
shape.layout.tile  # wrong
relayout.jax.chek  # wrong
relayout.optimize("a.hlo", swap(cuont=2))  # wrong
relayout.optimize("a.hlo", swap(count="2"))  # wrong
relayout.optimize("a.hlo", plain(cuont=2))  # wrong
relayout.memory_report(3)  # wrong
relayout.check("a.hlo", pases="expand-tiling")  # wrong
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes the Python of all pages and docstrings to files: one for a page, those that a page names, one for each."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "wrong_names.py").write_text(WRONG)
    seen: set[str] = set()
    for page in PAGES:
        own = ""
        for _, title, body in _PYTHON.findall(page.read_text("utf-8")):
            text = textwrap.dedent(body)
            if title:
                path = folder / title
                if text in seen:
                    # mypy knows one module of a name.
                    continue
                seen.add(text)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_GIVEN.get(path.name, "") + text)
            else:
                own += text
        if own:
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")).lower())
            (folder / f"page_{name}.py").write_text(own)
    parser = doctest.DocTestParser()
    for each in examples():
        code = "".join(shown.source for shown in parser.get_examples(each.text))
        known = "import relayout\n" if f"relayout.{each.name}" in code else f"from {each.module} import {each.name}\n"
        (folder / f"example_{each.module.replace('.', '_')}_{each.name}.py").write_text(
            f"import relayout\n{known}{code}"
        )
    return folder


def wrong_lines() -> list[str]:
    return [f"wrong_names.py:{number}" for number, line in enumerate(WRONG.splitlines(), 1) if "# wrong" in line]


def files(folder: Path) -> list[str]:
    return sorted(str(file) for file in folder.rglob("*.py"))


def modules(folder: Path) -> list[str]:
    names = {file.relative_to(folder).parts[-2] for file in folder.rglob("__init__.py")}
    return sorted({*(file.stem for file in folder.rglob("*.py")), *names, *(f"{name}.*" for name in names)})


def test_there_is_python_to_check(written: Path) -> None:
    names = [Path(file).name for file in files(written)]
    assert {"page_readme.py", "page_docs_jax.py", "page_contributing.py", "drop_double_negation.py", "lit.cfg.py"} - {
        *names
    } == set()
    assert sum(name.startswith("page_") for name in names) >= 6
    assert sum(name.startswith("example_") for name in names) >= 30
    assert len(wrong_lines()) == 9


def test_mypy_accepts_the_python_of_the_pages_and_no_wrong_names(written: Path) -> None:
    # The settings of this project keep its cache valid; only pages may leave out annotations.
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    settings = re.search(r"^\[tool\.mypy\].*?(?=^\[tool\.pytest)", project, re.MULTILINE | re.DOTALL)
    assert settings is not None
    (written / "mypy.toml").write_text(
        f"{settings[0]}\n[[tool.mypy.overrides]]\nmodule = {json.dumps(modules(written))}\n"
        "disallow_untyped_defs = false\ndisallow_incomplete_defs = false\ndisallow_untyped_calls = false\n"
        "disallow_untyped_decorators = false\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(written / "mypy.toml"), "--no-error-summary"]
    paths = {"MYPYPATH": os.pathsep.join([str(written / "my-passes"), str(ROOT / "examples")])}
    result = subprocess.run(
        [*command, *files(written)], cwd=ROOT, env={**os.environ, **paths}, capture_output=True, text=True, timeout=300
    )
    found = {re.sub(r"^.*/|: error: .*", "", line) for line in result.stdout.splitlines() if " error: " in line}
    assert sorted(found) == wrong_lines(), result.stdout + result.stderr


@pytest.mark.skipif(find_spec("basedpyright") is None, reason="basedpyright is not installed")
def test_pyright_accepts_the_python_of_the_pages_and_no_wrong_names(written: Path) -> None:
    settings = {
        "include": ["."],
        "typeCheckingMode": "standard",
        "extraPaths": [str(ROOT), str(written / "my-passes"), str(ROOT / "examples")],
    }
    (written / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", "-p", str(written)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = {
        f"{Path(each['file']).name}:{each['range']['start']['line'] + 1}": each["message"]
        for each in json.loads(result.stdout)["generalDiagnostics"]
        if each["severity"] == "error"
    }
    assert sorted(found) == wrong_lines(), found
