"""Constants as residues."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.constants import as_array
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.verdict.field import arithmetic as field
from dialect_utils.verdict.field import functions, integers
from dialect_utils.verdict.field.arithmetic import P, Q
from dialect_utils.verdict.field.fractions import simplest_fraction
from dialect_utils.verdict.field.values import ROUNDS, Real, Value, where, whole_reals
from dialect_utils.verdict.proof.terms import Term

if TYPE_CHECKING:
    from dialect_utils.verdict.field.lift import Lift

# Different numbers in one constant whose fractions are looked for.
_MOST_FRACTIONS = 4096


def constant(lift: Lift, term: Term) -> Value:
    """Returns the exact values of a constant."""
    kind = term.array.element_type
    if isinstance(term.label, int):
        raw: NDArray[Any] = np.frombuffer(term.label.to_bytes(kind.storage_bytes, "little"), np.uint8)
        array = as_array(raw.tobytes(), kind, ())
    else:
        assert isinstance(term.label, bytes)  # so constants are made
        array = as_array(term.label, kind, term.array.dimensions)
    if kind.name == "pred":
        return whole_reals(array.astype(np.uint64))
    if not kind.is_floating:
        return integers.known(array.astype(np.int64), kind)
    numbers = array.astype(np.float64)
    if np.isnan(numbers).any():
        return lift.random(term.array, lift.hash(term))
    finite = np.where(np.isinf(numbers), 0.0, numbers)
    found = _fractions(kind, array) if lift.has_fractions else None
    if found is None:
        first, second = (field.dyadic(finite, prime)[..., None].repeat(ROUNDS, axis=-1) for prime in (P, Q))
        found = Real(first, second)
    for is_positive in (True, False):
        there = np.isinf(numbers) & ((numbers > 0) == is_positive)
        found = where(there, functions.infinity(is_positive), found)
    return found


def _fractions(kind: ElementType, array: NDArray[Any]) -> Real | None:
    """Returns what numbers of a constant round; None where there are too many to look at."""
    values, places = np.unique(as_bits(array), return_inverse=True)
    if values.size > _MOST_FRACTIONS:
        return None
    fractions = [simplest_fraction(kind, int(bits)) or Fraction(0) for bits in values]
    try:
        residues = [np.array([field.rational(each, prime) for each in fractions], np.uint64) for prime in (P, Q)]
    except ValueError:
        # A denominator is a multiple of a prime.
        return None
    first, second = (each[places.reshape(array.shape)][..., None].repeat(ROUNDS, axis=-1) for each in residues)
    return Real(first, second)
