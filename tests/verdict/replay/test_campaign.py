"""Small campaigns against the replay: changed certificates, and forged ones."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from dialect_utils.ir import Module
from dialect_utils.verdict.certificate import Certificate
from dialect_utils.verdict.replay import check, equality
from tests import campaign_forge, campaign_replay
from tests.campaign_replay import Pair
from tests.mutants.complete import planted
from tests.mutants.edits import Edit
from tests.paths import ROOT
from tests.verdict.replay.forging import array, each, hlo, parameter, step

_CERTIFICATES = 150


def _own(rng: random.Random, count: int) -> Iterator[Pair]:
    return islice(campaign_replay.pairs(rng, count), 200)


def test_no_changed_certificate_proves_what_is_wrong() -> None:
    found = campaign_replay.campaign(_CERTIFICATES, 1, _own)
    assert found.wrong == []
    assert found.total >= _CERTIFICATES
    said = {word for _, word in found.found}
    assert {"accepted", "refused", "not proved"} <= said
    assert found.found["different", "accepted"] == 0


X, Y = parameter(0, "f32", 4), parameter(1, "f32", 4)
FALSE_STEP = step("commuted", each("add", array("f32", 4), X, Y), each("subtract", array("f32", 4), X, Y))


def _sum(expression: str) -> Module:
    return hlo(f"x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n ROOT r = f32[4] {expression}")


PLANTED = Pair("planted", _sum("add(x, y)"), _sum("add(y, x)"), (_sum("subtract(x, y)"),))


def _proved(prover: Callable[[Module, Module], Certificate | None]) -> Callable[[Module, Module], Certificate | None]:
    def proved(first: Module, second: Module) -> Certificate | None:
        return Certificate((FALSE_STEP,), ({}, {})) if second in PLANTED.others else prover(first, second)

    return proved


def test_the_campaign_finds_a_replay_that_checks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that calls a sum and a difference equal is a certificate of a pair that differs."""
    monkeypatch.setattr(campaign_replay, "proved", _proved(campaign_replay.proved))
    found = campaign_replay.campaign(1, 1, lambda *_: iter([PLANTED]))
    assert (found.wrong, found.found["different", "refused"] > 0) == ([], True)
    monkeypatch.setattr(check, "check_scalar", lambda *_: "bits")
    monkeypatch.setattr(check, "CHECKS", dict.fromkeys(check.CHECKS, lambda _: equality.Level.BITS))
    assert campaign_replay.campaign(1, 1, lambda *_: iter([PLANTED])).wrong


def test_no_forged_certificate_proves_what_is_wrong() -> None:
    found = campaign_forge.campaign(400, 3)
    assert found.wrong == []
    assert found.total == 400
    assert {"refused", "true"} <= {word for _, word in found.found}


HOLES = {
    "dynamic-slice": Edit("slices:_is_rearranged", "array_of(window).dimensions == _sizes(part, order, count)", "True"),
    "dot-order": Edit("replay.contractions:_dot_order", "(left[0], left[2]) == (right[0], right[2])", "True"),
    "reverse": Edit("replay.arrays:_reverse", "base is other and first == second", "base is other"),
}


@pytest.mark.parametrize("rule", HOLES)
def test_the_attacker_finds_a_demand_that_is_left_out(rule: str) -> None:
    file = HOLES[rule].file
    module, code = importlib.import_module(file.removesuffix(".py").replace("/", ".")), (ROOT / file).read_text("utf-8")
    planted(module, HOLES[rule].applied(code))
    try:
        assert campaign_forge.campaign(300, 1, [rule]).wrong
    finally:
        planted(module, code)
    assert not campaign_forge.campaign(100, 1, [rule]).wrong
