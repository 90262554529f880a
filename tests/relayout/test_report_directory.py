"""`relayout report DIR`: the module that matters, a line for each other one, and pages with an index."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from relayout.cli import main
from relayout.reporting.gathering import INDEX
from tests.relayout.test_against import COPIED, PLAIN

BEFORE, AFTER = "before_optimizations", "after_optimizations"
EARLY = "after_optimizations_before_buffer_assignment"


def program(name: str, rows: int) -> str:
    """Returns a scheduled module whose argument has so many rows of 512 bytes."""
    shape = f"f32[{rows},128]{{1,0:T(8,128)}}"
    return (
        f"HloModule {name}, is_scheduled=true\n\nENTRY e {{\n  p = {shape} parameter(0)\n"
        f"  ROOT n = {shape} negate(p)\n}}\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    dump = tmp_path / "dump"
    dump.mkdir()
    for number, (name, rows) in enumerate([("jit_conv.cl_17", 8), ("jit_large.cl_17", 4096), ("jit_sum.cl_17", 64)]):
        for stage, size in ((BEFORE, rows * 9), (EARLY, rows * 2), (AFTER, rows)):
            (dump / f"module_{number:04}.{name}.{stage}.txt").write_text(program(name.partition(".")[0], size))
    return dump


def test_the_largest_final_module_is_reported_and_each_other_one_is_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder), "--width", "120"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"module_0001.jit_large.cl_17.{AFTER}:"
    assert "jit_large: peak 4 MiB in main memory" in lines
    start = lines.index("2 other modules, the largest peak first (--module NAME reports one, --all all)")
    found = [re.split(r"\s{2,}", line.strip())[:2] for line in lines[start + 2 :]]
    assert found == [["64 KiB", f"module_0002.jit_sum.cl_17.{AFTER}"], ["8 KiB", f"module_0000.jit_conv.cl_17.{AFTER}"]]


def test_a_module_that_ran_out_of_memory_matters_most(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "module_0000.jit_conv.cl_17.oom_intermediate_module.txt").write_text(program("jit_conv", 32))
    assert main(["report", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("module_0000.jit_conv.cl_17.oom_intermediate_module:\n")
    # The stage after optimizations is of the same program, which is reported once.
    assert out.count("jit_conv") == 2
    assert "2 other modules" in out


def test_all_prints_every_module_the_largest_peak_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "--all"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(\w+): peak (.*)", out, re.MULTILINE) == [
        ("jit_large", "4 MiB in main memory"),
        ("jit_sum", "64 KiB in main memory"),
        ("jit_conv", "8 KiB in main memory"),
    ]
    assert "other module" not in out


@pytest.mark.parametrize("name", ["jit_conv", "conv", "module_0000", "jit_conv.cl_17"])
def test_a_part_of_a_name_chooses_a_module(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "--module", name]) == 0
    out = capsys.readouterr().out
    assert "jit_conv: peak 8 KiB" in out
    assert "other module" not in out


def test_pages_are_linked_from_an_index(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = tmp_path / "pages"
    assert main(["report", str(folder), "-o", f"{pages}/"]) == 0
    assert capsys.readouterr().out == ""
    index = (pages / INDEX).read_text()
    linked = [unquote(each) for each in re.findall(r'href="([^"]+)"', index)]
    assert [name.split(".")[1] for name in linked] == ["jit_large", "jit_sum", "jit_conv"]
    assert {each.name for each in pages.iterdir()} == {INDEX, *linked}
    assert "memory of 3 modules" in index


def test_a_file_that_is_no_module_does_not_hide_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / f"module_0001.jit_large.cl_17.{AFTER}.txt").write_text("HloModule m\nENTRY e {\n  p = f32[ a(\n}\n")
    assert main(["report", str(folder)]) == 1
    captured = capsys.readouterr()
    assert "jit_sum: peak 64 KiB" in captured.out
    assert "jit_large" in captured.err


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--module", "jit_conv", "--all"], "--all has no effect where one module is reported"),
        (["--json", "--all"], "--all has no effect with options that report every module"),
        (["-o", "OUT/", "--all"], "--all has no effect with -o"),
        (["-o", "OUT.html"], "one file for 3 modules"),
    ],
)
def test_options_without_effect_are_errors(
    folder: Path, tmp_path: Path, extra: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder), *(each.replace("OUT", f"{tmp_path}/out") for each in extra)]) == 2
    assert message in capsys.readouterr().err


def test_pages_of_one_name_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("index.hlo", "a.hlo"):
        (tmp_path / name).write_text(PLAIN)
    assert main(["report", str(tmp_path), "-o", f"{tmp_path}/out/"]) == 2
    assert "index.html" in capsys.readouterr().err


def test_a_comparison_is_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, page = tmp_path / "old.hlo", tmp_path / "new.hlo", tmp_path / "page.html"
    old.write_text(COPIED)
    new.write_text(PLAIN)
    assert main(["report", str(new), "--against", str(old), "-o", str(page)]) == 0
    text = page.read_text()
    assert "2 relayouts gone" in text
    # 64 columns take 128 lanes in `d`, which no longer lives beside the argument and `n`.
    assert f"old: {old}" in text
    assert "<script" not in text
    assert main(["report", str(new), "--against", str(old), "-o", str(tmp_path / "x.dot")]) == 2
    assert "a comparison is .html or .json" in capsys.readouterr().err


def test_comparisons_of_directories_are_pages_with_an_index(folder: Path, tmp_path: Path) -> None:
    assert main(["report", str(folder), "--against", str(folder), "-o", f"{tmp_path / 'pages'}/"]) == 0
    index = (tmp_path / "pages" / INDEX).read_text()
    assert index.count("the change is without effect on the peak: the peak is 4 MiB, and was 4 MiB") == 1
