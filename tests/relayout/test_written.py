"""Outputs of commands: never over an input or a foreign file, and a file of results is written by one command."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from relayout.cli import COMMANDS, FORMS, main, parser_of
from relayout.options import WRITTEN, declared
from tests.paths import ROOT

_MODULE = (ROOT / "examples" / "negate.hlo").read_text()
_PASSES = "-p strip-layouts"
_ROW = b'{"name": "a.hlo", "sha256": "0", "command": "opt", "options": "{}", "version": "1", "exit_code": 0}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.hlo", "red.a.hlo", "red.hlo", "d/a.hlo", "d/b.hlo"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(_MODULE)
    (tmp_path / "red.b.hlo").write_text(_MODULE.replace("negate(", "abs("))
    (tmp_path / "link.hlo").symlink_to("a.hlo")
    (tmp_path / "same.hlo").hardlink_to("a.hlo")
    (tmp_path / "into").symlink_to("d", target_is_directory=True)
    like = "strip-layouts,annotate-layouts{like=red.hlo}"
    (tmp_path / "pipelines.toml").write_text(f'[x]\npasses = "strip-layouts"\n[y]\npasses = "{like}"\n')
    (tmp_path / "pairs.txt").write_text("a.hlo red.a.hlo\n")
    (tmp_path / "finds.sh").write_text("grep -q negate $1\n")
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "_METADATA").write_text("{}")
    np.savez(tmp_path / "i.npz", in0=np.ones((3, 5), "f4"))
    return tmp_path


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize(
    "line",
    [
        *(f"opt {file} {_PASSES} -o {out}" for file, out in [
            ("a.hlo", "a.hlo"), ("link.hlo", "a.hlo"), ("a.hlo", "link.hlo"), ("a.hlo", "same.hlo"),
            ("a.hlo", "./d/../a.hlo"), ("d", "d/"), ("d", "into/"), ("d/a.hlo d/b.hlo", "d"), ("d/*.hlo", "d"),
            ("d", "{folder}/d"), ("a.hlo", "file://{folder}/a.hlo"),
        ]),
        *(f"opt a.hlo {_PASSES} --{option} {file}" for option in ("junit", "sarif") for file in ("a.hlo", "same.hlo")),
        f"opt a.hlo {_PASSES} --results a.hlo --resume",
        *(f"opt a.hlo --pipelines pipelines.toml -p x {way} pipelines.toml" for way in ("-o", "--junit", "--sarif")),
        *(f"run a.hlo --{way} i.npz --outputs i.npz" for way in ("inputs", "expect", "inputs in0=i.npz --expect")),
        "run a.hlo --constants like=red.hlo --outputs red.hlo",
        "run a.hlo --explain red.hlo --outputs red.hlo",
        "run a.hlo --inputs checkpoint --outputs checkpoint/_METADATA",
        "check a.hlo red.a.hlo --certificate a.hlo",
        "check a.hlo red.a.hlo --certificate red.a.hlo",
        *(f"check --pairs pairs.txt {way}" for way in (
            "--junit pairs.txt", "--junit red.a.hlo", "--sarif a.hlo", "--results pairs.txt --resume",
        )),
        "check d into --sarif d/b.hlo",
        "convert a.hlo --to stablehlo -o a.hlo",
        "convert a.hlo --to pb -o same.hlo",
        "convert d --to hlo -o d/",
        "extract a.hlo y -o link.hlo",
        "reduce red.a.hlo red.b.hlo -o red",
        "reduce red.hlo --oracle 'sh finds.sh {}' -o red",
        "reduce red.a.hlo --oracle 'sh finds.sh {}' -o d/../red.a",
        "report a.hlo --against d -o d/a.hlo",
        "validate a.hlo --target cpu --junit a.hlo",
        "validate d --sarif d/b.hlo",
        "bisect a.hlo -o a.hlo",
        "opt a.hlo -p 'strip-layouts,annotate-layouts{like=red.hlo}' -o red.hlo",
        "tune a.hlo --target tpu-v5e --trials a.hlo",
    ],
)  # fmt: skip
@pytest.mark.parametrize("force", ["", " --force"])
def test_no_output_replaces_an_input(line: str, force: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = _contents(folder)
    status = main(shlex.split(line.replace("{folder}", str(folder)) + force))
    after = _contents(folder)
    assert after == before
    assert (
        status,
        re.search("would overwrite the input|holds something else", capfd.readouterr().err) is not None,
    ) == (2, True)


@pytest.mark.parametrize("way", ["-o red.hlo", "-o ./d/../red.hlo --force", "--junit red.hlo --force"])
def test_a_file_that_only_a_file_of_pipelines_names_is_an_input(
    way: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = _contents(folder)
    assert main(["opt", "a.hlo", "--pipelines", "pipelines.toml", "-p", "y", *way.split()]) in (1, 2)
    assert "would overwrite the input" in capfd.readouterr().err
    assert _contents(folder) == before


def test_the_files_of_standard_streams_are_inputs(folder: Path) -> None:
    for redirection in ("< a.hlo -o a.hlo", "a.hlo >> a.hlo", "- < a.hlo >> a.hlo"):
        line = f"{shlex.quote(sys.executable)} -m relayout opt {redirection}"
        ended = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
        assert (ended.returncode, (folder / "a.hlo").read_text()) == (2, _MODULE), ended.stderr


_WRITING = {
    "-o m.hlo": f"opt a.hlo {_PASSES}",
    "-o out/": f"opt d {_PASSES}",
    "--junit j.xml": "opt a.hlo",
    "--sarif s.json": "opt a.hlo",
    "--certificate c.json": "check a.hlo red.a.hlo --engines proof",
    "--outputs o.npz": "run a.hlo --no-cache",
    "-o m.mlir": "convert a.hlo --to stablehlo",
    "-o m.mlirbc": "convert a.hlo --to bytecode",
    "-o m.hlo.pb": "convert a.hlo --to pb",
    "-o part.hlo": "extract a.hlo y",
    "--dump-dir dumped": f"opt a.hlo {_PASSES}",
    "-o e.txt": "explain 'f32[3,5]'",
    "-o d.svg": "explain 'f32[3,5]{1,0:T(2,2)}'",
    **{f"-o r.{ending}": "report a.hlo" for ending in ("html", "json", "parquet", "dot", "nodes")},
    "-o pages/": "report d",
    **{f"-o old.{ending}": "report a.hlo --against red.b.hlo" for ending in ("html", "json")},
}  # fmt: skip


@pytest.mark.parametrize(("way", "line"), _WRITING.items())
def test_a_command_replaces_its_own_kind_of_file_and_others_with_force_only(
    way: str, line: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = shlex.split(f"{line} {way}")
    before = _contents(folder)
    status = main(command)
    made = [each for each in _contents(folder) if each not in before]
    assert (status, main(command)) == (0, 0), capfd.readouterr().err
    for each in made:
        (folder / each).write_text("Notes of the user, by hand.\n")
    assert made
    assert main(command) != 0
    assert "--force replaces it" in capfd.readouterr().err
    assert {(folder / each).read_text() for each in made} == {"Notes of the user, by hand.\n"}
    assert main([*command, "--force"]) == 0


def test_two_options_never_name_one_file(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "a.hlo", "--junit", "x", "--sarif", "./x"]) == 2
    assert "--junit and --sarif both write ./x" in capfd.readouterr().err
    assert main(["opt", "a.hlo", "--junit", "/dev/null", "--sarif", "/dev/null"]) == 0


def test_rows_are_added_to_rows_only(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept = [b"notes", b'{"mine": 1}\n', b'{"name": "x"}', b'{"name": "x"}\n', _ROW, _ROW + b"\n", b"PAR1 or not"]
    for content in kept:
        for name in ("t.jsonl", "t.parquet"):
            (folder / name).write_bytes(content)
            assert main(["opt", "a.hlo", "--results", name, "--resume", "--force"]) in (1, 2)
            assert (folder / name).read_bytes() == content
    assert "internal" not in capfd.readouterr().err


@contextmanager
def _waiting(table: str) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a command that holds the lock of a table, and waits for standard input."""
    line = [sys.executable, "-m", "relayout", "opt", "-", "--results", table]
    with subprocess.Popen(line, stdin=subprocess.PIPE) as held:
        while not any(each.read_bytes() for each in Path().glob(".relayout-*.lock")):
            assert held.poll() is None
        yield held
        held.kill()


@pytest.mark.parametrize("option", ["results", "junit", "sarif", "certificate", "outputs", "output"])
def test_a_file_of_results_is_written_by_one_command(
    option: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = {"certificate": "check a.hlo red.a.hlo", "outputs": "run a.hlo"}.get(option, "opt a.hlo")
    line = [*command.split(), f"--{option}", "./t.jsonl"]
    # Its units come from a pipe that this test does not close.
    with _waiting("t.jsonl") as held:
        assert main(line) == 2
    assert f"is written by another command (process {held.pid} on " in capfd.readouterr().err
    (folder / "t.jsonl").unlink(missing_ok=True)
    assert not (folder / "t.jsonl").exists()
    assert main(line) == 0
    assert not list(folder.glob(".relayout-*"))


def test_a_killed_command_leaves_no_lock(folder: Path) -> None:
    with _waiting("t.jsonl") as held:
        held.kill()
    assert main(["opt", "a.hlo", "--results", "t.jsonl"]) == 0
    assert not list(folder.glob(".relayout-*"))


def test_a_number_of_trials_names_no_file(folder: Path) -> None:
    (folder / "500").write_text("notes\n")
    assert main(["reduce", "a.hlo", "red.a.hlo"]) == 1


def test_every_option_that_names_a_file_is_known(folder: Path) -> None:
    reads = {"files", "pairs", "pipelines", "placements", "inputs", "expect", "explain", "constants", "against"}
    for name in (*COMMANDS, *FORMS):
        for each in declared(parser_of(name).kind):
            named = each.options[0].metavar in ("OUT", "DIR", "PREFIX") or "FILE" in each.options[0].metavar
            if named and not each.options[0].is_positional:
                assert (each.name in WRITTEN) != (each.name in {*reads, "sharded"}), (name, each.name)
