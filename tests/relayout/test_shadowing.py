"""Projects with packages `passes` and `dialect_utils` of their own can use this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

TEXT = "// RUN: relayout opt %s -p strip-layouts --strip-comments | FileCheck %s\n// CHECK: parameter(0)\n"
TEXT += "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0:T(2,2)} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"
LIT = "import sys; from lit.main import main; sys.exit(main())"


@pytest.fixture(params=["package", "module", "package without a file"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Returns a project with packages of these names, which must not be imported in place of ours."""
    for name in ("passes", "dialect_utils"):
        if request.param == "module":
            (tmp_path / f"{name}.py").write_text("raise SystemExit('the user code was run')\n")
            continue
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text("NAME = 'mine'\n")
        if request.param == "package":
            (tmp_path / name / "__init__.py").write_text("raise SystemExit('the user code was run')\n")
    (tmp_path / "relayout_script").write_text("import sys\nfrom relayout.cli import main\nsys.exit(main())\n")
    (tmp_path / "m.hlo").write_text(TEXT)
    (tmp_path / "lit.cfg.py").write_text("from relayout.lit_config import configure\nconfigure(config, lit_config)\n")
    return tmp_path


def run(arguments: list[str], project: Path, *paths: Path | str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("paths", [[ROOT], [".", ROOT]], ids=["installed", "PYTHONPATH=."])
@pytest.mark.parametrize("program", [["-m", "relayout"], ["relayout_script"]], ids=["python -m", "script"])
def test_the_commands_work(project: Path, program: list[str], paths: list[Path | str]) -> None:
    opt = run([*program, "opt", "m.hlo", "-p", "expand-tiling"], project, *paths)
    assert opt.returncode == 0, opt.stderr
    assert "transpose(" in opt.stdout


def test_the_worker_process_finds_its_modules(project: Path) -> None:
    """Runs a script in the project, with the project first on the path."""
    check = run(["relayout_script", "check", "m.hlo", "-p", "expand-tiling"], project, ".", ROOT)
    assert check.returncode == 0, check.stderr
    assert check.stdout.startswith("m.hlo: equal (proof, xla)")


def test_the_lit_configuration_works(project: Path) -> None:
    result = run(["-c", LIT, "-v", "."], project, ".", ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Passed: 1" in result.stdout


@pytest.fixture
def importable(tmp_path: Path) -> Path:
    """Returns a project whose package `passes` can be imported."""
    (tmp_path / "passes").mkdir()
    (tmp_path / "passes" / "__init__.py").write_text("NAME = 'mine'\n")
    (tmp_path / "passes" / "own.py").write_text("NAME = 'own'\n")
    return tmp_path


USE = "import relayout; relayout.optimize('ENTRY e { ROOT p = f32[3] parameter(0) }', 'expand-tiling'); "


def test_both_packages_are_found_whichever_comes_first(importable: Path) -> None:
    ours_first = run(["-c", f"{USE}from passes.own import NAME; print(NAME)"], importable, ROOT)
    assert (ours_first.stdout, ours_first.stderr) == ("own\n", "")
    mine_first = run(["-c", f"from passes import NAME; {USE}import passes.own; print(NAME)"], importable, ROOT)
    assert (mine_first.stdout, mine_first.stderr) == ("mine\n", "")


def test_a_name_that_is_hidden_is_said_in_one_line(importable: Path) -> None:
    result = run(["-c", "import relayout; from passes import NAME"], importable, ROOT)
    last = run(["-c", "import relayout, passes; passes.NAME"], importable, ROOT).stderr.splitlines()[-1]
    assert result.returncode == 1
    assert f"passes is relayout's package here, which hides {importable}/passes/__init__.py" in last
    assert last.endswith("import that before relayout")


def test_a_module_of_ours_that_is_hidden_is_said_in_one_line(importable: Path) -> None:
    (importable / "passes" / "framework.py").write_text("")
    last = run(["-c", "import passes, relayout"], importable, ROOT).stderr.splitlines()[-1]
    assert (
        last == f"ImportError: passes.framework in {importable}/passes hides relayout's module {ROOT}/passes/framework"
    )
