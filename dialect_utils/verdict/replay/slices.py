"""Steps about slices, updates, gathers and scatters at computed positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import prod

from dialect_utils.layout import Pad, Reshape, Slice, Step as MovementStep, Transpose
from dialect_utils.layout.moves.plan import Plan, try_with_leading
from dialect_utils.layout.proof.reads import reads_only_padding
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.replay.moving import (
    array_of,
    chain_of,
    is_op,
    label_of,
    plan_of,
    repeats,
    same_reads,
    transposition,
    whole_plan,
)
from dialect_utils.verdict.rules.formats import is_lossless
from dialect_utils.verdict.rules.matching import constant_bits
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.wellformed import RefusedError, demand


def _unconverted(index: Term) -> Term:
    """Returns an index without lossless integer conversions."""
    while index.kind == "each" and index.label == "convert":
        (operand,) = index.operands
        kind = array_of(operand).element_type
        if not kind.is_integral or not is_lossless(kind, array_of(index).element_type):
            break
        index = operand
    return index


def _starts(indices: Sequence[Term], sizes: Sequence[int], whole: Sequence[int]) -> list[Hashable]:
    """Returns start indices: clamped numbers for constants, else the term without lossless conversions."""
    found: list[Hashable] = []
    for index, size, full in zip(indices, sizes, whole, strict=True):
        kind, bits = array_of(index).element_type, constant_bits(index)
        if size == full:
            found.append(0)
        elif bits is None:
            found.append(_unconverted(index))
        else:
            is_negative = kind.is_signed and bits >> (kind.bits - 1)
            found.append(0 if is_negative else min(bits, full - size))
    return found


def _slice(term: Term) -> tuple[Term, list[Hashable]]:
    """Returns the array of a dynamic-slice, and the start indices."""
    operand, *indices = term.operands
    return operand, _starts(indices, array_of(term).dimensions, array_of(operand).dimensions)


def _is_rearranged(step: Step) -> bool:
    """Is true for a slice or update of an array, equal to the slice or update of the rearranged array.

    The arrangement has the sliced dimensions first, and joins all others. The result is arranged back.
    """
    before, (inner, _) = step.before, chain_of(step.after)
    if before.label != inner.label:
        return False
    is_update = is_op(before, "dynamic-update-slice")
    array, part = before.operands[0], before.operands[1] if is_update else before
    source, window = inner.operands[0], inner.operands[1] if is_update else inner
    (*sizes,), (*full,) = array_of(part).dimensions, array_of(array).dimensions
    order, count = _first_transpose(array, source), sum(a != b for a, b in zip(sizes, full, strict=True))
    starts = _starts(before.operands[1 + is_update :], sizes, full)
    found = _starts(inner.operands[1 + is_update :], array_of(window).dimensions, array_of(source).dimensions)
    result = full if is_update else sizes
    back = Reshape(tuple(result[i] for i in order)), Transpose(tuple(order.index(i) for i in range(len(order))))
    _, plan = whole_plan(step.after, {})
    return (
        all(sizes[i] != full[i] for i in order[:count])
        and found[:count] == [starts[i] for i in order[:count]]
        and _is_arranged(array, source, order, count)
        and array_of(window).dimensions == _sizes(part, order, count)
        and (not is_update or _is_arranged(part, window, order, count))
        and same_reads(_made_of(inner, back), plan)
    )


def _sizes(array: Term, order: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Returns the permuted sizes of an array, all after the first `count` joined into one unless that is 1."""
    sizes = [array_of(array).dimensions[i] for i in order]
    rest = prod(sizes[count:])
    return *sizes[:count], *([rest] if rest != 1 else [])


def _is_arranged(array: Term, other: Term, order: tuple[int, ...], count: int) -> bool:
    """Is true for an array with its dimensions permuted, and all after the first `count` joined into one."""
    steps = Transpose(order), Reshape(_sizes(array, order, count))
    numbers: dict[Term, int] = {}
    (base, first), (source, second) = whole_plan(array, numbers), whole_plan(other, numbers)
    return base is source and same_reads(first.then(_made_of(array, steps)), second)


def _made_of(term: Term, steps: tuple[MovementStep, ...]) -> Plan:
    return Plan(array_of(term).element_type, array_of(term).dimensions, steps, (None,) * len(steps))


def _first_transpose(array: Term, other: Term) -> tuple[int, ...]:
    """Returns the permutation of the first transpose in movement of an array, the identity without one."""
    steps = other.label.steps if isinstance(other.label, Plan) else ()
    order = steps[0].order if steps else None
    return tuple(range(array_of(array).rank)) if order is None else order


def _is_slice(term: Term, operand: Term, starts: Sequence[Hashable]) -> bool:
    """Is true for the slice of an array at known starts."""
    if operand.kind == term.kind == "splat":
        return term.operands == operand.operands
    if term is operand:
        return not any(starts)
    known = tuple(start for start in starts if isinstance(start, int))
    ends = tuple(start + size for start, size in zip(known, array_of(term).dimensions, strict=False))
    is_whole = isinstance(term.label, Plan) and term.operands == (operand,) and len(known) == len(starts)
    return is_whole and isinstance(term.label, Plan) and term.label.steps == (Slice(known, ends),)


def _reads_update(step: Step) -> bool:
    """Is true for movement of an array with an update that reads only the update, or nothing of the update."""
    numbers: dict[Term, int] = {}
    (whole, plan), (base, moved) = (whole_plan(term, numbers) for term in (step.before, step.after))
    demand(is_op(whole, "dynamic-update-slice") and not plan.regroups_bits, "no update")
    array, update, *indices = whole.operands
    sizes, full = array_of(update).dimensions, array_of(array).dimensions
    starts = [start for start in _starts(indices, sizes, full) if isinstance(start, int)]
    highs = tuple(size - own - low for size, own, low in zip(full, sizes, starts, strict=True))
    # All elements but those of the update are padding with -1, a number that no plan uses.
    padded = Plan(array_of(update).element_type, sizes, (Pad(tuple(starts), highs),), (-1,)).then(plan)
    (old, outer), (new, inner) = whole_plan(array, numbers), whole_plan(update, numbers)
    if base is new and same_reads(inner.then(padded), moved):
        return True
    return base is old and reads_only_padding(padded) and same_reads(outer.then(plan), moved)


def _dynamic_slice(step: Step) -> Level:
    """Checks that both sides are the same slice of one array, or the same update of it."""
    before, after = step.before, step.after
    if before.kind == "moved":
        demand(_reads_update(step), "other elements of an update are read")
        return Level.BITS
    if is_op(before, "dynamic-slice"):
        operand, starts = _slice(before)
        is_same = is_op(after, "dynamic-slice") and _slice(after) == (operand, starts)
        demand(is_same or _is_slice(after, operand, starts) or _is_rearranged(step), "other slices")
        return Level.BITS
    demand(is_op(before, "dynamic-update-slice"), "no slice")
    operand, update, *indices = step.before.operands
    sizes = array_of(update).dimensions, array_of(operand).dimensions
    if step.after is update:
        return Level.BITS
    if step.after.kind == "moved":
        demand(_is_rearranged(step), "another arrangement")
        return Level.BITS
    demand(is_op(step.after, "dynamic-update-slice") and step.after.operands[:2] == (operand, update), "other arrays")
    demand(_starts(indices, *sizes) == _starts(step.after.operands[2:], *sizes), "another position")
    return Level.BITS


def _indexed_dimensions(step: Step) -> Level:
    """Checks that a gather or scatter permutes its indexed dimensions and index columns consistently."""
    before, (inner, plans) = step.before, chain_of(step.after)
    if is_op(before, "gather") and before.operands[0].kind == "splat":
        demand(repeats(step.after, before.operands[0].operands[0]), "another scalar")
        return Level.BITS
    order, columns = _order_of_scatter(before, inner) if before.kind == "out" else _order_of_gather(before, inner)
    plain = tuple(range(len(order)))
    demand(all(_unconverted(old) is _unconverted(new) for old, new in columns), "other indices")
    places = tuple(order.index(i) for i in plain)
    back = places if before.kind == "out" else (0, *(1 + i for i in places))
    demand([plan.steps for plan, _ in plans] == ([] if order == plain else [(Transpose(back),)]), "other dimensions")
    return Level.BITS


def _order_of_gather(before: Term, after: Term) -> tuple[tuple[int, ...], list[tuple[Term, Term]]]:
    """Returns the permutation of the array's dimensions between two gathers, and pairs of equal index columns."""
    demand(is_op(before, "gather") and is_op(after, "gather"), "no two gathers")
    (array, *columns), (source, *indices) = before.operands, after.operands
    order = _order(array, source)
    (_, _, promise), (_, _, promised) = label_of(before), label_of(after)
    demand(promise == promised and (order == (*sorted(order),) or not promise), "another promise about the indices")
    return order, [*zip((columns[i] for i in order[:-1]), indices, strict=True)]


def _order_of_scatter(before: Term, after: Term) -> tuple[tuple[int, ...], list[tuple[Term, Term]]]:
    """Returns the permutation of the arrays' dimensions between two scatters, and pairs of equal index columns."""
    (first,), (second,) = before.operands, after.operands
    demand(is_op(first, "scatter"), "no scatter")
    demand(before.label == after.label and first.label == second.label, "other scatters")
    demand(first.operands[-1] is second.operands[-1], "another function")
    _, count, promise = label_of(first)
    pairs = [*zip(first.operands, second.operands, strict=True)]
    order = _order(*pairs[0])
    demand(all(_order(*pair) == order for pair in pairs[:count]), "other arrays")
    windows = (0, *(1 + i for i in order))
    demand(all(_order(*pair) == windows for pair in pairs[-count - 1 : -1]), "other updates")
    demand(order == (*sorted(order),) or not promise, "another promise about the indices")
    columns, indices = first.operands[count:], second.operands[count : -count - 1]
    return order, [*zip((columns[i] for i in order[:-1]), indices, strict=True)]


def _gather_of_padding(step: Step) -> Level:
    """Checks gather(pad(x)) = pad(gather(x)) for movement of dimensions that the gather does not index."""
    before, (inner, _) = step.before, chain_of(step.after)
    demand(is_op(before, "gather") and is_op(inner, "gather") and before.label == inner.label, "no two gathers")
    (array, *columns), (flat, *others) = before.operands, inner.operands
    plan, count = plan_of(array), len(columns)
    demand(columns == others, "other positions")
    source, *scalars = array.operands
    after = try_with_leading(plan, count, array_of(inner).dimensions[: count + 1])
    if after is None:
        raise RefusedError("an indexed dimension is moved")
    numbers: dict[Term, int] = {}
    (base, first), (other, second) = (whole_plan(term, numbers) for term in (source, flat))
    joined = Reshape((*plan.dimensions[:count], prod(plan.dimensions[count:])))
    demand(base is other and same_reads(first.then(_made_of(source, (joined,))), second), "another array")
    rest = iter(scalars)
    values = tuple(None if p is None else numbers.setdefault(next(rest), len(numbers)) for p in plan.paddings)
    numbered = Plan(*after.start, after.steps, values)
    expected = _made_of(inner, (Reshape(after.dimensions),)).then(numbered)
    _, found = whole_plan(step.after, numbers)
    demand(same_reads(expected, found), "another movement after the gather")
    return Level.BITS


def _columns(step: Step) -> Level:
    """Checks that a gather or scatter of short rows is the concatenation of one per column."""
    before, after = step.before, step.after
    demand(is_op(after, "concatenate"), "no concatenation")
    whole, parts = before, [*after.operands]
    if before.kind == "out":
        demand(all(part.kind == "out" for part in parts), "other results")
        (whole,), parts = before.operands, [operand for part in parts for operand in part.operands]
    demand(all(part.kind == "op" and part.label == whole.label for part in parts), "other operations")
    split = {0}
    if is_op(whole, "scatter"):
        demand(label_of(whole)[1] == 1, "a scatter into several arrays")
        split.add(len(whole.operands) - 2)
    else:
        demand(is_op(whole, "gather"), "no gather")
    for number, part in enumerate(parts):
        for place, (old, new) in enumerate(zip(whole.operands, part.operands, strict=True)):
            demand(_is_column(old, new, number) if place in split else old is new, "other operands")
    return Level.BITS


def _is_column(array: Term, other: Term, number: int) -> bool:
    """Is true for column `number` of an array: a slice of size 1 of the last dimension."""
    numbers: dict[Term, int] = {}
    (base, first), (source, second) = (whole_plan(term, numbers) for term in (array, other))
    sizes = array_of(array).dimensions
    step = Slice((*(0 for _ in sizes[1:]), number), (*sizes[:-1], number + 1))
    return base is source and same_reads(first.then(_made_of(array, (step,))), second)


def _order(array: Term, turned: Term) -> tuple[int, ...]:
    """Returns the permutation from an array to its transpose; raises RefusedError for another term."""
    order = tuple(range(array_of(array).rank)) if turned is array else transposition(turned)
    if order is None or (turned is not array and turned.operands != (array,)):
        raise RefusedError("another array is read")
    return order


# One check for each rule.
CHECKS: Mapping[str, Callable[[Step], Level]] = {
    "columns": _columns,
    "dynamic-slice": _dynamic_slice,
    "gather-of-padding": _gather_of_padding,
    "indexed-dimensions": _indexed_dimensions,
}
