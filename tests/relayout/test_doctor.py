"""`relayout doctor`: findings on what is installed, hidden, missing or broken, and a small module."""

from __future__ import annotations

import json
import os
import py_compile
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from relayout.cli import main
from relayout.commands import doctor
from relayout.commands.doctor import MODULE, REQUIREMENTS, Finding, modules_to_compile
from tests.paths import ROOT


def run(folder: Path, *paths: Path | str) -> tuple[int, dict[str, Any]]:
    """Runs the command in a folder, with paths before those of the project; returns findings by their names."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, paths), str(ROOT)])}
    result = subprocess.run(
        [sys.executable, "-P", "-m", "relayout", "doctor", "--json"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stderr == ""
    report = json.loads(result.stdout)
    findings = {each["name"]: each for each in report["findings"]}
    assert report["healthy"] == (result.returncode == 0)
    assert report["healthy"] == all(each["status"] != "broken" for each in findings.values())
    return result.returncode, findings


def install(site: Path, name: str, code: str, version: str) -> None:
    """Makes a distribution of one package, which comes before the one that is installed."""
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text(code)
    metadata = site / f"{name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def statuses(findings: dict[str, Any], part: str) -> dict[str, str]:
    return {name: each["status"] for name, each in findings.items() if each["part"] == part}


def test_everything_works_here_and_takes_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("\neverything that is necessary works\n")
    assert [line for line in printed.splitlines() if line.startswith("self")] == ["self-test"]
    for step in ("parse", "annotate-layouts", "expand-tiling", "command", "proof", "execution"):
        assert re.search(rf"^  ok       {step} +\(\d+\.\d\d s\)$", printed, re.MULTILINE)
    assert re.search(r"^  ok       jaxlib +\d+\.\d+", printed, re.MULTILINE)


def test_the_small_module_has_ten_lines_and_tiles_with_padding() -> None:
    assert len(MODULE.splitlines()) == 9
    with pytest.raises(ValueError, match="no array has tiles"):
        doctor._expect(False, "no array has tiles")  # noqa: SLF001  # each step expects something


def test_the_requirements_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {
        name: project["optional-dependencies"][name]
        for name in ("tpu", "gpu", "zstd", "report", "cluster", "remote", "ci", "lit", "checkpoints")
    }
    written: dict[str, tuple[str, str]] = {}
    for extra, listed in {"": project["dependencies"], **extras}.items():
        for each in listed:
            # A package of several extras is listed with the first.
            written.setdefault(re.split(r"[<>=]", each)[0], (each.partition(">=")[2], extra))
    assert {each.name: (each.least, each.extra) for each in REQUIREMENTS} == written
    developing = {"dev", "docs", "fuzz", "notebooks", "rules"}
    assert set(project["optional-dependencies"]) - {each.extra for each in REQUIREMENTS} == developing


def test_packages_of_the_user_that_are_hidden_are_named(tmp_path: Path) -> None:
    (tmp_path / "passes").mkdir()
    (tmp_path / "passes" / "__init__.py").write_text("raise SystemExit('the user code was run')\n")
    (tmp_path / "passes" / "framework.py").write_text("")
    (tmp_path / "passes" / "mine.py").write_text("")
    (tmp_path / "dialect_utils.py").write_text("raise SystemExit('the user code was run')\n")
    status, findings = run(tmp_path, tmp_path)
    assert status == 0
    expected = f"relayout's own is used, which hides {tmp_path}/passes/__init__.py and its modules framework"
    assert findings["passes"]["status"] == "warning"
    assert findings["passes"]["detail"].startswith(expected)
    assert f"hides {tmp_path}/dialect_utils.py" in findings["dialect_utils"]["detail"]


def test_a_file_that_hides_a_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("array = None\n")
    status, findings = run(tmp_path, tmp_path)
    assert status == 1
    assert findings["numpy"]["status"] == "broken"
    assert f"but {tmp_path}/numpy.py hides it" in findings["numpy"]["detail"]
    # Text needs no packages.
    assert statuses(findings, "self-test") == {
        **dict.fromkeys(("parse", "annotate-layouts", "expand-tiling", "command"), "ok"),
        **dict.fromkeys(("proof", "execution"), "skipped"),
    }


def test_packages_that_cannot_be_imported_or_are_old_say_why(tmp_path: Path) -> None:
    """A crash or an exit ends the import of one package only."""
    install(tmp_path, "ml_dtypes", "", "0.4.2")
    install(tmp_path, "islpy", "import os; os.abort()", "2026.1")
    install(tmp_path, "shtab", "import os; os._exit(3)", "1.8")
    install(tmp_path, "tqdm", "raise ImportError('libfirst.so is missing')", "4.99")
    status, findings = run(tmp_path, tmp_path)
    assert status == 1
    said = {
        "ml_dtypes": "0.4.2, but 0.5 or newer is needed: pip install ml_dtypes",
        "islpy": "2026.1 cannot be imported: the process was ended by SIGABRT",
        "shtab": "1.8 cannot be imported: the process ended with exit code 3",
        "tqdm": "4.99 cannot be imported: ImportError: libfirst.so is missing",
    }
    # jax needs ml_dtypes.
    assert {name for name, each in statuses(findings, "packages").items() if each != "ok"} == {"jax", *said}
    assert [name for name, text in said.items() if not findings[name]["detail"].startswith(text)] == []


def test_packages_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = doctor._distribution  # noqa: SLF001  # what is looked up

    def known(name: str) -> Distribution | None:
        return None if name in ("numpy", "jaxlib", "zstandard") else find(name)

    monkeypatch.setattr(doctor, "_distribution", known)
    monkeypatch.setattr(doctor, "find_spec", lambda name: find_spec(name) if known(name) is not None else None)
    assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "broken   numpy              not installed: pip install numpy\n" in printed
    assert "missing  zstandard          not installed: pip install 'relayout[zstd]'\n" in printed
    assert "skipped  execution          needs jaxlib, numpy\n" in printed
    assert printed.endswith("\nbroken: jaxlib, numpy\n")


def test_a_system_without_a_sandbox_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; from dialect_utils.sandbox import enter_sandbox; sys.exit(enter_sandbox() is not None)"
    is_missing = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60).returncode
    assert doctor._sandbox().status == ("warning" if is_missing else "ok")  # noqa: SLF001  # one part alone
    monkeypatch.setattr(doctor, "_SANDBOX", "sys.exit('libseccomp cannot be loaded')")
    found = doctor._sandbox()  # noqa: SLF001
    assert found.status == "warning"
    assert found.detail.startswith("libseccomp cannot be loaded; without it, a process that reads files keeps")


def test_a_step_that_fails_is_broken_and_the_others_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MODULE", MODULE.replace("negate(t)", "negate(u)"))
    found = list(doctor._self_test(()))  # noqa: SLF001  # one part alone
    assert [each.status for each in found] == ["broken", *["skipped"] * 5]
    assert found[0].detail.startswith("DiagnosticError: <doctor>:7:")


def test_a_process_that_cannot_be_started_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/absent/python")
    errors = doctor._import_errors(["numpy", "jax"])  # noqa: SLF001  # one part alone
    assert set(errors) == {"numpy", "jax"}
    assert "No such file" in errors["numpy"]
    assert doctor._sandbox().status == "warning"  # noqa: SLF001


def test_a_finding_is_a_line() -> None:
    assert str(Finding("packages", "jax", "ok", "0.10.2")) == "  ok       jax                0.10.2"


def test_modules_without_current_bytecode_are_found(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    for name in ("compiled", "edited", "never", "hashed"):
        (package / f"{name}.py").write_text("x = 1\n")
    for name in ("compiled", "edited"):
        py_compile.compile(str(package / f"{name}.py"))
    py_compile.compile(str(package / "hashed.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    (package / "edited.py").write_text("x = 22\n")
    outdated, count = modules_to_compile(str(tmp_path), ("package",))
    assert ([Path(file).name for file in outdated], count) == (["edited.py", "never.py"], 4)


def test_a_tree_without_bytecode_is_a_warning_with_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command that the warning names compiles the tree."""
    for package in ("dialect_utils", "passes", "relayout"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    monkeypatch.setattr(doctor, "ROOT", str(tmp_path))
    before = next(each for each in doctor.examine() if each.name == "bytecode")
    assert before.status == "warning"
    assert before.detail.startswith("3 of 3 modules are not compiled")
    subprocess.run(shlex.split(before.detail.partition(": ")[2]), check=True)
    after = next(each for each in doctor.examine() if each.name == "bytecode")
    assert (after.status, after.detail) == ("ok", "all 3 modules are compiled")


def test_what_packages_add_is_listed(tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text(
        "from dataclasses import replace\n"
        "from dialect_utils.layout.targets.known import TARGETS\n"
        "ACME = replace(TARGETS['tpu-v5e'], name='acme-1')\n"
    )
    metadata = tmp_path / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[relayout.passes]\nexpand-tiling = acme:ACME\nabsent = acme:absent\n"
        "[relayout.targets]\nacme-1 = acme:ACME\ntpu-v5e = acme:ACME\nacme-2 = acme:ACME\n"
    )
    code, findings = run(tmp_path, tmp_path)
    assert code == 0
    assert statuses(findings, "added") == {
        "pass expand-tiling": "warning",
        "pass absent": "warning",
        "target acme-1": "ok",
        "target tpu-v5e": "warning",
        "target acme-2": "warning",
    }
    assert findings["target tpu-v5e"]["detail"] == "acme:ACME is ignored: the name is that of a built-in target"
    assert "cannot be loaded: AttributeError" in findings["pass absent"]["detail"]
    assert findings["target acme-2"]["detail"] == "acme:ACME is not a target called acme-2"
