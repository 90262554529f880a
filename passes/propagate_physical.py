"""Lets elementwise ops work on physical arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import BitcastConvert, Pad
from dialect_utils.layout.movement import Movement, is_identity, normal_form
from passes.base import Pass, Report
from passes.boundaries import Port, arrays, ports
from passes.chains import (
    Chain,
    array_shape,
    chain_to,
    chains_from,
    erase_dead,
    fill_unless_unread,
    is_plain,
    movement_users,
    movements_of,
)
from passes.physical_regions import LONGEST_CHAIN, best_region, is_put, read_back, retyped

# A put with its read-back takes no more ops.
_LONGEST_ROUND = 16
# Of the physical arrays met at calls, loops and branches, this many are tried.
_MOST_TRIALS = 8


@dataclass(frozen=True)
class PropagatePhysical(Pass):
    """Lets elementwise ops work on physical arrays, so that read-backs and puts between them vanish.

    A put is a chain of movement ops that pads or splits dimensions, and whose padding nobody reads.

    1. What is read back from a physical array as it was put there is the value itself again.
    2. An elementwise op that is put into a physical array, and whose operands are read back from
       physical arrays of the same kind, works on those. Scalars stay scalars; splat constants and
       broadcast scalars are made in the physical size. An operand may itself be such an op, or be
       put where this still saves ops.
    3. Other users of an op that moved read its physical array back.
    4. Calls, loops and branches, through tuples where HLO has them, pass physical arrays: all that
       have the same dimensions, or one alone.

    An op moves only where fewer data-movement ops are left, and physical arrays meet only where
    they hold the same elements in the same places: a bf16 array seldom lies like an f32 one.
    What a physical array holds in its padding reaches no value that is read.

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

    name: ClassVar[str] = "propagate-physical"

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        propagate_physical(module)


def propagate_physical(module: Module) -> None:
    """Moves ops and boundaries to physical arrays in place, as the pass does.

    Ends: every change leaves fewer data-movement ops.
    """
    _propagate(module)
    while (move := _boundary_move(module)) is not None:
        _put_ports(module, *move)


def _propagate(module: Module) -> None:
    changed = True
    while changed:
        changed = False
        for function in module.functions:
            changed |= _drop_rounds(function)
            changed |= _propagate_in(module, function)


def _boundary_move(module: Module) -> tuple[tuple[int, ...], Movement] | None:
    """Returns the ports that leave the fewest ops when they pass the physical arrays of a movement, found by trying."""
    found = ports(module)
    if not found:
        return None
    best, fewest = None, _count(module)
    for indices, movement in _candidates(found):
        trial = module.clone()
        _put_ports(trial, indices, movement)
        if _count(trial) < fewest:
            best, fewest = (indices, movement), _count(trial)
    return best


def _put_ports(module: Module, indices: tuple[int, ...], movement: Movement) -> None:
    found = ports(module)
    for index in indices:
        element_type = array_shape(arrays(found[index])[0]).element_type
        found[index].put(module, retyped(movement, element_type))
    _propagate(module)


def _count(module: Module) -> int:
    return sum(len(movements_of(function)) for function in module.functions)


def _candidates(found: Sequence[Port]) -> Iterator[tuple[tuple[int, ...], Movement]]:
    """Yields every physical array met at a boundary, for all ports of its dimensions and for each alone."""
    seen: set[Movement] = set()
    for port in found:
        for movement in (m for value in arrays(port) for m in _physical_arrays_of(value)):
            if movement in seen or len(seen) >= _MOST_TRIALS:
                continue
            seen.add(movement)
            fitting = tuple(i for i, other in enumerate(found) if _fits(other, movement))
            yield fitting, movement
            if len(fitting) > 1:
                yield from (((i,), movement) for i in fitting)


def _fits(port: Port, movement: Movement) -> bool:
    values = arrays(port)
    types = {(array_shape(value).element_type, array_shape(value).dimensions) for value in values}
    is_packed = any(isinstance(step, BitcastConvert) for step in movement.plan.steps)
    wanted = (movement.plan.element_type, movement.plan.dimensions)
    return len(types) == 1 and (types == {wanted} if is_packed else next(iter(types))[1] == wanted[1])


def _physical_arrays_of(value: Value) -> Iterator[Movement]:
    """Yields the puts of a value, and what would put it where it was read back from."""
    for chain in chains_from(value, LONGEST_CHAIN):
        movement = normal_form(chain.movement(fill_unless_unread))
        if is_put(movement):
            yield movement
    whole = chain_to(value, LONGEST_CHAIN)
    for start in range(len(whole.operations)):
        back = Chain(whole.operations[start].operands[0], whole.operations[start:]).movement()
        if not any(isinstance(step, Pad) for step in back.plan.steps):
            movement = normal_form(read_back(back))
            if is_put(movement):
                yield movement


def _drop_rounds(function: Function) -> bool:
    """Lets users of a value that was put and read back use the value itself (rule 1)."""
    gone: set[Operation] = set()
    for operation in movements_of(function):
        if operation in gone:
            continue
        value = operation.results[0]
        whole = chain_to(value, _LONGEST_ROUND)
        for start in range(len(whole.operations) - 1):
            chain = Chain(whole.operations[start].operands[0], whole.operations[start:])
            if array_shape(chain.source) == array_shape(value) and is_identity(chain.movement()):
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
        region = best_region(value) if is_plain(value) and movement_users(value) else None
        if region is not None:
            gone |= region.move(module)
            changed = True
    return changed
