"""Bugs in a prover that make it call different programs equal: a replay never does."""

from __future__ import annotations

import pytest

from dialect_utils.ir import Module
from dialect_utils.verdict import certified
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.outcome import OutputProof
from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E, compare, reduce, reverse
from tests.verdict.replay.planted import BUGS, X0, ZERO, A, B, V
from tests.verdict.replay.planting import expression_pair, planted


def said(first: Module, second: Module) -> tuple[str, str]:
    """Returns what the prover alone says, and what it says with a replay."""
    stages = [first, second]
    return try_prove(stages).answer, prove(stages).answer


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_of_the_prover_makes_nothing_equal(name: str) -> None:
    one = BUGS[name]
    assert said(one.first, one.second)[1] != "equal"
    with planted(one):
        alone, replayed = said(one.first, one.second)
    assert (alone, replayed) == ("equal", "unknown")
    assert said(one.first, one.second)[0] != "equal"


FED = """HloModule m
ENTRY e {{
  x = f32[] parameter(0)
  t = token[] after-all()
  n = f32[] {opcode}(x)
  o = token[] outfeed(n, t), outfeed_shape=f32[]
  ROOT r = () tuple()
}}
"""


@pytest.mark.parametrize(("first", "second"), [(A, B), (A, A)])
def test_an_answer_without_a_certificate_counts_for_nothing(
    first: E, second: E, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = expression_pair(first, second)
    claimed = ProofResult("equal", "", outputs=(OutputProof(0, is_equal=True),), has_equal_effects=True)
    monkeypatch.setattr(certified, "try_prove", lambda *_, **__: claimed)
    found = prove(pair)
    assert (found.answer == "equal") == (first is second)


def test_effects_of_programs_without_results_are_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = [parse(FED.format(opcode=opcode)) for opcode in ("sine", "cosine")]
    assert prove([pair[0], pair[0]]).answer == "equal"
    monkeypatch.setattr("dialect_utils.verdict.proof.decide._Comparison._same", lambda *_: True)
    assert said(*pair) == ("equal", "unknown")


def test_sums_in_two_orders_are_not_one_sum_for_a_comparison() -> None:
    """The prover alone has one equality; the replay has one for what observes a rounding error."""
    total, other = (reduce("add", each, ZERO, [0]) for each in (V, reverse(V, [0])))
    pair = expression_pair(compare("LT", total, X0), compare("LT", other, X0))
    assert said(*pair) == ("equal", "unknown")
