"""Hundreds of random expressions of a type against each other: those of one term have the same bits at all ends."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pytest

from dialect_utils.execution import Worker
from dialect_utils.layout import ElementType
from dialect_utils.verdict.terms.constants import folded
from tests.expression_classes import FLOATS, KINDS, attacks, ends


@pytest.mark.parametrize("kind", ["u8", "s32", "f32", "pred"])
def test_no_two_expressions_are_wrongly_one_term(kind: str, worker: Worker) -> None:
    found = attacks(worker, kind, 5, 250)
    assert found.told_equal > 20
    assert not found.wrong, found.wrong[0]


def test_a_wrong_fold_is_found(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(label: Hashable, result: ElementType, operands: Sequence[tuple[ElementType, int]]) -> int | None:
        return operands[0][1] if label == "remainder" else folded(label, result, operands)

    monkeypatch.setattr("dialect_utils.verdict.proof.algebra.normal_form.folded", wrong)
    assert attacks(worker, "u8", 5, 400).wrong


@pytest.mark.parametrize("kind", KINDS)
def test_the_ends_of_a_type_are_among_the_data(kind: str) -> None:
    values = ends(kind)
    if kind in FLOATS:
        as_doubles = values.astype(np.float64)
        assert np.isnan(as_doubles).any()
        assert {*np.signbit(as_doubles[as_doubles == 0])} == {True, False}
        assert (np.abs(as_doubles[as_doubles != 0]) < float(np.finfo(np.float16).tiny)).any()
    elif kind != "pred":
        assert {np.iinfo(values.dtype).min, np.iinfo(values.dtype).max} <= {*values.tolist()}
