"""Functions by name: --functions and --function of the commands that read StableHLO."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from relayout.cli import main

FIRST = """module {
  func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %a : tensor<4xf32>
    %1 = stablehlo.negate %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @sign(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @calls(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @gone(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
}
"""
LAST = """module {
  func.func private @sign(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.abs %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
  func.func @calls(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes a.mlir and b.mlir, which have no entry, and enters their directory."""
    (tmp_path / "a.mlir").write_text(FIRST)
    (tmp_path / "b.mlir").write_text(LAST)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("files")
def test_each_pair_of_functions_has_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "a.mlir", "b.mlir", "--engines", "proof,interpreter", "--junit", "r.xml"]) == 1
    said = capsys.readouterr()
    verdicts = [line for line in said.out.splitlines() if not line.startswith(" ")]
    assert [line.partition(" (")[0] for line in verdicts] == [
        "a.mlir @twice and b.mlir @twice: equal",
        "a.mlir @sign and b.mlir @sign: different in value",
        "a.mlir @calls and b.mlir @calls: equal",
    ]
    assert "a.mlir: without a partner, and not compared: @gone" in said.err
    cases = ElementTree.parse("r.xml").getroot().iter("testcase")
    assert [case.get("name") for case in cases][1] == "a.mlir @sign and b.mlir @sign"
    assert main(["check", "a.mlir", "b.mlir", "--engines", "proof", "--function", "@calls"]) == 0


@pytest.mark.usefixtures("files")
def test_the_rows_and_the_json_name_the_function() -> None:
    command = ["check", "a.mlir", "-p", "expand-tiling", "--engines", "proof", "--functions", "--results", "r.jsonl"]
    assert main(command) == 0
    assert main([*command, "--resume"]) == 0
    rows = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert [row["name"] for row in rows] == [f"a.mlir @{name}" for name in ("twice", "sign", "calls", "gone")]
    assert [row["figures"]["function"] for row in rows] == ["twice", "sign", "calls", "gone"]
    assert {row["figures"]["file"] for row in rows} == {"a.mlir"}


@pytest.mark.usefixtures("files")
def test_an_entry_is_judged_alone_unless_functions_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        Path(f"{name}.mlir").write_text(Path(f"{name}.mlir").read_text().replace("@calls", "@main"))
    assert main(["check", "a.mlir", "b.mlir", "--engines", "proof"]) == 0
    assert capsys.readouterr().out.startswith("a.mlir and b.mlir: equal")
    Path("pairs").write_text("a.mlir b.mlir")
    assert main(["check", "--pairs", "pairs", "--engines", "proof", "--functions"]) == 3
    assert "@sign: unknown" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
def test_a_certificate_is_about_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    both = ["a.mlir", "b.mlir"]
    assert main(["check", *both, "--function", "twice", "--engines", "proof", "--certificate", "c.json"]) == 0
    assert main(["check", "--replay", *both, "c.json", "--function", "twice"]) == 0
    assert main(["check", "--replay", *both, "c.json", "--function", "sign"]) == 1
    assert "does not replay" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_every_command_takes_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "a.mlir"]) == 0
    assert capsys.readouterr().out == FIRST
    assert main(["opt", "a.mlir", "--function", "gone"]) == 0
    assert capsys.readouterr().out.count("func.func") == 1
    assert main(["run", "a.mlir", "--function", "sign", "--json"]) == 0
    assert main(["print", "--count", "a.mlir", "--function", "calls", "--json"]) == 0
    assert main(["convert", "a.mlir", "--function", "calls", "--to", "hlo"]) == 0
    assert main(["reduce", "a.mlir", "b.mlir", "--function", "sign"]) == 0
    assert "kept: " in capsys.readouterr().out
    assert main(["run", "a.mlir"]) == 1
    assert "hint: --function chooses one of @twice, @sign, @calls, @gone" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["check", "h.hlo", "h.hlo", "--function", "e"], 2, "h is HLO, which has computations and no functions"),
        (["check", "h.hlo", "h.hlo", "--functions"], 0, "h.hlo: no functions of StableHLO in a file"),
        (["check", "a.mlir", "b.mlir", "--functions", "--function", "sign"], 2, "--function"),
        (["opt", "a.mlir", "--split-input-file", "--function", "sign"], 2, "--function chooses a function of a.mlir"),
        (["opt", "a.mlir", "--function", "sing"], 1, "did you mean @sign?"),
        (["validate", "o.mlir", "--target", "cpu"], 1, "o.mlir:2:1: error: o.p is of a dialect that is not known here"),
        (["check", "a.mlir", "c.mlir"], 3, "c.mlir: without a partner, and not compared: @other"),
    ],
)
def test_a_function_that_cannot_be_chosen_is_an_error(
    options: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("h.hlo").write_text("HloModule h\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n")
    Path("o.mlir").write_text('func.func @main() {\n"o.p"() : () -> ()\nreturn\n}')
    Path("c.mlir").write_text(FIRST[: FIRST.index("  func.func private")].replace("@twice", "@other") + "}")
    assert main(options) == code
    assert said in capsys.readouterr().err
