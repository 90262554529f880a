"""Chips that a file describes: their layouts by an independent table, their memories, and mistakes in the file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from math import prod
from pathlib import Path
from unittest.mock import patch

import pytest

import relayout
from dialect_utils.layout import parse_element_type
from dialect_utils.layout.layout import Tile
from dialect_utils.layout.targets import known
from dialect_utils.layout.targets.described import Chip, LayoutChoice, described_chip
from dialect_utils.layout.targets.known import allocation_bytes, default_layout, laid_out, memory_space_name
from dialect_utils.layout.text.parse import parse_array_shape
from dialect_utils.memory.allocation import guess_compiler, guess_target
from dialect_utils.text import DiagnosticError
from dialect_utils.text.entry_points import added
from passes.framework.pipeline import Pipeline
from passes.layouts.annotate_layouts import annotate_layouts
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
    program = ROOT / "examples" / "attention.mlir"
    assert main(["tune", str(program), "--target", CHIP, "--model-only"]) == 0
    assert capsys.readouterr().out.startswith("acme-1, modelled: no program was compiled")
    for words in (["validate"], ["report", "--why"]):
        assert main([*words, str(module), "--target", CHIP]) in (1, 2)
        assert "acme-1 is known by its description only" in capsys.readouterr().err


def test_a_module_in_other_tiles_is_not_reported_as_one_of_a_tpu(tmp_path: Path) -> None:
    body = "p = f32[64,33]{{1,0:T({0})}} parameter(0)\n  ROOT n = f32[64,33]{{1,0:T({0})}} negate(p)"
    text = f"HloModule m\nENTRY e {{{{\n  {body}\n}}}}\n"
    for tile, compiler in (("8,128", "tpu"), ("32,32", None), ("16", None), ("128", "tpu")):
        module = relayout.parse(text.format(tile))
        assert guess_compiler(module) == compiler
        assert (guess_target(module) is None) == (compiler is None)
    (file := tmp_path / "m.hlo").write_text(text.format("32,32"))
    for target, has_tpu in ((CHIP, False), (None, False), ("tpu-v5e", True)):
        arguments = [] if target is None else ["--target", target]
        assert main(["report", str(file), *arguments, "-o", str(page := tmp_path / f"{target == CHIP}.html")]) == 0
        assert ("A TPU stores" in page.read_text("utf-8")) == has_tpu


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("memory = ", "memry = ", "the file has the unknown key 'memry'", 3),
        ("memory = 17_179_869_184", "", "the file has no memory", 1),
        ("granule = 64", "granule = 0", "granule is a positive number of bytes, not 0", 5),
        ("granule = 64", "granule = true", "granule of the file must be an integer, found True", 5),
        ("flops = 2.0e14", 'flops = "fast"', "flops of peak must be a number, found 'fast'", 8),
        ("tiles = [[32, 32]]", "tiles = [32, 32]", "tiles are lists of sizes, [[32, 32]], not [32, 32]", 25),
        ("tiles = [[32, 32]]", "tiles = [[32, 0]]", "tiles are lists of sizes", 25),
        ('types = ["s4", "u4"]', 'types = ["s4", "u44"]', "unknown element type 'u44'", 28),
        ("packed = true", "packd = true", "layout 2 has the unknown key 'packd'", 29),
        ("at_least = [2, 1]", 'at_least = ["2"]', "at_least is a list of positive sizes", 18),
        ("flops = 2.0e14", "flops = inf", "the peaks are finite numbers, not inf and 1e+12", 7),
        ('types = ["s4", "u4"]', 'types = [["s4"]]', "unknown element type \"['s4']\"", 28),
        ("tiles = [[32, 32]]", "tiles = [[32.0, 32]]", "tiles are lists of sizes", 25),
        ("number = 1", "", "space has no number", 11),
        ("memory = 17_179_869_184", 'memory = "16 GiB"', "memory of the file must be an integer, found '16 GiB'", 3),
        ("memory = 17_179_869_184", "memory = 1.5e9", "memory of the file must be an integer, found 1500000000.0", 3),
        ('"acme-1"', '" "', "' ' is not one line of text", 2),
        ('"acme-1"', '"tpu-v5e"', "'tpu-v5e' is the name of another chip", 2),
        ("number = 1", "number = 0", "the number of a memory space is positive, not 0", 12),
        ("number = 1", 'number = 2\nname = "a"\n[[space]]\nnumber = 2', "memory space 2 is described twice", 15),
        ("33_554_432", "-1", "bytes is a positive number, not -1", 14),
        ("at_least = [2, 1]", "at_least = [0, 1]", "at_least is a list of positive sizes, not [0, 1]", 18),
        ("at_least = [2, 1]", "at_least = [2, 1]\nrank = 1", "the row matches no array: rank is 1", 19),
        ('types = ["bf16", "f16"]\n', "", "layout 1 is never used: layout 0 matches all its arrays", 21),
        ('types = ["s4", "u4"]', 'types = ["bf16"]', "packed has no effect: bf16 fill whole bytes", 29),
        ("tiles = [[32, 32]]", "", "order least-padding has no effect without tiles", 24),
        ("[peak]", "[peak", "no TOML: expected ']' at the end of a table declaration", 7),
    ],
)
def test_a_mistake_is_an_error_at_its_line(tmp_path: Path, old: str, new: str, message: str, line: int) -> None:
    text = Path(CHIP).read_text()
    assert old in text
    file = tmp_path / "chip.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(DiagnosticError) as caught:
        described_chip(str(file), known.TARGETS)
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.location is not None
    assert found.location.source.line_and_column(found.location.span.start)[0] == line


def test_the_page_shows_the_whole_file() -> None:
    text = "".join(line for line in Path(CHIP).read_text().splitlines(keepends=True) if not line.startswith("#"))
    assert f"```toml\n{text}```" in (ROOT / "docs" / "targets.md").read_text()


def test_a_row_after_a_more_special_one_is_used() -> None:
    special = LayoutChoice(rank=2, types=("f32",), at_least=(2, 1))
    for general in (
        LayoutChoice(),
        LayoutChoice(rank=2),
        LayoutChoice(types=("f32", "s32")),
        LayoutChoice(at_least=(1,)),
    ):
        assert general.covers(special)
        assert not special.covers(general)
    assert not LayoutChoice(tiles=(Tile((8, 128)),)).covers(LayoutChoice(rank=1))
    assert not LayoutChoice(rank=2).covers(LayoutChoice())


@pytest.fixture
def packages() -> Iterator[dict[str, str]]:
    """Makes entry points, by package, those of the installed packages."""
    found: dict[str, str] = {}

    def entry_points(group: str) -> list[EntryPoint]:
        return [EntryPoint(name.rstrip("!"), value, group) for name, value in found.items()]

    added.cache_clear()
    with patch("importlib.metadata.entry_points", entry_points):
        yield found
    added.cache_clear()


def test_an_installed_package_adds_a_target(packages: dict[str, str]) -> None:
    packages["acme-1"] = f"{__name__}:ACME"
    assert known.parse_target("acme-1") is ACME
    with pytest.raises(DiagnosticError, match="unknown target 'acme-2'") as caught:
        known.parse_target("acme-2")
    assert "did you mean acme-1?" in str(caught.value)
    annotated = Pipeline.parse("annotate-layouts{target=acme-1}").passes[0]
    assert annotate_layouts(target=ACME) == annotated == Pipeline.parse(str(annotated)).passes[0]  # type: ignore[call-overload]
    module = ROOT / "examples" / "attention.hlo"
    assert "{2,1,0:T(32,32)(2,1)}" in relayout.optimize(module, [annotated]).text()
    assert "narrow-padding{target=acme-1}" in str(Pipeline.parse("narrow-padding{target=acme-1}"))


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"acme-1": "no_acme:ACME"}, "target acme-1 .no_acme:ACME. cannot be loaded: ModuleNotFoundError"),
        ({"acme-1": f"{__name__}:NOBODY"}, "cannot be loaded: AttributeError"),
        ({"acme-1": f"{__name__}:CHIP"}, "CHIP is not a target called acme-1"),
        ({"acme-2": f"{__name__}:ACME"}, "ACME is not a target called acme-2"),
        ({"acme-1": f"{__name__}:ACME", "acme-1!": f"{__name__}:OTHER"}, "target acme-1 is defined by .* and .*"),
    ],
)
def test_a_broken_package_is_named(packages: dict[str, str], entries: dict[str, str], said: str) -> None:
    packages.update(entries)
    name = next(iter(entries))
    for use in (lambda: known.parse_target(name), lambda: Pipeline.parse(f"annotate-layouts{{target={name}}}")):
        with pytest.raises(DiagnosticError, match=said):
            use()
    assert known.parse_target("tpu-v5e").name == "tpu-v5e"


ACME: Chip = described_chip(CHIP)
