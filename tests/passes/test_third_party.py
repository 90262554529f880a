"""Runs the example package as installed, without installing it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "third_party_pass"
GROUP = "relayout.passes"


def install(site: Path) -> None:
    """Writes what an installer would: the package's metadata with its entry points."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = site / f"third_party_pass-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")


def run_lit(site: Path, out: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PACKAGE, site)))}
    code = "import sys; from lit.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "-v", str(PACKAGE / "lit_tests")]
    return subprocess.run(command, env=environment, cwd=out, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("installed", [True, False])
def test_a_pass_of_another_package_runs_where_it_is_installed(tmp_path: Path, installed: bool) -> None:
    site = tmp_path / "site"
    site.mkdir()
    if installed:
        install(site)
    result = run_lit(site, tmp_path)
    assert (result.returncode == 0) == installed, result.stdout
    assert installed or "unknown pass erase-dead-steps" in result.stdout
