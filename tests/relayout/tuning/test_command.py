"""`relayout tune`: wrong commands, and a search with the TPU compiler where libtpu is installed."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from relayout.cli import main
from tests.relayout.tuning.compilers import PROGRAM

needs_libtpu = pytest.mark.skipif(
    find_spec("libtpu") is None, reason="libtpu, the extra relayout[tpu], is not installed"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.mlir").write_text(PROGRAM)
    return tmp_path / "m.mlir"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.mlir"], "expected a --target"),
        (["m.mlir", "--target", "tpu-v99"], "unknown target"),
        (["m.mlir", "--target", "tpu-v5e", "--resume"], "--trials FILE names it"),
        (["m.mlir", "--target", "tpu-v5e", "--objective", "speed"], "speed is not one of peak, bytes, time"),
        (["m.mlir", "--target", "tpu-v5e", "-o", "m.mlir.gz"], "what is written is not compressed"),
        (["m.mlir", "--target", "tpu-v5e", "-o", "-", "--json"], "both print on standard output"),
        (
            ["m.mlir", "--target", "tpu-v5e", "--width", "90", "--json"],
            "--width has no effect where no page",
        ),
        (["absent.mlir", "--target", "tpu-v5e"], "no such file"),
    ],
)
def test_a_wrong_command_is_told(
    arguments: list[str], message: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(find_spec("libtpu") is not None, reason="libtpu is installed")
def test_without_libtpu_the_command_names_the_extra(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "m.mlir", "--target", "tpu-v5e"]) == 1
    assert "pip install 'relayout[tpu]'" in capsys.readouterr().err


@needs_libtpu
def test_a_program_is_tuned_and_a_second_search_compiles_nothing(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["tune", "m.mlir", "--target", "tpu-v5e", "--budget", "3", "--trials", "t.json", "-o", "best.mlir"]
    assert main(command) == 0
    first = capsys.readouterr()
    assert "3 programs compiled" in first.out
    assert "as it is: peak" in first.err
    assert len(json.loads(Path("t.json").read_text())["trials"]) == 3
    assert main(["check", "m.mlir", "best.mlir", "--engines", "proof"]) == 0
    Path("t.json").write_text(Path("t.json").read_text().replace('"peak": ', '"peak": 7'))
    assert main([*command, "--resume", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert all(str(each["peak"]).startswith("7") for each in found["trials"])
