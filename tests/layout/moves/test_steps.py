"""Single steps against their own properties; few parts of the product distinguish steps by class."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dialect_utils.layout import BitcastConvert, Pad, Reshape, Slice, Step, Transpose, parse_element_type
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import inverse_permutation, without_next
from tests.paths import ROOT

F32 = parse_element_type("f32")
STEPS: list[Step] = [
    Transpose((2, 0, 1)),
    Reshape((6, 4)),
    Pad((1, 0, 2), (0, 3, 0), (0, 1, 0)),
    Slice((0, 1, 0), (2, 3, 4), (1, 1, 2)),
    BitcastConvert(parse_element_type("u8")),
]
DIMENSIONS = (2, 3, 4)
CLASSES = {"Transpose", "Reshape", "Pad", "Slice", "BitcastConvert"}
# Steps have properties in place of tests for their classes; this bounds the tests that remain: 18 are the cases of five
# functions that do something else for each class (run it, follow it forwards and backwards, write it).
MOST_CLASS_TESTS = 40


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_the_inverse_leads_back(step: Step) -> None:
    moved = step.result(F32, DIMENSIONS)
    back = step.inverse(F32, DIMENSIONS)
    assert back.result(*moved) == (F32, DIMENSIONS)
    assert back.inverse(*moved).result(F32, DIMENSIONS) == moved


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_traits_are_of_one_class_each(step: Step) -> None:
    traits = (step.adds_elements, step.drops_elements, step.regroups_bits)
    assert traits == (isinstance(step, Pad), isinstance(step, Slice), isinstance(step, BitcastConvert))
    assert str(step).startswith(step.opcode)
    assert not step.is_identity(F32, DIMENSIONS)


def test_identities() -> None:
    identities: list[Step] = [Transpose((0, 1, 2)), Reshape(DIMENSIONS), Pad((0,) * 3, (0,) * 3), BitcastConvert(F32)]
    assert all(step.is_identity(F32, DIMENSIONS) for step in [*identities, Slice((0,) * 3, DIMENSIONS)])
    # A pad that cuts one element off and adds one keeps the dimensions, but not the elements.
    assert not Pad((-1, 0, 0), (1, 0, 0)).is_identity(F32, DIMENSIONS)


def test_steps_of_permuted_dimensions() -> None:
    order = (1, 2, 0)
    for step in STEPS:
        permuted = step.permuted(order)
        if step.opcode not in ("pad", "slice"):
            assert permuted is None
            continue
        assert permuted is not None
        first = Plan(F32, DIMENSIONS, (step, Transpose(order)))
        second = Plan(F32, DIMENSIONS, (Transpose(order), permuted))
        assert first.result == second.result
        assert permuted.permuted(inverse_permutation(order)) == step


def test_steps_that_keep_one_more_dimension() -> None:
    for step in STEPS[:-1]:
        element_type, dimensions = step.result(F32, DIMENSIONS)
        assert step.with_minor_dimension(5).result(F32, (*DIMENSIONS, 5)) == (element_type, (*dimensions, 5))
    with pytest.raises(ValueError, match="no counterpart"):
        STEPS[-1].with_minor_dimension(5)


def test_numbers_without_the_next_dimension() -> None:
    assert without_next((3, 0, 1, 2), 1) == (2, 0, 1)


def test_inverse_permutations() -> None:
    assert inverse_permutation((2, 0, 1)) == (1, 2, 0)
    assert inverse_permutation(inverse_permutation((3, 1, 0, 2))) == (3, 1, 0, 2)


def class_tests(code: str) -> int:
    """Counts the tests of code for the class of a step, by isinstance or by pattern."""
    found = 0
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "type"):
            names = {each.id for argument in node.args[1:] for each in ast.walk(argument) if isinstance(each, ast.Name)}
            found += bool(names & CLASSES)
        elif isinstance(node, ast.MatchClass):
            found += isinstance(node.cls, ast.Name) and node.cls.id in CLASSES
    return found


def product_files() -> list[Path]:
    return [file for package in ("dialect_utils", "passes", "relayout") for file in (ROOT / package).rglob("*.py")]


def test_few_lines_test_the_class_of_a_step() -> None:
    counted = {str(file.relative_to(ROOT)): class_tests(file.read_text("utf-8")) for file in product_files()}
    assert sum(counted.values()) <= MOST_CLASS_TESTS, {name: count for name, count in counted.items() if count}


def test_class_tests_are_counted() -> None:
    assert class_tests("isinstance(step, Pad | Slice) and isinstance(step, (Reshape, int)) and isinstance(x, int)") == 2
    assert class_tests("match step:\n    case Transpose(order):\n        pass\n    case _:\n        pass") == 1
