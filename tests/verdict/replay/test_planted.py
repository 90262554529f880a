"""Bugs in a prover that make it call different programs equal: a replay never does."""

from __future__ import annotations

import pytest

from dialect_utils.ir import Module
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.ports import entry_ports
from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof.expressions import compare, reduce, reverse
from tests.verdict.replay.planted import BUGS, X0, ZERO, V, expression_pair, planted


def said(first: Module, second: Module) -> tuple[str, str]:
    """Returns what the prover alone says, and what it says with a replay."""
    stages = [first, second]
    ports = entry_ports(stages)
    return try_prove(stages, *ports).answer, prove(stages, *ports).answer


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_of_the_prover_makes_nothing_equal(name: str) -> None:
    one = BUGS[name]
    assert said(one.first, one.second)[1] != "equal"
    with planted(one):
        alone, replayed = said(one.first, one.second)
    assert (alone, replayed) == ("equal", "unknown")
    assert said(one.first, one.second)[0] != "equal"


def test_sums_in_two_orders_are_not_one_sum_for_a_comparison() -> None:
    """The prover alone has one equality; the replay has one for what observes a rounding error."""
    total, other = (reduce("add", each, ZERO, [0]) for each in (V, reverse(V, [0])))
    pair = expression_pair(compare("LT", total, X0), compare("LT", other, X0))
    assert said(*pair) == ("equal", "unknown")
