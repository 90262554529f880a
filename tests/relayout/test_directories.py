"""Directories in place of files: dumps of `--xla_dump_to`, module by module."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dialect_utils.execution import hlo_text_to_proto
from relayout.cli import main

NEGATE = """HloModule f, is_scheduled=true, entry_computation_layout={(f32[3]{0})->f32[3]{0}}

ENTRY e {
  p = f32[3]{0} parameter(0)
  ROOT n = f32[3]{0} negate(p)
}
"""
ABS = NEGATE.replace("negate", "abs")


def dump(folder: Path, **stages: str) -> Path:
    """Writes modules by number and stage, and a file that is not a module: `m2_before` is module 2."""
    folder.mkdir()
    (folder / "module_0002.f.debug_options").write_text("xla_cpu: true\n")
    for key, text in stages.items():
        number, stage = key[1:].split("_")
        (folder / f"module_{number:0>4}.f.{stage}_optimizations.txt").write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return dump(tmp_path / "dump", m10_after=ABS, m2_before=NEGATE, m2_after=NEGATE)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_opt_keeps_names_and_makes_the_directory(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert main(["opt", str(folder), "-o", str(out)]) == 0
    assert names(out) == [
        "module_0002.f.after_optimizations.txt",
        "module_0002.f.before_optimizations.txt",
        "module_0010.f.after_optimizations.txt",
    ]
    assert all((out / name).read_bytes() == (folder / name).read_bytes() for name in names(out))


def test_text_is_never_written_under_the_name_of_a_proto_or_a_compressed_file(tmp_path: Path) -> None:
    folder = dump(tmp_path / "dump", m2_before=NEGATE)
    proto = hlo_text_to_proto(NEGATE)
    (folder / "module_0003.f.after_optimizations.hlo.pb").write_bytes(proto)
    (folder / "module_0004.f.after_optimizations.hlo.pb.gz").write_bytes(gzip.compress(proto))
    (folder / "module_0005.f.after_optimizations.txt.gz").write_bytes(gzip.compress(NEGATE.encode()))
    text, protos = tmp_path / "text", tmp_path / "protos"
    assert main(["opt", str(folder), "-o", f"{text}/"]) == 0
    assert names(text) == [
        "module_0002.f.before_optimizations.txt",
        *(f"module_000{number}.f.after_optimizations.txt" for number in (3, 4, 5)),
    ]
    assert all("HloModule f" in path.read_text() for path in text.iterdir())
    assert main(["opt", str(folder), "-o", f"{protos}/", "--emit", "pb", "--module", "module_0002"]) == 0
    assert names(protos) == ["module_0002.f.before_optimizations.hlo.pb"]
    assert (protos / names(protos)[0]).read_bytes().startswith(b"\x0a")


def test_one_bad_file_never_stops_the_batch(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "module_0001.f.before_optimizations.txt").write_text(
        "HloModule f\nENTRY e {\n  ROOT p = f32[3 parameter(0)\n}\n"
    )
    (folder / "module_0003.f.after_optimizations.hlo.pb").write_bytes(b"\x0a\x05ab")
    assert main(["opt", str(folder), "-o", f"{tmp_path / 'out'}/", "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ["error" in row for row in rows] == [True, False, False, True, False]
    assert len(names(tmp_path / "out")) == 3


def test_two_dumps_are_checked_module_by_module(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = dump(tmp_path / "other", m4_before=NEGATE, m4_after=ABS, m6_after=ABS)
    assert main(["check", str(folder), str(other), "--engines", "proof", "--json"]) == 3
    captured = capsys.readouterr()
    rows = [json.loads(line) for line in captured.out.splitlines()]
    assert [row["verdict"] for row in rows] == ["equal", "unknown", "equal"]
    assert [Path(row["against"]).name[:11] for row in rows] == ["module_0004", "module_0004", "module_0006"]
    assert main(["check", str(folder), str(other), "--stage", "before_optimizations", "--engines", "proof"]) == 0
    assert main(["check", str(folder), "-p", "expand-tiling", "--engines", "proof"]) == 0


def test_modules_without_a_partner_are_noted_and_no_pair_is_an_error(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = dump(tmp_path / "other", m2_before=NEGATE, m9_before=NEGATE)
    assert main(["check", str(folder), str(other), "--engines", "proof"]) == 0
    assert "3 modules have no partner and are not compared" in capsys.readouterr().err
    (other / "module_0002.f.before_optimizations.txt").rename(other / "module_0002.g.x.txt")
    (other / "module_0009.f.before_optimizations.txt").rename(other / "module_0009.g.x.txt")
    assert main(["check", str(folder), str(other)]) == 2


def test_a_report_reads_the_last_stage(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "--json"]) == 0
    reported = [Path(json.loads(line)["file"]).name for line in capsys.readouterr().out.splitlines()]
    assert reported == ["module_0002.f.after_optimizations.txt", "module_0010.f.after_optimizations.txt"]
    assert main(["report", str(folder), "-o", f"{tmp_path / 'pages'}/"]) == 0
    assert names(tmp_path / "pages") == ["index.html", *(name.replace(".txt", ".html") for name in reported)]
    assert main(["report", str(folder), "--against", str(folder), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["file"] == row["against"] for row in rows] == [True, True]
    assert main(["report", str(folder), "-o", str(tmp_path / "x.html")]) == 2


def test_kernels_of_a_directory_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(folder), "--list-kernels", "--module", "module_0010"]) == 0
    assert capsys.readouterr().out.count("holds no kernels") == 1


def test_run_executes_the_final_module_of_each_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", str(folder), "--inputs", "random", "--json"]
    for options, expected in (([], ["2.f.after", "10.f.after"]), (["--stage", "before_optimizations"], ["2.f.before"])):
        assert main([*command, *options]) == 0
        files = [json.loads(line)["file"] for line in capsys.readouterr().out.splitlines()]
        assert [Path(file).name.removeprefix("module_00").lstrip("0") for file in files] == [
            f"{name}_optimizations.txt" for name in expected
        ]
