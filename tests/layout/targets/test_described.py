"""Chips that a file describes: their layouts by an independent table, their memories, and mistakes in the file."""

from __future__ import annotations

import itertools
from importlib.metadata import EntryPoint
from math import prod
from pathlib import Path
from unittest.mock import patch

import pytest

from dialect_utils.layout import parse_element_type
from dialect_utils.layout.targets import known
from dialect_utils.layout.targets.described import Chip, described_chip
from dialect_utils.layout.targets.known import allocation_bytes, default_layout, laid_out, memory_space_name
from dialect_utils.layout.text.parse import parse_array_shape
from dialect_utils.text import DiagnosticError
from relayout.cli import main
from tests.paths import ROOT

CHIP = str(ROOT / "examples" / "chip.toml")


@pytest.mark.parametrize(
    ("shape", "layout", "size"),
    [
        ("bf16[100,9]", "{1,0:T(32,32)(2,1)}", 128 * 32 * 2),
        ("f32[33,64]", "{1,0:T(32,32)}", 64 * 64 * 4),
        ("f32[2,33,64]", "{2,1,0:T(32,32)}", 2 * 64 * 64 * 4),
        ("f32[64,3,64]", "{2,0,1:T(32,32)}", 3 * 64 * 64 * 4),
        ("f32[5]", "{0}", 64),
        ("f32[1,5]", "{1,0}", 64),
        ("s4[7]", "{0:E(4)}", 64),
        ("f32[0,64]", "{1,0}", 0),
    ],
)
def test_the_first_row_that_matches_gives_the_layout(shape: str, layout: str, size: int) -> None:
    array = parse_array_shape(shape)
    assert str(laid_out(array, None, CHIP)) == shape + layout
    assert allocation_bytes(array, CHIP) == size


def test_least_padding_is_the_least_of_all_orders() -> None:
    for sizes in itertools.product((2, 31, 33, 64), repeat=3):
        order = default_layout(parse_element_type("f32"), sizes, CHIP).minor_to_major

        def padded(minor: int, second: int, sizes: tuple[int, ...] = sizes) -> int:
            return prod(-(-size // 32) * 32 if i in (minor, second) else size for i, size in enumerate(sizes))

        assert padded(order[0], order[1]) == min(
            padded(minor, second) for minor, second in itertools.permutations(range(3), 2)
        )


def test_memories_and_peaks_are_those_of_the_file() -> None:
    chip = described_chip(CHIP)
    assert (chip.name, chip.memory_bytes, chip.peak_flops, chip.peak_bytes) == ("acme-1", 1 << 34, 2e14, 1e12)
    names = [memory_space_name(space, CHIP) for space in (0, 1, 2, 5)]
    assert names == ["DRAM", "scratchpad, S(1) of 32 MiB", "S(2)", "host"]
    assert [memory_space_name(space, None) for space in (0, 1, 5)] == ["main memory", "VMEM, S(1)", "host"]


def test_commands_take_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    module = tmp_path / "m.hlo"
    module.write_text("HloModule m\nENTRY e {\n  p = f32[64,33] parameter(0)\n  ROOT n = f32[64,33] negate(p)\n}\n")
    assert main(["check", str(module), "-p", f"annotate-layouts{{target={CHIP}}},expand-tiling"]) == 0
    assert ": equal (proof" in capsys.readouterr().out
    assert main(["opt", str(module), "-p", f"narrow-padding{{target={CHIP} value=p dimension=1}}"]) == 0
    assert "f32[64,32] slice(p)" in capsys.readouterr().out
    assert main(["report", str(module), "--target", CHIP]) == 0
    shown = capsys.readouterr().out
    assert "fits into the DRAM of acme-1, 16 GiB" in shown
    assert " ms on acme-1, bound by " in shown
    assert "v5e" not in shown
    for words in (["validate"], ["report", "--why"]):
        assert main([*words, str(module), "--target", CHIP]) in (1, 2)
        assert "acme-1 is known by its description only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("memory = ", "memry = ", "the file has the unknown key 'memry'", 3),
        ("memory = 17_179_869_184", "", "the file has no memory", 1),
        ("granule = 64", "granule = 0", "granule is a positive number of bytes, not 0", 5),
        ("granule = 64", "granule = true", "granule of the file must be of type int, found True", 5),
        ("flops = 2.0e14", 'flops = "fast"', "flops of peak must be of type float, found 'fast'", 8),
        ("tiles = [[32, 32]]", "tiles = [32, 32]", "tiles are lists of sizes, [[32, 32]], not [32, 32]", 25),
        ("tiles = [[32, 32]]", "tiles = [[32, 0]]", "tiles are lists of sizes", 25),
        ('types = ["s4", "u4"]', 'types = ["s4", "u44"]', "there is no element type u44", 28),
        ("packed = true", "packd = true", "layout 2 has the unknown key 'packd'", 29),
        ("at_least = [2, 1]", 'at_least = ["2"]', "at_least is a list of sizes", 18),
        ("flops = 2.0e14", "flops = inf", "the peaks are finite numbers, not inf and 1e+12", 7),
        ('types = ["s4", "u4"]', 'types = [["s4"]]', "there is no element type ['s4']", 28),
        ("tiles = [[32, 32]]", "tiles = [[32.0, 32]]", "tiles are lists of sizes", 25),
        ("number = 1", "", "space has no number", 11),
        ("[peak]", "[peak", "no TOML: expected ']' at the end of a table declaration", 7),
    ],
)
def test_a_mistake_is_an_error_at_its_line(tmp_path: Path, old: str, new: str, message: str, line: int) -> None:
    text = Path(CHIP).read_text()
    assert old in text
    file = tmp_path / "chip.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(DiagnosticError) as caught:
        described_chip(str(file))
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.location is not None
    assert found.location.source.line_and_column(found.location.span.start)[0] == line


def test_the_page_shows_the_whole_file() -> None:
    text = "".join(line for line in Path(CHIP).read_text().splitlines(keepends=True) if not line.startswith("#"))
    assert f"```toml\n{text}```" in (ROOT / "docs" / "targets.md").read_text()


def test_an_installed_package_adds_a_target() -> None:
    points = [EntryPoint("acme-1", "tests.layout.targets.test_described:ACME", known.ENTRY_POINT_GROUP)]
    known.added_targets.cache_clear()
    with patch("importlib.metadata.entry_points", return_value=points):
        assert known.parse_target("acme-1") is ACME
        with pytest.raises(DiagnosticError, match="unknown target 'acme-2'") as caught:
            known.parse_target("acme-2")
    known.added_targets.cache_clear()
    assert "did you mean acme-1?" in str(caught.value)


ACME: Chip = described_chip(CHIP)
