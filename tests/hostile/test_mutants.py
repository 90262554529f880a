"""A few of the mutants that `make hostile-mutants` runs by the thousand, and how it judges them."""

from __future__ import annotations

from itertools import islice

import pytest

from dialect_utils.execution import Worker, prepare
from dialect_utils.io.files import parse_bytes
from tests.hostile import mutants
from tests.jaxlib import DIES_OF_DIVISION_BY_ZERO


def test_mutants_that_verify_do_not_end_the_worker(worker: Worker) -> None:
    found = [mutants.outcome(worker, *mutant) for mutant in islice(mutants.verified(3), 12)]
    assert [each for each in found if not mutants.is_explained(*each)] == []
    assert "ran" in {failure for failure, _ in found}


def test_mutants_differ_from_what_they_were_made_of() -> None:
    texts = list(islice(mutants.mutants(3), 40))
    assert len(set(texts)) > 30


@pytest.mark.parametrize(
    ("failure", "message", "explained"),
    [("rejected", "", True), ("crash", "F32 is not PRED type", False), ("timeout", "", True)],
)
def test_a_crash_needs_a_reason(failure: str, message: str, explained: bool) -> None:
    assert mutants.is_explained(failure, message) == explained


@pytest.mark.skipif(not DIES_OF_DIVISION_BY_ZERO, reason="this jaxlib divides integers by 0 without ending")
def test_a_division_by_zero_is_explained(worker: Worker) -> None:
    text = (
        "HloModule m\nENTRY e {\n  a = s32[] constant(1)\n  z = s32[] constant(0)\n  ROOT d = s32[] divide(a, z)\n}\n"
    )
    found = mutants.outcome(worker, prepare(parse_bytes(text.encode(), "m"), "m"), text)
    assert found[0] == "crash"
    assert mutants.is_explained(*found)
