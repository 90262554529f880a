"""Decides whether terms are equal as functions of real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, log10, prod

import numpy as np

from dialect_utils.ops import named
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.field.conventions import Convention
from dialect_utils.verdict.field.degree import Degrees
from dialect_utils.verdict.field.derived import derived_constants
from dialect_utils.verdict.field.draw import SEED_BITS, Draw, fresh_seed
from dialect_utils.verdict.field.lift import EXACT, Lift, Meaning
from dialect_utils.verdict.field.values import Real, UnliftedError, Value, words_of
from dialect_utils.verdict.outcome import RealEquality
from dialect_utils.verdict.proof.elements import ElementProof
from dialect_utils.verdict.proof.terms import GaveUpError, Term, Terms
from dialect_utils.verdict.terms.primitives import reachable

# A decision may be wrong with this probability, as a decimal logarithm.
_LARGEST_LOG_ERROR = -12
# The most independent draws of random numbers by which equality is decided: each one multiplies the probabilities.
_MOST_DRAWS = 4
# The most elements to compare one by one, and the most scalar terms that compute them.
_MOST_SCALARS = 512
_MOST_TERMS = 6000
# The most elements for which needless conventions are searched: this takes a second at most.
_MOST_REFINED = 1 << 18
# Operations with laws that are tried last, because few programs need them.
EXPANDED = named("log power")


def decide_over_reals(
    terms: Terms, pairs: Sequence[tuple[Term, Term]], elements: ElementProof | None = None, seed: int | None = None
) -> list[RealEquality]:
    """Decides whether the two terms of each pair are equal over the reals; integers still wrap around.

    A pair that is not equal as whole arrays is compared element by element if `elements` has few elements. If that
    fails, too, constants stand for fractions (0.33333334 for 1/3). All random numbers follow from `seed`. Without a
    seed one is drawn now, so no author of the programs knows it.
    """
    seed = fresh_seed() if seed is None else seed
    decision = _Decision(terms, seed, elements)
    return [replace(decision.of(*pair), seed=seed) for pair in pairs]


class _Decision:
    """The residues of the terms of one proof, for each meaning of constants and conventions that was requested."""

    def __init__(self, terms: Terms, seed: int, elements: ElementProof | None) -> None:
        self._terms = terms
        self._seed = seed
        self._elements = elements
        self._draws: dict[int, Draw] = {}
        self._lifts: dict[tuple[Meaning, int], Lift] = {}

    def of(self, first: Term, second: Term) -> RealEquality:
        """Returns whether two terms are equal over the reals, with exact constants first, then with fractions."""
        if first.shape != second.shape:
            return RealEquality(False)
        decided = self._by(EXACT, first, second)
        if decided.is_equal is False:
            unrounded = self._by(Meaning(has_fractions=True), first, second)
            decided = replace(unrounded, has_fractions=True) if unrounded.is_equal else decided
        if decided.is_equal is False:
            parts = reachable([first]), reachable([second])
            derived = derived_constants(*parts)
            if derived or any(part.label in EXPANDED for side in parts for part in side):
                meaning = Meaning(has_fractions=True, expands=True, derived=derived)
                expanded = self._by(meaning, first, second)
                decided = replace(expanded, has_fractions=True) if expanded.is_equal else decided
        return decided

    def _by(self, meaning: Meaning, first: Term, second: Term) -> RealEquality:
        try:
            found = self._compared(meaning, [(first, second)])
            if found.is_equal is False and self._elements is not None:
                pairs = _scalars(self._elements, first, second)
                return self._compared(meaning, pairs) if pairs else found
        except UnliftedError as error:
            return RealEquality(None, reason=str(error))
        return found

    def _compared(self, meaning: Meaning, pairs: Sequence[tuple[Term, Term]]) -> RealEquality:
        """Compares pairs of terms, and names the conventions that their equality needs."""
        found = self._compared_by(meaning, pairs)
        lift = self._lift(meaning)
        if not found.is_equal or not found.conventions or lift.element_count > _MOST_REFINED:
            return found
        log_trials = log10(2 + len(found.conventions))
        needed = self._with_fewer_conventions(meaning, pairs, found)
        log_error = max(found.log_error, needed.log_error) + log_trials
        return replace(needed, log_error=log_error) if log_error <= _LARGEST_LOG_ERROR else found

    def _with_fewer_conventions(
        self, meaning: Meaning, pairs: Sequence[tuple[Term, Term]], found: RealEquality
    ) -> RealEquality:
        """Returns the equality without needless conventions: drops all of them at first, then each one in turn."""
        conventions = [Convention(name) for name in found.conventions]
        for fewer in (conventions, *([each] for each in conventions)):
            tried = replace(meaning, without=meaning.without | {*fewer})
            without = self._compared_by(tried, pairs)
            if without.is_equal:
                meaning, found = tried, without
            if not found.conventions:
                return found
        return found

    def _compared_by(self, meaning: Meaning, pairs: Sequence[tuple[Term, Term]]) -> RealEquality:
        """Compares pairs by as many draws as the bound of the error needs."""
        found = self._compared_in(0, meaning, pairs)
        if found.is_equal and _MOST_DRAWS * found.log_error > _LARGEST_LOG_ERROR:
            reason = f"the functions have too large a degree (error below 1e{ceil(found.log_error)})"
            return RealEquality(None, reason=reason)
        number = 0
        while found.is_equal and found.log_error > _LARGEST_LOG_ERROR:
            number += 1
            again = self._compared_in(number, meaning, pairs)
            found = replace(again, log_error=found.log_error + again.log_error)
        return found

    def _compared_in(self, number: int, meaning: Meaning, pairs: Sequence[tuple[Term, Term]]) -> RealEquality:
        """Compares pairs by one draw, whatever the bound of its error."""
        lift = self._lift(meaning, number)
        if not all(_same(lift.value(first), lift.value(second)) for first, second in pairs):
            return RealEquality(False)
        every = [term for pair in pairs for term in pair]
        log_error = Degrees(every, lift.different).log_error(every, lift.heights.bits)
        conventions = lift.assumed(every)
        return RealEquality(True, log_error, conventions=tuple(each for each in Convention if each in conventions))

    def _lift(self, meaning: Meaning, number: int = 0) -> Lift:
        if number not in self._draws:
            self._draws[number] = Draw.of((self._seed + number) % (1 << SEED_BITS))
        if (meaning, number) not in self._lifts:
            self._lifts[meaning, number] = Lift(self._terms, self._draws[number], meaning)
        return self._lifts[meaning, number]


def _scalars(elements: ElementProof, first: Term, second: Term) -> list[tuple[Term, Term]]:
    """Returns the elements of two arrays, pair by pair; none where there are too many."""
    if prod(getattr(first.shape, "dimensions", (_MOST_SCALARS + 1,))) > _MOST_SCALARS:
        return []
    try:
        values = elements.value(first), elements.value(second)
    except (GaveUpError, UndefinedError):
        return []
    pairs = list(zip(values[0].flat, values[1].flat, strict=True))
    return pairs if len(reachable(term for pair in pairs for term in pair)) <= _MOST_TERMS else []


def _same(first: Value | int, second: Value | int) -> bool:
    if isinstance(first, Real) and isinstance(second, Real):
        return bool(np.array_equal(first.first, second.first))
    if isinstance(first, int) or isinstance(second, int):
        return bool(first == second)
    return type(first) is type(second) and bool(np.array_equal(words_of(first), words_of(second)))
