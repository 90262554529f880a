"""The tables of the pages against the code: a wrong row is noticed."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import get_args

import pytest

from dialect_utils import sandbox
from dialect_utils.execution.process import DEFAULT_TIMEOUT_SECONDS
from dialect_utils.hlo import parse_module
from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.index.index_map import byte_size, xla_byte_size
from dialect_utils.layout.moves.bitcast import Verdict, classify_bitcast
from dialect_utils.layout.targets.known import allocation_bytes
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.rows import BufferRow
from dialect_utils.processes import DEFAULT_MEMORY_BYTES
from passes.framework.base import BUILTIN_PASSES
from relayout import comparison
from tests.paths import ROOT
from tests.test_architecture import OWN_IMPORTS, modules, violations


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """Returns the cells of the table whose header row begins with a word."""
    lines = text.split(f"\n| {heading} |", 1)[1].splitlines()[2:]
    body = lines[: next((i for i, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body]


def test_rows_are_those_of_one_table() -> None:
    text = "a\n\n| b | c |\n|---|---|\n| d | e |\n| f | |\n\n| b2 | c |\n|---|---|\n| g | h |\n"
    assert rows(text, "b") == [["d", "e"], ["f", ""]]


def map_rows() -> list[tuple[str, str]]:
    """Returns (package, what it must not import) of every row of the map; `.a` is beside or, indented, in another."""
    found, whole = [], ""
    for first, _, forbidden in rows(page("architecture"), "package"):
        names = re.findall(r"`([\w.]+)`", first)
        if not names[0].startswith("."):
            whole = names[0]
        outer = whole if first.startswith("&nbsp;") else whole.rpartition(".")[0]
        found += [(outer + name if name.startswith(".") else name, forbidden) for name in names]
    return found


DIALECTS = ("dialect_utils.hlo", "dialect_utils.stablehlo")
ROOMS_OF_PASSES = ("passes.bitcasts", "passes.dumps", "passes.layouts", "passes.tiling")
# The map's words for forbidden imports, and the packages that each stands for. A name in backquotes stands for itself.
CALLED = {
    "anything else": ("dialect_utils.hlo", "passes.framework"),
    "any IR": ("dialect_utils.ir", *DIALECTS),
    "any implementation": DIALECTS,
    "any pass": ROOMS_OF_PASSES,
    "all other passes": ROOMS_OF_PASSES,
    "all but `text`, `layout`, `ops`, `ir` and the adapter to MLIR": (
        "dialect_utils.hlo",
        "dialect_utils.execution",
    ),
    "commands": ("relayout.commands",),
    "computations": ("dialect_utils.hlo.computation",),
    "execution": ("dialect_utils.execution",),
    "instructions": ("dialect_utils.hlo.instruction",),
    "jaxlib": ("jaxlib",),
    "jaxlib's runtime": ("jaxlib",),
    "numpy": ("numpy",),
    "passes": ("passes.framework",),
    "the dialects": DIALECTS,
    "the graph: modules": ("dialect_utils.hlo.module",),
    "the passes of `passes.tiling`": tuple(file for file in BUILTIN_PASSES.values() if "tiling" in file),
    "verdicts": ("dialect_utils.verdict",),
}


def forbidden_imports(package: str, cell: str) -> list[str]:
    """Returns an import of everything that a row of the map forbids; raises KeyError for words that are not known."""
    found = list(CALLED.get(cell, ()))
    for word in cell.split(", ") if not found else ():
        name = word.strip("`")
        if word.startswith("`."):
            found.append(package.rpartition(".")[0] + name)
        else:
            found += [name] if word.startswith("`") else CALLED[word]
    return [name for name in found if name != package]


# Reads both dialects, each when a file holds it: `test_text_commands_import_nothing_heavy` holds that.
READS_BOTH = "dialect_utils.io"


def test_the_map_has_every_package() -> None:
    named = [name for name, _ in map_rows()]
    assert len(named) == len(set(named))
    assert {name for name in named if not any(each == name for each, _ in modules())} == set()
    # The packages in `relayout` are in its row.
    wanted = {name for name in OWN_IMPORTS if name.count(".") == 1 and not name.startswith("relayout")}
    assert wanted - set(named) == set()


@pytest.mark.parametrize(("package", "cell"), [row for row in map_rows() if row[1] and row[0] != READS_BOTH])
def test_what_the_map_forbids_is_a_violation(package: str, cell: str) -> None:
    found = forbidden_imports(package, cell)
    assert found
    for name in found:
        assert violations(f"{package}.planted", f"from {name} import planted"), name


def test_a_wrong_row_of_the_map_is_noticed() -> None:
    assert forbidden_imports("dialect_utils.hlo", "jaxlib, `.ir`") == ["jaxlib", "dialect_utils.ir"]
    assert not violations("dialect_utils.hlo.planted", "from dialect_utils.ir import planted")
    with pytest.raises(KeyError):
        forbidden_imports("dialect_utils.hlo", "jaxlib, nothing")


def test_the_walks_name_files_that_are_there() -> None:
    text = page("architecture")
    walks = text.partition("## Three walks")[2].partition("## Glossary")[0]
    names = [name for name in re.findall(r"`([\w/]+)`", walks) if name not in ("opt", "check", "run")]
    assert len(names) > 25
    files = {name.replace(".", "/") for name, _ in modules()}
    assert [name for name in names if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []


def test_the_map_is_one_page_with_a_glossary_of_ten_lines() -> None:
    assert len(rows(page("architecture"), "word")) == 10
    assert len(page("architecture").splitlines()) <= 100


def test_the_exit_codes_of_verdicts() -> None:
    told = {word.strip("`"): codes for word, _, codes in rows(page("checking"), "word")}
    codes = comparison._EXIT_CODES  # noqa: SLF001  # the table is compared with it
    assert told.keys() == codes.keys()
    assert {word: int(text.partition(",")[0]) for word, text in told.items()} == dict(codes)
    assert told["agrees"] == f"0, with `--require` `equal`, `equal-up-to` or `equal-if` {comparison.UNKNOWN}"
    assert told["close"] == f"0, with any other `--require` than `close` {comparison.UNKNOWN}"


# A bitcast of each word.
BITCASTS = {
    "relabel": ("f32[2,3]{1,0}", "f32[3,2]{0,1}"),
    "reorder": ("f32[4,4]{1,0:T(2,2)}", "f32[16]"),
    "reads-padding": ("f32[3]{0:T(4)}", "f32[4]"),
    "size-mismatch": ("f32[3]", "f32[4]"),
}


def test_the_words_for_bitcasts() -> None:
    told = [word.strip("`") for word, _ in rows(page("layouts"), "verdict")]
    assert told == [*BITCASTS] == [*get_args(Verdict)]
    for word, texts in BITCASTS.items():
        assert classify_bitcast(*map(parse_array_shape, texts)).verdict == word


def test_the_sizes() -> None:
    told = {word.strip("`"): what for word, what in rows(page("layouts"), "size")}
    assert told.keys() == {"byte_size", "xla_byte_size", "allocation_bytes"}
    # Two tiles: XLA applies the first one only.
    twice = parse_array_shape("bf16[3,5]{1,0:T(2,2)(4,1)}")
    assert (byte_size(twice), xla_byte_size(twice)) == (2 * 6 * 8, 2 * 4 * 6)
    # `L` where there are tiles, and only there.
    tailed = [parse_array_shape(text) for text in ("f32[3]{0:L(8)}", "f32[3]{0:T(2)L(8)}")]
    assert [xla_byte_size(shape) for shape in tailed] == [4 * 3, 4 * 8]
    assert [byte_size(shape) for shape in tailed] == [4 * 8, 4 * 8]
    wide = [parse_array_shape(f"{kind}[8,128]{{1,0:T(8,128)}}") for kind in ("f32", "s32", "s64")]
    single, same, double = [allocation_bytes(shape, "tpu-v5e") for shape in wide]
    assert single == same == 4 * 8 * 128
    assert double == 2 * 4 * 8 * 128


def test_the_figures_of_memory() -> None:
    told = {name for cell, _ in rows(page("memory"), "figure") for name in re.findall(r"`(\w+)`", cell)}
    text = (
        "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[8]{0} parameter(0)\n  ROOT n = f32[8]{0} negate(p)\n}\n"
    )
    totals = MemoryReport(parse_module(text)).totals()
    assert told - totals.keys() == set()
    figures = {name for name in totals if name.endswith("_bytes")}
    assert figures - told == set()


def test_the_names_of_figures_for_users_of_xprof() -> None:
    text = (ROOT / "examples/forces_tpu.hlo").read_text("utf-8")
    report = MemoryReport(parse_module(text))
    known = {"module", "buffers", *report.totals(), *(field.name for field in fields(BufferRow))}
    told = [re.findall(r"`(\w+)`", names) for _, _, names in rows(page("from_xprof"), "memory viewer")]
    assert all(told)
    assert {name for names in told for name in names} - known == set()


def test_the_limits_of_the_worker() -> None:
    told = {what: limit for what, limit, _ in rows(page("security"), "what")}
    assert told["memory"].startswith(f"{DEFAULT_MEMORY_BYTES // 10**9} GB")
    assert told["time of a worker"].startswith(f"{DEFAULT_TIMEOUT_SECONDS:g} seconds")
    assert f"opens {sandbox._OPEN_FILES} at most" in told["files"]  # noqa: SLF001  # the table is compared with it
