"""Rows of results: their content, resumed runs, and that no row is lost, doubled or out of date."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.io.remote import existing_urls, remove_url
from relayout.batch import results
from relayout.batch.results import ResultsFile
from relayout.cli import main

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
