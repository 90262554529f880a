"""Rank correlation of two lists of figures."""

from __future__ import annotations

import math
from collections.abc import Sequence


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns Spearman's rank correlation of two lists; None for fewer than three pairs, and for a constant list."""
    count = len(first)
    ranks = [_ranks(each) for each in (first, second)]
    mean = (count - 1) / 2
    a, b = ([rank - mean for rank in each] for each in ranks)
    scale = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    if count < 3 or not scale:
        return None
    return sum(x * y for x, y in zip(a, b, strict=True)) / scale


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value, equal ones sharing the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]
