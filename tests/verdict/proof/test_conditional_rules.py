"""Rules under conditions on data: each equation is proved with its conditions only, a negative example never."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.certificate import Excluded
from dialect_utils.verdict.certified import prove_conditionally
from dialect_utils.verdict.proof import try_prove
from dialect_utils.verdict.rules import Rule, all_rules
from dialect_utils.verdict.rules.conditional import EXCLUDED
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.equations import Instance, instances, written

RULES = [rule for rule in all_rules() if rule.is_conditional]
KINDS = ("f32", "bf16", "f64", "s32")


def conditions_of(instance: Instance) -> tuple[Excluded, ...] | None:
    """Returns the conditions of a proof that both sides are equal; None without one."""
    left, right = instance.sides()
    parameters = ex.parameters_of(left, right)
    modules = [parse(ex.module(side, parameters=parameters)) for side in (left, right)]
    assert try_prove(modules).answer != "equal"
    found = prove_conditionally(modules)
    return None if found is None else found[1]


def test_every_equation_of_these_rules_has_conditions() -> None:
    assert RULES
    assert all(equation.given and equation.is_rewriting for rule in RULES for equation in rule.equations)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_equation_is_proved_under_conditions_that_are_no_stronger_than_its_own(rule: Rule) -> None:
    proved = set()
    for equation in rule.equations:
        allowed = {value for each in equation.given for value in each.values}
        for instance in (each for kind in KINDS for each in instances(equation, kind)[:1]):
            found = conditions_of(instance)
            assert found, str(instance)
            assert {value for each in found for value in each.values} <= allowed
            proved.add(equation)
    assert proved == {*rule.equations}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_negative_example_is_proved_under_no_condition(rule: Rule) -> None:
    found = [each for text in rule.wrong for kind in KINDS[:1] for each in written(text, kind)]
    assert len(found) == len(rule.wrong)
    assert [str(each) for each in found if conditions_of(each) is not None] == []


def test_the_sets_of_excluded_values_begin_with_the_weakest() -> None:
    later = [[{*other} for other in EXCLUDED[number + 1 :]] for number in range(len(EXCLUDED))]
    assert not [each for each, others in zip(EXCLUDED, later, strict=True) if any(other < {*each} for other in others)]
