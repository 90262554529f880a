"""A copy of the tree in which mistakes are planted, and the runs of its tests."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.paths import ROOT

COPIED = ("dialect_utils", "passes", "relayout", "tests", "examples", "lit_tests", "docs", "benchmarks")
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "dev-constraints.txt", "Makefile")
SECONDS = 300
PASSED, FAILED = 0, 1
LIT = "lit_tests/"
LIT_PROGRAM = ("-c", "from lit.main import main; main()")


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


def lit_files(tree: Path) -> list[str]:
    """Returns the lit tests of a tree."""
    suffixes = (".hlo", ".mlir", ".test")
    found = (file for file in sorted((tree / LIT).rglob("*")) if file.suffix in suffixes)
    return [file.relative_to(tree).as_posix() for file in found if "Inputs" not in file.parts]


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
    """Runs tests of pytest, then lit files, until one fails; returns the exit code and the output.

    A run that exceeds the time limit counts as failed tests.
    """
    lit = [test for test in tests if test.startswith(LIT)]
    if rest := [test for test in tests if not test.startswith(LIT)]:
        names = tree.parent / f"{tree.name}.tests"
        names.write_text("\n".join(rest), "utf-8")
        code, output = run(tree, ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"@{names}"], seconds)
        if code != PASSED or not lit:
            return code, output
    return run(tree, [*LIT_PROGRAM, "-q", "-j1", "--max-failures=1", *lit], seconds)


def run(
    tree: Path, arguments: Sequence[str], seconds: float | None = None, more: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Runs Python in the tree and returns the exit code and the output."""
    # A session of its own, so that an endless run is killed together with its worker processes.
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "JAX_PLATFORMS": "cpu", **(more or {})},
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
