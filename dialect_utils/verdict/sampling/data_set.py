"""Sets of inputs, and the kinds of data that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.execution import Array

# The kinds of data, each with its name in verdicts.
_DESCRIPTIONS = {
    "whole": "small whole numbers",
    "random": "random data",
    "boundary": "constants of the programs and their neighbours",
    "equal": "data with many equal elements",
    "special": "data with NaN, infinities, zeros and subnormal numbers",
    "infinite": "data with many infinities and zeros",
    "sparse": "data with a few special values",
    "shifted": "large numbers of one sign",
    "magnitudes": "many magnitudes",
    "saturated": "magnitudes up to the largest",
    "scaled": "rows, columns and arrays that are small, large or constant as a whole",
    "pairs": "pairs of constants of the programs",
    "peaks": "data with one element above or below all others",
    "given": "the given inputs",
    "own": "its own data",
    "tagged": "tagged inputs, whose elements all differ",
    "every": "one of all possible inputs",
}


@dataclass(frozen=True, slots=True)
class DataSet:
    """One set of inputs, of one of the kinds; raises ValueError for another kind."""

    kind: str
    arrays: Sequence[Array]

    def __post_init__(self) -> None:
        if self.kind not in _DESCRIPTIONS:
            raise ValueError(f"{self.kind} is no kind of data")

    @property
    def repeats_values(self) -> bool:
        """Is true where whole rows or arrays hold few values, so that rounding errors are not independent."""
        return self.kind in ("scaled", "pairs")

    def __str__(self) -> str:
        return _DESCRIPTIONS[self.kind]
