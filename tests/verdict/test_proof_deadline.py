"""A proof that reaches its time limit gives up, at whatever step, and execution decides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import inf

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Reshape, Transpose
from dialect_utils.layout.proof.deadline import deadline
from dialect_utils.layout.proof.decide import Terms, budgets
from dialect_utils.layout.proof.reads import read_back, try_prove_same_reads
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.certified import prove
from tests.hostile.proofs import KINDS, pairs

_SUM = """HloModule m
ENTRY e {{
  p = s32[4] parameter(0)
  q = s32[4] parameter(1)
  m = s32[4] multiply({})
  ROOT r = s32[4] add({})
}}
"""
_FIRST, _LAST = _SUM.format("p, q", "m, p"), _SUM.format("q, p", "p, m")


def _modules(*texts: str) -> list[Module]:
    return [parse_bytes(text.encode(), "m") for text in texts]


@pytest.fixture
def steps() -> Iterator[list[int]]:
    """Replaces the clock of proofs by one on which each look at it takes a second."""
    looks = [0]
    counter = count()

    def clock() -> float:
        looks[0] = next(counter)
        return float(looks[0])

    with deadline(inf, clock):
        yield looks


def _answer(seconds: float) -> str:
    modules = _modules(_FIRST, _LAST)
    found = prove(modules, over_reals=True, field_seed=1, seconds=seconds)
    assert found.answer == "equal" or found.reason == f"no proof within {seconds:.3g} seconds of computation"
    return found.answer


def test_a_proof_gives_up_at_each_of_its_steps(steps: list[int]) -> None:
    assert _answer(1e6) == "equal"
    start = steps[0]
    assert _answer(1e6) == "equal"
    needed = steps[0] - start
    assert needed > 30
    answers = [_answer(seconds) for seconds in range(needed)]
    assert answers[: needed - 1] == ["unknown"] * (needed - 1)
    assert _answer(needed + 1) == "equal"


def test_execution_decides_where_no_time_is_left_for_a_proof() -> None:
    first, last = _modules(_FIRST, _LAST)
    options = Options(engines=("proof", "reference"), proof_seconds=0, power=0)
    verdict = compare_modules(first, last, options)
    assert verdict.verdict == "agrees"
    assert verdict.proof == "no proof within 0 seconds of computation"


def _coprime(length: int) -> Plan:
    plan, sizes = Plan(ELEMENT_TYPES["u8"], (510_510,)), [2, 3, 5, 7, 11, 13, 17]
    for _ in range(length):
        plan = plan.append(Reshape(tuple(sizes)), None).append(Transpose((3, 6, 1, 2, 0, 4, 5)), None)
        sizes = [sizes[i] for i in (6, 2, 4, 0, 3, 1, 5)]
    return plan


def test_many_divisions_are_enumerated_and_not_given_to_isl() -> None:
    plan = _coprime(3)
    for budget in budgets(1_000):
        with budget as context:
            terms = Terms(context, plan.result[1], 1)
            read = read_back(plan, terms.index, terms.unit, 8)
            assert terms.divisions(read.position.coordinates) > 10
            break
    straight = Plan(*plan.start).append(Reshape(plan.result[1]), None)
    proof = try_prove_same_reads(plan, straight)
    assert proof is not None
    assert (proof.holds, proof.method) == (False, "enumeration")


def test_each_kind_of_slow_pair_is_read() -> None:
    for (name, texts), _ in zip(pairs(), range(2 * len(KINDS)), strict=False):
        assert all(module.entry.operations for module in _modules(*texts)), name
