"""Files for CI systems: JUnit XML and SARIF, read back by the libraries of these formats."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml
from sarif_pydantic import Sarif

from dialect_utils.io.inputs import named_input
from relayout.batch.results import Finding, findings
from relayout.batch.unit import Unit
from relayout.cli import main
from relayout.command import Result

TEXT = "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.hlo").write_text(TEXT)
    Path("wrong.hlo").write_text(TEXT.replace("negate(", "negatte("))
    Path("abs.hlo").write_text(TEXT.replace("negate(", "abs("))
    Path("wide.hlo").write_text(TEXT.replace("3,5", "3,6"))


def _cases(file: str) -> list[Any]:
    return [case for suite in JUnitXml.fromfile(file) for case in suite]


def test_each_module_is_a_case_and_each_diagnostic_a_result_at_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["m.hlo", "wrong.hlo", "absent.hlo", "-o", "out/"]
    assert main(["opt", *given]) == 2
    alone = capsys.readouterr()
    assert main(["opt", *given, "--junit", "r.xml", "--sarif", "r.sarif"]) == 2
    assert capsys.readouterr() == alone
    cases = _cases("r.xml")
    assert [case.name for case in cases] == ["m.hlo", "wrong.hlo", "absent.hlo"]
    assert [[type(each) for each in case.result] for case in cases] == [[], [Failure], [Error]]
    assert cases[1].result[0].message == "unknown opcode negatte (did you mean negate?)"
    assert cases[1].result[0].text.startswith("wrong.hlo:5:26: error: unknown opcode negatte\n")
    [run] = Sarif.model_validate_json(Path("r.sarif").read_text()).runs
    places = [each.locations[0].physical_location for each in run.results]
    assert [place.artifact_location.uri for place in places] == ["wrong.hlo", "absent.hlo"]
    assert (places[0].region.start_line, places[0].region.start_column) == (5, 26)
    assert places[1].region is None
    assert {each.level.value for each in run.results} == {"error"}


def test_a_difference_is_a_failure_and_an_unknown_answer_an_error() -> None:
    Path("pairs.txt").write_text("m.hlo abs.hlo\nm.hlo wide.hlo\nm.hlo m.hlo\n")
    assert main(["check", "--pairs", "pairs.txt", "--junit", "r.xml", "--sarif", "r.sarif"]) == 1
    cases = _cases("r.xml")
    assert [[type(each) for each in case.result] for case in cases] == [[Failure], [Error], []]
    assert "output 0 at [0,0] is" in cases[0].result[0].message
    assert "different signatures" in cases[1].result[0].message
    results = json.loads(Path("r.sarif").read_text())["runs"][0]["results"]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results]
    assert uris == ["m.hlo", "m.hlo"]


def test_colours_and_excerpts_are_no_findings() -> None:
    unit = Unit((named_input("a.hlo"),))
    printed = b"a.hlo:3:4: \033[1;31merror:\033[0m bad\n  x:1:1: error: excerpt\n   ^\nnote: later\nhint: do\n"
    found = findings(unit, Result(1, diagnostics=printed))
    assert found == [Finding("error", "bad", "a.hlo", 3, 4), Finding("note", "later (do)", "a.hlo")]
    assert findings(unit, Result(0)) == []
    assert findings(unit, Result(3)) == [Finding("error", "exit code 3", "a.hlo")]


def test_results_and_ci_files_are_written_together() -> None:
    assert main(["opt", "m.hlo", "wrong.hlo", "--results", "r.jsonl", "--junit", "r.xml"]) == 1
    rows = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert [row["exit_code"] for row in rows] == [0, 1]
    assert len(_cases("r.xml")) == 2
    assert main(["opt", "m.hlo", "wrong.hlo", "--results", "r.jsonl", "--resume", "--junit", "again.xml"]) == 1
    assert [case.result[0].message for case in _cases("again.xml")] == ["--results has its row"] * 2


def test_a_missing_package_is_said_before_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def fails(name: str, *rest: Any) -> Any:
        if name == "junitparser":
            raise ImportError("no", name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", fails)
    assert main(["opt", "m.hlo", "--junit", "r.xml"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "need junitparser, which is not installed\nhint: pip install 'relayout[ci]'" in shown.err
    assert not Path("r.xml").exists()
