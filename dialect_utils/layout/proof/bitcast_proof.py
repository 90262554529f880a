"""Proofs of verdicts on bitcasts, in time independent of the size of the array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dialect_utils.layout.index.index_map import Coordinate
from dialect_utils.layout.index.positions import Position, follow, unit_bits
from dialect_utils.layout.moves.bitcast import classify_bitcast, reads_padding
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.decide import Question, decide
from dialect_utils.layout.proof.enumeration import ISL_BUDGET, Proof
from dialect_utils.layout.proof.witnesses import in_common
from dialect_utils.layout.shape import ArrayShape, Shape


def prove_bitcast(source: ArrayShape, destination: ArrayShape, *, budget: int = ISL_BUDGET) -> Proof:
    """Decides whether `classify_bitcast` is right about every element.

    For `relabel` and `reorder`, every element of the destination must read the bits that the decomposition gives. The
    other verdicts hold by the counterexample or by the sizes. Raises ValueError for dynamic dimensions.
    """
    found = classify_bitcast(source, destination)
    if found.decomposition is None:
        counter = found.counterexample
        holds = counter is None or reads_padding(source, destination, counter.destination_index)
        return Proof(holds, "structure", None if holds or counter is None else counter.destination_index)
    steps = found.decomposition
    bits = unit_bits(steps)

    def read(index: Sequence[Coordinate], unit: Coordinate) -> Position:
        moved = follow(steps, index, unit, bits)
        return Position(in_common(destination, source, moved.coordinates, moved.unit, bits), 0, moved.conditions)

    def held(index: Sequence[Coordinate], unit: Coordinate) -> Position:
        conditions = follow(steps, index, unit, bits).conditions
        return Position(in_common(source, destination, index, unit, bits), 0, conditions)

    question = Question(source.dimensions, source.element_type.bits // bits, read, held)
    return decide(question, budget)


@lru_cache(maxsize=4096)
def proved_movement(source: Shape, result: Shape) -> Plan | None:
    """Returns the plan of a bitcast that keeps all elements, where it is proved to move the same bytes.

    Truth values are not read as numbers, nor numbers as truth values.
    """
    if not (isinstance(source, ArrayShape) and isinstance(result, ArrayShape)):
        return None
    if not (source.is_static and result.is_static):
        return None
    plan = classify_bitcast(source, result).decomposition
    if plan is None or (plan.element_type, plan.result[0]) != (source.element_type, result.element_type):
        return None
    if plan.adds_elements or (plan.regroups_bits and "pred" in (source.element_type.name, result.element_type.name)):
        return None
    return plan if prove_bitcast(source, result).holds else None
