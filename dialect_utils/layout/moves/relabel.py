"""Decides whether a run of steps is a logical relabelling: transpose, reshape, transpose, and slices at the ends.

The transposes move whole dimensions of the start and of the result. A transpose of parts of a
dimension (a visible tile) is a relabelling only if the result has those parts as dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import NamedTuple

from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Reshape, Step, Transpose, inverse_permutation

# The opcodes of a relabelling, whatever the dimensions.
_SHORTEST = (
    (),
    ("transpose",),
    ("reshape",),
    ("transpose", "reshape"),
    ("reshape", "transpose"),
    ("transpose", "reshape", "transpose"),
)


class Digit(NamedTuple):
    """A digit of the row-major index: index // stride % size; with the stride 0 a repetition of size elements."""

    stride: int
    size: int


def try_relabel(plan: Plan) -> Plan | None:
    """Returns a plan of at most transpose, reshape, transpose for the same map, or None where no such plan exists.

    Slices and bitcast-converts at both ends are kept.
    """
    plan = plan.with_steps(_slices_outside(list(plan.steps)))
    front, back = 0, len(plan.steps)
    while front < back and _is_at_end(plan.steps[front]):
        front += 1
    while back > front and _is_at_end(plan.steps[back - 1]):
        back -= 1
    middle = plan.part(front, back)
    if middle.adds_elements or middle.drops_elements or middle.regroups_bits:
        return None
    found = _relabel(middle.dimensions, middle.result[1], middle)
    if found is None:
        # Overlapping digits have no form but the steps themselves.
        return plan if middle.opcodes in _SHORTEST else None
    return plan.with_steps((*plan.steps[:front], *found, *plan.steps[back:])).simplified()


def _is_at_end(step: Step) -> bool:
    return step.drops_elements or step.regroups_bits


def _slices_outside(steps: list[Step]) -> list[Step]:
    """Returns the steps with slices moved past transposes, towards the end without a reshape in between."""
    reshapes = [i for i, step in enumerate(steps) if step.opcode == Reshape.opcode]
    first, last = (reshapes[0], reshapes[-1]) if reshapes else (len(steps), -1)
    for i in range(1, min(first, len(steps))):
        for j in range(i, 0, -1):
            before, step = steps[j - 1], steps[j]
            if before.order is not None and step.drops_elements:
                moved = step.permuted(inverse_permutation(before.order))
                steps[j - 1 : j + 1] = [moved or step, before]
    for i in range(len(steps) - 2, last, -1):
        for j in range(i, len(steps) - 1):
            step, after = steps[j], steps[j + 1]
            if step.drops_elements and after.order is not None and last >= 0:
                moved = step.permuted(after.order)
                steps[j : j + 2] = [after, moved or step]
    return steps


def _relabel(dims: tuple[int, ...], result: tuple[int, ...], run: Plan) -> tuple[Step, ...] | None:
    if 0 in dims:
        return (Reshape(result),)
    digits = follow(dims, run)
    if digits is None:
        return None
    sources, targets = _glued(dims, _by_stride(digits)), _glued(result, digits)
    sides = in_dimensions(digits, _sizes(dims, sources), _sizes(result, targets))
    if sides is None:
        return None
    origin, pieces = sides
    orders = _chains(origin, pieces)
    if orders is None:
        return None
    choices = [_steps(_Side(dims, sources, origin), _Side(result, targets, pieces), order) for order in orders]
    return min(choices, key=lambda steps: len(Plan(run.element_type, dims, steps).simplified().steps))


def in_dimensions(
    digits: Sequence[Digit], start: Sequence[int], result: Sequence[int]
) -> tuple[list[list[Digit]], list[list[Digit]]] | None:
    """Returns digits, in their order after a run, in the dimensions before it and after it; None where one overlaps."""
    parts = [part for digit in digits for part in _at_ends(digit, start)]
    pieces = cut(parts, result) if prod(part.size for part in parts) == prod(start) else None
    origin = None if pieces is None else cut(_by_stride([part for piece in pieces for part in piece]), start)
    return None if pieces is None or origin is None else (origin, pieces)


@dataclass(frozen=True, slots=True)
class _Side:
    """One end of a run: its dimensions, groups of dimensions that stay together, the digits of every group."""

    dims: tuple[int, ...]
    groups: list[list[int]]
    digits: list[list[Digit]]


def follow(dims: tuple[int, ...], run: Plan) -> list[Digit] | None:
    """Returns the coarsest digits of the start's index in the order after the run, or None."""
    stride = prod(dims)
    groups: list[list[Digit]] = []
    for size in dims:
        stride //= size
        groups.append([Digit(stride, size)] if size != 1 else [])
    for position, step in enumerate(run.steps):
        if step.order is not None:
            groups = [groups[i] for i in step.order]
            continue
        if position == len(run.steps) - 1:
            # A reshape at the end changes no order, even one that splits digits unevenly.
            break
        regrouped = cut(merged([digit for group in groups for digit in group]), run.stages[position + 1][1])
        if regrouped is None:
            return None
        groups = regrouped
    return merged([digit for group in groups for digit in group])


def _by_stride(digits: list[Digit]) -> list[Digit]:
    return sorted(digits, key=lambda digit: -digit.stride)


def _glued(dims: tuple[int, ...], digits: list[Digit]) -> list[list[int]]:
    """Returns the dimensions in groups that no cut of this sequence of digits separates."""
    ends = [1]
    for digit in reversed(digits):
        ends.append(ends[-1] * digit.size)
    groups: list[list[int]] = []
    stride = 1
    is_cut = True
    for dim in range(len(dims) - 1, -1, -1):
        if is_cut:
            groups.insert(0, [])
        groups[0].insert(0, dim)
        stride *= dims[dim]
        above = min((end for end in ends if end >= stride), default=stride)
        below = max(end for end in ends if end <= stride)
        is_cut = above % stride == 0 and stride % below == 0
    return groups


def _sizes(dims: tuple[int, ...], groups: list[list[int]]) -> list[int]:
    return [prod(dims[i] for i in group) for group in groups]


def _at_ends(digit: Digit, sizes: Sequence[int]) -> list[Digit]:
    """Returns a digit, cut where the start's dimensions of these sizes begin."""
    parts: list[Digit] = []
    stride = 1
    for size in reversed(sizes):
        low, high = max(stride, digit.stride), min(stride * size, digit.stride * digit.size)
        if low < high:
            parts.insert(0, Digit(low, high // low))
        stride *= size
    return parts


def merged(digits: Sequence[Digit]) -> list[Digit]:
    """Returns digits, most major first, with neighbours that are one digit as one."""
    found: list[Digit] = []
    for digit in digits:
        if found and found[-1].stride == digit.stride * digit.size:
            found[-1] = Digit(digit.stride, found[-1].size * digit.size)
        else:
            found.append(digit)
    return found


def cut(digits: Sequence[Digit], sizes: Sequence[int]) -> list[list[Digit]] | None:
    """Returns the digits grouped into sizes, cut where a size ends, or None where a cut is no whole factor."""
    rest = list(digits)
    groups = []
    for size in sizes:
        group: list[Digit] = []
        need = size
        while need > 1:
            digit = rest.pop(0)
            if need % digit.size:
                if digit.size % need:
                    return None
                inner = digit.size // need
                rest.insert(0, Digit(digit.stride, inner))
                digit = Digit(digit.stride * inner, need)
            group.append(digit)
            need //= digit.size
        groups.append(group)
    return groups


def _chains(source: list[list[Digit]], target: list[list[Digit]]) -> list[list[Digit]] | None:
    """Returns orders of all digits that keep every group of both sides contiguous, or None.

    Each digit must be followed by the next one of its group, on both sides.
    """
    following: dict[Digit, Digit] = {}
    preceding: dict[Digit, Digit] = {}
    for group in source + target:
        for first, second in pairwise(group):
            if following.setdefault(first, second) != second or preceding.setdefault(second, first) != first:
                return None
    orders = []
    for groups in (source, target):
        order: list[Digit] = []
        for head in (digit for group in groups for digit in group if digit not in preceding):
            digit: Digit | None = head
            while digit is not None:
                order.append(digit)
                digit = following.get(digit)
        if len(order) != sum(map(len, groups)):
            return None
        orders.append(order)
    return orders


def _steps(source: _Side, target: _Side, order: list[Digit]) -> tuple[Step, ...]:
    first, last = _by_position(source, order), _by_position(target, order)
    middle = Reshape(tuple(target.dims[i] for i in last))
    return (Transpose(first), middle, Transpose(inverse_permutation(last)))


def _by_position(side: _Side, order: list[Digit]) -> tuple[int, ...]:
    """Returns the dimensions in the order of their digits; a group without digits follows the one before."""
    position = {digit: i for i, digit in enumerate(order)}
    keys: list[tuple[int, int]] = []
    before = -1
    for i, digits in enumerate(side.digits):
        before = position[digits[0]] if digits else before
        keys.append((before, i))
    ordered = sorted(range(len(side.groups)), key=keys.__getitem__)
    return tuple(dim for i in ordered for dim in side.groups[i])
