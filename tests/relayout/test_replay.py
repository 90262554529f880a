"""`relayout check --certificate` and `relayout check --replay`: what they write, print and reject."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relayout.cli import main
from tests.verdict.replay.test_certificate import DOT, OTHER, PLAIN, SWAPPED, TRANSPOSED_TWICE


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Returns the paths of modules, and of a certificate that is not written yet."""
    for name, text in (("swapped", SWAPPED), ("dot", DOT), ("twice", TRANSPOSED_TWICE), ("plain", PLAIN)):
        (tmp_path / f"{name}.hlo").write_text(text)
    found = {path.stem: str(path) for path in tmp_path.iterdir()}
    return found | {"proof": str(tmp_path / "proof.json")}


def test_a_certificate_is_written_and_replayed(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    first, last, proof = (files[name] for name in ("swapped", "dot", "proof"))
    assert main(["check", first, last, "--engines", "proof", "--certificate", proof]) == 0
    assert ": equal up to [order of sums, NaN bits] (proof)" in capsys.readouterr().out
    assert main(["check", "--replay", first, last, proof]) == 0
    assert capsys.readouterr().out.startswith("equal up to [order of sums, NaN bits]: all ")
    assert main(["check", "--replay", first, last, proof, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["up_to"] == ["order of sums", "NaN bits"]


def test_a_certificate_of_other_modules_does_not_replay(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", files["swapped"], files["dot"], "--engines", "proof", "--certificate", files["proof"]]) == 0
    assert main(["check", "--replay", files["swapped"], files["swapped"], files["proof"]]) == 0
    capsys.readouterr()
    assert main(["check", "--replay", files["twice"], files["dot"], files["proof"]]) == 1
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(("required", "code"), [("equal", 3), ("equal-up-to", 0), ("agrees", 0), ("close", 0)])
def test_brackets_are_not_equal_without_brackets(files: dict[str, str], required: str, code: int) -> None:
    command = ["check", files["swapped"], files["dot"], "--engines", "proof", "--require", required]
    assert main(command) == code
    command[1:3] = [files["twice"], files["plain"]]
    assert main(command) == 0


def test_no_certificate_is_written_without_a_proof(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    Path(files["dot"]).write_text(OTHER)
    main(["check", files["swapped"], files["dot"], "--engines", "proof", "--certificate", files["proof"]])
    assert "is not written: the modules are not proved equal" in capsys.readouterr().err
    assert not Path(files["proof"]).exists()


def test_a_certificate_is_about_two_files(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", files["dot"], "-p", "expand-tiling", "--certificate", files["proof"]]
    assert main(command) == 2
    assert "--certificate is about two FILEs" in capsys.readouterr().err
