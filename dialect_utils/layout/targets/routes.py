"""Routes from one layout of an array to another: copies, with bitcasts between them, that write the fewest bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, pairwise, permutations
from math import prod

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.moves.linear_map import Permute, common_sizes, grouped
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Transpose, inverse_permutation
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.target import Target

# A TPU's tile has eight rows: a dimension of 8 N rows and those before it are divided and joined by bitcasts.
_ROWS = 8
# The search ends after so many arrangements.
_MOST = 5000

# The digits of an index in each dimension of an array in its physical order, most major first.
State = tuple[tuple[int, ...], ...]
# The dimensions that a copy reads, in physical order, and the same ones in the order in which it writes them.
Copy = tuple[State, State]


def cheapest_route(
    source: ArrayShape, plan: Plan, destination: ArrayShape, chip: Target, limit: int
) -> Sequence[tuple[str, ArrayShape]] | None:
    """Returns the opcodes and shapes of bitcasts and copies that move `source` to `destination` as a plan does.

    The copies write the fewest bytes, with padding, of the routes that are found. The first or the last copy changes
    the type of the elements, if that is another one. Returns None where no route writes fewer bytes than `limit`, and
    where nothing moves.
    """
    digits = _digits(source, plan, destination)
    if digits is None:
        return None
    search = _Search.of(source, digits, destination, chip)
    copies = search.copies(limit)
    if copies is None or (not copies and source.element_type != destination.element_type):
        return None
    route = [*search.shapes(source, copies, destination)]
    return route if route and _movement(source, route) == normal_form(plan) else None


def _digits(source: ArrayShape, plan: Plan, destination: ArrayShape) -> Permute | None:
    """Returns the digits of the physical index that a plan permutes, of which each dimension on both sides has some."""
    orders = [shape.effective_layout.major_to_minor for shape in (source, destination)]
    start = tuple(source.dimensions[dim] for dim in orders[0])
    whole = Plan(source.element_type, start, (Transpose(inverse_permutation(orders[0])),))
    form = normal_form(whole.followed_by(plan).append(Transpose(orders[1])))
    moves = [
        Permute(sizes, step.order) for (_, sizes), step in zip(form.stages, form.steps, strict=False) if step.order
    ]
    if form.adds_elements or form.drops_elements or form.regroups_bits or len(moves) > 1:
        return None
    moved = moves[0] if moves else Permute(start, tuple(range(len(start))))
    first = common_sizes(start, moved.sizes)
    found = None if first is None else moved.refine_in(first)
    last = None if found is None else common_sizes(found.result, form.result[1])
    return None if found is None or last is None else found.refine_out(last)


def _movement(source: ArrayShape, route: Sequence[tuple[str, ArrayShape]]) -> Plan | None:
    """Returns the movement of a route, None where a bitcast reads padding."""
    before, plan = source, Plan(*source.type_and_dimensions)
    for opcode, shape in route:
        if opcode == "bitcast":
            moved = classify_bitcast(before, shape).decomposition
            if moved is None:
                return None
            plan = plan.followed_by(moved)
        before = shape
    return normal_form(plan)


@dataclass(frozen=True, slots=True)
class _Search:
    """A search from one arrangement of digits to another; the arrays on the way have the narrower type."""

    chip: Target
    sizes: tuple[int, ...]
    start: State
    goal: State
    places: dict[int, int]
    narrow: ElementType
    last: ElementType

    @classmethod
    def of(cls, source: ArrayShape, digits: Permute, destination: ArrayShape, chip: Target) -> _Search:
        """Returns the search between two shapes."""
        ends = []
        for shape, order in ((source, [*range(len(digits.sizes))]), (destination, digits.permutation)):
            physical = [shape.dimensions[dim] for dim in shape.effective_layout.major_to_minor]
            groups = grouped(physical, [digits.sizes[digit] for digit in order])
            assert groups is not None  # each dimension has digits
            ends.append([tuple(order[i] for i in group if digits.sizes[order[i]] > 1) for group in groups])
        padded = [((),) * (2 - len(end)) + tuple(end) for end in ends]
        places = {digit: place for place, digit in enumerate(chain(*padded[1]))}
        types = source.element_type, destination.element_type
        narrow = min(types, key=lambda each: each.storage_bits)
        return cls(chip, digits.sizes, padded[0], padded[1], places, narrow, types[1])

    def copies(self, limit: int) -> Sequence[Copy] | None:
        """Returns the copies that write the fewest bytes, fewer than `limit`; None where there are none."""
        start, goal = self._divided(self.start), self._divided(self.goal)
        known: dict[State, tuple[int, Sequence[Copy]]] = {start: (0, ())}
        waiting, done = [(0, start)], set[State]()
        before_last = limit - self._written(self.last, goal)
        while waiting and len(done) < _MOST:
            cost, state = heappop(waiting)
            if state == goal:
                return known[state][1]
            if state in done:
                continue
            done.add(state)
            for copy in self._copies_of(state):
                reached = self._divided(copy[1])
                most, written = (limit, self.last) if reached == goal else (before_last, self.narrow)
                total = cost + self._written(written, copy[1])
                if total < known.get(reached, (most, ()))[0]:
                    known[reached] = total, (*known[state][1], copy)
                    heappush(waiting, (total, reached))
        return None

    def shapes(
        self, source: ArrayShape, copies: Sequence[Copy], destination: ArrayShape
    ) -> Iterator[tuple[str, ArrayShape]]:
        """Yields the opcodes and shapes of copies and of the bitcasts between them."""
        before = source
        for number, (read, written) in enumerate(copies):
            view = self._shape(before.element_type, read, read)
            if view != before:
                yield "bitcast", view
            before = self._shape(self.last if number == len(copies) - 1 else self.narrow, read, written)
            yield "copy", before
        if before != destination:
            yield "bitcast", destination

    def _copies_of(self, state: State) -> Iterator[Copy]:
        """Yields copies of an array, whose major dimensions may be joined: each choice of the rows and lanes."""
        count = len(state)
        ends = [(first, end) for end in range(1, count) for first in range(end)]
        if self._size(state[-2]) % _ROWS:
            ends = [each for each in ends if each[1] < count - 1 or each[0] == count - 2]
        for blocks in permutations([*ends, (count - 1, count)], 2):
            (first, end), (other, stop) = sorted(blocks)
            if end > other:
                continue
            cuts = [*range(first + 1), *range(end, other + 1), *range(stop, count + 1)]
            read = tuple(tuple(chain(*state[a:b])) for a, b in pairwise(cuts))
            rows, lanes = (tuple(chain(*state[a:b])) for a, b in blocks)
            rest = sorted((each for each in read if each not in (rows, lanes)), key=self._place)
            yield read, (*rest, rows, lanes)

    def _place(self, digits: tuple[int, ...]) -> int:
        return self.places[digits[0]] if digits else -1

    def _divided(self, state: State) -> State:
        """Returns the arrangement with its major dimensions, and rows of whole tiles, divided into digits."""
        *majors, rows, lanes = state
        heads = [*chain(*majors)]
        while len(rows) > 1 and self._size(rows[1:]) % _ROWS == 0:
            heads.append(rows[0])
            rows = rows[1:]
        return (*((digit,) for digit in heads), rows, lanes)

    def _size(self, digits: Sequence[int]) -> int:
        return prod(self.sizes[digit] for digit in digits)

    def _written(self, element_type: ElementType, state: State) -> int:
        """Returns the bytes of an array, which depend on its rows and lanes."""
        rows, lanes = map(self._size, state[-2:])
        return _bytes(self.chip, element_type, (prod(self.sizes) // (rows * lanes), rows, lanes))

    def _shape(self, element_type: ElementType, dimensions: State, order: State) -> ArrayShape:
        """Returns the shape of dimensions in an order, most major first."""
        sizes = tuple(map(self._size, dimensions))
        minor_to_major = tuple(dimensions.index(each) for each in reversed(order))
        return ArrayShape(element_type, sizes, self.chip.inner_layout(element_type, sizes, minor_to_major))


@lru_cache(maxsize=1 << 12)
def _bytes(chip: Target, element_type: ElementType, sizes: tuple[int, ...]) -> int:
    return chip.allocation_bytes(ArrayShape(element_type, sizes, chip.inner_layout(element_type, sizes, (2, 1, 0))))
