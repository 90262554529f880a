"""The commands extract, convert, count and print: what they read, write and reject."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import relayout
from relayout.cli import main
from tests.paths import ROOT

NEGATE = str(ROOT / "examples" / "negate.hlo")
ATTENTION = str(ROOT / "examples" / "attention.mlir")
DUMP = str(ROOT / "examples" / "attention_tpu.hlo")


@pytest.mark.parametrize(
    ("command", "message", "hint"),
    [
        ([], "expected a VALUE", "relayout print"),
        (["y", "--up-to", "--around", "1"], "--up-to and --around choose different operations", "leave one"),
        (["y", "--before", "1", "--around", "1"], "--before and --around choose different operations", ""),
        (["--computation", "main", "--up-to"], "--up-to is about a VALUE", "name a VALUE"),
        (["main", "--before", "1"], "main is not an operation", ""),
        (["y", "--around", "0"], "0 is not a positive integer", ""),
        (["y", "-o", "x.hlo.gz"], "is not compressed", ""),
        (["y", "--height", "2"], "unknown option --height", "write --before N"),
    ],
)
def test_a_wrong_extraction_is_an_error(
    command: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["extract", NEGATE, *command]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert hint in captured.err
    assert captured.out == ""


def test_extraction_prints_a_module_and_says_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", DUMP, "fusion.17"]) == 0
    module = relayout.parse(capsys.readouterr().out)
    assert [str(value.shape) for value in module.entry.parameters] == ["bf16[2,50,64,1,1]{2,0,1,4,3:T(2,128)(2,1)}"]
    out = tmp_path / "part.mlir"
    assert main(["extract", ATTENTION, "10", "--around", "1", "--json", "-o", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["inputs"]] == ["3", "5", "cst", "15", "cst_0"]
    assert (found["computation"], found["results"]) == ("main", [{"name": "16", "shape": "f32[2,4,50,50]"}])
    assert "module" not in found
    assert len(relayout.read(out).entry.operations) == 4


def test_an_unknown_value_has_the_names_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", DUMP, "fusion.1", "--json"]) == 1
    captured = capsys.readouterr()
    assert "did you mean fusion.17 or fusion.18 or fusion.21?" in captured.err
    assert json.loads(captured.out)["error"].startswith("no operation or computation is called fusion.1")


def test_a_directory_needs_a_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2):
        name = f"module_000{number}.m{number}.before_optimizations.txt"
        (tmp_path / name).write_text(Path(NEGATE).read_text())
    assert main(["extract", str(tmp_path), "y"]) == 2
    assert "has 2 modules, and VALUE is in one" in capsys.readouterr().err
    assert main(["extract", str(tmp_path), "y", "--module", "m2"]) == 0
    assert "ROOT y = f32[3,5]{1,0} negate(x)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "message", "hint"),
    [
        ([NEGATE], "expected --to FORM", "one of hlo, pb, stablehlo, bytecode, portable"),
        ([NEGATE, "--to", "mlir"], "mlir is not one of hlo, pb", ""),
        ([NEGATE, "--to", "hlo", "--locations"], "--locations is for StableHLO", ""),
        ([NEGATE, "--to", "pb", "--json"], "--json prints text, and --to pb writes none", "-o OUT"),
        ([NEGATE, "--to", "pb", "-o", "x.mlir"], "pb has another ending, such as .hlo.pb", ""),
        ([NEGATE, "--to", "hlo", "-o", "x.hlo.gz"], "is not compressed", ""),
        ([NEGATE, ATTENTION, "-o", "x.hlo"], "2 modules need a directory", "-o NAME/ makes one"),
        ([NEGATE, "--hlo-text-to-stablehlo"], "unknown option", "write --to stablehlo"),
    ],
)
def test_a_wrong_conversion_is_an_error(
    command: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", *command]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert hint in captured.err
    assert captured.out == ""


def test_the_ending_names_the_form_and_a_directory_keeps_the_names(tmp_path: Path) -> None:
    for ending, start in ((".hlo", b"HloModule"), (".mlirbc", b"ML\xefR"), (".pb", b"\n"), (".mlir", b"module")):
        out = tmp_path / f"out{ending}"
        assert main(["convert", NEGATE, "-o", str(out)]) == 0
        assert out.read_bytes().startswith(start)
    folder = tmp_path / "all"
    assert main(["convert", NEGATE, ATTENTION, "--to", "pb", "-o", f"{folder}/"]) == 0
    assert sorted(file.name for file in folder.iterdir()) == ["attention.hlo.pb", "negate.hlo.pb"]
    assert main(["check", NEGATE, str(folder / "negate.hlo.pb"), "--engines", "proof"]) == 0


def test_a_conversion_tells_which_layouts_are_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiled = tmp_path / "tiled.mlir"
    assert main(["opt", ATTENTION, "-p", "annotate-layouts{target=tpu-v5e}", "-o", str(tiled)]) == 0
    assert main(["convert", str(tiled), "--to", "hlo", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert "layouts of values inside are not in the HLO" in found["notes"][0]
    assert "layouts of values inside are not in the HLO" in captured.err
    assert "T(8,128)" in found["module"].splitlines()[0]


def test_an_operation_that_stablehlo_lacks_is_pointed_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", DUMP, "--to", "stablehlo"]) == 1
    assert "attention_tpu.hlo:56:8: error: bitcast has no StableHLO form" in capsys.readouterr().err


def test_counts_of_files_are_added(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["print", "--count", NEGATE, NEGATE]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "  operations  bytes  opcode",
        "           2    192  parameter",
        "           2    120  negate",
        "           4    312  total of 2 modules",
    ]
    assert main(["print", "--count", NEGATE, "--by", "type,opcode", "--top", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "           1     96  f32       parameter",
        "           1     60  1 others",
        "           2    156  total",
    ]


def test_counts_are_an_object_per_file_and_go_on_after_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["print", "--count", NEGATE, str(tmp_path / "absent"), "--json"]) == 2
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["rows"][0] == {"opcode": "parameter", "operations": 1, "bytes": 96}
    assert (first["operations"], first["bytes"]) == (2, 156)
    assert "no such file" in second["error"]
    assert main(["print", "--count", NEGATE, str(tmp_path / "absent")]) == 2
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1].endswith("total")
    assert "no such file" in captured.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["print", "--count", NEGATE, "--by", "opcode,opcode"], "names a key twice"),
        (["print", "--count", NEGATE, "--by", "opcodes"], "did you mean opcode?"),
        (["print", NEGATE, "--keep", "layouts"], "layouts is not one of metadata, backend_config, names"),
    ],
)
def test_wrong_lists_are_errors(command: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 2
    assert message in capsys.readouterr().err


def test_a_computation_that_is_absent_is_an_error_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("count", "print"):
        assert main([command, NEGATE, "--computation", "mian"]) == 1
        assert "did you mean main?" in capsys.readouterr().err


def test_printed_modules_are_told_apart_by_a_comment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["print", NEGATE, ATTENTION]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"// {NEGATE}\nHloModule negate\n")
    assert f"// {ATTENTION}\nmodule @jit_attention" in text
    assert main(["print", DUMP, "--computation", "main.4", "--json"]) == 0
    text = json.loads(capsys.readouterr().out)["module"]
    assert text.startswith("ENTRY %main.4 {\n  %p1 = ")
    assert "metadata" not in text
