"""Positions of elements after a plan, with coordinates of any kind: ints, numpy arrays, Presburger terms.

A bitcast-convert regroups the bits of elements, so a position belongs to one unit of an element: some of the element's
bits. `u16[4] -> u8[4,2]` moves unit 1 of element 3 to (3,1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import gcd, prod

from dialect_utils.layout.index.index_map import Coordinate
from dialect_utils.layout.moves.pad_slice import Pad, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Reshape, Step, Transpose


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition for an element to be kept: `low <= value < high`, and `stride` divides `value`."""

    value: Coordinate
    low: int
    high: int
    stride: int = 1


@dataclass(slots=True)
class Position:
    """The position of one unit of an element: coordinates, the unit within the element, conditions."""

    coordinates: list[Coordinate]
    unit: Coordinate
    conditions: list[Condition] = field(default_factory=list)


def unit_bits(*plans: Plan) -> int:
    """Returns the bits of a unit: the greatest number that divides the width of every element on the way."""
    return gcd(*(element_type.bits for plan in plans for element_type, _ in plan.stages))


def follow(plan: Plan, index: Sequence[Coordinate], unit: Coordinate, bits: int) -> Position:
    """Returns the position after a plan of a unit (of `bits` bits) of the element at `index` before the plan."""
    position = Position(list(index), unit)
    for step, (old, dims), (new, after) in zip(plan.steps, plan.stages, plan.stages[1:], strict=False):
        if step.regroups_bits:
            regroup_units(position, old.bits // bits, new.bits // bits)
        else:
            _move(step, position, dims, after)
    return position


def regroup_units(position: Position, old: int, new: int) -> None:
    """Changes a position in elements of `old` units into one in elements of `new` units, as bitcast-convert does."""
    if new < old:
        position.coordinates.append(position.unit // new)
        position.unit = position.unit % new
    elif new > old:
        position.unit = position.coordinates.pop() * old + position.unit


def _move(step: Step, position: Position, dims: tuple[int, ...], after: tuple[int, ...]) -> None:
    """Changes a position in an array of `dims` into the one after a step, in an array of `after`."""
    match step:
        case Transpose():
            position.coordinates = [position.coordinates[i] for i in step.permutation]
        case Reshape():
            position.coordinates = regroup(position.coordinates, dims, after)
        case Pad():
            found = zip(position.coordinates, step.gaps, step.low, strict=True)
            position.coordinates = [c * (gap + 1) + low for c, gap, low in found]
            cut = [low < 0 or high < 0 for low, high in zip(step.low, step.high, strict=True)]
            moved = zip(position.coordinates, after, cut, strict=True)
            position.conditions += [Condition(c, 0, size) for c, size, is_cut in moved if is_cut]
        case Slice():
            shifted = [c + -a for c, a in zip(position.coordinates, step.start, strict=True)]
            ends = [b - a for a, b in zip(step.start, step.limit, strict=True)]
            kept = zip(shifted, ends, step.strides, strict=True)
            position.conditions += [Condition(c, 0, end, stride) for c, end, stride in kept]
            pairs = zip(shifted, step.strides, strict=True)
            position.coordinates = [c // stride if stride > 1 else c for c, stride in pairs]
        case _:
            raise TypeError(f"no position is defined after {step}")


def linear_position(coordinates: Sequence[Coordinate], sizes: Sequence[int]) -> Coordinate:
    """Returns the row-major index of a position in an array of these sizes."""
    total: Coordinate = 0
    for coordinate, size in zip(coordinates, sizes, strict=True):
        total = coordinate + total * size
    return total


def regroup(coordinates: Sequence[Coordinate], old: Sequence[int], new: Sequence[int]) -> list[Coordinate]:
    """Returns the coordinates of the same row-major position under other dimensions.

    Runs of dimensions with equal products are regrouped one by one, so terms stay small.
    """
    result: list[Coordinate] = []
    whole = [(0, 0), (len(old), len(new))]
    for first, end in pairwise(common_factors(old, new) if prod(old) == prod(new) else whole):
        linear: Coordinate = 0
        for coordinate, size in zip(coordinates[first[0] : end[0]], old[first[0] : end[0]], strict=True):
            linear = coordinate if isinstance(linear, int) and linear == 0 else linear * size + coordinate
        sizes = new[first[1] : end[1]]
        for k in range(len(sizes)):
            stride = prod(sizes[k + 1 :])
            part = linear // stride if stride > 1 else linear
            result.append(part % sizes[k] if k and sizes[k] > 0 else part)
    return result


def common_factors(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    """Returns XLA's CommonFactors: offsets up to which both lists have the same product, from (0,0) to both ends."""
    if 0 in (*a, *b):
        return [(0, 0), (len(a), len(b))]
    ends = [(0, 0)]
    i = j = 0
    left = right = 1
    while i < len(a) or j < len(b):
        is_even = left == right
        take_a = left < right or (is_even and i < len(a) and (j == len(b) or a[i] <= b[j]))
        take_b = right < left or (is_even and j < len(b) and (i == len(a) or b[j] <= a[i]))
        if take_a:
            left *= a[i]
            i += 1
        if take_b:
            right *= b[j]
            j += 1
        if left == right:
            ends.append((i, j))
    return ends
