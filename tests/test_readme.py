"""Executes every command and Python snippet of the README, as a reader would, in the repository's root."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import relayout
from dialect_utils.ir import Function, Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.targets.known import default_layout
from passes.framework.base import BUILTIN_PASSES
from tests.pages import Reader, blocks, checkout, first_missing, is_installable
from tests.paths import OWN_CORPUS, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BESIDE = (ROOT / "docs" / "beside.md").read_text(encoding="utf-8")
COMMANDS = [command for block in blocks(README) if block.language == "sh" for command in block.commands]


def test_every_command_runs_and_prints_what_is_shown(tmp_path: Path) -> None:
    Reader(checkout(tmp_path)).work_through(README)


def test_the_two_commands_are_there() -> None:
    assert {"pip install .", "make demo", "make test"} <= set(COMMANDS)


def test_the_report_and_its_sentence_come_first() -> None:
    beginning = README.partition("\n## ")[0]
    assert "](docs/pictures/report.png)" in beginning
    totals = relayout.memory_report("examples/forces_tpu.hlo").totals()
    said = f"**{totals['padding_bytes'] / 2**20:.0f} MiB of the {totals['main_memory_peak_bytes'] / 2**30:.2f} GiB that"
    assert said in beginning


def test_the_figures_beside_other_tools_are_those_of_the_pages() -> None:
    checking, memory = ((ROOT / f"docs/{name}.md").read_text("utf-8") for name in ("checking", "memory"))
    table = BESIDE.partition("## Beside other tools")[2].partition("\n## ")[0]
    assert f"| {len(BUILTIN_PASSES)} over layouts" in table
    (planted,) = re.findall(r"all of ([\d,]+) planted faults that change a result", table)
    found = re.findall(r"^\| faults that change a result \|.*$", checking, re.MULTILINE)
    assert [row.split(" | ")[2::3] for row in found] == [[planted, f"{planted} |"]]
    close, peaks, share = re.findall(r"(\d+) of (\d+) peaks within ([\d.]+ %)", table)[0]
    assert f"Of the {peaks} programs with a peak above 16 MiB, {close} peaks are within {share}" in memory


def test_setup_comes_before_what_the_readme_starts() -> None:
    targets = dict(re.findall(r"^([a-z-]+): ([^#\n]*)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert "$(STAMP)" in targets["demo"]
    assert all("$(STAMP)" in targets[part] for part in targets["test"].split())


def test_a_failing_command_is_noticed(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    assert reader.try_run("relayout op")[0] == 2
    for page in (
        "```sh\nrelayout op\n```\n",
        "```sh\nfalse | false\n```\n",
        "```sh\nmake tests\n```\n",
        "```sh\npip install relayuot\n```\n",
        "```sh\nrelayout --version\n```\n\n```text\nrelayout 99\n```\n",
        "```python\nassert False\n```\n",
    ):
        with pytest.raises(AssertionError):
            reader.work_through(page)


def test_shown_lines_are_looked_for_in_their_order() -> None:
    assert first_missing("a\n...\nc\n", "a\nb\nc\n") is None
    assert first_missing("c\na\n", "a\nb\nc\n") == "a"
    assert is_installable("relayout[tpu]", ROOT)
    assert not is_installable("relayout[npu]", ROOT)


def test_the_picture_is_what_the_tool_draws() -> None:
    path = "docs/pictures/tiles.svg"
    assert f"]({path})" in README
    assert (ROOT / path).read_text(encoding="utf-8") == relayout.draw("f32[3,5]{1,0:T(2,2)}").svg


# The share of arrays with exactly the default layout


def dumps() -> Iterator[tuple[Path, str]]:
    """Yields the dumps of the TPU compiler in this tree that say their target."""
    for meta in sorted(OWN_CORPUS.glob("tpu/*/meta.json")):
        yield meta.parent / "tpu.hlo", json.loads(meta.read_text("utf-8"))["platform"]
    measured = ROOT / "tests/memory/dumps"
    for line in (measured / "measured.jsonl").read_text("utf-8").splitlines():
        figures = json.loads(line)
        yield measured / f"{figures['name']}.hlo.gz", figures["platform"]


def has_default(shape: ArrayShape, target: str) -> bool:
    """Is true for the target's default layout, in whatever memory."""
    layout = replace(shape.effective_layout, memory_space=0)
    return layout == default_layout(shape.element_type, shape.dimensions, target)


def arrays(shapes: Iterator[Shape]) -> list[ArrayShape]:
    return [leaf for shape in shapes for leaf in shape.leaves() if isinstance(leaf, ArrayShape)]


def of_entry(module: Module) -> list[ArrayShape]:
    entry = module.entry
    return arrays(value.shape for value in (*entry.parameters, *entry.results))


def made_inside(module: Module) -> list[ArrayShape]:
    """Returns what instructions make in memory: not inside of fusions, and not what is only named again."""
    named = ("parameter", "tuple", "get-tuple-element", "bitcast")
    operations = (op for function in module.functions if is_in_memory(function) for op in function.operations)
    return arrays(value.shape for op in operations if op.opcode not in named for value in op.results)


def is_in_memory(function: Function) -> bool:
    return not function.is_embedded and all(op.opcode not in ("fusion", "async-start") for op in function.callers)


def test_the_share_of_default_layouts_is_what_the_readme_says() -> None:
    outside, inside, count = [], [], 0
    for path, platform in dumps():
        target = platform if platform.startswith("tpu") else f"tpu-{platform}"
        module = relayout.read(path)
        outside += [has_default(shape, target) for shape in of_entry(module)]
        inside += [has_default(shape, target) for shape in made_inside(module)]
        count += 1
    said = re.sub(r"\s+", " ", BESIDE)
    assert all(outside)
    assert f"In the {count} dumps of that compiler in this tree all {len(outside):,} arrays" in said
    share = f"{sum(inside) / len(inside):.0%}"
    assert f"of the {len(inside):,} arrays that other instructions make {share} do" in said
