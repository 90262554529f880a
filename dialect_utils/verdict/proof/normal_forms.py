"""Normal forms of plans over terms, each proved to read the same elements before it is used."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

from dialect_utils.layout import ELEMENT_TYPES, ElementType, Pad, Reshape, Slice, Transpose
from dialect_utils.layout.moves.normal_form import normal_form, split_at_padding
from dialect_utils.layout.moves.plan import PaddingValue, Plan, try_with_leading
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.layout.proof.enumeration import Method
from dialect_utils.layout.proof.reads import origin_of, reads_only_padding, try_prove_same_reads

# Plans that regroup no bits are the same for every element type.
_ANY_TYPE = ELEMENT_TYPES["u8"]

# The padding value that represents all parts of a concatenation but one.
_OTHER_PARTS = "other parts"

# A number for every padding value, so that plans which differ only in padding terms share a cache entry.
Numbers = dict[PaddingValue, int]


def numbered(plan: Plan, numbers: Numbers) -> Plan:
    """Returns the plan with numbers as padding values and a fixed type; extends `numbers` by new values."""
    return _with_paddings(plan, lambda padding: numbers.setdefault(padding, len(numbers))).retyped(_ANY_TYPE)


def normalized(plan: Plan) -> tuple[Plan, Method]:
    """Returns the normal form of a plan, and the method that proved that it reads the same elements."""
    if not plan.steps:
        return plan, "structure"
    numbers: Numbers = {}
    form, method = _proved_form(numbered(plan, numbers))
    return _over(form, numbers, plan.element_type), method


def split(plan: Plan) -> tuple[Plan, Plan]:
    """Returns two plans whose composition reads the same; the first is the longest part without padding."""
    numbers: Numbers = {}
    before, after = _proved_split(numbered(plan, numbers))
    first = _over(before, numbers, plan.element_type)
    return first, _over(after, numbers, first.result[0])


def try_read_one_part(plan: Plan, dimension: int, parts: Sequence[tuple[int, ...]]) -> tuple[int, Plan] | None:
    """Returns the one part of a concatenation that a plan reads, and the plan on this part alone; else None.

    `parts` are the sizes of the parts that are joined along a dimension.
    """
    sizes = plan.result[1]
    if not plan.drops_elements or plan.regroups_bits or 0 in sizes:
        return None
    origin = origin_of(plan, (0,) * len(sizes)).index
    low = 0
    for number, part in enumerate(parts):
        if origin is not None and low <= origin[dimension] < low + part[dimension]:
            lows = tuple(low if i == dimension else 0 for i in range(len(part)))
            highs = tuple(whole - own - low for whole, own, low in zip(plan.dimensions, part, lows, strict=True))
            form = _without_others(Plan(plan.element_type, part, (Pad(lows, highs),), (_OTHER_PARTS,)).then(plan))
            return None if form is None else (number, form)
        low += part[dimension]
    return None


def try_read_update(plan: Plan, starts: Sequence[int], part: Sequence[int]) -> tuple[int, Plan] | None:
    """Returns 1 and a plan of an update where a plan reads only its elements, 0 and the plan where it reads none.

    The update of sizes `part` is written at `starts` into the array of the plan. Returns None where it reads both.
    """
    if not plan.drops_elements or plan.regroups_bits or 0 in plan.result[1]:
        return None
    highs = tuple(size - start - own for size, start, own in zip(plan.dimensions, starts, part, strict=True))
    whole = Plan(plan.element_type, tuple(part), (Pad(tuple(starts), highs),), (_OTHER_PARTS,)).then(plan)
    form = _without_others(whole)
    return (0, plan) if form is None and reads_only_padding(whole) else None if form is None else (1, form)


def _without_others(plan: Plan) -> Plan | None:
    """Returns an equal plan that pads with no other parts; None where it reads them."""
    form = normalized(plan)[0]
    if _OTHER_PARTS not in form.paddings:
        return form
    # Normal forms join dimensions; most plans that read one part read a box of it.
    box = try_box(plan)
    return None if box is None else normalized(box)[0]


def try_box(plan: Plan) -> Plan | None:
    """Returns an equal plan of a slice without strides and a reshape, None where there is none."""
    sizes = plan.result[1]
    if 0 in sizes:
        return None
    ends = [origin_of(plan, index).index for index in ((0,) * len(sizes), tuple(size - 1 for size in sizes))]
    start, last = ends
    if start is None or last is None or any(a > b for a, b in zip(start, last, strict=True)):
        return None
    box = Plan(*plan.start, (Slice(start, tuple(i + 1 for i in last)),))
    if prod(box.result[1]) != prod(sizes):
        return None
    box = box.then(Plan(*box.result, (Reshape(sizes),)))
    proof = try_prove_same_reads(plan, box)
    return box if proof is not None and proof.holds else None


def try_move_parts(plan: Plan, dimension: int, parts: Sequence[tuple[int, ...]]) -> tuple[int, list[Plan]] | None:
    """Moves a plan before a concatenation: returns the new dimension of the concatenation and the plan of each part.

    `parts` are the sizes of the parts, joined along `dimension`. Returns None where the plan changes that dimension.
    """
    sizes, kind = plan.result[1], plan.element_type
    if plan.regroups_bits or 0 in (*plan.dimensions, *sizes):
        return None
    first, back = _first(dimension, len(plan.dimensions))
    turned = Plan(kind, tuple(plan.dimensions[i] for i in first), (Transpose(back),)).then(plan)
    for to, size in enumerate(sizes):
        if size != plan.dimensions[dimension]:
            continue
        last, restored = _first(to, len(sizes))
        whole = normalized(turned.then(Plan(*plan.result, (Transpose(last),))))[0]
        moved = [try_with_leading(whole, 1, (part[dimension],)) for part in parts]
        known = [each for each in moved if each is not None]
        if len(known) == len(parts):
            ends = [Plan(*each.result, (Transpose(restored),)) for each in known]
            begins = [Plan(kind, part, (Transpose(first),)) for part in parts]
            return to, [normalized(a.then(b).then(c))[0] for a, b, c in zip(begins, known, ends, strict=True)]
    return None


def _first(dimension: int, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the permutation that moves a dimension first, and its inverse."""
    order = (dimension, *(i for i in range(rank) if i != dimension))
    return order, inverse_permutation(order)


def _over(form: Plan, numbers: Numbers, element_type: ElementType) -> Plan:
    """Returns a numbered plan with the original padding values and type."""
    values: dict[Hashable, Hashable] = {number: value for value, number in numbers.items()}
    return _with_paddings(form, values.__getitem__).retyped(element_type).simplified()


def _with_paddings(plan: Plan, change: Callable[[Hashable], Hashable]) -> Plan:
    return replace(plan, paddings=tuple(None if padding is None else change(padding) for padding in plan.paddings))


@lru_cache(maxsize=8192)
def _proved_form(plan: Plan) -> tuple[Plan, Method]:
    """Returns the normal form of a plan where it is proved to read the same, else the plan itself."""
    form = normal_form(plan)
    proof = try_prove_same_reads(plan, form)
    return (form, proof.method) if proof is not None and proof.holds else (plan, "structure")


@lru_cache(maxsize=8192)
def _proved_split(plan: Plan) -> tuple[Plan, Plan]:
    """Returns both parts of a plan if they are proved to read the same, else an empty plan and the plan."""
    parts = split_at_padding(plan)
    proof = try_prove_same_reads(plan, parts[0].then(parts[1]))
    return parts if proof is not None and proof.holds else (plan.part(0, 0), plan)
