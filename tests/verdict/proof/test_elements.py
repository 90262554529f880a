"""Arrays with too many elements are not compared one by one, which is known before any element is made."""

from __future__ import annotations

import pytest

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.verdict.proof.elements import ElementProof
from dialect_utils.verdict.proof.terms import GaveUpError, Terms

F32 = ELEMENT_TYPES["f32"]


def test_no_element_is_made_of_arrays_that_are_too_large() -> None:
    terms = Terms()
    small = terms.make("leaf", ("parameter", 0), ArrayShape(F32, (3,)))
    large = terms.make("leaf", ("parameter", 1), ArrayShape(F32, (1, 400, 400)))
    proof = ElementProof(terms)
    pair = terms.make("op", ("unknown",), ArrayShape(F32, (3,)), (small, large))
    with pytest.raises(GaveUpError, match="too large"):
        proof.value(pair)
    assert not proof.values
    assert proof.value(small).shape == (3,)


def test_products_of_a_dot_count_as_elements() -> None:
    terms = Terms()
    left, right = (terms.make("leaf", ("parameter", i), ArrayShape(F32, (1, 60, 60))) for i in range(2))
    proof = ElementProof(terms)
    with pytest.raises(GaveUpError, match="too large"):
        proof.value(terms.make("op", ("dot", ()), ArrayShape(F32, (1, 60, 60)), (left, right)))
    assert not proof.values
