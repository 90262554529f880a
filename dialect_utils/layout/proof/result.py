"""What a proof says of a claim about all elements of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["isl", "enumeration", "structure"]


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a claim holds for all elements, and how that is known.

    `counterexample` is the start index of an element for which it does not.
    """

    holds: bool
    method: Method
    counterexample: tuple[int, ...] | None = None
    seconds: float = 0.0
