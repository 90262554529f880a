"""Claims about plans and layouts at all elements, decided like proofs of bitcasts: by isl, else by enumeration."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import numpy as np

from dialect_utils.layout.index.index_map import element_slot_bits, elements_at, final_dimensions, physical_index
from dialect_utils.layout.index.positions import Position, follow, linear_position, unit_bits
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.decide import Budget, Question, Terms, decide
from dialect_utils.layout.proof.enumeration import ISL_BUDGET, RELATION_BUDGET, Method, Proof, at, blocks
from dialect_utils.layout.shape import ArrayShape


def prove_equal(a: Plan, b: Plan, *, budget: int = ISL_BUDGET) -> Proof:
    """Decides whether two plans move every element to the same position; padding contents do not count.

    Raises ValueError where the plans do not start and end with the same arrays.
    """
    if (a.start, a.result) != (b.start, b.result):
        raise ValueError(f"plans of different arrays cannot be equal: {a} and {b}")
    bits = unit_bits(a, b)
    return decide(
        Question(
            a.dimensions,
            a.element_type.bits // bits,
            lambda index, unit: follow(a, index, unit, bits),
            lambda index, unit: follow(b, index, unit, bits),
        ),
        budget,
    )


def prove_layout(plan: Plan, shape: ArrayShape, *, budget: int = ISL_BUDGET) -> Proof:
    """Decides whether a plan moves every element to the position that the layout of `shape` defines.

    Raises ValueError where the plan starts with another array, or the slots of the layout
    hold no whole elements.
    """
    if plan.start != shape.type_and_dimensions:
        raise ValueError(f"a plan for {plan.element_type}{list(plan.dimensions)} says nothing about {shape}")
    result_type, dims = plan.result
    bits = unit_bits(plan)
    sizes = final_dimensions(shape.dimensions, shape.effective_layout)
    units = shape.element_type.bits // bits
    if result_type == shape.element_type:
        if dims != sizes:
            return Proof(False, "structure")
        return decide(
            Question(
                plan.dimensions,
                units,
                lambda index, unit: follow(plan, index, unit, bits),
                lambda index, unit: Position(physical_index(shape, index), unit),
            ),
            budget,
        )
    if element_slot_bits(shape) != shape.element_type.bits:
        raise ValueError(f"the slots of {shape} are wider than its elements, so {plan} cannot fill them")
    return decide(
        Question(
            plan.dimensions,
            units,
            lambda index, unit: _flattened(follow(plan, index, unit, bits), dims, result_type.bits // bits),
            lambda index, unit: _flattened(Position(physical_index(shape, index), unit), sizes, units),
        ),
        budget,
    )


def prove_injective(shape: ArrayShape, *, budget: int = RELATION_BUDGET) -> Proof:
    """Decides whether all elements of a shape have distinct positions; a counterexample shares its position."""
    with Budget(budget) as context:
        terms = Terms(context, shape.dimensions, 1)
        position = Position(physical_index(shape, terms.index), terms.unit)
        relation = terms.relation(position)
        if relation.is_injective():
            return Proof(True, "isl")
        shared = relation.apply_range(relation.reverse())
        other = shared.subtract(isl.Map.identity(shared.get_space()))
        return Proof(False, "isl", terms.sample(other.domain()))
    return Proof(*_injective_by_blocks(shape))


def _flattened(position: Position, sizes: Sequence[int], units: int) -> Position:
    linear = linear_position([*position.coordinates, position.unit], [*sizes, units])
    return Position([linear], 0, position.conditions)


def _injective_by_blocks(shape: ArrayShape) -> tuple[bool, Method, tuple[int, ...] | None]:
    """Reads every element back from its position; needs memory for one block only."""
    sizes = final_dimensions(shape.dimensions, shape.effective_layout)
    for index, _ in blocks((*shape.dimensions, 1)):
        linear = np.asarray(linear_position(physical_index(shape, index), sizes))
        back = elements_at(shape, linear)
        wrong = back != linear_position(index, shape.dimensions)
        if wrong.any():
            return False, "enumeration", at(index, int(wrong.argmax()))
    return True, "enumeration", None
