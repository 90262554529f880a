"""Decides whether terms are equal as functions of real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, prod

import numpy as np

from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.field.degree import Degrees
from dialect_utils.verdict.field.lift import Lift
from dialect_utils.verdict.field.values import UnliftedError, Value, words_of
from dialect_utils.verdict.outcome import RealEquality
from dialect_utils.verdict.proof.elements import ElementProof
from dialect_utils.verdict.proof.terms import GaveUpError, Term, Terms

# A decision may be wrong with this probability, as a decimal logarithm.
_LARGEST_LOG_ERROR = -12
# Elements that are looked at one by one, and the scalar terms they may be made of.
_MOST_SCALARS = 512
_MOST_TERMS = 6000
# Any number: nobody who writes a program knows the random ones.
_SEED = 20250710


def decide_over_reals(
    terms: Terms, pairs: Sequence[tuple[Term, Term]], elements: ElementProof | None = None
) -> list[RealEquality]:
    """Decides for pairs of terms of one proof; integers and data movement are as they are.

    What is not known to be equal as whole arrays is looked at element by element where `elements` has few of them;
    what is not equal then, with constants as the fractions that they round.
    """
    exact, with_fractions = Lift(terms, _SEED), Lift(terms, _SEED, has_fractions=True)
    found = []
    for first, second in pairs:
        decided = _decide(exact, first, second, elements)
        if decided.is_equal is False:
            unrounded = _decide(with_fractions, first, second, elements)
            decided = replace(unrounded, has_fractions=True) if unrounded.is_equal else decided
        found.append(decided)
    return found


def _decide(lift: Lift, first: Term, second: Term, elements: ElementProof | None) -> RealEquality:
    if first.shape != second.shape:
        return RealEquality(False)
    try:
        found = _compared(lift, [(first, second)])
        if found.is_equal is False and elements is not None:
            pairs = _scalars(elements, first, second)
            return _compared(lift, pairs) if pairs else found
    except UnliftedError as error:
        return RealEquality(None, reason=str(error))
    return found


def _compared(lift: Lift, pairs: Sequence[tuple[Term, Term]]) -> RealEquality:
    if not all(_same(lift.value(first), lift.value(second)) for first, second in pairs):
        return RealEquality(False)
    every = [term for pair in pairs for term in pair]
    log_error = Degrees(every, lift.different).log_error(every)
    if log_error > _LARGEST_LOG_ERROR:
        return RealEquality(None, reason=f"the functions have too large a degree (error below 1e{ceil(log_error)})")
    return RealEquality(True, log_error)


def _scalars(elements: ElementProof, first: Term, second: Term) -> list[tuple[Term, Term]]:
    """Returns the elements of two arrays, pair by pair; none where there are too many."""
    if prod(getattr(first.shape, "dimensions", (_MOST_SCALARS + 1,))) > _MOST_SCALARS:
        return []
    try:
        values = elements.value(first), elements.value(second)
    except (GaveUpError, UndefinedError):
        return []
    pairs = list(zip(values[0].flat, values[1].flat, strict=True))
    return pairs if _count([term for pair in pairs for term in pair]) <= _MOST_TERMS else []


def _count(terms: Sequence[Term]) -> int:
    found: set[Term] = set()
    pending = list(terms)
    while pending:
        term = pending.pop()
        if term not in found:
            found.add(term)
            pending += term.operands
    return len(found)


def _same(first: Value | int, second: Value | int) -> bool:
    if isinstance(first, int) or isinstance(second, int):
        return bool(first == second)
    return type(first) is type(second) and bool(np.array_equal(words_of(first), words_of(second)))
