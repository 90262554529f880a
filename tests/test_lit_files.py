"""Every line of a lit test that looks like a check is one: FileCheck passes over a misspelt one in silence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relayout.lit_config import SUFFIXES

ROOT = Path(__file__).parents[1]
SUITES = (ROOT / "lit_tests", ROOT / "examples" / "third_party_pass" / "lit_tests")
FILES = sorted(
    file for suite in SUITES for file in suite.rglob("*") if file.suffix in SUFFIXES and "Inputs" not in file.parts
)

_FILECHECK = re.compile(r"(?<![\w/.-])filecheck(?![\w/.-])([^|]*)", re.IGNORECASE)
_PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ](\S+)")
_PRINTS_NO_MODULE = re.compile(r"\bnot relayout|--list-passes|-o %t")
_LOOKS_LIKE_A_CHECK = re.compile(r"^\s*(?://|#|;)?\s*([A-Z][A-Z0-9_]*(?:-[A-Z0-9_]+)*)\s*:")
_SUFFIX = re.compile(r"-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+)$")
_LIT_KEYWORDS = ("RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE", "REDEFINE", "END", "COM")


def prefixes(text: str) -> set[str]:
    """Returns the prefixes that the RUN lines check."""
    found: set[str] = set()
    for line in re.findall(r"RUN:(.*(?:\\\n.*)*)", text):
        for call in _FILECHECK.findall(line):
            given = _PREFIXES.search(call)
            found |= set(given[1].split(",")) if given else {"CHECK"}
    return found


def ineffective(text: str) -> list[str]:
    """Returns lines that look like checks but are none, and prefixes that no line has."""
    used = prefixes(text)
    wrong, seen = [], set()
    for line in text.splitlines():
        match = _LOOKS_LIKE_A_CHECK.match(line)
        if match is None or match[1] in _LIT_KEYWORDS:
            continue
        prefix = _SUFFIX.sub("", match[1])
        seen.add(prefix)
        if prefix not in used:
            wrong.append(line)
    return wrong + sorted(used - seen) + echoing(text)


def echoing(text: str) -> list[str]:
    """Returns RUN lines whose output holds the file's own directives, so that every check passes."""
    lines = re.findall(r"RUN:(.*(?:\\\n.*)*)", text)
    prints = [line for line in lines if "relayout opt" in line and _FILECHECK.search(line)]
    return [line for line in prints if "--strip-comments" not in line and not _PRINTS_NO_MODULE.search(line)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_check_has_an_effect(file: Path) -> None:
    assert ineffective(file.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "// RUN: relayout opt %s --strip-comments | FileCheck %s\n// CHEK: x\n// CHECK: y",
        "// RUN: relayout opt %s --strip-comments | FileCheck %s\n// CHECK-NXT: x\n// CHECK: y",
        "// RUN: relayout opt %s --strip-comments | FileCheck %s --check-prefix=A\n// CHECK: x\n// A: y",
        "// RUN: relayout opt %s --strip-comments | filecheck %s --check-prefixes=A,B\n// A: y",
        "RUN: relayout opt %s\nCHECK: x",
        "// RUN: relayout opt %s | FileCheck %s\n// CHECK: x",
    ],
)
def test_a_check_without_effect_is_found(text: str) -> None:
    assert ineffective(text)
