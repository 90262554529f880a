"""Draws one-line mutants of the whole product at random and runs, for each, the tests that execute the changed line.

    python -m tests.mutants.sample N --seed S [--jobs J] [--match PATH] [--exclude PATH ...] [--limit SECONDS]

A mutant is killed by a test that fails with it and passes without it. Lines are drawn first, then one change of the
line, so that a table of names weighs no more than a condition. The mutation score counts every mutant that is not known
to be equivalent; a mutant that no test executes has survived.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path, PurePosixPath
from queue import SimpleQueue

from tests.mutants.changes import Change, changes
from tests.mutants.coverage_map import FILE, PRODUCT, CoverageMap, measure
from tests.mutants.equivalents import EQUIVALENTS
from tests.mutants.tree import LIT, PASSED, copy_of_the_tree, lit_files, planted, run, run_tests
from tests.paths import ROOT

# Recorded seconds of the tests that one mutant gets, and the tests of one run.
LIMIT = 30.0
MOST_TESTS = 400
# A run takes this much longer than its tests took, and this many seconds to begin.
SLACK, START = 6.0, 60.0
# Code that runs in worker processes, which may not write down what they execute; and the tests that use them.
IN_WORKER = ("dialect_utils/execution/", "dialect_utils/stablehlo/rewrites/")
WITH_WORKER = (
    "tests/execution/",
    "tests/stablehlo/test_rewrites",
    "tests/verdict/sampling/",
    "tests/verdict/test_devices",
)
_NORMAL_95 = 1.96
_FAILED_LIT = re.compile(r"^FAIL: relayout :: (\S+)", re.MULTILINE)
_FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A mutant that was drawn: a change in a file."""

    file: str
    code: str
    change: Change

    @property
    def before(self) -> str:
        return self.code.splitlines()[self.change.line - 1].strip()

    @property
    def after(self) -> str:
        return self.change.changed_line(self.code).strip()

    @property
    def reason(self) -> str:
        """Returns why no test can notice the change, or an empty text."""
        changed = ast.dump(ast.parse(self.change.applied(self.code)))
        own = ((edit, why) for edit, why in EQUIVALENTS if edit.file == self.file)
        return next((why for edit, why in own if ast.dump(ast.parse(edit.applied(self.code))) == changed), "")

    def __str__(self) -> str:
        return f"{self.file}:{self.change.line}\n    - {self.before}\n    + {self.after}"


def draw(count: int, seed: int, match: str = "", exclude: Sequence[str] = ()) -> list[Drawn]:
    """Returns mutants of distinct lines, drawn with equal chances for each line that has one."""
    lines: dict[tuple[str, int], list[Drawn]] = {}
    for file in product_files(match, exclude):
        code = (ROOT / file).read_text("utf-8")
        for change in changes(code):
            lines.setdefault((file, change.line), []).append(Drawn(file, code, change))
    chance = random.Random(seed)
    found: list[Drawn] = []
    for line in chance.sample(sorted(lines), len(lines)):
        if len(found) == count:
            break
        one = chance.choice(lines[line])
        if one.change.is_a_program(one.code):
            found.append(one)
    return found


def product_files(match: str, exclude: Sequence[str]) -> Iterator[str]:
    for package in PRODUCT:
        for file in sorted((ROOT / package).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if match in name and not any(each in name for each in exclude):
                yield name


@dataclass(slots=True)
class Judge:
    """The runs of tests: the map that selects them, and the tests known to pass without a mutant."""

    map: CoverageMap
    present: frozenset[str]
    limit: float
    passing: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)

    def outcome(self, drawn: Drawn, tree: Path) -> str:
        if drawn.reason:
            return f"equivalent ({drawn.reason})"
        numbers = self.map.tests_of(drawn.file, drawn.code, drawn.change.line)
        if not numbers and drawn.file.startswith(IN_WORKER):
            numbers = [number for number, test in enumerate(self.map.tests) if test.startswith(WITH_WORKER)]
        tests = chosen([(self.map.tests[i], self.map.seconds[i]) for i in numbers], drawn.file, self.limit)
        tests = {test: seconds for test, seconds in tests.items() if test in self.present - self.failing}
        if not tests:
            return "not covered"
        while (failed := self.first_failure(drawn, tree, tests)) is not None:
            if failed == "" or self.passes_without(tree, failed):
                return f"killed by {failed or 'a run without an end'}"
            tests.pop(failed)
        return f"survived {len(tests)} of {len(numbers)} tests"

    def first_failure(self, drawn: Drawn, tree: Path, tests: dict[str, float]) -> str | None:
        """Returns the test that fails with a mutant, an empty text where the run names none, or None."""
        if not tests:
            return None
        with planted(tree / drawn.file, drawn.change.applied(drawn.code)):
            code, output = run_tests(tree, list(tests), START + SLACK * sum(tests.values()))
        if code == PASSED:
            return None
        named = _FAILED_TEST.search(output) or _FAILED_LIT.search(output)
        name = (named[1] if named.re is _FAILED_TEST else LIT + named[1]) if named else ""
        return name if name in tests else ""

    def passes_without(self, tree: Path, test: str) -> bool:
        if test not in self.passing | self.failing:
            code, _ = run_tests(tree, [test])
            (self.passing if code == PASSED else self.failing).add(test)
        return test in self.passing


def chosen(tests: Sequence[tuple[str, float]], file: str, limit: float) -> dict[str, float]:
    """Returns the tests to run and their seconds, the fastest of each file first.

    Tests of the file's own name come first, then those of lit and the mirrored folder, then all others; each of these
    three gets a third of the limit.
    """
    path = PurePosixPath(file)
    folder = PurePosixPath(*path.parent.parts[1:]).as_posix()
    ranks: dict[str, int] = {}
    ranked: list[tuple[int, int, float, str]] = []
    for test, seconds in sorted(tests, key=lambda each: each[1]):
        name = test.partition("::")[0]
        ranks[name] = ranks.get(name, 0) + 1
        is_near = folder != "." and name.startswith((f"tests/{folder}", LIT))
        kind = 0 if path.stem in PurePosixPath(name).stem else 1 if is_near else 2
        ranked.append((kind, ranks[name], seconds, test))
    found: dict[str, float] = {}
    spent = [0.0, 0.0, 0.0]
    for kind, _, seconds, test in sorted(ranked):
        if not found or (spent[kind] + seconds <= limit / 3 and len(found) < MOST_TESTS):
            spent[kind] += seconds
            found[test] = seconds
    return found


def interval(killed: int, count: int) -> tuple[float, float]:
    """Returns the 95 % interval of a share (Wilson's)."""
    if not count:
        return 0.0, 1.0
    share, z = killed / count, _NORMAL_95**2 / count
    middle = (share + z / 2) / (1 + z)
    width = _NORMAL_95 * sqrt(share * (1 - share) / count + z / (4 * count)) / (1 + z)
    return middle - width, middle + width


def present_tests(tree: Path) -> frozenset[str]:
    code, output = run(tree, ["-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "tests"])
    if code != PASSED:
        raise RuntimeError(f"the tests cannot be collected:\n{output[-2000:]}")
    return frozenset([*(line for line in output.splitlines() if "::" in line), *lit_files(tree)])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.sample")
    parser.add_argument("count", type=int, nargs="?", default=60, metavar="N", help="how many (default: 60)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument(
        "--exclude", nargs="+", default=[], metavar="PATH", help="no files whose path contains one of these"
    )
    parser.add_argument("--limit", type=float, default=LIMIT, help="recorded seconds of tests for one mutant")
    wanted = parser.parse_args(arguments)
    if not FILE.exists():
        print("measuring which tests execute each line (about ten minutes)", flush=True)
        measure(wanted.jobs).write()
    drawn = draw(wanted.count, wanted.seed, wanted.match, wanted.exclude)
    with tempfile.TemporaryDirectory(prefix="relayout-mutants-") as name:
        trees: SimpleQueue[Path] = SimpleQueue()
        for job in range(wanted.jobs):
            (folder := Path(name, str(job))).mkdir()
            trees.put(copy_of_the_tree(folder))
        present, measured = present_tests(Path(name, "0", "tree")), CoverageMap.read()
        measured.renamed(present)
        judge = Judge(measured, present, wanted.limit)

        def judged(one: Drawn) -> str:
            tree = trees.get()
            try:
                said = judge.outcome(one, tree)
            finally:
                trees.put(tree)
            print(f"{said.partition(' ')[0]:10} {one}\n    {said}", flush=True)
            return said.partition(" ")[0]

        with ThreadPoolExecutor(wanted.jobs) as pool:
            words = list(pool.map(judged, drawn))
    print(summary(words))
    return PASSED


def summary(words: Sequence[str]) -> str:
    counts = {word: words.count(word) for word in ("killed", "survived", "not", "equivalent")}
    judged = len(words) - counts["equivalent"]
    low, high = interval(counts["killed"], judged)
    share = counts["killed"] / judged if judged else 0.0
    return (
        f"{counts['killed']} of {judged} mutants killed: {share:.1%}, 95 % interval {low:.1%} to {high:.1%}; "
        f"{counts['survived']} survived, {counts['not']} not covered, {counts['equivalent']} equivalent left out"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
