"""Rows of results: their content, resumed runs, and that no row is lost, doubled or out of date."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import relayout
from dialect_utils.io.remote import existing_urls, remove_url
from relayout.batch import results
from relayout.batch.results import ResultsFile
from relayout.cli import main
from tests.paths import ROOT

NAMES = [f"m{number}.hlo" for number in range(6)]


def row(name: str, **others: Any) -> dict[str, Any]:
    given = {"name": name, "sha256": "0", "command": "opt", "options": "{}", "version": "1", "exit_code": 0}
    return {**given, "seconds": 0.5, "output": "o", "diagnostics": "", "figures": {"a": 1}, **others}


@pytest.fixture(params=["r.jsonl", "r.parquet", "memory://results/r.jsonl", "memory://results/r.parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    name: str = request.param
    yield name if "://" in name else str(tmp_path / name)
    if "://" in name:
        for url in existing_urls("memory://results/*"):
            remove_url(url)


def test_rows_survive_in_parts_until_they_are_whole(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "_ROWS_PER_PART", 2)
    first = ResultsFile(path)
    assert not first.exists()
    for name in "abc":
        first.add(row(name))
    # Two of the rows are in a part; the third is lost with the process.
    second = ResultsFile(path)
    assert second.exists()
    assert [each["name"] for each in second.rows()] == ["a", "b"]
    second.add(row("a", output="\udcff later"))
    second.add(row("c"))
    second.complete(["c", "a", "b", "absent"])
    third = ResultsFile(path)
    assert [each["name"] for each in third.rows()] == ["c", "a", "b"]
    assert third.rows()[1]["output"].endswith(" later")
    assert third.rows()[0] == row("c")
    assert third._parts() == []  # noqa: SLF001 (no part is left beside the file)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_goes_on_by_content_options_and_version(
    folder: Path,
    jobs: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    def run(*more: str, passes: str = "expand-tiling") -> int:
        return main(["opt", str(folder), "-p", passes, "--jobs", jobs, "--results", str(table), *more])

    table = tmp_path_factory.mktemp("results") / "table.jsonl"
    assert run() == 1
    output, errors = capfd.readouterr()
    assert output == ""
    assert errors.endswith("table.jsonl: 6 rows, 1 with exit code 1\n")
    rows = read(table)
    assert [Path(each["name"]).name for each in rows] == NAMES
    assert [each["exit_code"] for each in rows] == [0, 0, 1, 0, 0, 0]
    assert "m2.hlo" in rows[2]["diagnostics"]
    assert "pad(p" in rows[0]["output"]
    assert rows[0]["figures"]["modified"] is True
    assert run() == 2
    assert "--resume goes on with it" in capfd.readouterr().err

    # Seconds distinguish a new row from an old one.
    (folder / "m3.hlo").write_text((folder / "m3.hlo").read_text().replace("negate", "abs"))
    assert run("--resume") == 1
    again = read(table)
    assert [each["seconds"] for each in again[:3]] == [each["seconds"] for each in rows[:3]]
    assert "abs(" in again[3]["output"]
    assert len(again) == 6

    assert run("--resume", passes="strip-layouts") == 1
    other = read(table)
    assert all("pad(" not in each["output"] for each in other)
    monkeypatch.setattr(results, "__version__", "later")
    run("--resume", passes="strip-layouts")
    assert {each["version"] for each in read(table)} == {"later"}


def test_a_file_that_cannot_hold_results_is_rejected_before_any_work(
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for arguments, message in (
        (["--results", "x.csv"], "no known ending"),
        (["--resume"], "there is none"),
        ([str(folder / "m0.hlo"), "--results", str(folder / "x.jsonl")], "is named twice"),
    ):
        assert main(["opt", str(folder), *arguments]) == 2
        assert message in capfd.readouterr().err


def test_a_report_of_many_dumps_has_a_row_of_figures_for_each(
    folder: Path, capfd: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    from pyarrow import parquet

    table = tmp_path_factory.mktemp("results") / "table.parquet"
    padded = str(ROOT / "examples/forces_tpu.hlo")
    arguments = ["report", str(folder), padded, "--fail-if", "peak > 1 GiB", "--jobs", "2", "--results", str(table)]
    assert main(arguments) == 1
    assert capfd.readouterr().out == ""
    rows = parquet.read_table(table).to_pylist()
    assert [each["exit_code"] for each in rows] == [0, 0, 1, 0, 0, 0, 1]
    assert "m2.hlo" in rows[2]["diagnostics"]
    assert rows[2]["peak_bytes"] is None
    last = relayout.report(padded)
    # Each column of numbers is the figure of the report.
    figures = {name: value for name, value in last.totals().items() if isinstance(value, int | float)}
    assert {name: rows[-1][name] for name in figures} == figures
    assert rows[-1]["fit"] == last.fit
    assert rows[-1]["copies"] == sum(each.opcode.startswith("copy") for each in last.relayouts)
    assert rows[-1]["waste_bytes"] == max(each.padding_bytes for each in last.buffers)
    assert rows[-1]["waste_source"] == "make_examples.py:75"
    assert "peak > 1 GiB" in rows[-1]["diagnostics"]
    assert main([*arguments, "--resume"]) == 1
    assert parquet.read_table(table).to_pylist() == rows


def test_causes_have_a_row_for_each_program_of_a_directory(folder: Path, tmp_path: Path) -> None:
    dump, table = tmp_path / "dump", tmp_path / "causes.jsonl"
    for program in "fg":
        for stage in ("before_optimizations", "after_optimizations"):
            name = f"module_0000.jit_{program}.{stage}.txt"
            dump.mkdir(exist_ok=True)
            (dump / name).write_text((folder / "m0.hlo").read_text())
    assert main(["report", "--why", str(dump), "--jobs", "2", "--results", str(table)]) == 0
    assert [each["name"] for each in read(table)] == [
        " and ".join(
            str(dump / f"module_0000.jit_{program}.{stage}_optimizations.txt") for stage in ("before", "after")
        )
        for program in "fg"
    ]
    assert all("causes" in each["figures"] for each in read(table))


@pytest.mark.parametrize("command", [["check", "-p", "strip-layouts"], ["report"]])
def test_an_interrupted_batch_says_how_it_goes_on(command: list[str], folder: Path, tmp_path: Path) -> None:
    for number in range(6, 400):
        (folder / f"m{number}.hlo").write_text((folder / "m0.hlo").read_text())
    table = tmp_path / "table.jsonl"
    words = [*command, str(folder), "--jobs", "1", "--results", str(table)]
    program = [sys.executable, "-m", "relayout", *words]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stderr is not None
        # The error of m2.hlo is printed when the batch is under way.
        while "m2.hlo" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 128 + signal.SIGINT
    found = re.search(r"table\.jsonl has (\d+) of 400 rows", said)
    assert found is not None, said
    assert "the same command with --resume goes on" in said
    rows = [row for part in sorted(tmp_path.glob("table.jsonl.part-*")) for row in read(part)]
    assert len(rows) == int(found[1]) > 0
