"""Mutants drawn at random: the changes found in code, the tests selected for a line, and the judgment of a run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.changes import changes
from tests.mutants.coverage_map import CoverageMap, MeasuredFile
from tests.mutants.sample import Drawn, Judge, chosen, draw, interval, summary
from tests.mutants.tree import FAILED, LIT, PASSED, lit_files, run_tests

CHANGED = [
    ("x = 3", {"x = 4", "x = 2"}),
    ("x = y[0]", {"x = y[1]"}),
    ("x = True", {"x = False"}),
    ('x = "a"', {'x = "ax"'}),
    ('x = named("add subtract")', {'x = named("add")'}),
    ("x = a < b", {"x = a <= b"}),
    ("x = a not in b", {"x = a in b"}),
    ("x = a and b", {"x = a or b"}),
    ("x = not a", {"x = a"}),
    ("x = a + b", {"x = a - b"}),
    ("x = a if b else c", {"x = a if not (b) else c"}),
    ("f(x)", {"pass"}),
    ("x += y", {"pass"}),
    ("x.y = z", {"pass"}),
    ("raise Error('no 3')", {"pass"}),
    ("é = é < b", {"é = é <= b"}),
]
UNCHANGED = [
    '"""One text."""',
    '__all__ = ["a"]',
    "assert x == 3",
    "if TYPE_CHECKING:\n    x = 3",
    'def f(x: "int") -> "str": ...',
    'x: Literal["a"]',
    'X: TypeAlias = "int | str"',
    'x = f(help="a")',
    "_CACHED_FILES = 3",
    'x = "the first of all"',
    "x = zip(a, b, strict=True)",
    'x = f"{a}" + b',
    "check_deadline()",
    'x = len(("left", "right"))',
]


@pytest.mark.parametrize(("code", "changed"), CHANGED)
def test_each_kind_of_change_is_found(code: str, changed: set[str]) -> None:
    assert {change.changed_line(code) for change in changes(code)} == changed


@pytest.mark.parametrize("code", UNCHANGED)
def test_code_without_effect_is_not_changed(code: str) -> None:
    assert changes(code) == []


def test_a_guard_is_negated_in_its_line() -> None:
    code = "if a:\n    b()\nc = [d for d in e if f]\n"
    found = [change.applied(code) for change in changes(code)]
    assert found == [
        code.replace("if a", "if not (a)"),
        code.replace("b()", "pass"),
        code.replace("if f", "if (not (f))"),
    ]


def test_drawn_mutants_depend_on_the_seed_and_are_programs() -> None:
    match = "dialect_utils/text"
    first = draw(5, 1, match)
    assert len({(one.file, one.change.line) for one in first}) == 5
    assert first == draw(5, 1, match) != draw(5, 2, match)
    for one in first:
        assert ast.dump(ast.parse(one.change.applied(one.code))) != ast.dump(ast.parse(one.code))


OLD = """SIZE = 3

def f(x):
    if x:
        return SIZE
    return 0
"""
MEASURED = CoverageMap(["t.py::a", "t.py::b"], [1.0, 2.0], {"p/old.py": MeasuredFile(OLD, {4: [0, 1], 5: [0], 6: [1]})})


@pytest.mark.parametrize(
    ("code", "line", "tests"),
    [
        (OLD, 5, [0]),
        (OLD, 1, [0]),  # the users of a constant
        ("# moved\n\n" + OLD, 8, [1]),
        (OLD.replace("    if x", '    """Returns a size."""\n    if x'), 7, [1]),
        (OLD.replace("return 0", "return 1"), 5, [0, 1]),  # an edited function: all of its tests
        (OLD.replace("f(x)", "g(x)"), 5, []),
    ],
)
def test_the_tests_of_a_line_are_found_in_code_that_moved(code: str, line: int, tests: list[int]) -> None:
    assert MEASURED.tests_of("p/new.py", code, line) == tests


def test_tests_in_files_that_moved_are_found() -> None:
    moved = CoverageMap(["a/test_b.py::c", "a/test_d.py::e", "a/test_f.py::g"], [0.0] * 3, {})
    moved.renamed({"x/test_b.py::c", "x/test_d.py::e", "y/test_d.py::e", "a/test_f.py::g"})
    assert moved.tests == ["x/test_b.py::c", "a/test_d.py::e", "a/test_f.py::g"]


def test_a_map_comes_back_from_its_file(tmp_path: Path) -> None:
    MEASURED.write(tmp_path / "map")
    assert CoverageMap.read(tmp_path / "map").files == MEASURED.files


def test_tests_of_the_same_name_come_first_then_those_of_the_folder() -> None:
    tests = [("tests/b/test_b.py::slow", 9.0), ("tests/b/test_b.py::x", 1.0), ("tests/a/b/test_a.py::y", 2.0)]
    tests.append(("tests/a/b/test_c.py::z", 3.0))
    wanted = ["tests/a/b/test_c.py::z", "tests/a/b/test_a.py::y", "tests/b/test_b.py::x"]
    assert list(chosen(tests, "p/a/b/c.py", 12)) == wanted


PRODUCT = "def double(x):\n    return x + x\n\ndef unused(x):\n    return x - 1\n"
TEST = "from product import double, unused\ndef test_zero():\n    assert double(2) == 4\n    unused(1)\n"


def test_a_mutant_is_killed_survives_or_is_not_covered(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "tests").mkdir(parents=True)
    (tree / "product.py").write_text(PRODUCT)
    (tree / "tests" / "test_product.py").write_text(TEST)
    (test,) = tests = ["tests/test_product.py::test_zero"]
    measured = CoverageMap(tests, [0.0], {"product.py": MeasuredFile(PRODUCT, {2: [0], 5: [0]})})
    sums, _, *constants = (Drawn("product.py", PRODUCT, change) for change in changes(PRODUCT))
    judge = Judge(measured, frozenset(tests), 10)
    assert judge.outcome(sums, tree) == f"killed by {test}"
    assert judge.outcome(constants[0], tree) == "survived 1 of 1 tests"
    assert (tree / "product.py").read_text() == PRODUCT
    judge = Judge(measured, frozenset(), 10)
    assert judge.outcome(sums, tree) == "not covered"
    # A test that fails without the mutant, too, kills nothing.
    (tree / "tests" / "test_product.py").write_text(TEST + "    assert False\n")
    assert Judge(measured, frozenset(tests), 10).outcome(sums, tree) == "survived 0 of 1 tests"


def test_the_score_leaves_out_equivalent_mutants_and_has_an_interval() -> None:
    low, high = interval(90, 100)
    assert (round(low, 3), round(high, 3)) == (0.826, 0.945)
    assert summary(["killed"] * 3 + ["not", "equivalent"]).startswith(
        "3 of 4 mutants killed: 75.0%, 95 % interval 30.1%"
    )


def test_lit_files_are_run(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / LIT).mkdir(parents=True)
    configuration = "from lit.formats import ShTest\nconfig.name, config.suffixes = 'relayout', ['.test']\n"
    (tree / LIT / "lit.cfg.py").write_text(configuration + "config.test_format = ShTest()\n")
    for name, command in (("right", "true"), ("wrong", "false")):
        (tree / LIT / f"{name}.test").write_text(f"RUN: {command}\n")
    assert lit_files(tree) == [f"{LIT}right.test", f"{LIT}wrong.test"]
    assert run_tests(tree, [f"{LIT}right.test"])[0] == PASSED
    code, output = run_tests(tree, lit_files(tree))
    assert code == FAILED
    assert "FAIL: relayout :: wrong.test" in output
