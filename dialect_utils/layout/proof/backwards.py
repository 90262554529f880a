"""Which element each element of a plan's result is: the plan read backwards.

It shares nothing with the normal form but what a step means, so it decides whether that form is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch

from dialect_utils.layout.index.places import Condition, Coordinate, Places, regroup, regroup_units
from dialect_utils.layout.moves.plan import PaddingValue, Plan
from dialect_utils.layout.moves.steps import Pad, Reshape, Slice, Stage, Step, Transpose, inverse_permutation


@dataclass(frozen=True, slots=True)
class Stop:
    """A pad on the way back: what fails the conditions is `unit` of its padding value."""

    padding: PaddingValue
    conditions: list[Condition]
    unit: Coordinate


@dataclass(slots=True)
class Read:
    """The origin of a unit of a result's element: its place in the source, unless a pad stops it."""

    place: Places
    stops: list[Stop] = field(default_factory=list)


def read_back(plan: Plan, index: Sequence[Coordinate], unit: Coordinate, bits: int) -> Read:
    """Returns where a unit of the element at an index of the result comes from."""
    read = Read(Places(list(index), unit))
    steps = list(zip(plan.steps, plan.paddings, plan.stages, plan.stages[1:], strict=False))
    for step, padding, before, after in reversed(steps):
        if step.regroups_bits:
            regroup_units(read.place, after[0].bits // bits, before[0].bits // bits)
        else:
            _move_back(step, read, padding, before, after)
    return read


@singledispatch
def _move_back(step: Step, read: Read, padding: PaddingValue, before: Stage, after: Stage) -> None:
    """Changes a read of what a step makes (`after`) into one of what it is made of (`before`)."""
    raise TypeError(f"nothing is known of what was before {step}")


@_move_back.register
def _transpose_back(step: Transpose, read: Read, padding: PaddingValue, before: Stage, after: Stage) -> None:
    read.place.coordinates = [read.place.coordinates[i] for i in inverse_permutation(step.permutation)]


@_move_back.register
def _reshape_back(step: Reshape, read: Read, padding: PaddingValue, before: Stage, after: Stage) -> None:
    read.place.coordinates = regroup(read.place.coordinates, after[1], before[1])


@_move_back.register
def _slice_back(step: Slice, read: Read, padding: PaddingValue, before: Stage, after: Stage) -> None:
    found = zip(read.place.coordinates, step.strides, step.start, strict=True)
    read.place.coordinates = [c * stride + start for c, stride, start in found]


@_move_back.register
def _pad_back(step: Pad, read: Read, padding: PaddingValue, before: Stage, after: Stage) -> None:
    gaps = step.gaps
    shifted = [c + -low for c, low in zip(read.place.coordinates, step.low, strict=True)]
    spans = [max(0, (size - 1) * (gap + 1) + 1) for size, gap in zip(before[1], gaps, strict=True)]
    conditions = [Condition(c, 0, span, gap + 1) for c, span, gap in zip(shifted, spans, gaps, strict=True)]
    read.stops.append(Stop(padding, conditions, read.place.unit))
    read.place.coordinates = [c // (gap + 1) if gap else c for c, gap in zip(shifted, gaps, strict=True)]
