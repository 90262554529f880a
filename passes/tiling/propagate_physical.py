"""Lets elementwise ops work on physical arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialect_utils.chains import (
    Chain,
    chain_to,
    chains_from,
    erase_dead,
    is_plain,
    padding_unless_unread,
    relayout_users,
    relayouts_of,
)
from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.layout import Plan
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from passes.framework.base import Report, module_pass
from passes.tiling.region_operands import PassedArray, passed_arrays
from passes.tiling.regions import LONGEST_CHAIN, best_region, is_pack

# Packing and unpacking takes no more ops.
_LONGEST_ROUND_TRIP = 16
# Of the physical arrays met at calls, loops and branches, this many are tried.
_MOST_TRIALS = 8


@module_pass
def propagate_physical(module: Module, report: Report) -> None:
    """Lets elementwise ops work on physical arrays, so that what unpacks and packs between them vanishes.

    A chain of data-movement ops that pads or splits dimensions, and whose padding nobody reads, packs its
    source into a physical array; its inverse unpacks.

    1. What is unpacked from a physical array as it was packed is the value itself again.
    2. An elementwise op that is packed into a physical array, and whose operands are unpacked from
       physical arrays of the same kind, works on those. Scalars stay scalars; splat constants and
       broadcast scalars are made in the physical size. An operand may itself be such an op, or be
       packed where this still saves ops.
    3. Other users of an op that moved unpack its physical array.
    4. Calls, loops and branches, through tuples where HLO has them, pass physical arrays: all that
       have the same dimensions, or one alone.

    An op moves only where fewer data-movement ops are left, and physical arrays meet only where
    they hold the same elements in the same places: a bf16 array is seldom laid out like an f32 one.
    What a physical array holds in its padding reaches no value that is read.

    Ends: every change leaves fewer data-movement ops.

    Before:
        HloModule m
        ENTRY e {
          p = f32[2,3,4] parameter(0)
          a = f32[6,4] reshape(p)
          b = f32[6,4] negate(a)
          ROOT c = f32[2,3,4] reshape(b)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[2,3,4] parameter(0)
          ROOT b.physical = f32[2,3,4] negate(p)
        }
    """
    _propagate(module)
    while (move := _boundary_move(module)) is not None:
        _pack_ports(module, *move)


def _propagate(module: Module) -> None:
    changed = True
    while changed:
        changed = False
        for function in module.functions:
            changed |= _drop_round_trips(function)
            changed |= _propagate_in(module, function)


def _boundary_move(module: Module) -> tuple[tuple[int, ...], Plan] | None:
    """Returns the arrays that leave the fewest ops when they pass the physical arrays of a plan, found by trying."""
    found = passed_arrays(module)
    if not found:
        return None
    best, fewest = None, _count(module)
    for indices, plan in _candidates(found):
        trial = module.clone()
        _pack_ports(trial, indices, plan)
        if _count(trial) < fewest:
            best, fewest = (indices, plan), _count(trial)
    return best


def _pack_ports(module: Module, indices: tuple[int, ...], plan: Plan) -> None:
    found = passed_arrays(module)
    for index in indices:
        element_type = array_shape(found[index].values[0]).element_type
        found[index].pack(module, plan.retyped(element_type))
    _propagate(module)


def _count(module: Module) -> int:
    return sum(len(relayouts_of(function)) for function in module.functions)


def _candidates(found: Sequence[PassedArray]) -> Iterator[tuple[tuple[int, ...], Plan]]:
    """Yields every physical array met at a boundary, for all arrays of its dimensions and for each alone."""
    seen: set[Plan] = set()
    for array in found:
        for plan in (each for value in array.values for each in _packs_of(value)):
            if plan in seen or len(seen) >= _MOST_TRIALS:
                continue
            seen.add(plan)
            fitting = tuple(i for i, other in enumerate(found) if _fits(other, plan))
            yield fitting, plan
            if len(fitting) > 1:
                yield from (((i,), plan) for i in fitting)


def _fits(array: PassedArray, plan: Plan) -> bool:
    types = {array_shape(value).type_and_dimensions for value in array.values}
    if plan.regroups_bits:
        return types == {plan.start}
    return len(types) == 1 and next(iter(types))[1] == plan.dimensions


def _packs_of(value: Value) -> Iterator[Plan]:
    """Yields the plans that pack a value, and what would pack it into what it was unpacked from."""
    for chain in chains_from(value, LONGEST_CHAIN):
        plan = normal_form(chain.plan(padding_unless_unread))
        if is_pack(plan):
            yield plan
    whole = chain_to(value, LONGEST_CHAIN)
    for start in range(len(whole.operations)):
        back = Chain(whole.operations[start].operands[0], whole.operations[start:]).plan()
        if not back.adds_elements:
            plan = normal_form(back.inverse())
            if is_pack(plan):
                yield plan


def _drop_round_trips(function: Function) -> bool:
    """Lets users of a value that was packed and unpacked use the value itself (rule 1)."""
    gone: set[Operation] = set()
    for operation in relayouts_of(function):
        if operation in gone:
            continue
        value = operation.results[0]
        whole = chain_to(value, _LONGEST_ROUND_TRIP)
        for start in range(len(whole.operations) - 1):
            chain = Chain(whole.operations[start].operands[0], whole.operations[start:])
            if array_shape(chain.source) == array_shape(value) and is_identity(chain.plan()):
                value.replace_uses(chain.source)
                gone |= erase_dead([value])
                break
    return bool(gone)


def _propagate_in(module: Module, function: Function) -> bool:
    gone: set[Operation] = set()
    changed = False
    for operation in function.operations:
        if operation in gone or len(operation.results) != 1:
            continue
        value = operation.results[0]
        region = best_region(value) if is_plain(value) and relayout_users(value) else None
        if region is not None:
            gone |= region.move(module)
            changed = True
    return changed
