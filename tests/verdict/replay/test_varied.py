"""Each step of a proof with one part changed: the replay refuses it, or both terms have the same values."""

from __future__ import annotations

import pytest

from dialect_utils.layout import Transpose
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay import check, equality
from dialect_utils.verdict.replay.check import CHECKS
from tests.verdict.replay.evaluated import differ
from tests.verdict.replay.forging import TRUE, moved, parameter, step, told
from tests.verdict.replay.varied import steps_of_proofs, varied


def is_accepted(one: Step) -> bool:
    return not told((TRUE, TRUE), one).refused


def wrong_steps(rule: str) -> list[Step]:
    """Returns the changed steps of a rule that are accepted although their terms have different values."""
    changed = (each for one in steps_of_proofs()[rule] for each in varied(one))
    return [each for each in changed if is_accepted(each) and differ(each.before, each.after)]


@pytest.mark.parametrize("rule", CHECKS)
def test_a_step_is_accepted_and_its_terms_have_the_same_values(rule: str) -> None:
    steps = steps_of_proofs()[rule]
    assert steps
    assert [one for one in steps if not is_accepted(one) or differ(one.before, one.after)] == []


@pytest.mark.parametrize("rule", CHECKS)
def test_a_changed_step_is_refused_or_true(rule: str) -> None:
    assert wrong_steps(rule) == []


@pytest.mark.parametrize("rule", sorted({*CHECKS} - {"any-order", "convolution-padding", "iota"}))
def test_a_check_that_accepts_everything_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(check.CHECKS, rule, lambda _: equality.Level.BITS)
    assert wrong_steps(rule)


def test_values_of_terms_differ_where_the_terms_do() -> None:
    x, y = parameter(0, "f32", 3, 3), parameter(1, "f32", 3, 3)
    assert differ(x, y)
    assert differ(x, moved(x, Transpose((1, 0))))
    assert not differ(x, moved(x, Transpose((1, 0)), Transpose((1, 0))))
    assert step("moved", x, y).rule == "moved"
