"""Steps about whole arrays. Each step is checked from its two terms alone.

Longer than other files: one check for each rule about arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from dialect_utils.layout import ElementType, Pad, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.relabel import Digit, cut, merged
from dialect_utils.layout.proof.reads import reads_only_padding
from dialect_utils.ops import by_opcode, named
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.replay.moving import (
    array_of,
    chain_of,
    is_op,
    label_of,
    level_of_function,
    plan_of,
    repeats,
    same_reads,
    transposition,
    whole_plan,
)
from dialect_utils.verdict.rules.matching import constant_bits
from dialect_utils.verdict.terms.combinations import absorbs, is_exact, opcode_of_combination, try_combination
from dialect_utils.verdict.terms.constants import ConstantArrays, keeps_exactly, rounds_to
from dialect_utils.verdict.terms.cuts import Cut, operand_cuts
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.relations import try_prove_same_combination
from dialect_utils.verdict.terms.wellformed import RefusedError, demand


def _reads(step: Step) -> Level:
    """Checks that both chains of movement read the same elements of one array."""
    numbers: dict[Term, int] = {}
    (base, first), (other, second) = (whole_plan(term, numbers) for term in (step.before, step.after))
    if base is other and same_reads(first, second):
        return Level.BITS
    values = {scalar for _, paddings in chain_of(step.before)[1] for scalar in paddings}
    is_splat = base.kind == "splat" and values <= {base.operands[0]}
    demand(not first.regroups_bits, "the movement regroups bits")
    demand(is_splat or (len(values) == 1 and reads_only_padding(first)), "padding differs from the scalar")
    (value,) = [base.operands[0]] if is_splat else values
    demand(repeats(step.after, value), "other elements are read")
    return Level.BITS


# Operations whose result holds elements of the first operands, as many as the number says (None: of all), at positions
# that the other operands give.
_MOVING: Mapping[str, int | None] = {
    **dict.fromkeys(named("broadcast reverse dynamic-slice gather"), 1),
    **by_opcode({"dynamic-update-slice": 2, "concatenate": None}),
    "moved": None,
}


def _through(step: Step) -> Level:
    """Checks move(f(x, y)) = f(move(x), move(y)) for an elementwise operation f, and for movement of several arrays."""
    before, after = step.before, step.after
    name = str(label_of(before)[0]) if before.kind == "op" else before.kind
    demand(name in _MOVING, "no movement")
    count = _MOVING[name] or len(before.operands)
    inner, rest = before.operands[:count], before.operands[count:]
    demand(after.kind in ("each", "choice"), "the movement is of no operation")
    demand(all((each.kind, each.label) == (after.kind, after.label) for each in inner), "another operation")
    is_choice = int(after.kind == "choice")
    demand(all(each.operands[:is_choice] == after.operands[:is_choice] for each in inner), "another selector")
    parts = zip(*(each.operands for each in inner), strict=True)
    for operands, moved in [*zip(parts, after.operands, strict=True)][is_choice:]:
        demand(moved.kind == before.kind and moved.operands == (*operands, *rest), "other positions")
        demand(_is_same_move(before.label, moved.label), "an operand moves otherwise")
    return Level.BITS


def _is_same_move(first: Hashable, second: Hashable) -> bool:
    if not isinstance(first, Plan) or not isinstance(second, Plan):
        return first == second
    return not first.regroups_bits and (first.dimensions, first.steps) == (second.dimensions, second.steps)


Digits = list[list[Digit]]


def _repeated(size: int) -> list[Digit]:
    """Returns the digits of a dimension that repeats an array."""
    return [] if size == 1 else [Digit(0, size)]


def _origins(term: Term) -> tuple[Term, Digits]:
    """Returns the array below nested broadcasts, and the digits of its row-major index in each dimension of a term."""
    sizes = array_of(term).dimensions
    if term.kind == "splat":
        return _origins(term.operands[0])[0], [*map(_repeated, sizes)]
    if is_op(term, "broadcast"):
        (base, inner), targets = _origins(term.operands[0]), label_of(term)[1]
        found = dict(zip(targets, inner, strict=True))
        return base, [found.get(i) or _repeated(size) for i, size in enumerate(sizes)]
    if term.kind == "moved":
        base, origins = _origins(term.operands[0])
        moved = _rearranged(plan_of(term), origins)
        if moved is not None:
            return base, moved
    return term, [[Digit(prod(sizes[i + 1 :]), size)] if size != 1 else [] for i, size in enumerate(sizes)]


def _rearranged(plan: Plan, digits: Digits) -> Digits | None:
    """Returns the digits after transposes and reshapes that cut no digit unevenly; None for other plans."""
    for step, (_, before), (_, after) in zip(plan.steps, plan.stages, plan.stages[1:], strict=False):
        found: Digits | None = None
        if step.order is not None:
            found = [digits[i] for i in step.order]
        elif step.opcode == "reshape" and 0 not in before:
            found = cut(merged([digit for group in digits for digit in group]), after)
        if found is None:
            return None
        digits = found
    return digits


def _broadcast(step: Step) -> Level:
    """Checks that both sides repeat one array along the same dimensions."""
    (base, origins), (other, found) = _origins(step.before), _origins(step.after)
    demand(base is other and [*map(merged, origins)] == [*map(merged, found)], "the broadcasts differ")
    return Level.BITS


def _broadcast_moved(step: Step) -> Level:
    """Checks broadcast(plan(x)) = plan(broadcast(x)) for broadcasts that add most minor dimensions."""
    before, after = step.before, step.after
    demand(is_op(before, "broadcast"), "no broadcast")
    (moved,), (spread, *scalars) = before.operands, after.operands
    demand(is_op(spread, "broadcast"), "no broadcast")
    (base, *paddings), (source,) = moved.operands, spread.operands
    added = array_of(before).dimensions[len(array_of(moved).dimensions) :]
    demand(base is source and scalars == paddings, "another array or padding")
    demand(_spreads(before, added) and _spreads(spread, added), "other dimensions are added")
    demand(plan_of(after) == plan_of(moved).with_minor_dimensions(added), "another movement")
    return Level.BITS


def _spreads(term: Term, added: tuple[int, ...]) -> bool:
    """Is true for a broadcast that only adds most minor dimensions."""
    sizes = array_of(term.operands[0]).dimensions
    return array_of(term).dimensions == (*sizes, *added) and label_of(term)[1] == tuple(range(len(sizes)))


def _reversals(term: Term) -> tuple[Term, list[int], set[int]]:
    """Returns the array below reversals and transposes, the permutation of its dimensions, and the reversed ones."""
    order = [*range(array_of(term).rank)]
    reversed_: set[int] = set()
    while True:
        sizes = array_of(term).dimensions
        if is_op(term, "reverse"):
            reversed_ ^= {i for i, dim in enumerate(order) if dim in label_of(term)[1] and sizes[dim] > 1}
        elif (permutation := transposition(term)) is not None:
            order = [permutation[dim] for dim in order]
        else:
            break
        term = term.operands[0]
    return term, order, set() if term.kind == "splat" or 0 in array_of(term).dimensions else reversed_


def _reverse(step: Step) -> Level:
    """Checks that both sides reverse the same dimensions of one array, transposed before and after or not."""
    (base, *first), (other, *second) = _reversals(step.before), _reversals(step.after)
    demand(base is other and first == second, "other dimensions are reversed")
    return Level.BITS


def _parts(term: Term, dimension: int) -> Iterator[Term]:
    if is_op(term, "concatenate") and label_of(term)[1] == dimension:
        for operand in term.operands:
            yield from _parts(operand, dimension)
    elif array_of(term).dimensions[dimension]:
        yield term


def _concatenate(step: Step) -> Level:
    """Checks that both sides concatenate the same nonempty parts, or that movement of a concatenation is correct."""
    if step.before.kind == "moved":
        return _moved_parts(step)
    dimension = label_of(step.before)[1]
    first, second = ([*_parts(term, dimension)] for term in (step.before, step.after))
    demand(first == second, "other parts are joined")
    return Level.BITS


def _moved_parts(step: Step) -> Level:
    """Checks that movement of a concatenation is movement of one part, or the concatenation of moved parts."""
    numbers: dict[Term, int] = {}
    whole, plan = whole_plan(step.before, numbers)
    demand(is_op(whole, "concatenate"), "no concatenation")
    if _reads_part(whole, plan, step.after, numbers):
        return Level.BITS
    demand(is_op(step.after, "concatenate"), "other elements of a concatenation are read")
    for part, own in _sections(step.after):
        demand(_reads_part(whole, plan.append(own), part, numbers), "other elements of a part are read")
    return Level.BITS


def _sections(joined: Term) -> Iterator[tuple[Term, Slice]]:
    """Yields the parts of a concatenation, each with the slice of the whole that it is."""
    dimension, low, whole = label_of(joined)[1], 0, array_of(joined)
    for part in joined.operands:
        start, limit = [0] * whole.rank, [*whole.dimensions]
        start[dimension], limit[dimension] = low, low + array_of(part).dimensions[dimension]
        yield part, Slice(tuple(start), tuple(limit))
        low = limit[dimension]


def _reads_part(whole: Term, plan: Plan, term: Term, numbers: dict[Term, int]) -> bool:
    """Is true for movement of one part of a concatenation that reads the same elements as a plan of the whole."""
    part, moved = whole_plan(term, numbers)
    for operand, own in _sections(whole):
        base, inner = whole_plan(operand, numbers)
        highs = tuple(size - end for size, end in zip(array_of(whole).dimensions, own.limit, strict=True))
        # All other parts are padding with -1, a number that no plan uses.
        padded = Plan(*inner.result, (Pad(own.start, highs),), (-1,))
        if base is part and same_reads(inner.then(padded).then(plan), moved):
            return True
    return False


def _joined_slices(step: Step) -> Level:
    """Checks that a concatenation of adjacent slices of one array is the whole array."""
    demand(is_op(step.before, "concatenate"), "no concatenation")
    numbers: dict[Term, int] = {}
    base, whole = whole_plan(step.after, numbers)
    for part, own in _sections(step.before):
        other, found = whole_plan(part, numbers)
        demand(base is other and same_reads(whole.append(own), found), "other slices")
    return Level.BITS


def _part(step: Step) -> Level:
    """Checks cut(dot(x, y)) = dot(cut(x), y), and the same for reductions and broadcasts."""
    before, after = step.before, step.after
    (whole,), plan = before.operands, plan_of(before)
    cut = _cut_of(plan)
    demand(plan == cut.plan(array_of(whole)), "other movement than a cut")
    cuts = operand_cuts(whole.kind, whole.label, cut)
    demand(cuts is not None, "another operation")
    demand((after.kind, after.label) == (whole.kind, whole.label), "another operation")
    for operand, other, own in zip(whole.operands, after.operands, cuts or (), strict=True):
        if own is None:
            demand(operand is other, "another operand")
        else:
            is_cut = other.kind == "moved" and other.operands == (operand,)
            demand(is_cut and other.label == own.plan(array_of(operand)), "another cut of an operand")
    return Level.BITS if is_op(whole, "broadcast") else nan_level(before)


def _cut_of(plan: Plan) -> Cut:
    """Returns the cut that a plan of reshape, slice and reshape is; raises RefusedError for other plans."""
    demand([step.opcode for step in plan.steps] == ["reshape", "slice", "reshape"], "no cut")
    split, step = plan.stages[1][1], plan.steps[1]
    assert isinstance(step, Slice)  # demanded above
    changed = [i for i, size in enumerate(split) if (step.start[i], step.limit[i]) != (0, size)]
    demand(len(changed) == 1 and changed[0] > 0, "several dimensions are cut")
    (middle,) = changed
    return Cut(middle - 1, split[middle - 1], split[middle], step.start[middle], step.limit[middle])


# Combinations


def nan_level(term: Term) -> Level:
    """Returns `BITS` for integers and truth values, `NAN` for other types."""
    kind = array_of(term).element_type
    return Level.BITS if kind.is_integral or kind.name == "pred" else Level.NAN


def reducer(step: Step) -> tuple[Term, str, ElementType, int]:
    """Returns a reduction's function and the opcode, type and level it must have; raises RefusedError."""
    (general,) = step.before.operands if step.before.kind == "out" else (step.before,)
    array, initial, function = general.operands
    kind = array_of(array).element_type
    demand(step.after.operands[:2] == (array, initial) and array_of(initial).element_type == kind, "other operands")
    first, (name, opcode, *rest) = label_of(general), label_of(step.after)
    demand(first == (name, None, *_unskipped(first, rest, opcode, kind, constant_bits(initial))), "another window")
    level = level_of_function(function, kind)
    return function.operands[0], opcode, kind, level


def _unskipped(
    first: tuple[Any, ...], rest: Sequence[Any], opcode: str, kind: ElementType, initial: int | None
) -> Sequence[Any]:
    """Returns the label after a step with the padding flag from before it, where the flag does not matter."""
    if not rest:
        return rest
    window = first[2]
    if absorbs(opcode, kind, initial) or not any(dimension.has_padding for dimension in window):
        return [*rest[:-1], first[-1]]
    return rest


def _masked(step: Step) -> Level:
    """Checks that a select by a constant mask is a part of one branch, padded with the other branch."""
    predicate, *branches = step.before.operands
    demand((step.before.kind, step.before.label) == ("each", "select"), "no select")
    part, scalar = step.after.operands
    mask = ConstantArrays().value(predicate)
    demand(mask is not None and mask.shape == array_of(step.before).dimensions, "no constant mask")
    for kept, other, keeps in ((*branches, mask), (*branches[::-1], ~mask)):
        is_other = other.kind == "splat" and other.operands == (scalar,)
        if is_other and part.operands == (kept,) and keeps_exactly(keeps, plan_of(part), plan_of(step.after)):
            return Level.BITS
    raise RefusedError("the mask is true for other elements")


def _constant_arrays(step: Step) -> Level:
    """Checks that both sides depend on no input and have the same values."""
    arrays = ConstantArrays()
    first, second = arrays.value(step.before), arrays.value(step.after)
    demand(first is not None and second is not None, "no constant arrays")
    demand(first.shape == second.shape and bool((first == second).all()), "other values")
    return Level.BITS


def _constant_function(step: Step) -> Level:
    """Checks that a function of constants may be rounded to a constant."""
    kind, operands, bits = array_of(step.before).element_type, step.before.operands, constant_bits(step.after)
    known = [each for each in map(constant_bits, operands) if each is not None]
    demand(
        step.before.kind == "each" and {array_of(each) for each in operands} == {array_of(step.before)}, "no function"
    )
    is_rounded = len(known) == len(operands) and bits is not None and rounds_to(step.before.label, kind, known, bits)
    demand(is_rounded, "another constant")
    return Level.ENGINE


def _one_branch(step: Step) -> Level:
    demand(step.before.kind == "choice", "no choice")
    demand(all(branch is step.after for branch in step.before.operands[1:]), "branches differ")
    return Level.BITS


def _regrouped(step: Step) -> Level:
    """Checks that both sides combine the same elements; an inexact sum only up to the engine's order."""
    before, after = step.before, step.after
    kind, opcode = array_of(before).element_type, opcode_of_combination(before)
    demand(opcode is not None, "no combination")
    assert opcode is not None  # demanded above
    demand(all(try_combination(term, opcode) for term in (before, after)), "no combination")
    demand(try_prove_same_combination(before, after, opcode), "other elements are combined")
    return nan_level(before) if is_exact(opcode, kind) else Level.ENGINE


CHECKS: Mapping[str, Callable[[Step], Level]] = {
    "broadcast": _broadcast,
    "broadcast-moved": _broadcast_moved,
    "concatenate": _concatenate,
    "converted": _through,
    "constant-arrays": _constant_arrays,
    "constant-function": _constant_function,
    "joined-slices": _joined_slices,
    "masked": _masked,
    "moved": _reads,
    "one-branch": _one_branch,
    "part": _part,
    "regrouped": _regrouped,
    "reverse": _reverse,
    "through": _through,
}
