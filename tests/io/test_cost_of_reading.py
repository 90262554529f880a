"""The memory and the time of reading are bounded by the size of a file, over all corpora."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from tests.campaign_ratio import read_and_print
from tests.paths import OWN_CORPUS, ROOT, SHARED_DATA

# docs/security.md states these.
MEMORY_BYTES_PER_BYTE = 60
MEMORY_AT_MOST_FOR_ANY_FILE = 40 << 20
SECONDS_PER_MEGABYTE = 20
SECONDS_FOR_ANY_FILE = 0.5
_SUFFIXES = (".hlo", ".mlir", ".mlirbc")


def modules_in(*folders: Path) -> list[Path]:
    return sorted(
        file for folder in folders for suffix in _SUFFIXES for file in folder.rglob(f"*{suffix}") if file.is_file()
    )


def assert_bounded(files: list[Path]) -> None:
    command = [sys.executable, "-m", "tests.campaign_ratio", "--files", *map(str, files)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    assert len(printed) == len(files)
    expensive = []
    for line in printed:
        size, memory, seconds, path = line.split(" ", 3)
        most = MEMORY_AT_MOST_FOR_ANY_FILE + MEMORY_BYTES_PER_BYTE * int(size)
        is_slow = float(seconds) > SECONDS_FOR_ANY_FILE + SECONDS_PER_MEGABYTE * int(size) / 1e6
        if int(memory) > most or is_slow:
            expensive.append(f"{path}: {size} bytes take {memory} bytes of memory and {seconds} s")
    assert expensive == []


def chosen(files: list[Path]) -> list[Path]:
    """Returns the largest files and one in twenty of the others; all with RELAYOUT_RATIO=1 (make campaign-ratio)."""
    if os.environ.get("RELAYOUT_RATIO") == "1":
        return files
    return sorted({*sorted(files, key=lambda file: -file.stat().st_size)[:30], *files[::20]})


def test_the_own_corpora_are_read_in_proportion_to_their_bytes() -> None:
    files = chosen(modules_in(OWN_CORPUS, ROOT / "examples"))
    assert len(files) > 40
    assert_bounded(files)


@pytest.mark.shared(SHARED_DATA / "corpus")
def test_other_corpora_are_read_in_proportion_to_their_bytes() -> None:
    assert_bounded(chosen([file for file in modules_in(SHARED_DATA / "corpus") if "hostile" not in str(file)]))


def test_an_expensive_file_is_found(tmp_path: Path) -> None:
    """A compressed text costs more than its own bytes allow: a planted error."""
    lines = "".join(f"  a{i} = f32[4]{{0}} negate(p)\n" for i in range(100_000))
    text = f"HloModule m\n\nENTRY e {{\n  p = f32[4]{{0}} parameter(0)\n{lines}  ROOT r = f32[4]{{0}} negate(p)\n}}\n"
    file = tmp_path / "m.hlo"
    file.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(AssertionError, match="bytes of memory"):
        assert_bounded([file])


@pytest.mark.parametrize("line", ["\n", "// x\n", "          \n", "x\n", "}\n", "e {\n", "HloModule a,\n", "a b {\n"])
@pytest.mark.parametrize("before", ["HloModule m\n", "log\nHloModule a,\n", "HloModule m\n\nENTRY e {\n"])
def test_short_lines_take_memory_in_proportion(before: str, line: str) -> None:
    """The bytes allocated for each byte of a text, with room for its copy as a string."""
    data = (before + line * (100_000 // len(line))).encode()
    read_and_print(data[:2000])
    tracemalloc.start(1)
    try:
        read_and_print(data)
        assert tracemalloc.get_traced_memory()[1] < 25 * len(data)
    finally:
        tracemalloc.stop()
