"""Decides whether two plans have the same elements everywhere, by reading both backwards.

This shares only the meaning of a step with the normal form, so it decides whether the normal form is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.index.index_map import Coordinate
from dialect_utils.layout.index.positions import Condition, Position, linear_position, regroup, regroup_units, unit_bits
from dialect_utils.layout.moves.pad_slice import Pad, Slice
from dialect_utils.layout.moves.plan import PaddingValue, Plan
from dialect_utils.layout.moves.steps import Reshape, Stage, Step, Transpose, inverse_permutation
from dialect_utils.layout.proof.enumeration import ISL_SECONDS, RELATION_BUDGET, Proof, at, blocks, keeps

if TYPE_CHECKING:
    import islpy as isl

    from dialect_utils.layout.proof.decide import Terms


@dataclass(frozen=True, slots=True)
class Stop:
    """A pad met while reading backwards: a unit that fails the conditions is `unit` of the padding value."""

    padding: PaddingValue
    conditions: list[Condition]
    unit: Coordinate


@dataclass(slots=True)
class Read:
    """The origin of a unit of a result's element: a position in the source, unless a pad stops it."""

    position: Position
    stops: list[Stop] = field(default_factory=list)


def read_back(plan: Plan, index: Sequence[Coordinate], unit: Coordinate, bits: int) -> Read:
    """Returns the origin of a unit of the element at an index of the result."""
    read = Read(Position(list(index), unit))
    steps = list(zip(plan.steps, plan.paddings, plan.stages, plan.stages[1:], strict=False))
    for step, padding, before, after in reversed(steps):
        if step.regroups_bits:
            regroup_units(read.position, after[0].bits // bits, before[0].bits // bits)
        else:
            _move_back(step, read, padding, before, after)
    return read


def _move_back(step: Step, read: Read, padding: PaddingValue, before: Stage, after: Stage) -> None:
    """Changes a read of the result of a step (`after`) into one of its operand (`before`)."""
    position = read.position
    match step:
        case Transpose():
            position.coordinates = [position.coordinates[i] for i in inverse_permutation(step.permutation)]
        case Reshape():
            position.coordinates = regroup(position.coordinates, after[1], before[1])
        case Slice():
            found = zip(position.coordinates, step.strides, step.start, strict=True)
            position.coordinates = [c * stride + start for c, stride, start in found]
        case Pad():
            gaps = step.gaps
            shifted = [c + -low for c, low in zip(position.coordinates, step.low, strict=True)]
            spans = [max(0, (size - 1) * (gap + 1) + 1) for size, gap in zip(before[1], gaps, strict=True)]
            conditions = [Condition(c, 0, span, gap + 1) for c, span, gap in zip(shifted, spans, gaps, strict=True)]
            read.stops.append(Stop(padding, conditions, position.unit))
            position.coordinates = [c // (gap + 1) if gap else c for c, gap in zip(shifted, gaps, strict=True)]
        case _:
            raise TypeError(f"no operand is defined for {step}")


def _parts(terms: Terms, read: Read) -> Iterator[tuple[isl.Set, Stop | None]]:
    rest = terms.domain([])
    for stop in read.stops:
        kept = terms.domain(stop.conditions)
        yield rest.subtract(kept), stop
        rest = rest.intersect(kept)
    yield rest, None


def first_difference(terms: Terms, first: Read, second: Read) -> tuple[int, ...] | None:
    """Returns the first index of the result at which the reads differ, or None."""
    others = list(_parts(terms, second))
    found = terms.nothing()
    for part, stop in _parts(terms, first):
        for other_part, other in others:
            both = part.intersect(other_part)
            if not both.is_empty() and (stop is None or stop.padding is not None):
                found = found.union(_different_in(terms, both, (first, stop), (second, other)))
    return None if found.is_empty() else terms.sample(found.lexmin())


def _different_in(
    terms: Terms, both: isl.Set, first: tuple[Read, Stop | None], second: tuple[Read, Stop | None]
) -> isl.Set:
    stop, other = first[1], second[1]
    if stop is None and other is None:
        positions = first[0].position, second[0].position
        pairs = list(zip(positions[0].coordinates, positions[1].coordinates, strict=True))
        pairs.append((positions[0].unit, positions[1].unit))
    elif stop is None or other is None or stop.padding != other.padding:
        return both
    else:
        pairs = [(stop.unit, other.unit)]
    found = terms.nothing()
    for a, b in pairs:
        found = found.union(terms.aff(a).ne_set(terms.aff(b)).intersect(both))
    return found


@lru_cache(maxsize=8192)
def reads_only_padding(plan: Plan) -> bool:
    """Is true for a plan that is proved to read padding everywhere, and no element of its array."""
    (kind, old), (_, new) = plan.start, plan.result
    if not old or not prod(new) or plan.regroups_bits:
        return False
    steps = Slice((0,) * len(old), (0,) * len(old)), Reshape((0,)), Pad((0,), (prod(new),)), Reshape(new)
    found = try_prove_same_reads(plan.with_padding(True), Plan(kind, old, steps, (None, None, True, None)))
    return found is not None and found.holds


# Up to the first number of units numpy is faster than isl; beyond the second it takes many seconds.
_SMALL = 1 << 14
_LARGE = 1 << 24
# isl simplifies a set with many divisions in seconds, which its operations do not count. Coordinates of real dumps have
# up to 3 divisions. A set with 18 (consecutive reshapes of coprime dimensions) takes 4 seconds, with 10 it takes 0.2.
_MOST_DIVISIONS = 10
# numpy takes this long for one coordinate of one unit after one step (measured on reshapes of 510,510 elements).
_SECONDS_PER_COORDINATE = 4e-9


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an element of a result: the source element at `index`, or a padding value (index None)."""

    index: tuple[int, ...] | None
    padding: PaddingValue = None

    def __str__(self) -> str:
        return "padding" if self.index is None else f"[{','.join(map(str, self.index))}]"


def origin_of(plan: Plan, index: Sequence[int]) -> Origin:
    """Returns the origin of the element at an index of the result (of its lowest bits, where bits regroup)."""
    read = read_back(plan, index, 0, unit_bits(plan))
    for stop in read.stops:
        if not all(each.low <= each.value < each.high and each.value % each.stride == 0 for each in stop.conditions):
            return Origin(None, stop.padding)
    return Origin(tuple(map(int, read.position.coordinates)))


@lru_cache(maxsize=4096)
def try_prove_same_reads(
    first: Plan, second: Plan, *, budget: int = RELATION_BUDGET, small: int = _SMALL
) -> Proof | None:
    """Decides whether two plans of one array have the same elements, and the same padding values, everywhere.

    Elements that `first` leaves undefined may be anything in `second`. A counterexample is an index of the result.
    Results of up to `small` units are enumerated, larger ones decided by isl within `budget`.
    Returns None where the decision takes too long; raises ValueError where the arrays differ.
    """
    if (first.start, first.result) != (second.start, second.result):
        raise ValueError(f"plans of different arrays cannot be equal: {first} and {second}")
    bits = unit_bits(first, second)
    element_type, dimensions = first.result
    sizes = (*dimensions, element_type.bits // bits)
    if first == second or 0 in dimensions:
        return Proof(True, "structure")
    if prod(sizes) > small:
        # Imported here: proofs of small modules need no isl, and take as long as loading it.
        from dialect_utils.layout.proof.decide import Terms, budgets

        for limit in budgets(budget, _seconds_to_enumerate(first, second, prod(sizes))):
            with limit as context:
                terms = Terms(context, dimensions, sizes[-1])
                both = [read_back(plan, terms.index, terms.unit, bits) for plan in (first, second)]
                if terms.divisions([c for read in both for c in read.position.coordinates]) > _MOST_DIVISIONS:
                    break
                found = first_difference(terms, *both)
                return Proof(found is None, "isl", found)
    if prod(sizes) > _LARGE:
        return None
    found = _differs_by_blocks(first, second, sizes, bits)
    return Proof(found is None, "enumeration", found)


def _seconds_to_enumerate(first: Plan, second: Plan, units: int) -> float:
    """Returns the seconds that isl may take: those of the enumeration, which follows, at most `ISL_SECONDS`."""
    if units > _LARGE:
        return ISL_SECONDS
    coordinates = sum(len(dimensions) for plan in (first, second) for _, dimensions in plan.stages)
    return min(ISL_SECONDS, units * coordinates * _SECONDS_PER_COORDINATE)


def _differs_by_blocks(first: Plan, second: Plan, sizes: tuple[int, ...], bits: int) -> tuple[int, ...] | None:
    numbers: dict[PaddingValue, int] = {}
    for index, unit in blocks(sizes):
        a, b = (_codes(read_back(plan, index, unit, bits), unit.shape, numbers) for plan in (first, second))
        different = np.zeros(unit.shape, bool)
        for x, y in zip(a, b, strict=True):
            different |= np.not_equal(x, y)
        if None in numbers:
            different &= a[0] != numbers[None]
        if different.any():
            return at(index, int(different.argmax()))
    return None


def _codes(read: Read, shape: tuple[int, ...], numbers: dict[PaddingValue, int]) -> list[Any]:
    """Returns the number of the padding value (0: an element), the unit, and the coordinates (0 in paddings)."""
    found = np.zeros(shape, np.int64)
    unit = np.broadcast_to(read.position.unit, shape).copy()
    for stop in read.stops:
        number = numbers.setdefault(stop.padding, len(numbers) + 1)
        stopped = (found == 0) & ~keeps(Position([], 0, stop.conditions), shape)
        found[stopped] = number
        unit[stopped] = np.broadcast_to(stop.unit, shape)[stopped]
    return [found, unit, *(np.where(found == 0, c, 0) for c in read.position.coordinates)]


def origins(plan: Plan, bits: int, units: int = 1) -> NDArray[np.int64]:
    """Returns the number of the source's unit for each unit of the result, or -1 for padding.

    An element of the source has `units` units of `bits` bits, which are numbered in row-major order. The last dimension
    counts the units of one element.
    """
    element_type, dimensions = plan.result
    sizes = (*dimensions, units * element_type.bits // plan.element_type.bits)
    found: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for index, unit in blocks(sizes):
        padding, inner, *coordinates = _codes(read_back(plan, index, unit, bits), unit.shape, {})
        position = linear_position([*coordinates, inner], (*plan.dimensions, units))
        found.append(np.where(padding == 0, position, -1))
    return np.concatenate(found).reshape(sizes)
