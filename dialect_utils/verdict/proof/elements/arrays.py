"""Arrays of scalar terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dialect_utils.verdict.proof.terms import Term

# Arrays of terms, for which numpy has no type; their rows are arrays, too, their items terms.
Elements = Any
# Elements, or (for functions, tuples and tokens) one term.
Value = Any


def array_of(items: Sequence[Term], dimensions: tuple[int, ...]) -> Elements:
    """Returns an array of terms in row-major order."""
    array = np.empty(len(items), object)
    array[:] = list(items)
    return array.reshape(dimensions)


def filled(dimensions: tuple[int, ...], item: Term) -> Elements:
    """Returns an array that repeats one term."""
    array = np.empty((), object)
    array[()] = item
    return np.broadcast_to(array, dimensions)


def rows(arrays: Sequence[Elements]) -> Iterable[tuple[Term, ...]]:
    """Yields the elements of arrays of one shape that are at one place."""
    return zip(*(array.flat for array in arrays), strict=True)


def mapped(make: Callable[..., Term], arrays: Sequence[Elements], dimensions: tuple[int, ...]) -> Elements:
    """Returns what a function makes of the elements at each place."""
    return array_of([make(*items) for items in rows(arrays)], dimensions)
