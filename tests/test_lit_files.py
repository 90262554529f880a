"""Lit tests can fail: each line that looks like a check is one, and the checks do not hold where no pass ran.

FileCheck passes over a misspelt directive in silence, and a check may describe what the input says already.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options

from passes.framework.pipeline import Pipeline
from relayout.cli import main
from relayout.lit_config import SUFFIXES
from tests.paths import ROOT

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


_CHECKED_PASS = re.compile(r"RUN: relayout opt %s (.*-p .*)\| *[Ff]ile[Cc]heck %s(.*)")
# These check that a module is not changed.
_CHANGES_NOTHING = ("no-change", "verify-layouts")
CHANGING = [
    file for file in FILES if SUITES[0] in file.parents and not any(word in str(file) for word in _CHANGES_NOTHING)
]


def checked_runs(text: str) -> list[tuple[list[str], list[str], list[str]]]:
    """Returns, for each run of one pass whose output is checked, its options, those without the pass, and FileCheck's.

    A pass and its inverse may well give back what stood there.
    """
    found = []
    for options, prefix in _CHECKED_PASS.findall(text):
        words = shlex.split(options)
        at = words.index("-p")
        if "2>&1" not in words and len(Pipeline.parse(words[at + 1]).passes) == 1:
            found.append((words, words[:at] + words[at + 2 :], shlex.split(prefix)))
    return found


def blind_runs(file: Path, capsys: pytest.CaptureFixture[str], scratch: Path) -> list[list[str]]:
    """Returns FileCheck's options of every run that changes the module and whose checks hold without that, too."""

    def printed(options: list[str]) -> str:
        words = [word.replace("%S", str(file.parent)) for word in options]
        assert main(["opt", str(file), "--allow-unverified", *words]) == 0
        return capsys.readouterr().out

    blind = []
    for options, without_pass, prefix in checked_runs(file.read_text("utf-8")):
        unchanged = printed(without_pass)
        if unchanged == printed(options):
            continue
        scratch.write_text(unchanged, "utf-8")
        checks = parse_argv_options(["filecheck", str(file), "--input-file", str(scratch), *prefix])
        if Matcher.from_opts(checks).run() == 0:
            blind.append(prefix)
        capsys.readouterr()
    return blind


@pytest.mark.parametrize("file", CHANGING, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_checks_do_not_hold_where_no_pass_ran(
    file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert blind_runs(file, capsys, tmp_path / "unchanged") == []


def test_checks_that_hold_without_the_pass_are_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = "// RUN: relayout opt %s -p annotate-layouts{target=tpu-v5e} --strip-comments | filecheck %s"
    module = "HloModule m\nENTRY e {\n// CHECK: p = f32[]{{.*}} parameter(0)\nROOT p = f32[] parameter(0)\n}\n"
    file = tmp_path / "blind.hlo"
    file.write_text(f"{run}\n{module}", "utf-8")
    assert blind_runs(file, capsys, tmp_path / "unchanged") == [[]]
