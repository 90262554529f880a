"""A few of the texts that `make campaign-verifier` compares by the thousand, and how it judges them."""

from __future__ import annotations

from itertools import islice

import pytest

from dialect_utils.execution import Worker
from tests.campaign_verifier.comparison import Comparer, Comparison, Refusal
from tests.campaign_verifier.mutations import Mutant, mutants
from tests.campaign_verifier.reasons import LENIENT, reason_for

_RIGHT = "HloModule m\n\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}\n"


def test_each_difference_has_a_reason(worker: Worker) -> None:
    comparer = Comparer(worker)
    found = [(each, comparer.compare(each)) for each in islice(mutants(7), 60)]
    different = [pair for pair in found if pair[1].outcome in ("accepted here", "refused here")]
    assert [each.text for each, comparison in different if reason_for(comparison, each.text) is None] == []
    assert {"both accept", "both refuse"} <= {comparison.outcome for _, comparison in found}


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("negate", "abs", "both accept"),
        ("negate(p)", "negate(q)", "both refuse"),
        ("f32[4] negate", "f32[5] negate", "both refuse"),
        ("HloModule m", "HloModule m, entry_computation_layout={(f32[5]{0})->f32[4]{0}}", "refused here"),
    ],
)
def test_the_outcome_of_one_change(old: str, new: str, outcome: str, worker: Worker) -> None:
    mutant = Mutant("one", _RIGHT, _RIGHT.replace(old, new))
    assert Comparer(worker).compare(mutant).outcome == outcome


def test_the_answer_to_the_text_before_the_mutation_counts(worker: Worker) -> None:
    tiled = _RIGHT.replace("f32[4] p", "f32[4]{0:T(2)} p")
    found = Comparer(worker).compare(Mutant("one", tiled, tiled.replace("negate", "abs")))
    # jaxlib converts no tiles, in either text.
    assert (found.outcome, found.ours) == ("both accept", None)


def test_a_planted_difference_has_no_reason() -> None:
    refusal = Refusal("read", "rejected", "expects a word")
    assert reason_for(Comparison("accepted here", None, refusal), _RIGHT) is None
    assert reason_for(Comparison("refused here", "n: a planted message", None), _RIGHT) is None
    newer = _RIGHT.replace("negate(p)", "negate(p), newer=1")
    assert reason_for(Comparison("accepted here", None, refusal), newer) == LENIENT


def test_mutants_differ_from_their_originals_and_repeat() -> None:
    first, again = (list(islice(mutants(3), 40)) for _ in range(2))
    assert first == again
    assert all(each.text != each.original for each in first)


@pytest.mark.parametrize(
    ("message", "text", "is_known"),
    [
        ("n: bitcast-convert gives s32[3,5], but the shape is s32[]", "", True),
        ("n: bitcast-convert gives s32[3], but the shape is s32[3,5]{1,0}", "", True),
        ("n: bitcast-convert gives s32[3,5], but the shape is s32[5]", "", False),
        ("n: bitcast-convert gives s32[3], but the shape is s32[35]", "", False),
        ("minor_to_major {0,0} repeats dimension 0", "n = f32[2,4]{1,0} negate(f32[2,4]{0,0} x)", True),
        ("minor_to_major {0,0} repeats dimension 0", "n = f32[2,4]{0,0} negate(f32[2,4]{1,0} x)", False),
        ("minor_to_major {9} names dimension 9, but the rank is 1", "layout={(f32[2]{0})->f32[2]{9}}", True),
        ("expected ')', found '}'", "n = f32[3,5]{1,0:T(2,2} negate(x)", True),
        ("expected ')', found '}'", "n = f32[3,5]{1,0:T(2,2)} negate(x}", False),
    ],
)
def test_a_reason_explains_only_its_own_differences(message: str, text: str, is_known: bool) -> None:
    assert (reason_for(Comparison("refused here", message, None), text) is not None) == is_known
