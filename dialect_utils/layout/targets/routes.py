"""Routes from one layout of an array to another: copies, with bitcasts between them, that write the fewest bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, pairwise, permutations
from math import prod

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.relabel import Digit, follow, in_dimensions
from dialect_utils.layout.moves.steps import Transpose, inverse_permutation
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.target import Target

# A TPU's tile has eight rows: a dimension of 8 N rows and those before it are divided and joined by bitcasts.
_ROWS = 8
# The search ends after so many arrangements.
_MOST = 5000

# The digits of the index in each dimension of an array in its physical order, most major first.
State = tuple[tuple[Digit, ...], ...]
# The dimensions that a copy reads, in physical order, and the same ones in the order in which it writes them.
Copy = tuple[State, State]
Route = Sequence[tuple[str, ArrayShape]]


@lru_cache(maxsize=1 << 8)
def cheapest_route(source: ArrayShape, plan: Plan, destination: ArrayShape, chip: Target, limit: int) -> Route | None:
    """Returns the opcodes and shapes of bitcasts and copies that move `source` to `destination` as a plan does.

    The copies write the fewest bytes, with padding, of the routes that are found. The first or the last copy changes
    the type of the elements, if that is another one. Returns None where no route writes fewer bytes than `limit`, and
    where nothing moves.
    """
    ends, types = _ends(source, plan, destination), (source.element_type, destination.element_type)
    types = (min(types, key=lambda each: each.storage_bits), types[1])
    copies = None if ends is None else _copies(*ends, types, chip, limit)
    if copies is None or (not copies and source.element_type != destination.element_type):
        return None
    route = [*_route(source, copies, destination, types[0], chip)]
    return route if route and _movement(source, route) == normal_form(plan) else None


def _ends(source: ArrayShape, plan: Plan, destination: ArrayShape) -> tuple[State, State] | None:
    """Returns the digits of the physical index in the dimensions on both sides of a plan that permutes them."""
    orders = [shape.effective_layout.major_to_minor for shape in (source, destination)]
    sizes = tuple(source.dimensions[dim] for dim in orders[0])
    back = Plan(source.element_type, sizes, (Transpose(inverse_permutation(orders[0])),))
    whole = normal_form(back.followed_by(plan).append(Transpose(orders[1])))
    moved = None if whole.adds_elements or whole.drops_elements or whole.regroups_bits else follow(sizes, whole)
    sides = None if moved is None else in_dimensions(moved, sizes, whole.result[1])
    if sides is None:
        return None
    first, last = (((),) * (2 - len(side)) + tuple(map(tuple, side)) for side in sides)
    # Of two minor dimensions of one element each, a copy could not say which one is which.
    return None if ((), ()) in (first[-2:], last[-2:]) else (first, last)


def _movement(source: ArrayShape, route: Route) -> Plan | None:
    """Returns the movement of a route, None where a bitcast reads padding."""
    before, plan = source, Plan(*source.type_and_dimensions)
    for opcode, shape in route:
        moved = classify_bitcast(before, shape).decomposition if opcode == "bitcast" else Plan(*plan.result)
        if moved is None:
            return None
        before, plan = shape, plan.followed_by(moved)
    return normal_form(plan)


def _route(
    source: ArrayShape, copies: Sequence[Copy], destination: ArrayShape, narrow: ElementType, chip: Target
) -> Iterator[tuple[str, ArrayShape]]:
    before = source
    for number, (read, written) in enumerate(copies):
        view = _shape(before.element_type, read, read, chip)
        if view != before:
            yield "bitcast", view
        is_last = number == len(copies) - 1
        before = _shape(destination.element_type if is_last else narrow, read, written, chip)
        yield "copy", before
    if before != destination:
        yield "bitcast", destination


def _copies(
    start: State, goal: State, types: tuple[ElementType, ElementType], chip: Target, limit: int
) -> Sequence[Copy] | None:
    """Returns the copies that write the fewest bytes, fewer than `limit`; None where there are none.

    `types` are that of arrays on the way, and that of the last one.
    """
    places = {digit: place for place, digit in enumerate(chain(*goal))}
    start, goal = _divided(start), _divided(goal)
    known: dict[State, tuple[int, Sequence[Copy]]] = {start: (0, ())}
    waiting, done, before_last = [(0, start)], set[State](), limit - _written(types[1], *_sizes(goal), chip)
    while waiting and len(done) < _MOST:
        cost, state = heappop(waiting)
        if state == goal:
            return known[state][1]
        if state in done:
            continue
        done.add(state)
        for copy in _copies_of(state, places):
            reached = _divided(copy[1])
            is_last = reached == goal
            total = cost + _written(types[is_last], *_sizes(copy[1]), chip)
            if total < known.get(reached, (limit if is_last else before_last,))[0]:
                known[reached] = total, (*known[state][1], copy)
                heappush(waiting, (total, reached))
    return None


def _copies_of(state: State, places: dict[Digit, int]) -> Iterator[Copy]:
    """Yields copies of an array, whose major dimensions may be joined: each choice of the rows and lanes."""
    count = len(state)
    ends = [(first, end) for end in range(1, count) for first in range(end)]
    if _size(state[-2]) % _ROWS:
        ends = [each for each in ends if each[1] < count - 1 or each[0] == count - 2]
    for blocks in permutations([*ends, (count - 1, count)], 2):
        (first, end), (other, stop) = sorted(blocks)
        if end > other:
            continue
        cuts = [*range(first + 1), *range(end, other + 1), *range(stop, count + 1)]
        read = tuple(tuple(chain(*state[a:b])) for a, b in pairwise(cuts))
        chosen = tuple(tuple(chain(*state[a:b])) for a, b in blocks)
        rest = sorted((each for each in read if each not in chosen), key=lambda each: places[each[0]] if each else -1)
        yield read, (*rest, *chosen)


def _divided(state: State) -> State:
    """Returns the arrangement with its major dimensions, and rows of whole tiles, divided into digits."""
    *majors, rows, lanes = state
    heads = [*chain(*majors)]
    while len(rows) > 1 and _size(rows[1:]) % _ROWS == 0:
        heads.append(rows[0])
        rows = rows[1:]
    return (*((digit,) for digit in heads), rows, lanes)


def _size(digits: Iterable[Digit]) -> int:
    return prod(digit.size for digit in digits)


def _sizes(state: State) -> tuple[int, int, int]:
    """Returns the size of all major dimensions, of the rows and of the lanes, on which the bytes depend."""
    return _size(chain(*state[:-2])), _size(state[-2]), _size(state[-1])


def _shape(element_type: ElementType, dimensions: State, order: State, chip: Target) -> ArrayShape:
    """Returns the shape of dimensions in an order, most major first."""
    sizes = tuple(map(_size, dimensions))
    minor_to_major = tuple(dimensions.index(each) for each in reversed(order))
    return ArrayShape(element_type, sizes, chip.inner_layout(element_type, sizes, minor_to_major))


@lru_cache(maxsize=1 << 12)
def _written(element_type: ElementType, majors: int, rows: int, lanes: int, chip: Target) -> int:
    sizes = majors, rows, lanes
    return chip.allocation_bytes(ArrayShape(element_type, sizes, chip.inner_layout(element_type, sizes, (2, 1, 0))))
