"""A copy of the tree in which mistakes are planted, and the runs of pytest in it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.paths import ROOT

COPIED = ("dialect_utils", "passes", "relayout", "tests", "examples", "lit_tests", "docs", "benchmarks")
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "dev-constraints.txt", "Makefile")
SECONDS = 300
PASSED, FAILED = 0, 1


def copy_of_the_tree(folder: Path) -> Path:
    """Returns a copy of the tree in a folder, beside a link to the data that some tests read."""
    tree = folder / "tree"
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    if (data := ROOT.parent / "shared").is_dir():
        (folder / "shared").symlink_to(data)
    return tree


@contextlib.contextmanager
def planted(file: Path, code: str) -> Iterator[None]:
    """Gives a file another code for the time of a `with` block."""
    original = file.read_text("utf-8")
    file.write_text(code, "utf-8")
    forget_compiled(file)
    try:
        yield
    finally:
        file.write_text(original, "utf-8")
        forget_compiled(file)


def forget_compiled(file: Path) -> None:
    """Removes the compiled file: Python compares sizes and whole seconds only."""
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


def run_tests(tree: Path, tests: Sequence[str], seconds: float = SECONDS) -> tuple[int, str]:
    """Returns pytest's exit code and output; a run that exceeds the time limit counts as failed tests."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "JAX_PLATFORMS": "cpu"}
    # A session of its own, so that an endless run is killed together with its worker processes.
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return FAILED, ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, output
