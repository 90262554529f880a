"""Rules about whole arrays with equations: the replay accepts each instance and no wrong one; programs are executed."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.proof.terms import Terms
from dialect_utils.verdict.replay.scalars import check_scalar
from dialect_utils.verdict.rules import Equation, Rule
from tests.rules import whole_arrays
from tests.rules.whole_arrays import RULES, Instance


def answer(rule: Rule, one: Instance, other_field: str = "") -> str | None:
    """Returns the equality of both sides by the replay; `other_field` replaces the named fields of the right side."""
    terms = Terms()
    left, right = (
        one.term(terms, one.equation.left, one.sizes),
        one.term(terms, one.equation.right, one.sizes, other_field),
    )
    found = check_scalar(rule.name, left, right)
    assert found == check_scalar(rule.name, right, left)
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_replay_accepts_the_instances_whose_types_the_guard_allows(rule: Rule) -> None:
    for equation in rule.equations:
        allowed = whole_arrays.instances(equation)
        assert allowed, equation.text
        for each in allowed:
            # An equation of the same text may hold in a finer equality.
            assert answer(rule, each) in ("bits", equation.level_of(each.types)), f"{equation.text} {each.types}"
        same = [other for other in rule.equations if other.text == equation.text]
        for each in whole_arrays.instances(Equation(equation.text)):
            if not any(other.holds(each.types, {}) for other in same):
                assert answer(rule, each) is None, f"{equation.text} {each.types}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_replay_rejects_the_wrong_twins(rule: Rule) -> None:
    assert rule.wrong
    for text in rule.wrong:
        found = whole_arrays.instances(Equation(text))
        assert found
        assert all(answer(rule, each) is None for each in found), text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_field_that_both_sides_share_is_the_same_field(rule: Rule) -> None:
    for equation in rule.equations:
        both = [{*side.parts()} for side in (equation.left, equation.right)]
        names = [{field for part in side for field in part.fields if len(field) == 1} for side in both]
        if names[0] & names[1]:
            for each in whole_arrays.instances(equation):
                assert answer(rule, each, "another field") is None, equation.text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_both_sides_are_one_function_by_the_definitions_and_the_wrong_twins_are_not(rule: Rule) -> None:
    executed = [each for each in rule.equations if whole_arrays.has_programs(each)]
    count, failed, refuted = whole_arrays.check(rule)
    assert failed == []
    assert bool(count) == bool(executed)
    for text in rule.wrong:
        if whole_arrays.has_programs(Equation(text)):
            assert refuted, text
