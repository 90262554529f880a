"""Plants each mutant in a copy of the tree, runs the tests that must notice it, and prints a table.

    python -m tests.mutants [LIST ...] [--match PATH]

Exit code 1 where a mutant survives without a reason, is killed although a reason says that none can,
or where the tests fail without any mutant.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.model import LISTS, Mutant, mutants_of
from tests.mutants.tree import FAILED, PASSED, copy_of_the_tree, planted, run_tests


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("lists", nargs="*", metavar="LIST", help=f"of {', '.join(LISTS)} (default: all)")
    parser.add_argument("--match", default="", help="only mutants of files whose path contains this")
    chosen = parser.parse_args(arguments)
    unknown = {*chosen.lists} - {*LISTS}
    if unknown:
        parser.error(f"no list is called {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="relayout-mutants-") as folder:
        tree = copy_of_the_tree(Path(folder))
        wrong = [run_list(name, tree, chosen.match) for name in chosen.lists or LISTS]
    return FAILED if any(wrong) else PASSED


def run_list(name: str, tree: Path, match: str = "") -> int:
    """Prints the lines of one list and returns how many of them are wrong."""
    mutants = [mutant for mutant in mutants_of(name) if match in mutant.edit.file]
    if not mutants:
        return 0
    before = seconds_of_tests()
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    if run_tests(tree, tests)[0] != PASSED:
        print(f"{name}: the tests fail without any mutant", flush=True)
        return 1
    wrong = [mutant for mutant in mutants if not is_as_expected(mutant, tree)]
    killed = len(mutants) - sum(bool(mutant.survives) for mutant in mutants) - len(wrong)
    print(f"{name}: {killed} of {len(mutants)} killed, {seconds_of_tests() - before:.0f} s of CPU", flush=True)
    return len(wrong)


def is_as_expected(mutant: Mutant, tree: Path) -> bool:
    code = outcome(mutant, tree)
    survived = code == PASSED
    word = "survived" if survived else "killed" if code == FAILED else f"exit code {code}"
    note = f" ({mutant.survives})" if mutant.survives else ""
    print(f"{word:10} {mutant}{note}", flush=True)
    return code in (PASSED, FAILED) and survived == bool(mutant.survives)


def outcome(mutant: Mutant, tree: Path) -> int:
    """Returns pytest's exit code with the mutant in the tree."""
    file = tree / mutant.edit.file
    with planted(file, mutant.edit.applied(file.read_text("utf-8"))):
        code, output = run_tests(tree, mutant.tests)
    if code not in (PASSED, FAILED):
        print(output[-2000:])
    return code


def seconds_of_tests() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
