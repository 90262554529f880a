"""The words of the product: class docstrings are noun phrases, and what a file says of itself uses plain words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

PRODUCT = [
    file for package in ("dialect_utils", "passes", "relayout") for file in sorted((ROOT / package).rglob("*.py"))
]
TEXTS = [*PRODUCT, *sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]

# A docstring of a class that begins with one of these says what the class does, not what it is.
VERBS = re.compile(
    r"(?:Is|Has|Holds|Says|Knows|Keeps|Raises|Reads|Makes|Writes|Finds|Runs|Gives|Takes|Returns|Follows|Puts|Counts|"
    r"Decides|Walks|Evaluates|Computes|Collects|Builds|Describes|Draws|Prints|Parses|Moves|Turns|Checks)\b"
)
# What the field says otherwise, and what it says instead.
WORDS = {
    r"in front of": "before",
    r"(?<!left )(?<!least )(?<!stays )behind(?= [a-z`])": "after",
    r"stands?(?! (?:in )?for\b)": "is, comes, occurs",
    r"(?<!can )(?<!cannot )lies?": "is, is laid out",
    r"is_applied": "is_embedded",
    r"(?:this|only|layout|verdict|of the|of its own) rooms?": "package",
}
PATTERN = re.compile("|".join(f"(?P<w{i}>\\b(?:{word})\\b)" for i, word in enumerate(WORDS)))
# Names that were the product's own, and the field's for the same.
NAMES = {
    "Port": "region operand, entry place",
    "carriers": "region operands, targets",
    "sink": "region result",
    "sinks": "region results",
    "seam": "adapter",
    "Motion": "relayout",
    "Mend": "copy insertion point",
    "is_applied": "is_embedded",
    "is_splat_of": "splat_bits",
    "putting": "packing",
    "Promise": "guarantee",
    "cpu_hazards": "cpu_workarounds",
}
NAMES_PATTERN = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")
# Where a name of these means something else: what a file holds, and what it is there.
OTHER_MEANINGS = {
    # What bytes are written to.
    "relayout/batch/results.py": {"sink"},
    "relayout/report/export.py": {"sink"},
    # An array of the entry with the layouts that it is passed in, one after another.
    **{f"dialect_utils/verdict/{name}.py": {"Port"} for name in ("examination", "ports", "proof/decide", "runs")},
}
# Pages on other subjects: what a process can pretend, how a check decides.
ALLOWED = {"docs/security.md", "docs/checking.md"}


def verb_first(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ClassDef) and VERBS.match(ast.get_docstring(node) or ""):
            yield node.name


def old_words(text: str) -> list[str]:
    return [found[0] for found in PATTERN.finditer(text)]


def old_names(file: str, code: str) -> set[str]:
    """Returns the names of the table that a module has or uses."""
    if not NAMES_PATTERN.search(f"{file}\n{code}"):
        return set()
    nodes = list(ast.walk(ast.parse(code)))
    found = {node.id for node in nodes if isinstance(node, ast.Name)}
    found |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    found |= {node.arg for node in nodes if isinstance(node, ast.arg | ast.keyword) and node.arg}
    found |= {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return (found | {Path(file).stem}) & NAMES.keys() - OTHER_MEANINGS.get(file, set())


def test_no_name_is_an_old_one() -> None:
    found = {name: old_names(name, file.read_text("utf-8")) for name, file in files_by_name().items()}
    assert {name: words for name, words in found.items() if words} == {}


def files_by_name() -> dict[str, Path]:
    return {file.relative_to(ROOT).as_posix(): file for file in PRODUCT}


def test_planted_names_are_found() -> None:
    code = "class Port:\n    def sink(self, sinks):\n        return self.carriers, f(Mend=1)\n"
    assert old_names("a/seam.py", code) == {"Port", "sink", "sinks", "carriers", "Mend", "seam"}


@pytest.mark.parametrize("file", PRODUCT, ids=lambda file: str(file.relative_to(ROOT)))
def test_docstrings_of_classes_are_noun_phrases(file: Path) -> None:
    assert list(verb_first(file.read_text("utf-8"))) == []


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_plain_words(file: Path) -> None:
    if str(file.relative_to(ROOT)) not in ALLOWED:
        assert old_words(file.read_text("utf-8")) == []


def test_planted_words_are_found() -> None:
    assert list(verb_first('class A:\n    """Is a."""\nclass B:\n    """One b."""\nclass C: pass')) == ["A"]
    text = "the sign in front of it stands behind the colon, where it lies"
    assert old_words(text) == ["in front of", "stands", "behind", "lies"]
    assert old_words("it stands for what is left behind it, and cannot lie") == []
