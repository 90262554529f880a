"""Data movement between row-major arrays as maps of linear indices, independent of the grouping into dimensions.

Reshapes disappear: a transpose becomes a `Permute` of digits of the linear index, a pad or a
slice a `Resize` of digits. Digits that stay neighbours are merged, so equal maps of one kind are
equal values. Sizes are never 0: `normal_form` handles empty arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from dialect_utils.layout.moves.plan import PaddingValue
from dialect_utils.layout.moves.steps import inverse_permutation


@dataclass(frozen=True, slots=True)
class Permute:
    """A permutation of digits: digit `permutation[i]` becomes digit i of the result, most major first."""

    sizes: tuple[int, ...]
    permutation: tuple[int, ...]

    @property
    def result(self) -> tuple[int, ...]:
        """Returns the digits' sizes in their new order."""
        return tuple(self.sizes[i] for i in self.permutation)

    def inverse(self) -> Permute:
        """Returns the inverse permutation."""
        return Permute(self.result, inverse_permutation(self.permutation))

    def reduced(self) -> Permute | None:
        """Returns the map without unit digits and with neighbours merged, or None for the identity."""
        rank = {i: k for k, i in enumerate(i for i, size in enumerate(self.sizes) if size != 1)}
        runs: list[list[int]] = []
        for i in self.permutation:
            if i not in rank:
                continue
            if runs and rank[runs[-1][-1]] + 1 == rank[i]:
                runs[-1].append(i)
            else:
                runs.append([i])
        if len(runs) <= 1:
            return None
        order = sorted(range(len(runs)), key=lambda k: runs[k][0])
        sizes = [prod(self.sizes[i] for i in runs[k]) for k in order]
        return Permute(tuple(sizes), tuple(order.index(k) for k in range(len(runs))))

    def refine_in(self, dimensions: tuple[int, ...]) -> Permute | None:
        """Returns the same map with `dimensions` as its digits, or None where a dimension spans two digits."""
        groups = _groups(self.sizes, dimensions)
        return None if groups is None else Permute(dimensions, tuple(d for i in self.permutation for d in groups[i]))

    def refine_out(self, dimensions: tuple[int, ...]) -> Permute | None:
        """Returns the same map with `dimensions` as its result, or None where a dimension spans two digits."""
        back = self.inverse().refine_in(dimensions)
        return back.inverse() if back is not None else None

    def with_result(self, dimensions: tuple[int, ...]) -> Permute | None:
        """Returns the map with its unit digits moved so that the result is `dimensions`, or None."""
        moved = [i for i in self.permutation if self.sizes[i] != 1]
        units = [i for i, size in enumerate(self.sizes) if size == 1]
        if len(dimensions) != len(self.sizes) or [self.sizes[i] for i in moved] != [d for d in dimensions if d != 1]:
            return None
        return Permute(self.sizes, tuple((units if d == 1 else moved).pop(0) for d in dimensions))


@dataclass(frozen=True, slots=True)
class Resize:
    """A change of the sizes of digits: `low` and `high` elements are added at the ends; negative counts remove."""

    sizes: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    padding: PaddingValue = None

    @property
    def result(self) -> tuple[int, ...]:
        """Returns the sizes afterwards."""
        return tuple(s + a + b for s, a, b in zip(self.sizes, self.low, self.high, strict=True))

    @property
    def grows(self) -> bool:
        """Is true where elements are added."""
        return max((*self.low, *self.high), default=0) > 0

    @property
    def is_valid(self) -> bool:
        """Is true where every digit keeps an element, so that changes at both ends are independent."""
        kept = (s + min(a, 0) + min(b, 0) for s, a, b in zip(self.sizes, self.low, self.high, strict=True))
        return all(count > 0 for count in kept)

    def reduced(self) -> Resize | None:
        """Returns the map with every unchanged digit merged into the one before, or None for the identity."""
        merged: list[tuple[int, int, int]] = []
        for size, low, high in zip(self.sizes, self.low, self.high, strict=True):
            if low or high or not merged:
                merged.append((size, low, high))
            else:
                before = merged.pop()
                merged.append((before[0] * size, before[1] * size, before[2] * size))
        if merged and merged[0] == (1, 0, 0):
            merged.pop(0)
        if not any(low or high for _, low, high in merged):
            return None
        sizes, lows, highs = zip(*merged, strict=True)
        return Resize(sizes, lows, highs, self.padding if self.grows else None)

    def refine_in(self, dimensions: tuple[int, ...]) -> Resize | None:
        """Returns the same map with `dimensions` as its digits, or None where no whole dimension is resized."""
        return self._refine(self.sizes, dimensions, is_result=False)

    def refine_out(self, dimensions: tuple[int, ...]) -> Resize | None:
        """Returns the same map with `dimensions` as its result, or None where no whole dimension is resized."""
        return self._refine(self.result, dimensions, is_result=True)

    def _refine(self, sizes: tuple[int, ...], dimensions: tuple[int, ...], *, is_result: bool) -> Resize | None:
        groups = _groups(sizes, dimensions)
        if groups is None:
            return None
        low, high = [0] * len(dimensions), [0] * len(dimensions)
        for size, group, a, b in zip(sizes, groups, self.low, self.high, strict=True):
            outer = next((d for d in group if dimensions[d] != 1), group[0])
            inner = size // dimensions[outer]
            if a % inner or b % inner:
                return None
            low[outer], high[outer] = a // inner, b // inner
        if is_result:
            dimensions = tuple(d - a - b for d, a, b in zip(dimensions, low, high, strict=True))
            if min(dimensions, default=1) < 1:
                return None
        return Resize(dimensions, tuple(low), tuple(high), self.padding)


LinearMap = Permute | Resize


def _groups(sizes: Sequence[int], dimensions: Sequence[int]) -> list[list[int]] | None:
    """Returns the dimensions that make up each digit, or None where a dimension spans two digits.

    A digit of size 1 takes one unit dimension; other units go to the digit after them.
    """
    groups: list[list[int]] = []
    position = 0
    for size in sizes:
        group: list[int] = []
        count = 1
        while position < len(dimensions) and (count < size or (size == 1 and not group)):
            count *= dimensions[position]
            group.append(position)
            position += 1
        if count != size or not group:
            return None
        groups.append(group)
    rest = range(position, len(dimensions))
    if any(dimensions[i] != 1 for i in rest):
        return None
    if groups:
        groups[-1] += rest
    return groups


def common_sizes(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...] | None:
    """Returns the coarsest digits that refine both lists of sizes, or None where sizes overlap: (2,3) and (3,2)."""
    left, right = list(a), list(b)
    sizes: list[int] = []
    while left or right:
        if left and left[-1] == 1:
            if right and right[-1] == 1:
                right.pop()
            sizes.append(left.pop())
            continue
        if right and right[-1] == 1:
            sizes.append(right.pop())
            continue
        if not left or not right:
            return None
        p, q = left.pop(), right.pop()
        if max(p, q) % min(p, q):
            return None
        sizes.append(min(p, q))
        if p != q:
            (left if p > q else right).append(max(p, q) // min(p, q))
    return tuple(reversed(sizes))


def _align(first: LinearMap, second: LinearMap) -> tuple[LinearMap, LinearMap] | None:
    """Returns both maps with the result of the first as the digits of the second, or None."""
    shared = common_sizes(first.result, second.sizes)
    if shared is None:
        return None
    a, b = first.refine_out(shared), second.refine_in(shared)
    return (a, b) if a is not None and b is not None else None


def try_merge(first: LinearMap, second: LinearMap) -> list[LinearMap] | None:
    """Returns both maps as one (or none, for the identity), or None where no single map is equal."""
    if type(first) is not type(second):
        return None
    aligned = _align(first, second)
    if aligned is None:
        return None
    a, b = aligned
    merged: LinearMap | None
    if isinstance(a, Permute) and isinstance(b, Permute):
        merged = Permute(a.sizes, tuple(a.permutation[i] for i in b.permutation)).reduced()
    else:
        assert isinstance(a, Resize)
        assert isinstance(b, Resize)
        added = _add(a, b)
        if added is None:
            return None
        merged = added.reduced()
    return [] if merged is None else [merged]


def _add(a: Resize, b: Resize) -> Resize | None:
    """Returns the sum of two resizes of the same digits, or None where a padding value would be lost."""
    if b.padding is not None and any(
        first < 0 < second for first, second in zip((*a.low, *a.high), (*b.low, *b.high), strict=True)
    ):
        # `b` pads with a definite value where `a` has cut elements off.
        return None
    low = tuple(map(int.__add__, a.low, b.low))
    high = tuple(map(int.__add__, a.high, b.high))
    paddings = {m.padding for m in (_remainder(a, b), b) if m is not None and m.grows and m.padding is not None}
    if len(paddings) > 1:
        return None
    added = Resize(a.sizes, low, high, next(iter(paddings), None))
    return added if added.is_valid else None


def _remainder(a: Resize, b: Resize) -> Resize | None:
    """Returns the part of `a` that remains after `b` has cut the ends."""
    low = tuple(min(p, p + q) if q < 0 else p for p, q in zip(a.low, b.low, strict=True))
    high = tuple(min(p, p + q) if q < 0 else p for p, q in zip(a.high, b.high, strict=True))
    return Resize(a.sizes, low, high, a.padding)


def try_commute(first: LinearMap, second: LinearMap) -> tuple[list[LinearMap], list[LinearMap]] | None:
    """Returns maps (second', first') with the same effect in the other order, or None; one of each kind."""
    if type(first) is type(second):
        return None
    aligned = _align(first, second)
    if aligned is None:
        return None
    a, b = aligned
    moved: LinearMap
    kept: LinearMap
    if isinstance(a, Permute) and isinstance(b, Resize):
        back = a.inverse().permutation
        moved = Resize(a.sizes, tuple(b.low[i] for i in back), tuple(b.high[i] for i in back), b.padding)
        kept = Permute(moved.result, a.permutation)
    else:
        assert isinstance(a, Resize)
        assert isinstance(b, Permute)
        order = b.permutation
        moved = Permute(a.sizes, order)
        kept = Resize(moved.result, tuple(a.low[i] for i in order), tuple(a.high[i] for i in order), a.padding)
    return [m for m in [moved.reduced()] if m is not None], [m for m in [kept.reduced()] if m is not None]


def normalize(maps: Sequence[LinearMap]) -> list[LinearMap]:
    """Returns the maps with all possible merges, and resizes as early as possible.

    The loop ends: every merge leaves fewer maps, and every exchange moves a resize ahead of a permute.
    """
    current = [m for m in (m.reduced() for m in maps) if m is not None]
    while True:
        shorter = _merge_once(current)
        if shorter is not None:
            current = shorter
            continue
        ordered = _exchange_once(current)
        if ordered is None:
            return current
        current = ordered


def _merge_once(maps: list[LinearMap]) -> list[LinearMap] | None:
    for j in range(1, len(maps)):
        for i in range(j - 1, -1, -1):
            if type(maps[i]) is not type(maps[j]):
                continue
            between = maps[i + 1 : j]
            met = _meet_left(maps[i], between, maps[j]) or _meet_right(maps[i], between, maps[j])
            if met is not None:
                return maps[:i] + met[0] + maps[j + 1 :]
    return None


def _meet_left(first: LinearMap, between: list[LinearMap], second: LinearMap) -> tuple[list[LinearMap]] | None:
    """Moves `second` ahead of `between` and merges it with `first`."""
    passed: list[LinearMap] = []
    for other in reversed(between):
        swapped = try_commute(other, second)
        if swapped is None or len(swapped[0]) != 1:
            return None
        second = swapped[0][0]
        passed = swapped[1] + passed
    merged = try_merge(first, second)
    return None if merged is None else (merged + passed,)


def _meet_right(first: LinearMap, between: list[LinearMap], second: LinearMap) -> tuple[list[LinearMap]] | None:
    """Moves `first` after `between` and merges it with `second`."""
    passed: list[LinearMap] = []
    for other in between:
        swapped = try_commute(first, other)
        if swapped is None or len(swapped[1]) != 1:
            return None
        passed += swapped[0]
        first = swapped[1][0]
    merged = try_merge(first, second)
    return None if merged is None else (passed + merged,)


def _exchange_once(maps: list[LinearMap]) -> list[LinearMap] | None:
    for i, (first, second) in enumerate(itertools.pairwise(maps)):
        if isinstance(first, Permute) and isinstance(second, Resize):
            swapped = try_commute(first, second)
            if swapped is not None:
                return maps[:i] + swapped[0] + swapped[1] + maps[i + 2 :]
    return None
