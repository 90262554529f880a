"""Runs every command and Python snippet of the README, as a reader would, in the repository's root."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKE_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    text = "\n".join(blocks("sh")).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def is_make(command: str) -> bool:
    return command.startswith("make ")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Looks like the repository's root, but what commands write there does not reach it."""
    for entry in ROOT.iterdir():
        if entry.name != ".git":
            (tmp_path / entry.name).symlink_to(entry)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "relayout").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relayout "$@"\n')
    (tools / "relayout").chmod(0o755)
    return tmp_path


def run(command: str, checkout: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(checkout / "tools"), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        ["bash", "-c", command], cwd=checkout, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("command", [command for command in commands() if not is_make(command)])
def test_command_runs(command: str, checkout: Path) -> None:
    result = run(command, checkout)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("command", [command for command in commands() if is_make(command)])
def test_make_target_exists(command: str) -> None:
    words = [word for word in command.split("#")[0].split()[1:] if "=" not in word]
    assert set(words) <= MAKE_TARGETS


@pytest.mark.parametrize("snippet", blocks("python"))
def test_snippet_runs(snippet: str, checkout: Path) -> None:
    (checkout / "snippet.py").write_text(snippet)
    result = run(f"{sys.executable} snippet.py", checkout)
    assert result.returncode == 0, result.stdout + result.stderr


def test_modules_are_examples_or_what_a_command_prints(checkout: Path) -> None:
    printed = [run(command, checkout).stdout for command in commands() if command.startswith("relayout opt")]
    known = [*printed, *(file.read_text("utf-8") for file in (ROOT / "examples").glob("*.hlo"))]
    shown = blocks("hlo")
    assert shown
    assert [module for module in shown if module not in known] == []


def test_a_failing_command_is_noticed(checkout: Path) -> None:
    assert run("relayout op", checkout).returncode == 2
    assert {"make demo", "make test"} <= set(commands())
