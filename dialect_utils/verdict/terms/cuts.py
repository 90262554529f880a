"""Cuts of arrays: some indices of a part of one dimension, as movement."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import prod

from dialect_utils.layout import ArrayShape, Reshape, Slice, Step
from dialect_utils.layout.moves.plan import Plan


@dataclass(frozen=True, slots=True)
class Cut:
    """The indices from `start` to `limit` of a part of a dimension.

    The dimension is joined from `outer` indices, the part of `size` indices, and any number of inner ones.
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
        """Returns the cut of an array as movement."""
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
    """Returns a cut of the array that a plan begins with, and the plan after it, which make what the plan and a cut do.

    None for a plan that does more with the dimension than to move, split or join it.
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
    """Returns the cut before a step that a cut after it is; None where several dimensions would be cut."""
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
    """Returns the cut of each operand of a dot, reduction or broadcast that makes the cut of the result.

    None for an operand that is not cut. Returns None for another operation.
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
