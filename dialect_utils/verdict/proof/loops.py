"""Loops as functions of their state.

An element of the state is live if a used result or the condition depends on it. Live elements are sorted by initial
values, next values and users, so the order does not depend on the order in the program. Any order describes the same
loop: this file only has to find one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice, permutations, product
from typing import Any

from dialect_utils.ir import Operation, Value
from dialect_utils.layout import ArrayShape, Shape, Transpose, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, with_trait
from dialect_utils.verdict.certificate import Reading
from dialect_utils.verdict.proof.terms import Array, Term, Terms
from dialect_utils.verdict.rules import Definition
from dialect_utils.verdict.terms.loops import Iteration, Loop
from dialect_utils.verdict.terms.primitives import reachable

# The most readings of a loop's state to try; few loops have more than one.
_MOST_READINGS = 8
# The most transposes to try between the shapes of an array in both states; equal sizes allow several.
_MOST_TRANSPOSES = 2

STATE = Definition(
    "loop-state",
    "The elements of a loop's state may be in any order, and those that no used result depends on may be left out.",
)
# For each array of the state the plan from its logical value, or None where the array is the logical value.
Plans = tuple[Plan | None, ...]


def readings(
    shapes: tuple[Shape, ...], others: Sequence[tuple[Shape, ...]], known: Mapping[tuple[Shape, Shape], Sequence[Plan]]
) -> Iterator[Plans]:
    """Yields plans by which a state reads as a state of the other module; the last reading has no plans.

    `known` are the plans between a shape and its physical array.
    """
    if shapes not in others:
        for other in dict.fromkeys(others):
            if len(other) == len(shapes):
                plans = [
                    [None] if a == b else known.get((a, b)) or [*islice(_transposes(a, b), _MOST_TRANSPOSES)]
                    for a, b in zip(other, shapes, strict=True)
                ]
                yield from islice(product(*plans), _MOST_READINGS)
    yield (None,) * len(shapes)


def _transposes(shape: Shape, other: Shape) -> Iterator[Plan]:
    """Yields the transposes from one shape to another."""
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return
    sizes = shape.dimensions
    if shape.element_type == other.element_type and sorted(sizes) == sorted(other.dimensions):
        for order in permutations(range(shape.rank)):
            if tuple(sizes[i] for i in order) == other.dimensions:
                yield Plan(shape.element_type, sizes, (Transpose(order),))


@dataclass(frozen=True, slots=True)
class Reader:
    """A loop whose state holds logical values after `plans`."""

    terms: Terms
    loop: Loop[Array]
    plans: Plans

    def final(self, start: Sequence[Array]) -> list[Array] | None:
        """Returns the final state, or None where the body reads the padding of a physical array."""
        loop, logical = self.loop, self.loop.logical(start, self.plans)
        variables = loop.variables(logical, range(len(logical)))
        plain = loop.iteration(variables, self.plans)
        changed = [i for i, variable in enumerate(variables) if plain.ends[i] is not variable]
        order = self._order(logical, plain, changed)
        short = self._reordered(logical, changed, order)
        if short is None:
            order = changed
            short = self._reordered(logical, changed, changed)
            assert short is not None  # `changed` is complete
        if any(self.plans) and not all(term.is_specified for term in map(self.terms.term, short.nodes)):
            return None
        reading = Reading(tuple(order), tuple(changed), self.plans)
        self.terms.readings[self.terms.side][loop.operation] = reading
        return loop.final(logical, reading, plain, short)

    def _order(self, start: Sequence[Array], plain: Iteration[Array], changed: Sequence[int]) -> Sequence[int]:
        """Returns the live elements of the state, in an order that does not depend on the program's order."""
        if any(plain.effects):
            return changed
        used = frozenset(self.loop.results[i] for i in used_results(self.loop.operation))
        order = self._state(start, plain, plain.ends).order(changed, used)
        if order != changed:
            self.terms.note(STATE)
        return order

    def _reordered(
        self, start: Sequence[Array], changed: Sequence[int], order: Sequence[int]
    ) -> Iteration[Array] | None:
        """Returns the iteration with the elements of `order` first; None if they depend on other elements, too."""
        state = self.loop.variables(start, [*order, *(i for i in changed if i not in order)])
        iteration = self.loop.iteration(state, self.plans)
        if len(order) == len(changed):
            return iteration
        masks, tested = self._state(start, iteration, [iteration.ends[i] for i in order]).reached()
        is_closed = not any(mask >> len(order) for mask in (*masks, tested))
        return iteration if is_closed and not any(iteration.effects) else None

    def _state(self, start: Sequence[Array], iteration: Iteration[Array], ends: Sequence[Array]) -> State:
        parts = ([*map(self.terms.term, part)] for part in (start, ends, iteration.tested))
        return State(self.loop.walker.level, *parts)


# Operations for which the order of operands does not matter.
_UNORDERED = with_trait(Trait.COMMUTATIVE)
_UNORDERED_KINDS = frozenset(["ring", "dot", "sum", "sum-of-products"])


def used_results(operation: Operation) -> frozenset[int]:
    """Returns the numbers of a loop's used results, tuples flattened."""
    found: set[int] = set()
    first = 0
    for value in operation.results:
        found.update(first + i for i in _used(value))
        first += value.shape.leaf_count
    return frozenset(found)


def _used(value: Value) -> Iterable[int]:
    """Returns the used leaves of a value: for a tuple the elements that `get-tuple-element` reads, else all."""
    is_whole = value in value.function.results or any(user.opcode != "get-tuple-element" for user in value.users)
    if is_whole or not isinstance(value.shape, TupleShape):
        return range(value.shape.leaf_count) if is_whole or value.users else ()
    sizes = [element.leaf_count for element in value.shape.elements]
    found: list[int] = []
    for user in value.users:
        (index,) = user.ints("index") or (0,)
        found += [sum(sizes[:index]) + i for i in _used(user.results[0])]
    return found


@dataclass(frozen=True, slots=True)
class State:
    """The initial and next values of a loop's elements, and its condition; variable i of `level` is element i."""

    level: int
    start: Sequence[Term]
    ends: Sequence[Term]
    tested: Sequence[Term]

    def reached(self) -> tuple[list[int], int]:
        """Returns bit masks of the variables that each next value depends on, and a mask for the condition."""
        masks = self._bottom_up(lambda number: 1 << number, lambda _, operands: _joined(operands))
        return [masks[end] for end in self.ends], _joined([masks[term] for term in self.tested])

    def order(self, changed: Sequence[int], used: frozenset[int]) -> list[int]:
        """Returns the live elements among the changed ones, sorted."""
        ends, tested = self.reached()
        live = tested | sum(1 << i for i in used)
        while True:
            grown = live | _joined([ends[i] for i in changed if live >> i & 1])
            if grown == live:
                break
            live = grown
        kept = [i for i in changed if live >> i & 1]
        colors = self._colors(kept, ends, tested)
        return sorted(kept, key=colors.__getitem__)

    def _colors(self, kept: Sequence[int], ends: Sequence[int], tested: int) -> dict[int, tuple[int, ...]]:
        """Returns sort keys of the elements that do not depend on their order; some may be equal."""
        colors: dict[int, tuple[int, ...]] = {i: (self.start[i].number, tested >> i & 1) for i in kept}
        count = 0
        while count < len({*colors.values()}) < len(kept):
            count = len({*colors.values()})
            colors = self._refined(kept, ends, colors)
        return colors

    def _refined(
        self, kept: Sequence[int], ends: Sequence[int], colors: dict[int, tuple[int, ...]]
    ) -> dict[int, tuple[int, ...]]:
        seen = self._bottom_up(lambda number: hash(colors.get(number, ())), _structure)
        return {
            i: (*colors[i], seen[self.ends[i]], hash(tuple(sorted(colors[j] for j in kept if ends[j] >> i & 1))))
            for i in kept
        }

    def _bottom_up(self, variable: Callable[[int], int], join: Callable[[Term, list[int]], int]) -> dict[Term, int]:
        """Computes a function for all terms of the next state and the condition, operands first."""
        found: dict[Term, int] = {}
        nothing = tuple[Term]()
        parts = reachable([*self.ends, *self.tested], lambda part: nothing if self._is_closed(part) else part.operands)
        for part in sorted(parts, key=lambda part: part.number):
            label: Any = part.label
            if part.kind == "leaf" and isinstance(label, tuple) and label[:2] == ("bound", self.level):
                found[part] = variable(label[2])
            elif self._is_closed(part):
                found[part] = 0
            else:
                found[part] = join(part, [found[operand] for operand in part.operands])
        return found

    def _is_closed(self, part: Term) -> bool:
        """Is true for a loop or function outside of this loop: its variables only share labels with this loop's."""
        label = part.label
        is_scope = isinstance(label, tuple) and label[:1] in (("while",), ("function",)) and part.kind == "op"
        return is_scope and isinstance(label, tuple) and label[1] <= self.level


def _joined(masks: Sequence[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _structure(term: Term, operands: list[int]) -> int:
    """Returns a hash of an operation, the same in every process and for any order in which its terms were made."""
    name: Hashable = term.label[0] if isinstance(term.label, tuple) and term.label else term.label
    if name in _UNORDERED or name in _UNORDERED_KINDS:
        return hash((_word(name), tuple(sorted(operands))))
    if term.kind == "moved":
        # A dot swaps its operands together with their movement.
        return operands[0]
    return hash((_word((term.kind, term.label)), tuple(operands)))


@lru_cache(maxsize=4096)
def _word(name: Hashable) -> int:
    """Returns a hash of names, which unlike Python's is the same in every process."""
    return int.from_bytes(blake2b(repr(name).encode(), digest_size=8).digest())
