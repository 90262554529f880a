"""Steps about dots and convolutions: each is checked by itself, from the two terms that it calls equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from dialect_utils.layout import Reshape, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay.arrays import array_of, chain_of, is_op, label_of, nan_level
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.written.terms import Term, swapped_texts
from dialect_utils.verdict.written.wellformed import RefusedError, demand


def _dot(step: Step) -> Level:
    """Checks that the operands of a dot are swapped, and its rows and columns with them."""
    before, (inner, plans) = step.before, chain_of(step.after)
    demand(is_op(before, "dot") and is_op(inner, "dot"), "no two dots")
    demand([plan.steps for plan, _ in plans] == [(Transpose((0, 2, 1)),)], "no transposed result")
    demand(before.operands == inner.operands[::-1], "other operands")
    demand(swapped_texts(label_of(before)[1]) == label_of(inner)[1], "other precisions")
    demand(array_of(before).element_type == array_of(inner).element_type, "another element type")
    return nan_level(before)


_Order = tuple[tuple[int, ...], tuple[int, ...]]


def _dot_order(step: Step) -> Level:
    """Checks that the batch, rows, columns and sum of a dot have new orders, those of its operands."""
    before, inner = step.before, step.after.operands[0] if step.after.kind == "moved" else step.after
    demand(is_op(before, "dot") and is_op(inner, "dot") and before.label == inner.label, "no two dots")
    demand(array_of(before) == array_of(inner), "another size or type")
    left, right = (_orders(*pair) for pair in zip(before.operands, inner.operands, strict=True))
    demand((left[0], left[2]) == (right[0], right[2]), "the operands have other orders")
    demand(_orders(inner, step.after) == [*map(_undone, (left[0], left[1], right[1]))], "the result has another order")
    return Level.ENGINE if left[2] is not None and nan_level(before) else nan_level(before)


def _orders(array: Term, moved: Term) -> list[_Order | None]:
    """Returns for each dimension the parts that movement divides it into, and their new order; None for the old one."""
    sizes = array_of(array).dimensions
    if moved is array:
        return [None] * len(sizes)
    demand(moved.kind == "moved" and moved.operands == (array,), "another array is moved")
    assert isinstance(moved.label, Plan)  # so terms are made
    match moved.label.steps:
        case (Reshape() as split, Transpose() as order, Reshape(joined)) if joined == sizes:
            pass
        case _:
            raise RefusedError("other movement")
    found: list[_Order | None] = []
    start = 0
    for size in sizes:
        end = start
        while prod(split.dimensions[start:end]) < size:
            end += 1
        parts, permutation = split.dimensions[start:end], order.permutation[start:end]
        demand(prod(parts) == size and sorted(permutation) == [*range(start, end)], "movement between dimensions")
        own = tuple(i - start for i in permutation)
        found.append(None if sorted(own) == [*own] else (parts, own))
        start = end
    demand(start == len(split.dimensions), "movement of more dimensions")
    return found


def _undone(order: _Order | None) -> _Order | None:
    if order is None:
        return None
    parts, permutation = order
    return tuple(parts[i] for i in permutation), tuple(permutation.index(i) for i in range(len(parts)))


def _convolution(step: Step) -> Level:
    """Checks that only the meaning of padding differs: multiplied as 0, or skipped."""
    first, second = label_of(step.before), label_of(step.after)
    demand(is_op(step.before, "convolution") and step.before.operands == step.after.operands, "other operands")
    demand(first[:3] + first[4:] == second[:3] + second[4:] and step.before.shape == step.after.shape, "other windows")
    is_exact_ = all(array_of(operand).element_type.is_integral for operand in step.before.operands)
    return Level.BITS if is_exact_ else Level.ENGINE


CHECKS: Mapping[str, Callable[[Step], Level]] = {
    "convolution-padding": _convolution,
    "dot": _dot,
    "dot-order": _dot_order,
}
