"""Decides whether two index maps are equal at every element: by isl, else by enumeration.

Index maps are quasi-affine (sums, products with constants, divisions and remainders by constants), so
isl, the integer set library, decides questions about all elements at once. A question that exceeds the
budget of isl is enumerated instead, block by block. Every answer names its method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from dialect_utils.layout.index.index_map import Coordinate
from dialect_utils.layout.index.positions import Condition, Position
from dialect_utils.layout.proof.deadline import check_deadline, now, seconds_left
from dialect_utils.layout.proof.enumeration import (
    ELEMENTS_PER_OPERATION,
    ISL_SECONDS,
    SECONDS_PER_OPERATION,
    Proof,
    at,
    blocks,
    keeps,
)

# The first question to isl is short, because an operation on a hundred divisions takes longer than a thousand others.
_FIRST_OPERATIONS = 1_000
_GROWTH = 2


class Budget:
    """A context of isl that stops at a number of operations; `with` swallows the stop and continues after its body."""

    def __init__(self, operations: int) -> None:
        self.operations = operations

    def __enter__(self) -> isl.Context:
        context = isl.Context()
        context.set_max_operations(self.operations)
        return context

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        return kind is not None and issubclass(kind, isl.Error)


def budgets(operations: int, seconds: float = ISL_SECONDS) -> Iterator[Budget]:
    """Yields larger and larger budgets of up to `operations`, and none that would take longer than `seconds`.

    isl limits operations, but one operation takes from 3 us to several ms, and nothing interrupts it. So the time of
    a budget is estimated from the time of the last, smaller one. Raises DeadlineError after the deadline.
    """
    check_deadline()
    end = now() + min(seconds, seconds_left())
    size, is_affordable = min(_FIRST_OPERATIONS, operations), True
    while is_affordable:
        start = now()
        yield Budget(size)
        is_affordable = size < operations and now() + _GROWTH * (now() - start) < end
        size = min(_GROWTH * size, operations)


class Term:
    """A quasi-affine expression of the index, with the operators that coordinates need."""

    def __init__(self, aff: isl.Aff) -> None:
        self.value = aff

    def _constant(self, number: int) -> isl.Val:
        return isl.Val.read_from_str(self.value.get_ctx(), str(number))

    def __add__(self, other: Term | int) -> Term:
        if isinstance(other, int):
            return Term(self.value.add_constant_val(self._constant(other)))
        return Term(self.value.add(other.value))

    __radd__ = __add__

    def __mul__(self, factor: int) -> Term:
        return Term(self.value.scale_val(self._constant(factor)))

    def __floordiv__(self, divisor: int) -> Term:
        check_deadline()  # with a hundred divisions another one takes milliseconds
        return Term(self.value.scale_down_val(self._constant(divisor)).floor())

    def __mod__(self, divisor: int) -> Term:
        check_deadline()
        return Term(self.value.mod_val(self._constant(divisor)))


class Terms:
    """One term per dimension of an array and one for the unit within an element."""

    def __init__(self, context: isl.Context, dimensions: tuple[int, ...], units: int) -> None:
        self.sizes = (*dimensions, units)
        names = [f"i{k}" for k in range(len(self.sizes))]
        self.local = isl.LocalSpace.from_space(isl.Space.create_from_names(context, set=names))
        variables = [isl.Aff.var_on_domain(self.local, isl.dim_type.set, k) for k in range(len(self.sizes))]
        *self.index, self.unit = map(Term, variables)

    def aff(self, value: Term | int) -> isl.Aff:
        """Returns a coordinate as isl's expression; an int becomes a constant."""
        if isinstance(value, Term):
            return value.value
        return isl.Aff.val_on_domain(self.local, isl.Val.read_from_str(self.local.get_ctx(), str(value)))

    def divisions(self, values: Sequence[Term | int]) -> int:
        """Returns the largest number of divisions and remainders in one of several expressions."""
        return max((self.aff(value).dim(isl.dim_type.div) for value in values), default=0)

    def nothing(self) -> isl.Set:
        """Returns the empty set of indices and units."""
        return isl.Set.empty(self.local.get_space())

    def domain(self, conditions: Sequence[Condition]) -> isl.Set:
        """Returns the valid indices and units that meet the conditions."""
        box = [Condition(term, 0, size) for term, size in zip([*self.index, self.unit], self.sizes, strict=True)]
        result = isl.Set.universe(self.local.get_space())
        for condition in [*box, *conditions]:
            value = self.aff(condition.value)
            result = result.intersect(value.ge_set(self.aff(condition.low)))
            result = result.intersect(value.lt_set(self.aff(condition.high)))
            if condition.stride > 1:
                rest = (Term(value) % condition.stride).value
                result = result.intersect(rest.eq_set(self.aff(0)))
        return result

    def relation(self, position: Position) -> isl.Map:
        """Returns the map from indices and units to positions."""
        found = isl.Map.from_aff(self.aff(position.unit))
        for coordinate in position.coordinates:
            found = found.flat_range_product(isl.Map.from_aff(self.aff(coordinate)))
        return found.intersect_domain(self.domain(position.conditions))

    def sample(self, indices: isl.Set) -> tuple[int, ...]:
        """Returns one index of a set that is not empty."""
        point = indices.sample_point()
        values = (point.get_coordinate_val(isl.dim_type.set, k) for k in range(len(self.sizes) - 1))
        return tuple(int(str(value)) for value in values)


# A function of an index and of a unit within the element at that index.
IndexMap = Callable[[Sequence[Coordinate], Coordinate], Position]


@dataclass(frozen=True, slots=True)
class Question:
    """The question whether two maps give every unit of every element of an array the same position."""

    dimensions: tuple[int, ...]
    units: int
    first: IndexMap
    second: IndexMap


def decide(question: Question, operations: int) -> Proof:
    """Returns whether both maps are equal; isl may do `operations`, more where enumeration takes as long."""
    if 0 in question.dimensions:
        return Proof(True, "structure")
    longest = max(operations, prod(question.dimensions) // ELEMENTS_PER_OPERATION)
    for budget in budgets(longest, max(ISL_SECONDS, longest * SECONDS_PER_OPERATION)):
        with budget as context:
            counterexample = _differs(question, context)
            return Proof(counterexample is None, "isl", counterexample)
    counterexample = _differs_by_blocks(question)
    return Proof(counterexample is None, "enumeration", counterexample)


def _differs(question: Question, context: isl.Context) -> tuple[int, ...] | None:
    """Returns an element that the two maps give different positions, or None."""
    terms = Terms(context, question.dimensions, question.units)
    first, second = question.first(terms.index, terms.unit), question.second(terms.index, terms.unit)
    kept, also_kept = terms.domain(first.conditions), terms.domain(second.conditions)
    if first.conditions != second.conditions:
        apart = kept.subtract(also_kept).union(also_kept.subtract(kept))
        if not apart.is_empty():
            return terms.sample(apart)
    pairs = zip([*first.coordinates, first.unit], [*second.coordinates, second.unit], strict=True)
    for a, b in pairs:
        different = terms.aff(a).ne_set(terms.aff(b)).intersect(kept)
        if not different.is_empty():
            return terms.sample(different)
    return None


def _differs_by_blocks(question: Question) -> tuple[int, ...] | None:
    for index, unit in blocks((*question.dimensions, question.units)):
        first, second = question.first(index, unit), question.second(index, unit)
        kept, also_kept = keeps(first, unit.shape), keeps(second, unit.shape)
        different = kept != also_kept
        for a, b in zip([*first.coordinates, first.unit], [*second.coordinates, second.unit], strict=True):
            different |= kept & (a != b)
        if different.any():
            return at(index, int(different.argmax()))
    return None
