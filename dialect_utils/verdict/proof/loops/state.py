"""Which elements of a loop's state count, and in which order they are told.

An element counts where a result that is used, or the condition, depends on it. The order is one that does not
depend on how the state is written: by what the elements start as, where that is the same by what they become,
and by which others depend on them. Any order tells the same loop, so what is here only finds one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dialect_utils.ir import Operation, Value
from dialect_utils.layout import TupleShape
from dialect_utils.ops import Trait, named, with_trait
from dialect_utils.verdict.proof.terms import Term

_ELEMENT = named("get-tuple-element")
# The order of their operands does not say which of two states it is.
_UNORDERED = with_trait(Trait.COMMUTATIVE)
_UNORDERED_KINDS = frozenset(["ring", "dot", "sum", "sum-of-products"])
_Found = TypeVar("_Found")


def used_results(operation: Operation) -> frozenset[int]:
    """Returns the numbers of a loop's results, tuples taken apart, that anything depends on."""
    found: set[int] = set()
    first = 0
    for value in operation.results:
        found.update(first + i for i in _used(value))
        first += _count(value)
    return frozenset(found)


def _count(value: Value) -> int:
    return sum(1 for _ in value.shape.leaves())


def _used(value: Value) -> Iterable[int]:
    """Returns the leaves of a value that are used: of a tuple the elements that are taken out, else all."""
    is_whole = value in value.function.results or any(user.opcode not in _ELEMENT for user in value.users)
    if is_whole or not isinstance(value.shape, TupleShape):
        return range(_count(value)) if is_whole or value.users else ()
    sizes = [sum(1 for _ in element.leaves()) for element in value.shape.elements]
    found: list[int] = []
    for user in value.users:
        (index,) = user.ints("index") or (0,)
        found += [sum(sizes[:index]) + i for i in _used(user.results[0])]
    return found


@dataclass(frozen=True, slots=True)
class State:
    """What a loop's elements start as and become, and its condition; variable i of `level` is element i."""

    level: int
    start: Sequence[Term]
    ends: Sequence[Term]
    tested: Sequence[Term]

    def reached(self) -> tuple[list[int], int]:
        """Returns the variables that each element's next value depends on, and the condition, as bits."""
        masks = self._bottom_up(lambda number: 1 << number, lambda _, operands: _joined(operands), 0)
        return [masks[end] for end in self.ends], _joined([masks[term] for term in self.tested])

    def order(self, changed: Sequence[int], used: frozenset[int]) -> list[int]:
        """Returns the elements that count, of those that change."""
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
        """Returns what tells the elements apart, whatever their order; equal colors may be left."""
        colors: dict[int, tuple[int, ...]] = {i: (self.start[i].number, tested >> i & 1) for i in kept}
        count = 0
        while count < len({*colors.values()}) < len(kept):
            count = len({*colors.values()})
            colors = self._refined(kept, ends, colors)
        return colors

    def _refined(
        self, kept: Sequence[int], ends: Sequence[int], colors: dict[int, tuple[int, ...]]
    ) -> dict[int, tuple[int, ...]]:
        seen = self._bottom_up(lambda number: hash(colors.get(number)), _structure, 0)
        return {
            i: (*colors[i], seen[self.ends[i]], hash(tuple(sorted(colors[j] for j in kept if ends[j] >> i & 1))))
            for i in kept
        }

    def _bottom_up(
        self, variable: Callable[[int], _Found], join: Callable[[Term, list[_Found]], _Found], closed: _Found
    ) -> dict[Term, _Found]:
        """Returns what a function makes of all parts of the next state and the condition."""
        found: dict[Term, _Found] = {}
        parts: set[Term] = set()
        pending = [*self.ends, *self.tested]
        while pending:
            part = pending.pop()
            if part not in parts:
                parts.add(part)
                pending += () if self._is_closed(part) else part.operands
        for part in sorted(parts, key=lambda part: part.number):
            label: Any = part.label
            if part.kind == "leaf" and isinstance(label, tuple) and label[:2] == ("bound", self.level):
                found[part] = variable(label[2])
            elif self._is_closed(part):
                found[part] = closed
            else:
                found[part] = join(part, [found[operand] for operand in part.operands])
        return found

    def _is_closed(self, part: Term) -> bool:
        """Is true for a loop or function from outside: its variables have the same names and are others."""
        label = part.label
        is_scope = isinstance(label, tuple) and label[:1] in (("while",), ("function",)) and part.kind == "op"
        return is_scope and isinstance(label, tuple) and label[1] <= self.level


def _joined(masks: Sequence[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _structure(term: Term, operands: list[int]) -> int:
    """Returns a hash of an operation that does not depend on the order in which its terms were made."""
    name: Hashable = term.label[0] if isinstance(term.label, tuple) and term.label else term.label
    if name in _UNORDERED or name in _UNORDERED_KINDS:
        return hash((name, tuple(sorted(operands))))
    if term.kind == "moved":
        # A dot's operands change places with their movement.
        return operands[0]
    return hash((term.kind, term.label, tuple(operands)))
