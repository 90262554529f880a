"""Runs the example package as installed, without installing it, and the pass of CONTRIBUTING.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from relayout.testing import check_pass
from tests.paths import ROOT

PACKAGE = ROOT / "examples" / "third_party_pass"
GROUP = "relayout.passes"
LIT = "import sys; from lit.main import main; sys.exit(main())"


def install(site: Path, points: dict[str, str] | None = None) -> None:
    """Writes the metadata of an installed package, with its entry points and those of `points`."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = site / f"third_party_pass-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = "".join(
        f"{name} = {value}\n" for name, value in {**project["entry-points"][GROUP], **(points or {})}.items()
    )
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")


def python(arguments: list[str], site: Path, out: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PACKAGE, site)))}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, cwd=out, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("installed", [True, False])
def test_a_pass_of_another_package_runs_where_it_is_installed(tmp_path: Path, installed: bool) -> None:
    site = tmp_path / "site"
    if installed:
        install(site)
    result = python(["-c", LIT, "-v", str(PACKAGE / "lit_tests")], site, tmp_path)
    assert (result.returncode == 0) == installed, result.stdout
    assert installed or "unknown pass erase-dead-steps" in result.stdout


def test_a_pass_of_another_package_keeps_the_contract(tmp_path: Path) -> None:
    tests = ["-m", "pytest", "-p", "no:cacheprovider", str(PACKAGE / "tests")]
    result = python(tests, tmp_path / "site", tmp_path)
    assert result.returncode == 0, result.stdout
    assert result.stdout.startswith(".  ")
    [file] = (each for each in (PACKAGE / "third_party_pass").glob("*.py") if each.stem != "__init__")
    assert len(file.read_text().splitlines()) <= 40


def test_a_broken_plug_in_is_a_note_in_the_list_and_an_error_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "broken_plug_in.py").write_text("raise ValueError('no licence')\n")
    install(tmp_path, {"broken": "broken_plug_in:broken"})
    listed = python(["-m", "relayout", "opt", "--list-passes"], tmp_path, tmp_path)
    assert listed.returncode == 0
    assert "erase-dead-steps" in listed.stdout
    message = "pass broken (broken_plug_in:broken) cannot be loaded: ValueError: no licence"
    assert f"note: {message}" in listed.stderr
    program = str(ROOT / "examples" / "negate.hlo")
    assert python(["-m", "relayout", "opt", program, "-p", "erase-dead-steps"], tmp_path, tmp_path).returncode == 0
    used = python(["-m", "relayout", "opt", program, "-p", "broken"], tmp_path, tmp_path)
    assert used.returncode == 2
    assert f"error: {message}" in used.stderr


BADLY = """
import os, sys
from relayout import module_pass

def endless(module): return endless(module)

bad = {
    "recurses": endless,
    "exits": lambda module: sys.exit(3),
    "writes": lambda module: open("written.txt", "w"),
    "reads": lambda module: open("absent.txt"),
    "aborts": lambda module: os.abort(),
    "loops": lambda module: [None for _ in iter(int, 1)],
    "prints": lambda module: print("HloModule printed"),
}
for name, function in bad.items():
    function.__name__ = name
    globals()[name] = module_pass(function)
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recurses", "error: pass recurses (number 1) raised RecursionError on module negate"),
        ("exits", "error: pass exits (number 1) raised SystemExit on module negate: 3\n"),
        ("writes", "error: pass writes (number 1) raised PermissionError on module negate"),
        ("writes", "hint: commands run passes in a sandbox; --no-sandbox lets your own use files"),
        ("reads", "error: pass reads (number 1) raised FileNotFoundError on module negate"),
        ("recurses", "note: to reproduce: relayout opt "),
        ("aborts", "negate.hlo: pass aborts: the process that worked on it was ended by SIGABRT"),
        ("loops", "negate.hlo: pass loops: no result after 1 seconds"),
    ],
)
def test_a_pass_that_ends_badly_is_named(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "badly.py").write_text(BADLY)
    install(tmp_path, {name: f"badly:{name}"})
    program = str(ROOT / "examples" / "negate.hlo")
    done = python(["-m", "relayout", "opt", program, "-p", name, "--timeout", "1"], tmp_path, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


def test_a_pass_prints_beside_the_module(tmp_path: Path) -> None:
    (tmp_path / "badly.py").write_text(BADLY)
    install(tmp_path, {"prints": "badly:prints"})
    program = ROOT / "examples" / "negate.hlo"
    done = python(["-m", "relayout", "opt", str(program), "-p", "prints"], tmp_path, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, program.read_text(), "HloModule printed\n")


def test_the_pass_of_contributing_keeps_the_contract_in_forty_lines(tmp_path: Path) -> None:
    (found,) = re.findall(r"^   ```python\n(   \"\"\".*?)^   ```", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
    code = textwrap.dedent(found)
    assert len(code.splitlines()) <= 40
    (tmp_path / "drop_copies.py").write_text(code)
    scope: dict[str, object] = {"__name__": "drop_copies"}
    exec(compile(code, "drop_copies.py", "exec"), scope)
    check_pass(scope["drop_copies"], sorted((ROOT / "lit_tests/passes/inline-fusions").glob("basic.hlo")))  # type: ignore[arg-type]  # a pass
