"""`relayout explain` lists and prints the kernels of a dump."""

from __future__ import annotations

from pathlib import Path

import pytest

from relayout.cli import main
from tests.mosaic.kernels import TRIPLED, call_of


@pytest.fixture
def dump(tmp_path: Path) -> str:
    file = tmp_path / "dump.hlo"
    file.write_text(call_of(TRIPLED))
    return str(file)


def test_kernels_are_listed(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", dump, "--list-kernels"]) == 0
    assert capsys.readouterr().out == "k  @tripled  grid 3 arbitrary  8 ops\n"


@pytest.mark.parametrize("name", ["k", "tripled"])
def test_a_kernel_is_printed_by_either_name(dump: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", dump, "--kernel", name]) == 0
    printed = capsys.readouterr().out
    assert "k: kernel @tripled, 8 ops\n  grid             3 arbitrary\n" in printed
    assert "func.func @rows" in printed


def test_an_unknown_kernel_gets_the_nearest_name(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", dump, "--kernel", "triple"]) == 1
    assert "did you mean tripled?" in capsys.readouterr().err


def test_a_dump_without_kernels_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "examples/attention.hlo", "--list-kernels"]) == 0
    assert "holds no kernels" in capsys.readouterr().out
