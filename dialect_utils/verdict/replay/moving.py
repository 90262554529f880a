"""Accessors for terms in steps: chains of movement as plans, labels and shapes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.reads import try_prove_same_reads
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.wellformed import RefusedError, demand

_ANY_TYPE = ELEMENT_TYPES["u8"]


def array_of(term: Term) -> ArrayShape:
    """Returns the shape of an array; raises RefusedError for other terms."""
    if not isinstance(term.shape, ArrayShape):
        raise RefusedError(f"{term.kind} is no array")
    return term.shape


def is_op(term: Term, name: str) -> bool:
    """Is true for an operation of a name."""
    return term.kind == "op" and isinstance(term.label, tuple) and term.label[:1] == (name,)


def type_of(term: Term) -> ElementType:
    """Returns the element type of an array; raises RefusedError for other terms."""
    return array_of(term).element_type


def is_converted(wide: Term, narrow: Term) -> bool:
    """Is true for a term that is the conversion of another term."""
    return wide.kind == "each" and wide.label == "convert" and wide.operands == (narrow,)


def without_conversion(term: Term) -> Term:
    """Returns the operand of a conversion, any other term unchanged."""
    return term.operands[0] if term.kind == "each" and term.label == "convert" else term


def level_of_function(function: Term, kind: ElementType) -> int:
    """Returns the level of the variables of a function of two scalars; raises RefusedError for another function."""
    tag, level, shapes, count = label_of(function)
    scalar = ArrayShape(kind, ())
    is_binary = (tag, shapes, count, len(function.operands)) == ("function", (scalar, scalar), 1, 1)
    demand(is_binary, "no function of two scalars")
    return int(level)


def plan_of(term: Term) -> Plan:
    """Returns the plan of movement; raises RefusedError for other terms."""
    if term.kind != "moved" or not isinstance(term.label, Plan):
        raise RefusedError(f"{term.kind} is no movement")
    return term.label


def chain_of(term: Term) -> tuple[Term, list[tuple[Plan, tuple[Term, ...]]]]:
    """Returns the array below nested movement, and the plans from first to last, with padding values."""
    plans: list[tuple[Plan, tuple[Term, ...]]] = []
    while term.kind == "moved" and isinstance(term.label, Plan):
        plans.append((term.label, term.operands[1:]))
        term = term.operands[0]
    return term, plans[::-1]


def whole_plan(term: Term, numbers: dict[Term, int]) -> tuple[Term, Plan]:
    """Returns the array below nested movement, and one plan with a number for each padding value."""
    base, plans = chain_of(term)
    whole = Plan(array_of(base).element_type, array_of(base).dimensions)
    for plan, scalars in plans:
        rest = iter(scalars)
        values = [None if p is None else numbers.setdefault(next(rest), len(numbers)) for p in plan.paddings]
        whole = whole.then(Plan(*whole.result, plan.steps, tuple(values)))
    return base, whole


def same_reads(first: Plan, second: Plan) -> bool:
    """Is true for two plans of one array that are proved to read the same elements."""
    if (first.start, first.result) != (second.start, second.result):
        return False
    if not first.regroups_bits and not second.regroups_bits:
        # Such plans are the same for every element type.
        first, second = first.retyped(_ANY_TYPE), second.retyped(_ANY_TYPE)
    return first == second or _are_proved_same(first, second)


@lru_cache(maxsize=8192)
def _are_proved_same(first: Plan, second: Plan) -> bool:
    proof = try_prove_same_reads(first, second)
    return proof is not None and proof.holds


def label_of(term: Term) -> tuple[Any, ...]:
    """Returns the label of an operation."""
    assert isinstance(term.label, tuple)  # checked by the caller
    return term.label


def repeats(term: Term, scalar: Term) -> bool:
    """Is true for a scalar, and for an array that repeats it."""
    return term is scalar or (term.kind == "splat" and term.operands[0] is scalar)


def transposition(term: Term) -> tuple[int, ...] | None:
    """Returns the permutation of a term that only transposes an array, None for other terms."""
    steps = term.label.steps if term.kind == "moved" and isinstance(term.label, Plan) else ()
    return steps[0].order if len(steps) == 1 else None
