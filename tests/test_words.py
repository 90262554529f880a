"""Words of the tree: docstrings of classes are noun phrases, and comments, docstrings and pages are plain English."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.plain_english import habits_in_code, habits_in_page
from tests.syntax import statements

PRODUCT = [
    file for package in ("dialect_utils", "passes", "relayout") for file in sorted((ROOT / package).rglob("*.py"))
]
TEXTS = [*PRODUCT, *sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]

# A docstring of a class that begins with one of these says what the class does, not what it is.
VERBS = re.compile(
    r"(?:Is|Has|Holds|Says|Knows|Keeps|Raises|Reads|Makes|Writes|Finds|Runs|Gives|Takes|Returns|Follows|Puts|Counts|"
    r"Decides|Walks|Evaluates|Computes|Collects|Builds|Describes|Draws|Prints|Parses|Moves|Turns|Checks)\b"
)
# Words of this project, and the field's words.
WORDS = {
    r"in front of": "before",
    r"(?<!left )(?<!least )(?<!stays )behind(?= [a-z`])": "after",
    r"stands?(?! (?:in )?for\b)": "is, comes, occurs",
    r"(?<!can )(?<!cannot )lies?": "is, is laid out",
    r"is_applied": "is_embedded",
    r"(?:this|only|layout|verdict|of the|of its own) rooms?": "package",
}
PATTERN = re.compile("|".join(f"(?P<w{i}>\\b(?:{word})\\b)" for i, word in enumerate(WORDS)))
# Names of this project, and the field's names.
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
# Files in which such a name has another meaning.
OTHER_MEANINGS = {
    # A stream that takes bytes.
    "relayout/batch/results.py": {"sink"},
    "relayout/reporting/export.py": {"sink"},
}
# Pages that use such a word in its ordinary sense.
ALLOWED = {"docs/security.md", "docs/checking.md"}


def verb_first(code: str) -> Iterator[str]:
    for node in statements(code):
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


# Docstrings of methods


def undocumented_methods(codes: list[str]) -> list[str]:
    """Returns the public methods that have no docstring, and override no method that has one."""
    classes = [node for code in codes for node in statements(code) if isinstance(node, ast.ClassDef)]
    bases: dict[str, set[str]] = {}
    documented: dict[str, set[str]] = {}
    for each in classes:
        bases.setdefault(each.name, set()).update(ast.unparse(base).partition("[")[0] for base in each.bases)
        documented.setdefault(each.name, set()).update(name for name, is_told in methods(each) if is_told)

    def overrides(name: str, method: str) -> bool:
        return any(method in documented.get(base, ()) or overrides(base, method) for base in bases.get(name, ()))

    return [
        f"{each.name}.{name}"
        for each in classes
        for name, is_told in methods(each)
        if not each.name.startswith("_") and not is_told and not overrides(each.name, name)
    ]


def methods(node: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    """Yields the public methods of a class, and whether each has a docstring."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            yield each.name, ast.get_docstring(each) is not None


def test_methods_have_a_docstring_or_override_a_method_that_has_one() -> None:
    assert undocumented_methods([file.read_text("utf-8") for file in PRODUCT]) == []


def test_a_planted_method_without_a_docstring_is_found() -> None:
    base = "class A(Generic[T]):\n    def f(self):\n        'Returns.'\n    def _g(self): pass\n"
    derived = "class B(A[T]):\n    def f(self): pass\n    def h(self): pass\nclass _C:\n    def h(self): pass\n"
    assert undocumented_methods([base, derived]) == ["B.h"]


# Plain English

FOLDERS = ("tests", "benchmarks", "docs_site", "examples")
CODE = [*PRODUCT, *(file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py")))]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
]


def habits_of(file: Path) -> list[str]:
    text = file.read_text("utf-8")
    return habits_in_code(text) if file.suffix == ".py" else habits_in_page(text)


@pytest.mark.parametrize("file", [*CODE, *PAGES], ids=lambda file: str(file.relative_to(ROOT)))
def test_comments_docstrings_and_pages_are_plain_english(file: Path) -> None:
    assert habits_of(file) == []


WRONG = """
# What follows is read.
# It goes on.
def f():
    'Where a file is.'
class A:
    'What a file holds.'
    def g(self):
        'Names of files.'
    def h(self):
        'Is the size.'  # who knows
    def k(self):
        'Is true for a file; puts it anew into a room like its twin.'
"""
RIGHT = """
# A file that exists. What follows is not the begin of this comment, and `twins` is code.
def f():
    'Returns where a file is.'
class A:
    'A file.'
    def g(self):
        'Is true for a file.'  # noqa: X
    def test_h(self):
        'A fact.'
"""


def test_planted_habits_are_found() -> None:
    found = [each.partition(": ") for each in habits_in_code(WRONG)]
    assert [(int(line), text) for line, _, text in found] == [
        (2, "What follows is read. It goes"),
        (4, "Where a file is."),
        (4, "Where a file is."),
        (6, "What a file holds."),
        (8, "Names of files."),
        (10, "Is the size."),
        (11, "who knows"),
        (12, "puts"),
        (12, "anew"),
        (12, "twin"),
    ]
    assert habits_in_code(RIGHT) == []
    page = "# What is read\n\nA file.\n\nWho reads it hands it on.\n\n- Where it is: `anew`\n\n```sh\nput\n```\n"
    assert habits_in_page(page) == ["hands it on", "Who reads it hands it on.", "Where it is:"]
    words = ("alike", "dies of", "told them apart", "the like", "of old", "nobody promises")
    assert [word for word in words if habits_in_page(word) != [word]] == []
