"""Cuts of arrays: slices of a factor of one dimension, such as rows 0 to 3 of each block."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import prod

from dialect_utils.layout import ArrayShape, Reshape, Slice, Step
from dialect_utils.layout.moves.plan import Plan


@dataclass(frozen=True, slots=True)
class Cut:
    """A slice from `start` to `limit` of a factor of a dimension.

    The dimension has the factors `outer`, `size` (the sliced one), and an inner rest.
    """

    dimension: int
    outer: int
    size: int
    start: int
    limit: int

    def resized(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the sizes of an array after the cut."""
        new = sizes[self.dimension] // self.size * (self.limit - self.start)
        return (*sizes[: self.dimension], new, *sizes[self.dimension + 1 :])

    def plan(self, array: ArrayShape) -> Plan:
        """Returns the cut of an array as a plan of reshape, slice and reshape."""
        sizes, dimension = array.dimensions, self.dimension
        inner = sizes[dimension] // (self.outer * self.size)
        split = (*sizes[:dimension], self.outer, self.size, inner, *sizes[dimension + 1 :])
        start, limit = [0] * len(split), list(split)
        start[dimension + 1], limit[dimension + 1] = self.start, self.limit
        steps = Reshape(split), Slice(tuple(start), tuple(limit)), Reshape(self.resized(sizes))
        return Plan(array.element_type, sizes, steps)

    def of(self, dimension: int) -> Cut:
        """Returns the same cut of another dimension."""
        return replace(self, dimension=dimension)


def before_plan(plan: Plan, cut: Cut) -> tuple[Cut, Plan] | None:
    """Moves a cut before a plan: returns a cut of the plan's array and the plan after it, equal to cut(plan(x)).

    Returns None for a plan that does more with the dimension than to move, split or join it.
    """
    steps: list[Step] = []
    sizes = [dimensions for _, dimensions in plan.stages]
    for step, before, after in zip(reversed(plan.steps), sizes[-2::-1], sizes[:0:-1], strict=True):
        remade = step.try_resized(before, cut.dimension, cut.resized(after)[cut.dimension])
        found = _cut_before(step, cut, before, after)
        if remade is None or found is None:
            return None
        steps.append(remade)
        cut = found
    rest = Plan(plan.element_type, cut.resized(plan.dimensions), tuple(reversed(steps)), plan.paddings)
    return cut, rest


def _cut_before(step: Step, cut: Cut, before: tuple[int, ...], after: tuple[int, ...]) -> Cut | None:
    """Returns the cut before a step that equals a cut after it; None if it would cut several dimensions."""
    if step.order is not None:
        return cut.of(step.order[cut.dimension])
    if not isinstance(step, Reshape):
        return cut if before[cut.dimension] == after[cut.dimension] else None
    leading = prod(after[: cut.dimension]) * cut.outer
    for dimension, size in enumerate(before):
        outer, rest = divmod(leading, prod(before[:dimension]))
        if size != 1 and not rest and size % (outer * cut.size) == 0:
            return replace(cut, dimension=dimension, outer=outer)
    return None


def operand_cuts(kind: Hashable, label: Hashable, cut: Cut) -> Sequence[Cut | None] | None:
    """Returns the cuts of the operands of a dot, reduction or broadcast that compute a cut of the result.

    An operand that is not cut has None. Returns None for other operations.
    """
    if kind != "op" or not isinstance(label, tuple) or len(label) != len(("name", "value")):
        return None
    name, value = label
    if name == "dot":
        rows, columns = (cut.of(1), None), (None, cut.of(1))
        return ((cut.of(0), cut.of(0)), rows, columns)[cut.dimension]
    if name == "reduce" and value is not None:
        return cut, None
    if name == "broadcast":
        return (cut.of(value.index(cut.dimension)) if cut.dimension in value else None,)
    return None
