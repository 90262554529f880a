"""The tests that execute each line of the product: measured once, kept in build/mutants, and used after edits.

    python -m tests.mutants.coverage_map [--jobs N]

The map holds the code that was measured. It finds a line of the present code by the function around the line: the same
code in whatever file, or else a function of the same name.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gzip
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tests.mutants.tree import LIT, LIT_PROGRAM, PASSED, copy_of_the_tree, lit_files, run
from tests.paths import ROOT

PRODUCT = ("dialect_utils", "passes", "relayout")
FILE = ROOT / "build" / "mutants" / "map.json.gz"
_FOLDERS = tuple(f"{package}/" for package in PRODUCT)
# Names the test that runs, for the child processes.
VARIABLE = "RELAYOUT_TEST"
CONFIGURATION = f"""[run]
source = TREE
include = {",".join(f"TREE/{package}/*" for package in PRODUCT)}
parallel = true
context = ${{{VARIABLE}-}}
patch = _exit
sigterm = true
disable_warnings = no-data-collected,module-not-measured,no-ctracer,couldnt-parse,include-ignored
"""
# Tests of the text of the tree, not of its behavior; and pages that are worked through for minutes.
NOT_MEASURED = frozenset(
    f"tests/{name}"
    for name in (
        *("docs_site", "test_architecture.py", "test_benchmarks.py", "test_mutants.py", "test_mutant_sampling.py"),
        *("test_omissions.py", "test_readme.py", "test_superlinear.py", "test_words.py", "test_path_of_a_command.py"),
    )
)
# The variables that coverage of a child process needs.
_OF_COVERAGE = ("COVERAGE_PROCESS_START", "COVERAGE_FILE", VARIABLE)
Functions = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class MeasuredFile:
    """One file of the product as it was measured: its code, and the numbers of the tests of each executed line."""

    code: str
    lines: dict[int, list[int]]

    def tests_of(self, first: int, last: int) -> set[int]:
        return {test for line in range(first, last + 1) for test in self.lines.get(line, ())}


@dataclass(slots=True)
class CoverageMap:
    """The tests with their seconds, and the measured files."""

    tests: list[str]
    seconds: list[float]
    files: dict[str, MeasuredFile]
    _by_code: dict[str, tuple[MeasuredFile, Functions]] = field(default_factory=dict)
    _by_name: dict[str, list[tuple[str, MeasuredFile, Functions]]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path = FILE) -> CoverageMap:
        kept = json.loads(gzip.decompress(file.read_bytes()))
        files = {
            name: MeasuredFile(code, {int(line): tests for line, tests in lines.items()})
            for name, (code, lines) in kept["files"].items()
        }
        return cls(kept["tests"], kept["seconds"], files)

    def renamed(self, present: Collection[str]) -> None:
        """Gives tests whose files moved the names that they have now, if there is one for each."""
        short: dict[str, list[str]] = {}
        for name in present:
            short.setdefault(_short(name), []).append(name)
        for number, test in enumerate(self.tests):
            found = short.get(_short(test), [])
            if test not in present and len(found) == 1:
                self.tests[number] = found[0]

    def write(self, file: Path = FILE) -> None:
        files = {name: (measured.code, measured.lines) for name, measured in self.files.items()}
        kept = json.dumps({"tests": self.tests, "seconds": self.seconds, "files": files})
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(kept.encode(), 1))

    def tests_of(self, file: str, code: str, line: int) -> list[int]:
        """Returns the tests that execute a line of today's code, by number."""
        tree = ast.parse(code)
        function = innermost_function(tree, line)
        if function is None:
            return sorted(self._of_module_level(file, tree, line))
        return sorted(self._of_function(file, function, line))

    def _of_function(self, file: str, function: Functions, line: int) -> set[int]:
        if (same := self._by_code.get(_without_docstring(function))) is not None:
            measured, old = same
            first, last = statement_lines(old, _position_of(function, line))
            # The first line of a condition or a call is executed although another line of it is counted.
            return measured.tests_of(first, last)
        named = self._by_name.get(function.name, [])
        here = [each for each in named if PurePosixPath(each[0]).stem == PurePosixPath(file).stem] or named
        return {
            test
            for _, measured, old in here
            for test in measured.tests_of(old.body[0].lineno, old.end_lineno or old.lineno)
        }

    def _of_module_level(self, file: str, tree: ast.Module, line: int) -> set[int]:
        """Returns the tests of the functions that use a name that the statement at a line assigns or defines."""
        statement = next((each for each in tree.body if _holds(each, line)), None)
        if isinstance(statement, ast.ClassDef):
            found = {test for each in functions_in(statement) for test in self._of_whole(file, each)}
            return found or self._of_users(tree, statement.name)
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} if statement else set()
        assigned = {
            node.id
            for node in (ast.walk(statement) if statement else ())
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return {test for name in (assigned or names) for test in self._of_users(tree, name)}

    def _of_whole(self, file: str, function: Functions) -> set[int]:
        return self._of_function(file, function, function.body[0].lineno) if function.body else set()

    def _of_users(self, tree: ast.Module, name: str, depth: int = 3) -> set[int]:
        """Returns the tests of every measured line that mentions a name, or a constant of the module made of it."""
        found = {
            test
            for measured in self.files.values()
            if name in measured.code
            for number, text in enumerate(measured.code.splitlines(), 1)
            if name in text and number in measured.lines
            for test in measured.lines[number]
        }
        if found or not depth:
            return found
        users = (each for each in tree.body if isinstance(each, ast.Assign | ast.AnnAssign | ast.ClassDef))
        others = {
            target
            for each in users
            if name in {node.id for node in ast.walk(each) if isinstance(node, ast.Name)}
            for target in _defined(each)
        } - {name}
        return {test for other in others for test in self._of_users(tree, other, depth - 1)}

    def __post_init__(self) -> None:
        for name, measured in self.files.items():
            for function in functions_in(ast.parse(measured.code)):
                self._by_code.setdefault(_without_docstring(function), (measured, function))
                self._by_name.setdefault(function.name, []).append((name, measured, function))


def _without_docstring(function: Functions) -> str:
    """Returns the code of a function; an edit of its docstring leaves it equal."""
    body = function.body[ast.get_docstring(function) is not None :]
    return "\n".join([function.name, ast.dump(function.args), *map(ast.dump, body)])


def _short(test: str) -> str:
    """Returns a test with its file, without the folders."""
    file, separator, name = test.partition("::")
    return file.rpartition("/")[2] + separator + name


def functions_in(tree: ast.AST) -> Iterator[Functions]:
    return (node for node in ast.walk(tree) if isinstance(node, Functions))


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _holds(node: ast.stmt, line: int) -> bool:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    return first <= line <= (node.end_lineno or node.lineno)


def innermost_function(tree: ast.AST, line: int) -> Functions | None:
    """Returns the function whose body has a line; its parameters and decorators are executed outside of it."""
    around = [each for each in functions_in(tree) if each.body[0].lineno <= line <= (each.end_lineno or 0)]
    return max(around, key=lambda each: each.lineno, default=None)


def _statements(function: Functions) -> list[ast.stmt]:
    """Returns the statements and cases of a function without docstrings, in the same order for equal code."""
    kinds = (ast.stmt, ast.excepthandler, ast.match_case)
    found = (node for node in ast.walk(function) if isinstance(node, kinds))
    return [node for node in found if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]  # type: ignore[misc]  # all but a case have lines


def _position_of(function: Functions, line: int) -> int:
    """Returns the number of the innermost statement of a function around a line."""
    statements = _statements(function)
    inside = [i for i, each in enumerate(statements) if hasattr(each, "lineno") and _holds(each, line)]
    return max(inside, key=lambda i: (statements[i].lineno, i))


def statement_lines(function: Functions, position: int) -> tuple[int, int]:
    """Returns the first and the last line of a statement without the statements in it."""
    statement = _statements(function)[position]
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    last = statement.end_lineno or statement.lineno
    if isinstance(body, list) and body and not isinstance(statement, Functions):
        start = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
        last = max(statement.lineno, start.lineno - 1)
    return statement.lineno, last


def measure(jobs: int) -> CoverageMap:
    """Runs the tests, folder by folder, in a copy of the tree."""
    with tempfile.TemporaryDirectory(prefix="relayout-coverage-") as name:
        folder = Path(name)
        tree = copy_of_the_tree(folder)
        (folder / "rc").write_text(CONFIGURATION.replace("TREE", str(tree)), "utf-8")
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda group: _run(tree, folder, group), [*_groups(), [LIT]]))
        return collected(tree, folder.glob("data*"), folder.glob("seconds*"))


def _groups() -> list[Sequence[str]]:
    """Returns the folders of tests, the largest divided, and the files beside them."""
    large = (ROOT / "tests" / name for name in ("relayout", "verdict"))
    tops = [ROOT / "tests", *large]
    groups: list[Sequence[str]] = []
    for top in tops:
        children = [each.relative_to(ROOT).as_posix() for each in sorted(top.iterdir()) if ROOT / each not in tops]
        children = [each for each in children if each not in NOT_MEASURED]
        groups += [[each] for each in children if any((ROOT / each).glob("**/test_*.py"))]
        groups.append([each for each in children if PurePosixPath(each).match("test_*.py")])
    return groups


def _run(tree: Path, folder: Path, group: Sequence[str]) -> None:
    name = group[0].replace("/", ".")
    rc, seconds = folder / "rc", folder / f"seconds.{name}"
    environment = {
        "COVERAGE_PROCESS_START": str(rc),
        "COVERAGE_FILE": str(folder / f"data.{name}"),
        "RELAYOUT_SECONDS": str(seconds),
    }
    if group == [LIT]:
        _run_lit(tree, environment, seconds)
        return
    plugins = ("-p", "no:cacheprovider", "-p", "tests.mutants.contexts")
    command = ["-m", "coverage", "run", f"--rcfile={rc}", "-m", "pytest", "-q", *plugins, *group]
    _, output = run(tree, command, more=environment)
    print(group[0], output.splitlines()[-1:], flush=True)


def _run_lit(tree: Path, environment: dict[str, str], seconds: Path) -> None:
    """Runs each lit file by itself: lit starts tests with few variables, and coverage has to learn which one runs."""
    with (tree / LIT / "lit.cfg.py").open("a", encoding="utf-8") as file:
        file.write(f"import os\nconfig.environment.update({{name: os.environ[name] for name in {_OF_COVERAGE}}})\n")
    for test in lit_files(tree):
        start = time.monotonic()
        code, _ = run(tree, [*LIT_PROGRAM, "-q", test], more={**environment, VARIABLE: test})
        if code == PASSED:
            with seconds.open("a", encoding="utf-8") as file:
                file.write(f"{time.monotonic() - start:.3f} {test}\n")


def collected(tree: Path, data: Iterable[Path], seconds: Iterable[Path]) -> CoverageMap:
    """Returns the map that data files of coverage and lines with seconds make."""
    took: dict[str, float] = {}
    for file in seconds:
        for line in file.read_text("utf-8").splitlines():
            number, _, test = line.partition(" ")
            took[test] = float(number)
    numbers = {test: number for number, test in enumerate(took)}
    files: dict[str, dict[int, set[int]]] = {}
    for path in data:
        for name, test, executed in _measurements(path):
            name = name.removeprefix(f"{tree}/")
            if test in numbers and name.startswith(_FOLDERS):
                lines = files.setdefault(name, {})
                for executed_line in executed:
                    lines.setdefault(executed_line, set()).add(numbers[test])
    read = {
        name: MeasuredFile(
            (tree / name).read_text("utf-8"), {line: sorted(tests) for line, tests in lines.items() if tests}
        )
        for name, lines in files.items()
        if (tree / name).exists()  # not a file that a test made elsewhere
    }
    return CoverageMap(list(took), list(took.values()), read)


def _measurements(path: Path) -> Iterator[tuple[str, str, list[int]]]:
    """Yields (file, test, executed lines) of a data file of coverage, none where its process was killed."""
    from coverage.numbits import numbits_to_nums

    rows = (
        "SELECT path, context, numbits FROM line_bits "
        "JOIN file ON file_id = file.id JOIN context ON context_id = context.id"
    )
    with contextlib.closing(sqlite3.connect(path)) as database, contextlib.suppress(sqlite3.DatabaseError):
        for name, test, bits in database.execute(rows):
            yield name, test, numbits_to_nums(bits)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.coverage_map")
    parser.add_argument("--jobs", type=int, default=2)
    measure(parser.parse_args(arguments).jobs).write()


if __name__ == "__main__":
    main(sys.argv[1:])
