"""Comparison of the TPU compiler's figures by an objective."""

from __future__ import annotations

from math import inf
from typing import Literal, NamedTuple

from dialect_utils.execution.tpu_figures import Figures
from dialect_utils.memory.messages import memory_messages

Objective = Literal["peak", "bytes", "time"]
OBJECTIVES: tuple[Objective, ...] = ("peak", "bytes", "time")
# The figures of each objective, in the order in which they decide.
_ORDER: dict[Objective, tuple[Objective, ...]] = {
    "peak": ("peak", "bytes", "time"),
    "bytes": ("bytes", "peak", "time"),
    "time": ("time", "bytes", "peak"),
}
# Changes below this part of a figure count as equal.
NOTABLE = 0.01


class Score(NamedTuple):
    """The rank of figures: programs that compile, then those that need too much memory, then those with errors."""

    kind: int
    values: tuple[float, ...]


def figure(figures: Figures, objective: Objective) -> float:
    """Returns one figure; an estimated time that is not positive counts as none."""
    if objective == "peak":
        return figures.peak
    if objective == "bytes":
        return figures.accessed
    return figures.seconds if figures.seconds > 0 else inf


def needed_bytes(figures: Figures) -> int | None:
    """Returns the memory that a rejected program needs, as the compiler's message states it."""
    needed = [each.needed for each in memory_messages(figures.error) if each.needed is not None]
    return max(needed, default=None)


def score(figures: Figures, objective: Objective) -> Score:
    """Returns the rank of figures; the smallest is the best."""
    if not figures.error:
        return Score(0, tuple(figure(figures, each) for each in _ORDER[objective]))
    needed = needed_bytes(figures)
    return Score(2, ()) if needed is None else Score(1, (needed,))


def relative(before: Figures, after: Figures, objective: Objective) -> float | None:
    """Returns the change of a figure as a part of the old one; None where one of them has no such figure."""
    old, new = (figure(each, objective) for each in (before, after))
    if before.error or after.error or not 0 < old < inf or new == inf:
        return None
    return new / old - 1
