"""Steps about whole arrays: each is checked by itself, from the two terms that it calls equal.

Longer than others: the check of each rule about arrays, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Reshape, Slice, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.reads import try_prove_same_reads
from dialect_utils.ops import Trait, by_opcode, has
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.replay.matching import constant_bits
from dialect_utils.verdict.rules.formats import value_of, word_bits
from dialect_utils.verdict.written.terms import Term
from dialect_utils.verdict.written.wellformed import RefusedError, demand

_ANY_TYPE = ELEMENT_TYPES["u8"]


def array_of(term: Term) -> ArrayShape:
    """Returns the shape of an array; raises RefusedError for others."""
    if not isinstance(term.shape, ArrayShape):
        raise RefusedError(f"{term.kind} is no array")
    return term.shape


def is_op(term: Term, name: str) -> bool:
    """Is true for a primitive of a name."""
    return term.kind == "op" and isinstance(term.label, tuple) and term.label[:1] == (name,)


# Movement


def chain_of(term: Term) -> tuple[Term, list[tuple[Plan, tuple[Term, ...]]]]:
    """Returns the array that plans start from, and the plans, first to last, with their padding values."""
    plans: list[tuple[Plan, tuple[Term, ...]]] = []
    while term.kind == "moved" and isinstance(term.label, Plan):
        plans.append((term.label, term.operands[1:]))
        term = term.operands[0]
    return term, plans[::-1]


def _whole_plan(term: Term, numbers: dict[Term, int]) -> tuple[Term, Plan]:
    """Returns the array that a chain starts from, and its plan with a number for each padding value."""
    base, plans = chain_of(term)
    whole = Plan(array_of(base).element_type, array_of(base).dimensions)
    for plan, scalars in plans:
        rest = iter(scalars)
        values = [None if p is None else numbers.setdefault(next(rest), len(numbers)) for p in plan.paddings]
        whole = whole.then(Plan(*whole.result, plan.steps, tuple(values)))
    return base, whole


def _same_reads(first: Plan, second: Plan) -> bool:
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


def _reads(step: Step) -> Level:
    """Checks that both chains of movement read the same elements of one array."""
    numbers: dict[Term, int] = {}
    (base, first), (other, second) = (_whole_plan(term, numbers) for term in (step.before, step.after))
    if base is other and _same_reads(first, second):
        return Level.BITS
    demand(base.kind == "splat" and _is_splat_of(step.after, base.operands[0]), "other elements are read")
    scalars = [scalar for _, paddings in chain_of(step.before)[1] for scalar in paddings]
    demand(all(scalar is base.operands[0] for scalar in scalars), "padding differs from the scalar")
    demand(not first.regroups_bits and step.before.shape == step.after.shape, "the movement regroups bits")
    return Level.BITS


def _through(step: Step) -> Level:
    """Checks that a movement of an elementwise operation became that operation on moved operands."""
    before, after = step.before, step.after
    inner = before.operands[0]
    demand(inner.kind == after.kind and inner.label == after.label, "another operation")
    demand(inner.kind in ("each", "choice") and len(before.operands) == 1, "the movement pads, or is of no operation")
    demand(before.kind == "moved" or any(is_op(before, name) for name in ("broadcast", "reverse")), "no movement")
    pairs = [*zip(inner.operands, after.operands, strict=True)][inner.kind == "choice" :]
    demand(inner.kind != "choice" or inner.operands[0] is after.operands[0], "another selector")
    for operand, moved in pairs:
        demand(moved.kind == before.kind and moved.operands == (operand,), "an operand moves otherwise")
        demand(array_of(moved).dimensions == array_of(before).dimensions, "another size")
        demand(_is_same_move(before.label, moved.label), "an operand moves otherwise")
    demand(array_of(after).element_type == array_of(before).element_type, "another element type")
    return Level.BITS


def _is_same_move(first: Hashable, second: Hashable) -> bool:
    if not isinstance(first, Plan) or not isinstance(second, Plan):
        return first == second
    is_plain = not first.regroups_bits and not second.regroups_bits and not first.adds_elements
    return is_plain and (first.dimensions, first.steps) == (second.dimensions, second.steps)


Origins = list[int | None]


def _origins(term: Term) -> tuple[Term, Origins]:
    """Returns the array that broadcasts start from, and its dimension for each dimension that is not of size 1.

    Dimensions of size 1 do not count on either side; None is a dimension that repeats the array.
    """
    sizes = array_of(term).dimensions
    large = [i for i, size in enumerate(sizes) if size != 1]
    if term.kind == "splat":
        return _origins(term.operands[0])[0], [None for _ in large]
    if is_op(term, "broadcast"):
        (operand,), targets = term.operands, label_of(term)[1]
        base, inner = _origins(operand)
        kept = [i for i, size in enumerate(array_of(operand).dimensions) if size != 1]
        demand(len(targets) == len(array_of(operand).dimensions) == len({*targets}), "dimensions do not fit")
        demand(all(array_of(operand).dimensions[i] == sizes[targets[i]] for i in kept), "sizes do not fit")
        found = dict(zip((targets[i] for i in kept), inner, strict=True))
        return base, [found.get(i) for i in large]
    if term.kind == "moved" and isinstance(term.label, Plan) and len(term.operands) == 1:
        base, origins = _origins(term.operands[0])
        moved = _rearranged(term.label, origins)
        if moved is not None:
            return base, moved
    return term, [*range(len(large))]


def _rearranged(plan: Plan, origins: Origins) -> Origins | None:
    """Returns origins after transposes and reshapes that add or drop dimensions of size 1; None for other plans."""
    for step, (_, before), (_, after) in zip(plan.steps, plan.stages, plan.stages[1:], strict=False):
        large = [i for i, size in enumerate(before) if size != 1]
        match step:
            case Transpose(permutation):
                origins = [origins[large.index(i)] for i in permutation if i in large]
            case Reshape() if [before[i] for i in large] == [size for size in after if size != 1]:
                pass
            case _:
                return None
    return origins


def _broadcast(step: Step) -> Level:
    """Checks that both sides repeat one array along the same dimensions."""
    (base, origins), (other, found) = _origins(step.before), _origins(step.after)
    demand(base is other and origins == found, "the broadcasts differ")
    return Level.BITS


def _reversals(term: Term) -> tuple[Term, frozenset[int]]:
    reversed_: frozenset[int] = frozenset()
    while is_op(term, "reverse"):
        sizes = array_of(term).dimensions
        reversed_ ^= frozenset(i for i in label_of(term)[1] if sizes[i] > 1)
        term = term.operands[0]
    return term, frozenset() if term.kind == "splat" or 0 in array_of(term).dimensions else reversed_


def _reverse(step: Step) -> Level:
    """Checks that both sides reverse the same dimensions of one array."""
    (base, first), (other, second) = _reversals(step.before), _reversals(step.after)
    demand(base is other and first == second, "other dimensions are reversed")
    return Level.BITS


def _parts(term: Term, dimension: int) -> Iterator[Term]:
    if is_op(term, "concatenate") and label_of(term)[1] == dimension:
        for operand in term.operands:
            yield from _parts(operand, dimension)
    elif array_of(term).dimensions[dimension]:
        yield term


def _concatenate(step: Step) -> Level:
    """Checks that both sides join the same parts; empty ones do not count."""
    demand(is_op(step.before, "concatenate"), "no concatenation")
    dimension = label_of(step.before)[1]
    first, second = ([*_parts(term, dimension)] for term in (step.before, step.after))
    demand(first == second and step.before.shape == step.after.shape, "other parts are joined")
    return Level.BITS


def label_of(term: Term) -> tuple[Any, ...]:
    """Returns the label of a term that is an operation."""
    assert isinstance(term.label, tuple)  # checked by the caller
    return term.label


def _iota(step: Step) -> Level:
    demand(is_op(step.before, "iota") and prod(array_of(step.before).dimensions) <= 1, "more than one number")
    demand(constant_bits(step.after) == 0 and array_of(step.after) == array_of(step.before), "another constant")
    demand(array_of(step.after).element_type.is_integral, "no integers")
    return Level.BITS


# Slices at computed positions


def _starts(indices: Sequence[Term], sizes: Sequence[int], whole: Sequence[int]) -> list[Hashable]:
    """Returns start indices, clamped: numbers where they are known, else the term."""
    found: list[Hashable] = []
    for index, size, full in zip(indices, sizes, whole, strict=True):
        kind, bits = array_of(index).element_type, constant_bits(index)
        if size == full:
            found.append(0)
        elif bits is None:
            found.append(index)
        else:
            is_negative = kind.is_signed and bits >> (kind.bits - 1)
            found.append(0 if is_negative else min(bits, full - size))
    return found


def _slice(term: Term) -> tuple[Term, list[Hashable]]:
    """Returns the array that a dynamic-slice takes a part of, and where that begins."""
    operand, *indices = term.operands
    return operand, _starts(indices, array_of(term).dimensions, array_of(operand).dimensions)


def _is_slice(term: Term, operand: Term, starts: Sequence[Hashable]) -> bool:
    """Is true for the slice of an array at known starts."""
    if operand.kind == "splat":
        return term.kind == "splat" and term.operands == operand.operands
    if term is operand:
        return not any(starts)
    known = tuple(start for start in starts if isinstance(start, int))
    ends = tuple(start + size for start, size in zip(known, array_of(term).dimensions, strict=False))
    is_whole = isinstance(term.label, Plan) and term.operands == (operand,) and len(known) == len(starts)
    return is_whole and isinstance(term.label, Plan) and term.label.steps == (Slice(known, ends),)


def _dynamic_slice(step: Step) -> Level:
    """Checks that both sides are one slice of one array, or one update of it."""
    before, after = step.before, step.after
    demand(before.shape == after.shape, "another shape")
    if is_op(before, "dynamic-slice"):
        operand, starts = _slice(before)
        is_same = is_op(after, "dynamic-slice") and _slice(after) == (operand, starts)
        demand(is_same or _is_slice(after, operand, starts), "other slices")
        return Level.BITS
    demand(is_op(before, "dynamic-update-slice"), "no slice")
    operand, update, *indices = step.before.operands
    sizes = array_of(update).dimensions, array_of(operand).dimensions
    if step.after is update:
        demand(sizes[0] == sizes[1], "the update is a part of the array")
        return Level.BITS
    demand(is_op(step.after, "dynamic-update-slice") and step.after.operands[:2] == (operand, update), "other arrays")
    demand(_starts(indices, *sizes) == _starts(step.after.operands[2:], *sizes), "another position")
    return Level.BITS


# Combinations


def nan_level(term: Term) -> Level:
    """Returns the equality of all bits, but for NaN in floats."""
    kind = array_of(term).element_type
    return Level.BITS if kind.is_integral or kind.name == "pred" else Level.NAN


# Values that a combination of integers or truth values may take any number of times, in words of the rules.
_NEUTRAL = by_opcode(
    {"add": "zeros", "or": "zeros", "xor": "zeros", "and": "ones", "maximum": "lowest", "minimum": "highest"}
)


def neutral(opcode: str, kind: ElementType) -> int | None:
    """Returns the bits that a combination may take any number of times; None where no bits are known to be such."""
    if kind.is_complex:
        return None
    if opcode == "multiply":
        return word_bits(kind, "true" if kind.name == "pred" else "1")
    word = "-0.0" if opcode == "add" and kind.is_floating else _NEUTRAL.get(opcode)
    return None if word is None else word_bits(kind, word)


def is_exact(opcode: str, kind: ElementType) -> bool:
    """Is true where a combination does not depend on how its elements are grouped."""
    if opcode in ("maximum", "minimum"):
        return not kind.is_complex
    return kind.is_integral or kind.name == "pred"


def _initial(step: Step) -> Level:
    """Checks that the initial value of an exact reduction is combined at the end, or that one element is left."""
    demand(is_op(step.before, "reduce"), "no reduction")
    opcode, (array, initial) = label_of(step.before)[1], step.before.operands
    kind, (rows, count) = array_of(array).element_type, array_of(array).dimensions
    after = step.after
    if count == 0:
        demand(_is_splat_of(after, initial) and array_of(after) == array_of(step.before), "another initial value")
        return Level.BITS
    demand(
        after.kind == "each" and after.label == opcode and array_of(after) == array_of(step.before), "another operation"
    )
    bare, last = after.operands
    demand(_is_splat_of(last, initial), "another initial value")
    demand(array_of(bare) == array_of(last) == array_of(after), "another element type")
    if is_op(bare, "reduce"):
        demand(is_exact(opcode, kind) and neutral(opcode, kind) is not None, "not exact")
        demand(bare.label == step.before.label and bare.operands[0] is array, "another reduction")
        demand(constant_bits(bare.operands[1]) == neutral(opcode, kind), "not neutral")
    else:
        is_moved = bare.kind == "moved" and isinstance(bare.label, Plan) and bare.label.steps == (Reshape((rows,)),)
        demand(count == 1 and is_moved and bare.operands == (array,), "more than one element")
    return nan_level(step.before)


def _is_splat_of(term: Term, scalar: Term) -> bool:
    return term is scalar or (term.kind == "splat" and term.operands[0] is scalar)


def reducer(step: Step) -> tuple[Term, str, ElementType, int]:
    """Returns a function, and the operation of two variables of a level that it has to be; raises RefusedError."""
    (general,) = step.before.operands if step.before.kind == "out" else (step.before,)
    array, initial, function = general.operands
    kind = array_of(array).element_type
    demand(step.after.operands[:2] == (array, initial) and array_of(initial).element_type == kind, "other operands")
    demand(step.before.shape == step.after.shape, "another shape")
    first, (name, opcode, *rest) = label_of(general), label_of(step.after)
    demand(first == (name, None, *_unskipped(first, rest, opcode, kind, constant_bits(initial))), "another window")
    demand(has(opcode, Trait.COMMUTATIVE) and len(function.operands) == 1, "no operation that commutes")
    tag, level, shapes, count = label_of(function)
    scalar = ArrayShape(kind, ())
    demand((tag, shapes, count) == ("function", (scalar, scalar), 1), "no function of two scalars")
    return function.operands[0], opcode, kind, level


def _unskipped(
    first: tuple[Any, ...], rest: Sequence[Any], opcode: str, kind: ElementType, initial: int | None
) -> Sequence[Any]:
    """Returns the window of a reduction with the meaning of padding that its function had before."""
    if not rest or rest[-1] == first[-1]:
        return rest
    window = first[2]
    is_idempotent = has(opcode, Trait.IDEMPOTENT) or (initial is not None and _absorbs(opcode, kind, initial))
    if is_idempotent or not any(dimension.has_padding for dimension in window):
        return [*rest[:-1], first[-1]]
    return rest


def _absorbs(opcode: str, kind: ElementType, bits: int) -> bool:
    """Is true for an initial value that a combination may take again: neutral ones, and 0 in a sum of floats."""
    return bits == neutral(opcode, kind) or (opcode == "add" and bits == 0 and value_of(kind, bits) == 0)


def _one_branch(step: Step) -> Level:
    demand(step.before.kind == "choice", "no choice")
    demand(all(branch is step.after for branch in step.before.operands[1:]), "branches differ")
    return Level.BITS


def _branches(step: Step) -> Level:
    """Checks that a select by a scalar is the choice between both arrays."""
    before, after = step.before, step.after
    demand((before.kind, before.label, after.kind, after.label) == ("each", "select", "choice", None), "no select")
    predicate, *results = before.operands
    demand(_is_splat_of(predicate, after.operands[0]) and results == [*after.operands[1:]], "other operands")
    demand(array_of(after.operands[0]) == ArrayShape(ELEMENT_TYPES["pred"], ()), "no truth value")
    return Level.BITS


CHECKS: Mapping[str, Callable[[Step], Level]] = {
    "branches": _branches,
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "dynamic-slice": _dynamic_slice,
    "initial-value": _initial,
    "iota": _iota,
    "moved": _reads,
    "one-branch": _one_branch,
    "reverse": _reverse,
    "through": _through,
}
