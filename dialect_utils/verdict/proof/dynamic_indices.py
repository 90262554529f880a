"""Elements at dynamic indices as `pick(i, a0, a1, ...)`: the element a_i, because clamped indices are finitely many."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.rules import Definition
from dialect_utils.verdict.rules.formats import highest_bits, number_bits, value_of

# Arrays of terms, for which numpy has no type.
Elements = Any

PICK = Definition(
    "pick", "A slice at a computed position is one of finitely many: the start index is clamped into range."
)

# The most values of a clamped index from which another index is computed.
_MOST_VALUES = 64


def array_of(items: Sequence[Term], dimensions: tuple[int, ...]) -> Elements:
    """Returns an array of terms in row-major order."""
    array = np.empty(len(items), object)
    array[:] = list(items)
    return array.reshape(dimensions)


def mapped(make: Callable[..., Term], arrays: Sequence[Elements]) -> Elements:
    """Applies a function to the elements at each index of arrays of one shape."""
    rows: Iterable[tuple[Term, ...]] = zip(*(array.flat for array in arrays), strict=True)
    return array_of([make(*items) for items in rows], arrays[0].shape)


class DynamicIndices:
    """Elements at dynamic indices; `spend` counts the made terms, and raises at too many."""

    def __init__(self, terms: Terms, spend: Callable[[int], None]) -> None:
        self.terms = terms
        self._spend = spend
        self._sources: dict[tuple[Term, int], tuple[Term, list[int]] | None] = {}

    def applied(self, label: Hashable, element_type: ElementType, *items: Term) -> Term:
        """Returns an elementwise operation on elements; f(pick(i, a, b)) becomes pick(i, f(a), f(b))."""
        dependent = [item for item in items if _is_pick(item)]
        if not dependent:
            return self.terms.each(label, element_type, items)
        first = min(dependent, key=lambda item: item.operands[0].number)
        index, count = first.operands[0], len(first.operands) - 1
        self._spend(count)
        choices = [[_taken(item, index, i) for item in items] for i in range(count)]
        return self._pick(index, [self.applied(label, element_type, *choice) for choice in choices])

    def picked(
        self,
        at: Callable[[tuple[int, ...]], Elements],
        indices: Sequence[Term],
        lasts: Sequence[int],
        sizes: tuple[int, ...],
    ) -> Elements:
        """Returns one of the arrays that `at` returns, chosen by indices that are clamped to 0 ... last."""
        choices = [self._choices(index, last) for index, last in zip(indices, lasts, strict=True)]
        self._spend(prod(map(len, choices)) * prod(sizes))
        open_ = sorted(
            (i for i, choice in enumerate(choices) if len(choice) > 1),
            key=lambda i: self._clamped(indices[i], lasts[i]).number,
        )
        starts = [choice[0] for choice in choices]
        return self._pick_next(at, indices, lasts, choices, open_, starts)

    def _choices(self, index: Term, last: int) -> Sequence[int]:
        """Returns the values that a clamped index may have."""
        bits, highest = self.terms.constant_bits(index), highest_bits(index.array.element_type)
        if bits is None:
            # A narrow index type may end before the last position.
            return range(last + 1 if highest is None else min(last, highest) + 1)
        value = value_of(index.array.element_type, bits)
        assert isinstance(value, int)  # indices are integers
        return [max(0, min(value, last))]

    def _pick_next(
        self, at: Any, indices: Any, lasts: Any, choices: Any, open_: list[int], starts: list[int]
    ) -> Elements:
        if not open_:
            return at(tuple(starts))
        dimension, *rest = open_
        found = []
        for start in choices[dimension]:
            starts[dimension] = start
            found.append(self._pick_next(at, indices, lasts, choices, rest, starts))
        index = self._clamped(indices[dimension], lasts[dimension])
        return mapped(lambda *items: self._pick(index, items), found)

    def _clamped(self, index: Term, last: int) -> Term:
        kind = index.array.element_type
        raised = self.terms.each("maximum", kind, (index, self.terms.literal(kind, 0, ())))
        bound = number_bits(kind, last)
        if bound is None:
            return raised
        return self.terms.each("minimum", kind, (raised, self.terms.literal(kind, bound, ())))

    def _pick(self, index: Term, items: Sequence[Term]) -> Term:
        """Returns pick(index, items) in normal form; the index is clamped to the number of items."""
        self.terms.note(PICK)
        source = self._bounded_source(index, len(items))
        if source is not None:
            atom, positions = source
            return self._pick(atom, [items[position] for position in positions])
        taken = [_taken(item, index, i) for i, item in enumerate(items)]
        if all(item is taken[0] for item in taken):
            return taken[0]
        kind = taken[0].array.element_type
        if kind.is_integral and all(map(self._is_number, taken, range(len(taken)))):
            return self.terms.each("convert", kind, [index])
        return self.terms.each_as_is(("pick", len(items)), kind, (index, *taken))

    def _is_number(self, item: Term, value: int) -> bool:
        """Is true for the constant `value` of a type that has this number."""
        bits = self.terms.constant_bits(item)
        return bits is not None and bits == number_bits(item.array.element_type, value)

    def _bounded_source(self, index: Term, count: int) -> tuple[Term, list[int]] | None:
        """Returns a clamped term x and the index for each value of x, if the index is a function of x; else None."""
        if (index, count) not in self._sources:
            self._sources[index, count] = self._find_source(index, count)
        return self._sources[index, count]

    def _find_source(self, index: Term, count: int) -> tuple[Term, list[int]] | None:
        pending = list(index.operands)
        while pending:
            part = pending.pop()
            last = _last_value(self.terms, part)
            if last is None:
                pending += part.operands if part.kind == "each" else ()
                continue
            kind = part.array.element_type
            values = [number_bits(kind, i) for i in range(last + 1)]
            constants = [self.terms.literal(kind, bits or 0, ()) for bits in values]
            found = [self._position(self.terms.substituted(index, {part: each}), count) for each in constants]
            positions = [position for position in found if position is not None]
            if len(positions) == len(found):
                return part, positions
        return None

    def _position(self, index: Term, count: int) -> int | None:
        """Returns the value of a constant index below `count`, else None."""
        bits = self.terms.constant_bits(index)
        value = None if bits is None else value_of(index.array.element_type, bits)
        return value if isinstance(value, int) and 0 <= value < count else None


def _is_pick(term: Term) -> bool:
    return isinstance(term.label, tuple) and term.label[0] == "pick"


def _taken(item: Term, index: Term, position: int) -> Term:
    """Returns an element if the index has the value `position`: a_position for pick(index, a0, a1, ...)."""
    return item.operands[position + 1] if _is_pick(item) and item.operands[0] is index else item


def _last_value(terms: Terms, term: Term) -> int | None:
    """Returns n for a term that is clamped to 0 ... n, if n is small; else None."""
    if term.kind != "each" or term.label != "minimum" or not term.array.element_type.is_integral:
        return None
    kind = term.array.element_type
    bounds = [value_of(kind, bits) for bits in map(terms.constant_bits, term.operands) if bits is not None]
    inner = [part for part in term.operands if terms.constant_bits(part) is None]
    if len(bounds) != 1 or len(inner) != 1 or not isinstance(bounds[0], int) or not 0 <= bounds[0] < _MOST_VALUES:
        return None
    if kind.is_unsigned:
        return bounds[0]
    is_raised = inner[0].label == "maximum" and any(terms.constant_bits(part) == 0 for part in inner[0].operands)
    return bounds[0] if is_raised and inner[0].kind == "each" else None
