"""The origin of each bit of a bitcast's result, by the definition of both layouts, element by element.

This shares no code with the plans that replace bitcasts, because it proves them.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.index.index_map import (
    element_slot_bits,
    linear_indices,
    logical_indices,
    physical_element_count,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.reads import origins
from dialect_utils.layout.shape import ArrayShape

# An atom is the widest unit that divides every element on the way.
Positions = NDArray[np.int64]


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
    """Returns for every atom of a plan's result the operand's atom that the plan moves there, or -1 for its padding."""
    return origins(plan, atom, element_slot_bits(source) // atom)


def padding_mask(defined: Positions) -> NDArray[np.bool_]:
    """Returns for each element of the result whether it holds padding, wholly or in part."""
    return np.asarray((defined < 0).any(axis=-1))


def agrees(defined: Positions, planned: Positions) -> bool:
    """Is true where a plan moves every atom as the layouts define; padding may hold anything."""
    return defined.shape == planned.shape and bool(((defined < 0) | (defined == planned)).all())
