"""A small campaign against the replay: changed certificates of our own rewrites and of random programs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from dialect_utils.ir import Module
from dialect_utils.verdict.certificate import Certificate
from dialect_utils.verdict.replay import check, equality
from tests import campaign_replay
from tests.campaign_replay import Pair
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
