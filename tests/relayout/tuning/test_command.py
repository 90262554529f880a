"""`relayout tune`: wrong commands, and a search with the TPU compiler where libtpu is installed."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from dialect_utils import processes
from relayout.cli import main
from relayout.tuning import solver
from tests.relayout.tuning.compilers import GATHER, PROGRAM

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
        (["m.mlir", "--target", "tpu-v5e", "--jobs", "16"], "at most 15 programs are compiled at once"),
        (
            ["m.mlir", "--target", "tpu-v5e", "--no-cache", "--trials", "t.json"],
            "--no-cache has no effect with --trials",
        ),
        (["m.mlir", "--target", "tpu-v5e", "--model-only", "--jobs", "2"], "--jobs has no effect with --model-only"),
        (
            ["m.mlir", "--target", "tpu-v5e", "--model-only", "--inside", "2"],
            "--inside has no effect with --model-only",
        ),
        (["m.mlir", "--target", "gpu-h100", "--inside", "2"], "--inside is for TPUs"),
        (["absent.mlir", "--target", "tpu-v5e"], "no such file"),
    ],
)
def test_a_wrong_command_is_told(
    arguments: list[str], message: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_file_of_trials_is_not_written_over(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = '{\n "relayout trials": 3,\n "trials": {}\n}\n'
    Path("t.json").write_text(written)
    assert main(["tune", "m.mlir", "--target", "tpu-v5e", "--trials", "t.json"]) == 2
    assert "--trials t.json is there already" in capsys.readouterr().err
    assert Path("t.json").read_text() == written


@pytest.mark.skipif(find_spec("libtpu") is not None, reason="libtpu is installed")
def test_without_libtpu_the_command_names_the_extra(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "m.mlir", "--target", "tpu-v5e"]) == 1
    assert "pip install 'relayout[tpu]'" in capsys.readouterr().err


def test_without_highs_the_command_names_the_extra(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solver, "find_spec", lambda name: None)
    assert main(["tune", "m.mlir", "--target", "tpu-v5e", "--model-only"]) == 1
    said = capsys.readouterr().err
    assert "HiGHS, which solves the model of layouts, is not installed" in said
    assert "pip install 'relayout[tpu]'" in said


def test_the_model_alone_finds_a_smaller_program_and_proves_it(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(GATHER.replace("50x", "50000x"))
    assert main(["tune", "m.mlir", "--target", "tpu-v5e", "--model-only", "-o", "best.mlir"]) == 0
    page = capsys.readouterr().out
    assert "tpu-v5e, modelled: no program was compiled" in page
    assert "best modelled peak: split-minor\n  equal (proof)" in page
    assert main(["check", "m.mlir", "best.mlir", "--engines", "proof"]) == 0
    capsys.readouterr()
    assert main(["tune", "m.mlir", "--target", "tpu-v5e", "--model-only", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    best, start = found["changes"][found["best"]], found["changes"][0]
    assert best["change"]["passes"] == "split-minor"
    # 50,000 rows of 3 are stored in 128 elements each.
    assert start["peak"] > 50000 * 128 * 4 > 10 * best["peak"]


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


@needs_libtpu
def test_the_cache_keeps_figures_for_a_larger_budget(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RELAYOUT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("RELAYOUT_CACHE", raising=False)
    assert main(["tune", "m.mlir", "--target", "tpu-v5e", "--budget", "3", "--jobs", "2"]) == 0
    first = capsys.readouterr()
    # Without a compiler the three programs still have figures.
    monkeypatch.setitem(processes.PROGRAMS, processes.COMPILER, "no.such.module")
    assert main(["tune", "m.mlir", "--target", "tpu-v5e", "--budget", "3"]) == 0
    assert capsys.readouterr() == first
    assert main(["tune", "m.mlir", "--target", "tpu-v5e", "--budget", "3", "--no-cache"]) == 0
    assert "the compiler's process ended" in capsys.readouterr().out
