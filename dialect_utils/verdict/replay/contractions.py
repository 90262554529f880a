"""Steps about dots, convolutions and sums. Each step is checked from its two terms alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from dialect_utils.layout import Reshape, Slice, Transpose
from dialect_utils.ops.contractions import summed_in
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay.arrays import nan_level
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.replay.moving import array_of, chain_of, is_op, label_of, plan_of, type_of, whole_plan
from dialect_utils.verdict.rules.formats import value_of
from dialect_utils.verdict.rules.matching import constant_bits
from dialect_utils.verdict.terms.combinations import is_exact, neutral
from dialect_utils.verdict.terms.constants import positions_of
from dialect_utils.verdict.terms.primitives import Term, swapped_texts, texts_of
from dialect_utils.verdict.terms.wellformed import demand


def _dot(step: Step) -> Level:
    """Checks that a dot swaps its operands, and the result its rows and columns."""
    before, (inner, plans) = step.before, chain_of(step.after)
    demand(is_op(before, "dot") and is_op(inner, "dot"), "no two dots")
    demand([plan.steps for plan, _ in plans] == [(Transpose((0, 2, 1)),)], "no transposed result")
    demand(before.operands == inner.operands[::-1], "other operands")
    demand(swapped_texts(label_of(before)[1]) == label_of(inner)[1], "other precisions")
    return nan_level(before)


_Order = tuple[tuple[int, ...], tuple[int, ...]]


def _dot_order(step: Step) -> Level:
    """Checks that a dot and its operands permute the parts of batch, rows, columns and sum consistently."""
    before, inner = step.before, step.after.operands[0] if step.after.kind == "moved" else step.after
    demand(is_op(before, "dot") and is_op(inner, "dot") and before.label == inner.label, "no two dots")
    left, right = (_orders(*pair) for pair in zip(before.operands, inner.operands, strict=True))
    demand((left[0], left[2]) == (right[0], right[2]), "the operands have other orders")
    demand(_orders(inner, step.after) == [*map(_undone, (left[0], left[1], right[1]))], "the result has another order")
    return Level.ENGINE if left[2] is not None and nan_level(before) else nan_level(before)


def _orders(array: Term, moved: Term) -> list[_Order | None]:
    """Returns for each dimension the sizes and the permutation of its parts under movement, None if unchanged."""
    sizes = array_of(array).dimensions
    if moved is array:
        return [None] * len(sizes)
    plan = plan_of(moved)
    demand(moved.operands == (array,), "another array is moved")
    is_order = [step.opcode for step in plan.steps] == ["reshape", "transpose", "reshape"]
    demand(is_order and plan.result[1] == sizes, "other movement")
    (_, split), turned = plan.stages[1], plan.steps[1].order
    assert turned is not None  # a transpose has an order
    found: list[_Order | None] = []
    start = 0
    for size in sizes:
        end = start
        while prod(split[start:end]) < size and end < len(split):
            end += 1
        parts, permutation = split[start:end], turned[start:end]
        demand(prod(parts) == size and sorted(permutation) == [*range(start, end)], "movement between dimensions")
        own = tuple(i - start for i in permutation)
        found.append(None if sorted(own) == [*own] else (parts, own))
        start = end
    return found


def _reduction_order(step: Step) -> Level:
    """Checks that a reduction and its array permute the parts of kept and reduced dimensions consistently."""
    before, inner = step.before, step.after.operands[0] if step.after.kind == "moved" else step.after
    demand(is_op(before, "reduce") and is_op(inner, "reduce") and before.label == inner.label, "no two reductions")
    (array, initial), (moved, other), opcode = before.operands, inner.operands, label_of(before)[1]
    demand(initial is other, "another initial value")
    kept, reduced = _orders(array, moved)
    demand(_orders(inner, step.after) == [_undone(kept)], "the result has another order")
    is_sum = reduced is not None and not is_exact(opcode, array_of(array).element_type)
    return Level.ENGINE if is_sum else nan_level(before)


def _window_order(step: Step) -> Level:
    """Checks that a gather or scatter and its arrays permute the window dimensions consistently."""
    before, inner = step.before, step.after.operands[0] if step.after.kind == "moved" else step.after
    demand((before.kind, before.label) == (inner.kind, inner.label), "no two gathers or scatters")
    (first,), (second,) = (each.operands if each.kind == "out" else (each,) for each in (before, inner))
    demand(first.kind == "op" and first.label == second.label, "no two gathers or scatters")
    turned, moved = {0}, _last_order(inner, step.after)
    if is_op(first, "scatter"):
        count = label_of(first)[1]
        turned = {*range(count), *range(len(first.operands) - 1 - count, len(first.operands) - 1)}
    else:
        demand(is_op(first, "gather"), "no gather")
    for place, (old, new) in enumerate(zip(first.operands, second.operands, strict=True)):
        demand(_last_order(old, new) == _undone(moved) if place in turned else old is new, "other operands")
    return Level.BITS


def _last_order(array: Term, moved: Term) -> _Order | None:
    """Returns the permutation of the last dimension's parts; raises RefusedError if other dimensions move, too."""
    *others, last = _orders(array, moved)
    demand(others == [None] * len(others), "an indexed dimension is moved")
    return last


def _undone(order: _Order | None) -> _Order | None:
    if order is None:
        return None
    parts, permutation = order
    return tuple(parts[i] for i in permutation), tuple(permutation.index(i) for i in range(len(parts)))


def _as_sum(step: Step) -> Level:
    """Checks that a dot became the sum, from 0, of the products of its operands."""
    before, kind = step.before, array_of(step.before).element_type
    demand(is_op(before, "dot") and swapped_texts(texts_of(before.label)) is not None, "no plain dot")
    demand({kind} == {array_of(each).element_type for each in before.operands}, "other types")
    (batch, rows, summed), (_, columns, _) = (array_of(each).dimensions for each in before.operands)
    demand(summed_in(kind) == kind or (summed == 1 and kind.is_floating), "the sum has another type")
    total = _reshaped(step.after, (batch, rows, columns))
    demand(label_of(total) == ("reduce", "add"), "no sum")
    flat, zero = total.operands
    demand(_is_zero(zero), "the sum begins with another number")
    product = _reshaped(flat, (batch * rows * columns, summed))
    demand((product.kind, product.label) == ("each", "multiply"), "no product")
    for operand, wide, to in zip(before.operands, product.operands, ((0, 1, 3), (0, 2, 3)), strict=True):
        demand(is_op(wide, "broadcast") and label_of(wide)[1] == to and wide.operands == (operand,), "other factors")
    return Level.ENGINE if kind.is_floating else Level.BITS


def _batch_sum(step: Step) -> Level:
    """Checks that a sum over a part of a dot's batch became a dot that sums these products, too."""
    before, (joined, plans) = step.before, chain_of(step.after)
    demand(label_of(before) == ("reduce", "add") and is_op(joined, "dot"), "no sum and dot")
    array, initial = before.operands
    kind, bits = array_of(array).element_type, constant_bits(initial)
    demand(value_of(kind, 0) == 0 and bits in (0, neutral("add", kind)), "the sum begins with another number")
    (dot,), plan = array.operands, plan_of(array)
    demand(is_op(dot, "dot") and dot.label == joined.label, "no two dots")
    demand(summed_in(kind, *map(type_of, dot.operands)) in (None, kind), "the sums are rounded")
    (batch, rows, summed), columns = array_of(dot.operands[0]).dimensions, array_of(dot.operands[1]).dimensions[1]
    split, flat = plan.stages[1][1] if plan.steps else (), array_of(before).dimensions
    demand(len(split) == len(("outer", "size", "inner", "rows", "columns")), "no part of a batch")
    outer, size, inner = split[:3]
    turned = Reshape(split), Transpose((0, 2, 3, 4, 1)), Reshape((*flat, size))
    demand(plan.steps == turned and split == (outer, size, inner, rows, columns), "other movement")
    demand(outer * size * inner == batch, "another batch")
    demand([each.steps for each, _ in plans] == [(Reshape(flat),)], "no reshaped result")
    for operand, moved, lines in zip(dot.operands, joined.operands, (rows, columns), strict=True):
        steps = (
            Reshape((outer, size, inner, lines, summed)),
            Transpose((0, 2, 3, 1, 4)),
            Reshape((outer * inner, lines, size * summed)),
        )
        demand(moved.operands == (operand,) and plan_of(moved).steps == steps, "an operand moves otherwise")
    return Level.ENGINE if kind.is_floating or kind.is_complex else nan_level(before)


def _padded_dot(step: Step) -> Level:
    """Checks that a dot leaves out products of two zeros that pad both operands."""
    before, after, kind = step.before, step.after, array_of(step.before).element_type
    demand(is_op(before, "dot") and is_op(after, "dot") and before.label == after.label, "no two dots")
    for operand, moved in zip(before.operands, after.operands, strict=True):
        scalars = dict[Term, int]()
        _, plan = whole_plan(operand, scalars)
        places, (batch, rows, size) = positions_of(plan), array_of(operand).dimensions
        first = positions_of(plan_of(moved))
        demand(moved.operands == (operand,) and places is not None and first is not None, "no slice")
        start = int(first.flat[0])
        limit = start + array_of(moved).dimensions[2]
        demand(plan_of(moved).steps == (Slice((0, 0, start), (batch, rows, limit)),), "another slice")
        demand(not (places[..., :start] >= 0).any() and not (places[..., limit:] >= 0).any(), "products are left out")
        demand(all(map(_is_zero, scalars)) and limit <= size, "padding is not zero")
    return Level.ENGINE if kind.is_floating or kind.is_complex else nan_level(before)


def _is_zero(term: Term) -> bool:
    """Is true for the constant 0; bits 0 are another number in a format without zero (f8e8m0fnu)."""
    return constant_bits(term) == 0 and value_of(array_of(term).element_type, 0) == 0


def _reshaped(term: Term, sizes: tuple[int, ...]) -> Term:
    """Returns the array that is reshaped to some sizes."""
    demand(plan_of(term).steps == (Reshape(sizes),), "no reshape")
    return term.operands[0]


CHECKS: Mapping[str, Callable[[Step], Level]] = {
    "batch-sum": _batch_sum,
    "dot": _dot,
    "dot-as-sum": _as_sum,
    "dot-order": _dot_order,
    "padded-dot": _padded_dot,
    "reduction-order": _reduction_order,
    "window-order": _window_order,
}
