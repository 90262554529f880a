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
}
PATTERN = re.compile("|".join(f"(?P<w{i}>\\b(?:{word})\\b)" for i, word in enumerate(WORDS)))
# Pages on other subjects: what a process can pretend, how a check decides.
ALLOWED = {"docs/security.md", "docs/checking.md"}


def verb_first(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ClassDef) and VERBS.match(ast.get_docstring(node) or ""):
            yield node.name


def old_words(text: str) -> list[str]:
    return [found[0] for found in PATTERN.finditer(text)]


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
