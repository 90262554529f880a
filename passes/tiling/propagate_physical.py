"""Moves elementwise ops, calls, loops and branches onto physical arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from dialect_utils.ir import Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import (
    Chain,
    chain_to,
    chains_from,
    erase_dead,
    is_plain,
    padding_unless_unread,
    relayout_users,
    relayouts_of,
)
from dialect_utils.ir.passed_arrays import PassedArray, passed_arrays
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from dialect_utils.layout.moves.plan import Plan
from passes.framework.base import Report, module_pass
from passes.tiling.regions import LONGEST_CHAIN, best_region, is_pack

# The most ops that pack and unpack a value.
_LONGEST_ROUND_TRIP = 16
# The most physical arrays that are tried at calls, loops and branches.
_MOST_TRIALS = 8


@module_pass
def propagate_physical(module: Module, report: Report) -> None:
    """Makes elementwise ops work on physical arrays, which removes the unpacking and packing ops between them.

    A chain of data-movement ops that pads or splits dimensions, and whose padding is never read, packs its source into
    a physical array; the inverse chain unpacks.

    1. A value that is packed and unpacked again is the value itself.
    2. An elementwise op works on physical arrays if its result is packed and its operands are unpacked from physical
       arrays by the same plan. Scalars stay scalars; splat constants and broadcast scalars get the physical size. An
       operand may itself be such an op, or is packed if this still saves ops.
    3. Other users of a moved op unpack its physical array.
    4. Calls, loops and branches, through HLO's tuples, pass physical arrays: all arrays of the same dimensions at once,
       or a single one.

    An op moves only if the module then has fewer data-movement ops, and physical arrays are combined only if they hold
    the same logical index at each position (bf16 and f32 arrays usually differ). Padding reaches no value that is read.

    Terminates: every change leaves fewer data-movement ops.

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
    _propagate(module, module.functions)
    while (move := _boundary_move(module)) is not None:
        _pack_ports(module, *move)


def _propagate(module: Module, edited: Iterable[Function]) -> Set[Function]:
    """Applies rules 1 to 3 until nothing changes, given the functions that were edited since nothing changed before.

    Returns the outermost functions that contain the edited functions.
    """
    # No op that moves has regions, so the functions stay the same.
    functions = {function: function.outermost for function in module.functions}
    # Regions use values of the functions around them, so an edit may concern any region of an outermost function.
    due = {function.outermost for function in edited}
    changed: set[Function] = set()
    while due:
        changed |= due
        again: set[Function] = set()
        for function, outermost in functions.items():
            if outermost in due or outermost in again:
                is_shorter = _drop_round_trips(function)
                if _propagate_in(module, function) or is_shorter:
                    again.add(outermost)
        due = again
    return changed


def _boundary_move(module: Module) -> tuple[tuple[int, ...], Plan] | None:
    """Returns the passed arrays and the plan for which packing leaves the fewest ops, found by trying on clones."""
    found = passed_arrays(module)
    if not found:
        return None
    counts = [len(relayouts_of(function)) for function in module.functions]
    best, fewest = None, sum(counts)
    for indices, plan in _candidates(found):
        trial = module.clone()
        edited = _pack_ports(trial, indices, plan)
        count = sum(
            len(relayouts_of(function)) if function.outermost in edited else before
            for function, before in zip(trial.functions, counts, strict=True)
        )
        if count < fewest:
            best, fewest = (indices, plan), count
    return best


def _pack_ports(module: Module, indices: tuple[int, ...], plan: Plan) -> Set[Function]:
    """Packs passed arrays and applies rules 1 to 3; returns the outermost functions that were edited."""
    arrays = passed_arrays(module)
    packed = [arrays[index] for index in indices]
    for array in packed:
        array.pack(module, plan.retyped(array_shape(array.values[0]).element_type))
    return _propagate(module, {function for array in packed for function in array.functions})


def _candidates(found: Sequence[PassedArray]) -> Iterator[tuple[tuple[int, ...], Plan]]:
    """Yields every plan that packs at a boundary, for all arrays of its dimensions and for each of them alone."""
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
    """Yields the plans that pack a value, and the inverses of the plans that unpacked it."""
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
    """Replaces a value that was packed and unpacked by the original value (rule 1)."""
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
