"""The table of rules: complete, up to date, and quick parts of it verified."""

from __future__ import annotations

import pytest

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.rules import Rule, all_rules
from tests.rules import array_instances, solvers, table
from tests.rules.plan import METHODS, argument_for, verify

# Rules without equations that are not about arrays, and the reason why nothing has to be verified.
PROCEDURES = {
    **dict.fromkeys(("batch-sum", "masked", "padded-dot"), "Several devices execute them in test_partitioned.py."),
    "constants": "The replay computes the result by the definition itself.",
    "promoted-reduction": "Several devices of XLA:CPU execute it in test_exchanges.py.",
}
_QUICK_BITS = 12
_QUICK = {name for name, kind in ELEMENT_TYPES.items() if kind.bits <= 4}
_QUERIES = ("f16", "s32")

needs_solvers = pytest.mark.skipif(
    bool(solvers.missing_packages()), reason=f"not installed: {', '.join(solvers.missing_packages())}"
)
EQUATIONAL = [rule for rule in all_rules() if rule.equations and rule.is_elementwise]


@pytest.mark.parametrize("part", table.PARTS)
def test_the_page_is_up_to_date(part: str) -> None:
    assert table.written(part) == table.PARTS[part](), "make rules verifies all rules and writes the page"


def test_a_table_without_a_rule_is_noticed() -> None:
    line = next(line for line in table.table().splitlines() if line.startswith("| commuted |"))
    assert table.written("rules") != table.table().replace(line, "")


@pytest.mark.parametrize("rule", EQUATIONAL, ids=lambda rule: rule.name)
def test_a_method_verifies_each_format_that_a_guard_admits(rule: Rule) -> None:
    assert table.planned(rule)
    assert [str(case) for _, case, method in table.planned(rule) if method is None] == []
    assert {equation for equation, *_ in table.planned(rule)} == {*rule.equations}


def test_an_argument_is_listed_for_each_case_that_nothing_decides() -> None:
    found = [(rule, case) for rule in EQUATIONAL for _, case, method in table.planned(rule) if method == "argument"]
    assert found
    assert all(argument_for(rule, case) is not None for rule, case in found)


def test_a_rule_without_equations_has_instances_or_is_a_procedure() -> None:
    rest = {rule.name for rule in all_rules() if not rule.equations}
    assert rest - {*array_instances.INSTANCES} == {*PROCEDURES}
    assert len(rest) <= 24


@pytest.mark.parametrize("rule", EQUATIONAL, ids=lambda rule: rule.name)
def test_the_equations_hold_for_all_bits_of_small_formats(rule: Rule) -> None:
    for _, case, method in table.planned(rule):
        if case.bits <= _QUICK_BITS and {kind.name for kind in case.types.values()} <= _QUICK:
            assert method is not None
            assert verify(case, method, 10.0).outcome == "holds", str(case)


@needs_solvers
@pytest.mark.parametrize("rule", EQUATIONAL, ids=lambda rule: rule.name)
def test_a_solver_finds_no_counterexample_in_wide_formats(rule: Rule) -> None:
    for _, case, method in table.planned(rule):
        if method == "solver" and {kind.name for kind in case.types.values()} <= {*_QUERIES}:
            assert verify(case, method, 60.0).outcome == "holds", str(case)


@pytest.mark.parametrize("name", sorted(array_instances.INSTANCES))
def test_instances_of_a_rule_about_arrays_agree_with_the_definitions(name: str) -> None:
    count, failed, refuted = array_instances.check(name)
    assert failed == []
    assert 0 < refuted <= count


def test_the_names_of_methods_are_the_columns() -> None:
    assert table.table().splitlines()[0].endswith(" | ".join(METHODS) + " |")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["pred", "s2", "s4", "s8", "f32"], "pred s2-s8 f32"),
        (["u1", "u4", "u8"], "u1 u4-u8"),
        ([name for name in ELEMENT_TYPES if name.startswith("f8")], "f8"),
        ([name for name in ELEMENT_TYPES if name.startswith("f8") and name != "f8e8m0fnu"], "f8 but f8e8m0fnu"),
        (["f8e5m2"], "f8e5m2"),
    ],
)
def test_formats_are_listed_by_families(names: list[str], text: str) -> None:
    assert table.compressed(names) == text
