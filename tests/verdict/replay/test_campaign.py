"""A small campaign against the replay: changed certificates of our own rewrites and of random programs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from dialect_utils.verdict.replay import check, equality
from tests import campaign_replay
from tests.campaign_replay import Pair

_CERTIFICATES = 150
# Among the certificates of this seed is one that proves what is wrong where nothing is checked.
_SEED_OF_WRONG = 6


def _own(rng: random.Random, count: int) -> Iterator[Pair]:
    return islice(campaign_replay.pairs(rng, count), 200)


def test_no_changed_certificate_proves_what_is_wrong() -> None:
    found = campaign_replay.campaign(_CERTIFICATES, 1, _own)
    assert found.wrong == []
    assert found.total >= _CERTIFICATES
    said = {word for _, word in found.found}
    assert {"accepted", "refused", "not proved"} <= said
    assert found.found["different", "accepted"] == 0


def test_the_campaign_finds_a_replay_that_checks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "check_scalar", lambda *_: "bits")
    monkeypatch.setattr(check, "CHECKS", dict.fromkeys(check.CHECKS, lambda _: equality.Level.BITS))
    assert campaign_replay.campaign(_CERTIFICATES, _SEED_OF_WRONG, _own).wrong
