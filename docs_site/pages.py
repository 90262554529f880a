"""The site's generated pages: the commands, the passes from their docstrings, the project's files, and the notebooks.

`mkdocs.yml` names this file as a hook. The generated pages are not stored in the tree.
"""

from __future__ import annotations

import argparse
import importlib
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docs_site.notebooks import NOTEBOOKS, as_markdown
from passes.framework.base import BUILTIN_PASSES, Pass, load_pass
from passes.framework.options import describe_options
from relayout import habits
from relayout.cli import COMMANDS, FORMS, parser_of

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
# Pages that are files of the repository's root.
_ROOT_PAGES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
# The names of the built-in passes, by the folder of `passes` that holds them.
GROUPS = {
    group: [name for name, module in BUILTIN_PASSES.items() if module.split(".")[1] == group]
    for group in dict.fromkeys(module.split(".")[1] for module in BUILTIN_PASSES.values())
}
# A line that ends with a colon, and the indented lines after it.
_EXAMPLE = re.compile(r"^(\S.*:)\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
# The examples of a docstring.
_DOCTEST = re.compile(r"(?:^>>> .*\n(?:(?!>>> |$).+\n?)*)+", re.MULTILINE)
# A picture that has a dark version, `report_dark.png`.
_SCREENSHOT = re.compile(r"(!\[[^]]*\]\((?:\.\./)*pictures/)(report)\.png\)")
_LINK = re.compile(r"\[([^]]+)\]\(([^)#:]+)(#[^)]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lists the pages of passes below `Passes`: mkdocs calls this once it has read `mkdocs.yml`."""
    for entry in config.nav or []:
        if "Passes" in entry:
            pages = {group.capitalize(): [f"passes/{name}.md" for name in names] for group, names in GROUPS.items()}
            entry["Passes"] = [entry["Passes"], *({group: files} for group, files in pages.items())]
    return config


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links notebooks to their pages, and shows dark pictures in the dark theme: mkdocs calls this for every page."""
    return _SCREENSHOT.sub(_for_each_theme, markdown.replace(".ipynb)", ".md)"))


def _for_each_theme(found: re.Match[str]) -> str:
    """Returns a picture twice, the second time in its dark version; each is visible in one theme of the site only."""
    start, name = found.groups()
    return f"{start}{name}.png#only-light)\n{start}{name}_dark.png#only-dark)"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages: mkdocs calls this before it reads any page."""
    from mkdocs.structure.files import File

    for path, content in generated_pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def generated_pages() -> dict[str, str]:
    """Returns the Markdown of every generated page, by its path in the site."""
    steps = [load_pass(name) for name in BUILTIN_PASSES]
    pages = {f"passes/{step.name}.md": pass_page(step) for step in steps}
    pages["passes/index.md"] = pass_index(steps)
    pages["commands.md"] = "\n".join(["# Commands\n", *map(command_section, (*COMMANDS, *FORMS))])
    pages |= {f"notebooks/{path.stem}.md": as_markdown(path) for path in NOTEBOOKS}
    return pages | {page: for_site((ROOT / file).read_text("utf-8")) for page, file in _ROOT_PAGES.items()}


def pass_page(step: Pass) -> str:
    """Returns a pass's page: its docstring with the examples as code, then its options."""
    summary, _, rules = step.doc.partition("\n")
    fenced = _EXAMPLE.sub(_fence, rules + "\n")
    rows = [
        f"| `{name}` | {_cell(kind)} | {_cell(default)} |" for name, kind, default in describe_options(step.options)
    ]
    table = "\n".join(["## Options", "", "| option | value | default |", "|---|---|---|", *rows])
    listed = table if rows else "It has no options."
    return f"# {step.name}\n\n{summary}\n\nReads {' and '.join(step.dialects)}.\n\n{fenced}\n{listed}\n"


def command_section(name: str) -> str:
    """Returns the section of a command: its summary, its options, and its examples."""
    parser = parser_of(name)
    rows = [f"| {_names(action)} | {_cell(action.help or '')} |" for action in parser.added]
    table = "\n".join(["| argument | meaning |", "|---|---|", *rows])
    examples = "\n".join(["```sh", *parser.kind.examples, "```"])
    return f"## {parser.prog}\n\n{parser.description}\n\n{table}\n\n{examples}\n"


def habits_table() -> str:
    """Returns the table of options of mlir-opt and LLVM's opt that `relayout opt` answers with a hint."""
    parser = parser_of("opt")
    rows: dict[str, list[str]] = {}
    for name in (*habits.OF_OPT, *habits.ANSWERS):
        hint = parser.counterpart(name)
        if hint is not None:
            rows.setdefault(hint, []).append(f"`{name}`")
    body = [f"| {', '.join(names)} | {_as_cell(hint)} |" for hint, names in rows.items()]
    return "\n".join(["| mlir-opt, opt | relayout opt |", "|---|---|", *body])


def _as_cell(hint: str) -> str:
    """Returns a hint with the option that it begins with as code: `--jobs 1`."""
    option, separator, rest = hint.removeprefix("write ").partition(";" if ";" in hint else ",")
    return f"`{option}`{separator}{rest}" if hint.startswith("write ") else hint


def _names(action: argparse.Action) -> str:
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    return " ".join(f"`{each}`" for each in (*action.option_strings, value) if each)


def _cell(text: str) -> str:
    return text.replace("|", ", ")


def _fence(found: re.Match[str]) -> str:
    body = textwrap.dedent(found[2]).strip("\n")
    language = "hlo" if "HloModule" in body else "mlir" if "func.func" in body else "text"
    return f"{found[1]}\n\n```{language}\n{body}\n```\n"


def pass_index(steps: Sequence[Pass]) -> str:
    """Returns the tables of all passes, one for each folder of `passes`."""
    head = "# Passes\n\n`relayout opt FILE -p PASS{option=value},PASS` runs them in order."
    return "\n\n".join([head, *(_pass_group(group, steps) for group in GROUPS)]) + "\n"


def _pass_group(group: str, steps: Sequence[Pass]) -> str:
    summary = importlib.import_module(f"passes.{group}").__doc__
    rows = [
        f"| [{step.name}]({step.name}.md) | {step.summary} | {' and '.join(step.dialects)} |"
        for step in steps
        if step.name in GROUPS[group]
    ]
    return "\n".join(
        [f"## {group.capitalize()}\n\n{summary}\n", "| pass | what it does | reads |", "|---|---|---|", *rows]
    )


def for_site(text: str) -> str:
    """Returns a page of the root for the site: links into docs/ stay links, others become plain text."""
    return _LINK.sub(_relink, text)


def _relink(found: re.Match[str]) -> str:
    name, path, anchor = found[1], found[2], found[3] or ""
    if path.startswith("docs/"):
        return f"[{name}]({path.removeprefix('docs/')}{anchor})"
    return name


def fenced(text: str) -> str:
    """Returns a docstring with its examples as fenced blocks."""
    return _DOCTEST.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
