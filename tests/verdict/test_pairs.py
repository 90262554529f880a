"""Pairs of modules that differ in ways that are easy to miss, and small campaigns."""

from __future__ import annotations

import json

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import read_module
from dialect_utils.verdict import Options, compare_modules
from tests.campaign_verdict.__main__ import EXECUTED, Case, cases, judged
from tests.campaign_verdict.mistakes import MISTAKES
from tests.campaign_verdict.programs import really_differ
from tests.campaign_verdict.rewrites import REWRITES
from tests.paths import SHARED_DATA

PAIRS = SHARED_DATA / "corpus" / "verdict_pairs"
# Pairs listed as different that differ by rounding alone.
CLOSE = ("xla_simplifies_x_3_vs_x__1_3_", "xla_simplifies_x_exp_y__vs_x_exp__y_")
# Pairs that are equal in bits where some value is neither NaN nor infinite.
CONDITIONAL = ("branch_taken_only_on_inf", "dot_relu_max_vs_select_NaN", "max_vs_select_GE_NaN", "x_eq_x_vs_true_NaN")
ANSWERS = {**dict.fromkeys(CLOSE, "close"), **dict.fromkeys(CONDITIONAL, "equal-if")}


@pytest.mark.shared(PAIRS)
def test_pairs_that_are_easy_to_miss(worker: Worker) -> None:
    wrong = []
    for name, expected in json.loads((PAIRS / "index.json").read_text()).items():
        first, second = (read_module(str(next(PAIRS.glob(f"{name}.{side}.*")))) for side in "ab")
        found = compare_modules(first, second, Options(power=0), worker).verdict
        wrong += [(name, found)] if found != ANSWERS.get(name, expected) else []
    assert wrong == []


@pytest.mark.parametrize("case", [*cases(MISTAKES, len(MISTAKES), seed=1)][::6], ids=str)
def test_planted_mistakes_are_found(case: Case, worker: Worker) -> None:
    """One fault of every sixth kind; `make campaign-verdict` injects 1,500."""
    differs = really_differ(case.original, case.edited, 100)
    assert judged(case, worker)[0] == "different" or not differs


@pytest.mark.parametrize("case", [*cases(REWRITES, len(REWRITES), seed=1)][::4], ids=str)
def test_correct_rewrites_are_not_different(case: Case, worker: Worker) -> None:
    assert judged(case, worker, also=EXECUTED)[0] in ("equal", "agrees", "close")


@pytest.mark.parametrize("kind", REWRITES)
def test_rewrites_compute_the_same_in_numpy(kind: str) -> None:
    """The oracle that decides whether a fault changes a result finds no change in any rewrite."""
    for case in cases({kind: REWRITES[kind]}, 3, seed=2):
        assert not really_differ(case.original, case.edited, 20), str(case)


def test_most_mistakes_differ_in_numpy() -> None:
    planted = list(cases(MISTAKES, 2 * len(MISTAKES), seed=2))
    assert sum(really_differ(case.original, case.edited, 50) for case in planted) > 0.8 * len(planted)
