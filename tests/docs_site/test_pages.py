"""The site's generated pages, its reference, its pictures, and every link between files of the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import relayout
import relayout.jax
from docs_site.pages import GROUPS, fenced, for_site, generated_pages, habits_table, on_page_markdown
from docs_site.pictures import REPORTS, VERDICTS, terminal_svg, verdict_lines
from passes.framework.base import BUILTIN_PASSES, load_pass
from relayout.cli import main
from relayout.habits import ANSWERS, OF_OPT
from tests.paths import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
_LINK = re.compile(r"\]\(([^)#\s]+)?(?:#([^)\s]+))?\)")


def broken_links(page: Path, text: str) -> list[str]:
    """Returns the links of a page that lead nowhere; pages that the site makes are known."""
    made = {ROOT / "docs" / path for path in generated_pages()}
    found = []
    for target, anchor in _LINK.findall(re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)):
        if target.startswith(("https://", "http://")):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() and file not in made:
            found.append(target)
        elif anchor and file.suffix == ".md" and file.exists() and anchor not in anchors(file.read_text("utf-8")):
            found.append(f"{target}#{anchor}")
    return found


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text("utf-8")) == []


def test_a_broken_link_is_noticed() -> None:
    text = "[a](absent.md) [b](docs/memory.md#absent) [c](docs/memory.md#the-figures) `[d](e)`"
    assert broken_links(ROOT / "README.md", text) == ["absent.md", "docs/memory.md#absent"]


def test_every_pass_has_a_page_with_its_rules_its_example_and_its_options() -> None:
    pages = generated_pages()
    for name in BUILTIN_PASSES:
        step, page = load_pass(name), pages[f"passes/{name}.md"]
        assert page.startswith(f"# {name}\n\n{step.summary}\n")
        assert all(f"| `{option.written_name}` |" in page for option in step.options)
        assert f"[{name}]({name}.md)" in pages["passes/index.md"]
    after = pages["passes/expand-tiling.md"].partition("After:\n\n```hlo\n")[2].partition("```")[0]
    assert "p.physical = f32[2,3,2,2]{3,2,1,0} transpose(p.reshape), dimensions={0,2,1,3}" in after


def test_the_site_has_the_screenshots_of_both_themes() -> None:
    once = "![a](pictures/report.png)"
    assert on_page_markdown(once) == "![a](pictures/report.png#only-light)\n![a](pictures/report_dark.png#only-dark)"
    assert on_page_markdown("![a](pictures/tiles.svg) [b](c.ipynb)") == "![a](pictures/tiles.svg) [b](c.md)"
    assert on_page_markdown((ROOT / "docs/index.md").read_text("utf-8")).count("report_dark.png#only-dark") == 1


def test_the_passes_are_grouped_as_their_folders_are() -> None:
    index = generated_pages()["passes/index.md"]
    assert re.findall(r"^## (\w+)$", index, re.MULTILINE) == [
        "Layouts",
        "Tiling",
        "Bitcasts",
        "Dumps",
        "Shapes",
        "Fusions",
    ]
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(BUILTIN_PASSES)
    bitcasts = index.partition("## Bitcasts")[2].partition("## Dumps")[0]
    assert re.findall(r"\| \[([\w-]+)\]", bitcasts) == ["expand-bitcasts", "form-bitcasts"]


def test_the_page_about_mlir_opt_has_the_hints_of_the_command() -> None:
    table = habits_table()
    assert f"\n\n{table}\n\n" in (ROOT / "docs/from_mlir_opt.md").read_text("utf-8")
    assert "| `--mlir-print-ir-tree-dir` | `--dump-dir DIR` |" in table
    assert all(f"`{name}`" in table for name in (*OF_OPT, *ANSWERS))


def test_links_of_the_root_are_those_of_the_site() -> None:
    assert for_site("[a](docs/memory.md#b) [c](examples/d)") == "[a](memory.md#b) c"


def test_the_menu_has_every_page_and_no_other() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = set(re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", settings, re.MULTILINE))
    hidden = set(re.findall(r"^not_in_nav: (\S+)", settings, re.MULTILINE))
    written = {file.relative_to(ROOT / "docs").as_posix() for file in (ROOT / "docs").rglob("*.md")}
    passes = {page for page in generated_pages() if page.startswith("passes/") and page != "passes/index.md"}
    assert listed == (written | set(generated_pages())) - hidden - passes  # those of passes are added below their index


def test_the_reference_has_every_public_name() -> None:
    topics = (file.read_text("utf-8") for file in (ROOT / "docs/reference").glob("*.md"))
    every = [name for text in topics for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]
    listed = set(every)
    assert len(listed) == len(every)
    functions = {name for name in relayout.jax.__all__ if name not in ("Applied", "Dump", "from_jax")}
    names = {each.rpartition(".")[2] for each in listed}
    assert (set(relayout.__all__) - {"Shape"}) | functions <= names
    for each in listed:
        module, _, name = each.rpartition(".")
        assert getattr(__import__(module, fromlist=[name]), name).__module__ == module


def test_the_verdicts_of_the_landing_page_are_those_of_the_tool() -> None:
    assert terminal_svg(verdict_lines()) == VERDICTS.read_text("utf-8")


def test_the_drawing_of_a_terminal_escapes_and_colours() -> None:
    drawn = terminal_svg(["$ relayout check a b", "a and b: different (xla)", "  " + "x < y " * 30])
    colours = re.findall(r'<text [^>]* fill="(#\w+)"', drawn)
    assert len(colours) == 4  # the long line is wrapped
    assert len(set(colours)) == 3
    assert "x &lt; y" in drawn


def test_every_picture_is_small() -> None:
    files = [*(ROOT / "docs/pictures").iterdir()]
    assert {file.name for file in files} >= {*REPORTS, VERDICTS.name}
    assert [file.name for file in files if file.stat().st_size > 200_000] == []


def test_examples_of_docstrings_are_code() -> None:
    assert fenced("Does.\n\n>>> f(\n... )\n1\n\nMore.\n") == "Does.\n\n```pycon\n>>> f(\n... )\n1\n```\n\nMore.\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("tiles", ["f32[3,5]{1,0:T(2,2)}"]),
        ("rows", ["f32[2097152,3]{1,0:T(8,128)}", "--window", "0:9,0:16"]),
        ("columns", ["f32[2097152,3]{0,1:T(4,128)}", "--window", "0:9,0:4"]),
        ("dimensions", ["f32[2,3]{1,0}"]),
        ("minor_to_major", ["f32[2,3]{0,1}"]),
        ("nested_tiles", ["bf16[4,4]{1,0:T(4,4)(2,1)}"]),
        ("padding", ["f32[5,3]{1,0:T(4,4)}"]),
        ("memory_space", ["f32[3,5]{1,0:T(2,2)S(1)}"]),
        ("bitcast", ["f32[3,2]{0,1}"]),
        ("copy", ["f32[3,2]{1,0}"]),
    ],
)
def test_pictures_are_what_the_tool_draws(name: str, arguments: list[str], tmp_path: Path) -> None:
    assert main(["explain", *arguments, "--picture", "svg", "-o", str(tmp_path / "a.svg")]) == 0
    assert (tmp_path / "a.svg").read_text("utf-8") == (ROOT / f"docs/pictures/{name}.svg").read_text("utf-8")
