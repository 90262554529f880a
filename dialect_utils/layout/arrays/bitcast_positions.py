"""The origin of each bit of a bitcast's result, by the definition of both layouts, element by element.

This shares no code with the plans that replace bitcasts, because it proves them.
"""

from __future__ import annotations

from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.arrays.interpret import run_plan
from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.index.index_map import (
    element_slot_bits,
    linear_indices,
    logical_indices,
    physical_element_count,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Step
from dialect_utils.layout.shape import ArrayShape

# An atom is the widest unit that divides every element on the way.
Positions = NDArray[np.int64]

_INDEX_TYPE = ELEMENT_TYPES["s64"]


def atom_bits(source: ArrayShape, destination: ArrayShape, plan: Plan) -> int:
    """Returns the bits of an atom for a bitcast and the plan that replaces it."""
    bits = [element_slot_bits(source), element_slot_bits(destination)]
    if plan.regroups_bits:
        bits += [element_type.bits for element_type, _ in plan.stages]
    return gcd(*bits)


def defined_positions(source: ArrayShape, destination: ArrayShape, atom: int) -> Positions:
    """Returns for every atom of the result the operand's atom at the same memory position, or -1 for padding.

    Atoms are numbered in row-major logical order; the last dimension counts the atoms of one element.
    """
    per_source, per_destination = (element_slot_bits(shape) // atom for shape in (source, destination))
    element = logical_indices(source).reshape(-1, 1)
    held = np.where(element < 0, -1, element * per_source + np.arange(per_source)).reshape(-1)
    slots = linear_indices(destination)[..., None] * per_destination + np.arange(per_destination)
    needed = physical_element_count(destination) * per_destination
    # A last byte that packs fewer elements, or a larger tile, extends beyond the memory of the operand.
    if needed > held.size:
        held = np.concatenate([held, np.full(needed - held.size, -1)])
    found: Positions = held[slots]
    return found


def planned_positions(source: ArrayShape, plan: Plan, atom: int) -> Positions:
    """Returns for every atom of a plan's result the operand's atom that the plan moves to its position.

    Padding of the plan holds atom 0.
    """
    per_element = max(1, element_slot_bits(source) // atom)
    atoms = np.arange(prod(source.dimensions) * per_element).reshape(*source.dimensions, per_element)
    dimensions = source.dimensions
    for step, (old, _), (new, _) in zip(plan.steps, plan.stages, plan.stages[1:], strict=False):
        if step.regroups_bits:
            atoms = _regrouped(atoms, dimensions, old.bits, new.bits)
        else:
            atoms = np.stack([_moved(step, part, dimensions) for part in np.moveaxis(atoms, -1, 0)], axis=-1)
        dimensions = atoms.shape[:-1]
    return atoms


def _moved(step: Step, part: Positions, dimensions: tuple[int, ...]) -> Positions:
    moved: Positions = run_plan(Plan(_INDEX_TYPE, dimensions, (step,)), part.copy())
    return moved


def _regrouped(atoms: Positions, dimensions: tuple[int, ...], old: int, new: int) -> Positions:
    if old == new:
        return atoms
    if old < new:
        return atoms.reshape(*dimensions[:-1], dimensions[-1] * atoms.shape[-1])
    return atoms.reshape(*dimensions, old // new, atoms.shape[-1] * new // old)


def padding_mask(defined: Positions) -> NDArray[np.bool_]:
    """Returns for each element of the result whether it holds padding, wholly or in part."""
    return np.asarray((defined < 0).any(axis=-1))


def agrees(defined: Positions, planned: Positions) -> bool:
    """Is true where a plan moves every atom as the layouts define; padding may hold anything."""
    return defined.shape == planned.shape and bool(((defined < 0) | (defined == planned)).all())
