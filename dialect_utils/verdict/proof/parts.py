"""The parts of dimensions: factors of sizes that reshapes split and join, and transposes permute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from dialect_utils.layout import ArrayShape, Reshape, Step, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.ops.sharding import Digit, try_digits
from dialect_utils.verdict.proof.normal_forms import normalized
from dialect_utils.verdict.terms.constants import positions_of


@dataclass(frozen=True, slots=True)
class Atom:
    """A factor of a dimension of the source array, with the index (index // stride) % size."""

    dimension: int
    stride: int
    size: int

    @property
    def place(self) -> tuple[int, int]:
        """Returns a key that sorts parts as in the source array, most major first."""
        return self.dimension, -self.stride


def regrouped(atoms: Sequence[Atom], sizes: Sequence[int]) -> list[list[Atom]] | None:
    """Returns the parts of each dimension after a reshape to `sizes`; None if it cuts a part unevenly."""
    rest = list(reversed(atoms))
    groups: list[list[Atom]] = []
    for size in sizes:
        group: list[Atom] = []
        while size > 1:
            atom = rest.pop()
            if size % atom.size == 0:
                size //= atom.size
            elif atom.size % size == 0:
                lower = atom.size // size
                rest.append(Atom(atom.dimension, atom.stride, lower))
                atom, size = Atom(atom.dimension, atom.stride * lower, size), 1
            else:
                return None
            group.append(atom)
        groups.append(group)
    return groups


def atoms_of(plan: Plan) -> list[list[Atom]] | None:
    """Returns the parts of each dimension of a plan's result, over the array before its last permuting steps."""
    start = next((i for i in range(len(plan.steps), 0, -1) if not _keeps_elements(plan.steps[i - 1])), 0)
    found: list[list[Atom]] | None = [
        [Atom(i, 1, size)] if size > 1 else [] for i, size in enumerate(plan.stages[start][1])
    ]
    for step, (_, sizes) in zip(plan.steps[start:], plan.stages[start + 1 :], strict=True):
        if found is not None and step.order is not None:
            found = [found[i] for i in step.order]
        elif found is not None:
            found = regrouped([atom for group in found for atom in group], sizes)
    return found


def _keeps_elements(step: Step) -> bool:
    """Is true for a transpose and for a reshape."""
    return step.order is not None or step.opcode == "reshape"


def only_permutes(plan: Plan) -> bool:
    """Is true for a plan that only permutes dimensions and adds or drops dimensions of size 1."""
    found = atoms_of(plan) if all(map(_keeps_elements, plan.steps)) else None
    return found is not None and all(len(group) < 2 and all(map(partial(_is_whole, plan), group)) for group in found)


def _is_whole(plan: Plan, atom: Atom) -> bool:
    return atom.size == plan.dimensions[atom.dimension]


def try_repeat_in_order(plan: Plan) -> Plan | None:
    """Returns an equal plan of a broadcast whose last dimension repeats the others, else None.

    The new plan splits the last dimension into parts in the order in which the result has them. Returns None for a plan
    that splits other dimensions.
    """
    found = atoms_of(plan)
    if found is None or not all(map(_keeps_elements, plan.steps)):
        return None
    own = [i for i, size in enumerate(plan.dimensions[:-1]) if size > 1]
    last = len(plan.dimensions) - 1
    added: list[int] = []
    permutation: list[int] = []
    for group in found:
        is_added = all(atom.dimension == last for atom in group)
        if group and is_added:
            permutation.append(len(own) + len(added))
            added.append(prod(atom.size for atom in group))
        elif len(group) == 1 and _is_whole(plan, group[0]):
            permutation.append(own.index(group[0].dimension))
        elif group:
            return None
    steps = (
        Reshape((*(plan.dimensions[i] for i in own), *added)),
        Transpose(tuple(permutation)),
        Reshape(plan.result[1]),
    )
    return normalized(Plan(plan.element_type, plan.dimensions, steps))[0]


def try_movement(positions: Any, array: ArrayShape) -> Plan | None:
    """Returns the reshapes and the transpose that move an array's elements to positions; None for other movement.

    `positions` is a numpy array with the row-major position of each element of the result.
    """
    sizes, found = positions.shape, list[tuple[int, Digit]]()
    if positions.size != prod(array.dimensions) or not positions.size or positions.flat[0] != 0:
        return None
    for dimension in range(len(sizes)):
        along = positions[tuple(slice(None) if i == dimension else 0 for i in range(len(sizes)))]
        digits = try_digits(along.tolist()) if len(along) > 1 else []
        if digits is None or prod(each.size for each in digits) != len(along):
            return None
        found += [(dimension, each) for each in reversed(digits)]
    order = sorted(range(len(found)), key=lambda i: -found[i][1].weight)
    rest = positions.size
    for i in order:
        rest //= found[i][1].size
        if found[i][1].weight != rest:
            return None
    steps = (
        Reshape(tuple(found[i][1].size for i in order)),
        Transpose(inverse_permutation(tuple(order))),
        Reshape(sizes),
    )
    plan = normalized(Plan(array.element_type, array.dimensions, steps))[0]
    places = positions_of(plan)
    return plan if places is not None and (places == positions).all() else None
