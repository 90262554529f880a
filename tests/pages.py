"""Runs a page of Markdown as a reader would: commands and Python in their order, and compares what they print.

- ```` ```sh ````: commands. `relayout` runs in this process, `make` and `pip install` are looked up, others go to bash.
- ```` ```python ````: statements, in one namespace for the page.
- ```` ```py ````: statements that need more than this project's dependencies. Only their types are checked.
- ```` ```LANGUAGE title="PATH" ````: a file, written there.
- ```` ```text ````, and `hlo` or `mlir` without a title: lines that the code before printed, in their order.

Blocks that are indented, or of another language, are for reading.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from relayout.cli import main
from tests.paths import ROOT

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
_SHOWN = ("text", "hlo", "mlir")
_MAKE_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
_TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, the file it is (empty: none), its text."""

    language: str
    title: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Returns the lines of a shell block, continued ones joined, without comments."""
        lines = (line.strip() for line in self.text.replace("\\\n", " ").splitlines())
        return [line for line in lines if line and not line.startswith("#")]


def blocks(text: str) -> list[Block]:
    """Returns the fenced blocks of a page."""
    return [Block(*found.groups(default="")) for found in _BLOCK.finditer(text)]


class Example(NamedTuple):
    """A docstring of the product that shows an example, with its owner's name and module."""

    module: str
    name: str
    text: str


def examples() -> Iterator[Example]:
    """Yields the docstrings with examples of the product."""
    for package in ("dialect_utils", "passes", "relayout"):
        for file in sorted((ROOT / package).rglob("*.py")):
            text = file.read_text("utf-8")
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            for node in ast.walk(ast.parse(text)) if ">>> " in text else ():
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and ">>> " in (ast.get_docstring(node) or ""):
                    yield Example(module, node.name, ast.get_docstring(node) or "")


def checkout(folder: Path) -> Path:
    """Makes a folder look like the repository's root; what is written there does not reach it."""
    for entry in ROOT.iterdir():
        if entry.name not in (".git", "build"):
            (folder / entry.name).symlink_to(entry)
    return folder


@dataclass
class Reader:
    """A reader who works through a page in an empty folder."""

    folder: Path
    printed: str = ""
    paths: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    def work_through(self, text: str) -> None:
        """Executes a page; raises AssertionError where it does not hold."""
        with _directory(self.folder):
            for block in blocks(text):
                self._take(block)

    def _take(self, block: Block) -> None:
        if block.title:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            self.printed = "".join(self.run(command) for command in block.commands)
        elif block.language == "python":
            with _captured() as printed:
                exec(compile(block.text, "page", "exec"), self.names)
            self.printed = printed.getvalue()
        elif block.language in _SHOWN:
            missing = first_missing(block.text, self.printed)
            assert missing is None, f"not printed: {missing!r}\n{self.printed}"

    def run(self, command: str) -> str:
        """Runs a command, which must succeed, and returns what it printed."""
        words = shlex.split(command, comments=True)
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= _MAKE_TARGETS, command
            return ""
        if words[:2] == ["pip", "install"]:
            assert is_installable(words[-1], self.folder), command
            self._install(self.folder / words[-1])
            return ""
        status, printed = self.try_run(command)
        assert status == 0, f"{command}\n{printed}"
        return printed

    def _install(self, project: Path) -> None:
        """Makes a project's modules and entry points known to what is started from now on, as pip does."""
        if not (project / "pyproject.toml").is_file():
            return
        described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if described["name"] == "relayout":
            return  # the tests run in its environment
        metadata = self.folder / ".site" / f"{described['name']}-{described['version']}.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Name: {described['name']}\nVersion: {described['version']}\n")
        groups = [
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in described["entry-points"].items()
        ]
        (metadata / "entry_points.txt").write_text("\n".join(groups))
        self.paths += [str(metadata.parent), str(project)]

    def try_run(self, command: str) -> tuple[int, str]:
        """Runs a command and returns its exit status and what it printed."""
        words = shlex.split(command, comments=True)
        if words[0] == "relayout" and not self.paths and not set("|<>$;&") & set(re.sub(r"'[^']*'", "", command)):
            with _captured() as printed:
                status = main(words[1:])
            return status, printed.getvalue()
        return self._in_shell(command)

    def _in_shell(self, command: str) -> tuple[int, str]:
        tools = self.folder / ".tools"
        if not tools.exists():
            tools.mkdir()
            (tools / "relayout").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relayout "$@"\n')
            (tools / "relayout").chmod(0o755)
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        python_path = os.pathsep.join([*self.paths, str(ROOT)])
        done = subprocess.run(
            ["bash", "-c", command],
            env={**os.environ, "PATH": path, "PYTHONPATH": python_path, "JAX_PLATFORMS": "cpu"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_SECONDS,
        )
        return done.returncode, done.stdout


def is_installable(requirement: str, folder: Path) -> bool:
    """Is true for this project with extras that it has, and for a folder that is a project."""
    if (folder / requirement / "pyproject.toml").is_file():
        return True
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, _, extra = requirement.rstrip("]").partition("[")
    return name == project["name"] and (not extra or extra in project["optional-dependencies"])


def first_missing(wanted: str, printed: str) -> str | None:
    """Returns the first line that was not printed after those before it, or None; blank lines and `...` say nothing."""
    lines = iter([line.rstrip() for line in printed.splitlines()])
    for line in wanted.splitlines():
        said = line.rstrip()
        if said not in ("", "...") and said not in lines:
            return said
    return None


@contextlib.contextmanager
def _directory(folder: Path) -> Iterator[None]:
    """Works in a folder, at a terminal as wide as none at all is taken for: pages show whole lines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        yield


class _Output(io.TextIOWrapper):
    """Standard output kept in memory, as text or as bytes."""

    def getvalue(self) -> str:
        self.flush()
        kept = self.buffer
        assert isinstance(kept, io.BytesIO)
        return kept.getvalue().decode()


@contextlib.contextmanager
def _captured() -> Iterator[_Output]:
    """Keeps what is printed, diagnostics too."""
    output = _Output(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        yield output
