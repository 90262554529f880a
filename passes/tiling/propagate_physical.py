"""Moves elementwise ops, calls, loops and branches onto physical arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from dialect_utils.ir import Builder, Function, Join, Module, Operand, Operation, Passed, Value, Yielded, array_shape
from dialect_utils.ir.chains import (
    Chain,
    chain_to,
    chains_from,
    emit_chain,
    erase_dead,
    is_plain,
    is_returned,
    padding_unless_unread,
    relayout_users,
    relayouts_of,
)
from dialect_utils.ir.control_flow import merged
from dialect_utils.layout import ArrayShape, Layout, TupleShape
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import named
from passes.framework.base import Report, module_pass
from passes.tiling.regions import LONGEST_CHAIN, best_region, is_pack

# The most ops that pack and unpack a value.
_LONGEST_ROUND_TRIP = 16
# The most physical arrays that are tried at calls, loops and branches.
_MOST_TRIALS = 8
# Not fusions: the compiler chose their arrays.
_PASSING = named("call conditional while")


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
    """Returns the passed arrays and the plan for which packing leaves the fewest ops, found by trying on clones."""
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


@dataclass(frozen=True, slots=True)
class ArrayOperand:
    """One array that an operand or a function result passes, alone or as an `element` of a tuple made only for that."""

    slot: Passed
    element: int | None = None

    @property
    def packed_by(self) -> Operation | None:
        """Returns the tuple op whose only use is this slot, or None."""
        whole, slot = self.slot.value, self.slot
        if whole.operation is None or whole.operation.opcode != "tuple":
            return None
        passed = slot.operation.operands if isinstance(slot, Operand) else slot.function.results
        users = [slot.operation] if isinstance(slot, Operand) else []
        is_alone = list(whole.users) == users and list(passed).count(whole) == 1
        return whole.operation if is_alone else None

    @property
    def value(self) -> Value:
        """Returns the passed array."""
        if self.element is None:
            return self.slot.value
        assert self.packed_by is not None  # checked by _split
        return self.packed_by.operands[self.element]

    def builder(self, module: Module) -> Builder:
        """Returns a builder before the operation, or at the end of the function, that passes the array."""
        if self.element is not None and self.packed_by is not None:
            return module.before(self.packed_by)
        slot = self.slot
        return module.before(slot.operation) if isinstance(slot, Operand) else module.at_end(slot.function)

    def replace(self, value: Value) -> None:
        """Passes another value."""
        packed = self.packed_by
        if self.element is None or packed is None:
            self.slot.replace(value)
            return
        packed.set_operand(self.element, value)
        packed.results[0].set_shape(TupleShape(tuple(operand.shape for operand in packed.operands)))


@dataclass(slots=True)
class PassedArray:
    """One passed array: its sources and the values that receive it.

    `targets` are the parameters and results that receive it; `received` are the targets or, if they are tuples, the
    get-tuple-elements of `element`.
    """

    sources: list[ArrayOperand]
    targets: list[Value]
    element: int | None = None
    received: list[Value] = field(default_factory=list)

    @property
    def values(self) -> Sequence[Value]:
        """Returns the joined arrays: those that are passed, then those that are received."""
        return [*(source.value for source in self.sources), *self.received]

    def pack(self, module: Module, plan: Plan) -> None:
        """Passes physical arrays: packs at every source, and unpacks after every received value."""
        for source in self.sources:
            value = source.value
            source.replace(emit_chain(source.builder(module), plan, value, base=value.name, like=value))
        for target in self.targets:
            if self.element is not None and isinstance(target.shape, TupleShape):
                elements = list(target.shape.elements)
                elements[self.element] = _physical(elements[self.element], plan)
                target.set_shape(TupleShape(tuple(elements)))
        for value in self.received:
            value.set_shape(_physical(value.shape, plan))
            earlier = list(value.users)
            logical = emit_chain(module.after(value), plan.inverse(), value, base=value.name, like=value)
            value.replace_uses(logical, keep=[user for user in value.users if user not in earlier])


def _physical(shape: object, plan: Plan) -> ArrayShape:
    assert isinstance(shape, ArrayShape)
    element_type, dimensions = plan.result
    layout = None if shape.layout is None else Layout.descending(len(dimensions))
    return ArrayShape(element_type, dimensions, layout)


def passed_arrays(module: Module) -> list[PassedArray]:
    """Returns every array that passes a call, loop or branch, in module order."""
    passing = [operation for operation in module.operations() if operation.opcode in _PASSING]
    joins = [join for operation in passing for join in operation.control_flow()]
    others = (operation for operation in module.operations() if operation.opcode not in _PASSING)
    applied = {function for operation in others for function in operation.called}
    return [array for join in merged(joins) if _is_closed(join, applied) for array in _split(join)]


def _is_closed(join: Join, applied: Set[Function]) -> bool:
    """Is true if only calls, loops and branches call the joined functions; `applied` are those that others call."""
    yielding = [slot.function for slot in join.sources if isinstance(slot, Yielded)]
    taking = [value.function for value in join.targets if value.operation is None]
    return applied.isdisjoint((*yielding, *taking))


def _split(join: Join) -> Iterator[PassedArray]:
    """Yields the joined arrays, but nothing for a tuple that is used as a whole or a tiled array."""
    sources, targets = [ArrayOperand(slot) for slot in join.sources], list(join.targets)
    shape = targets[0].shape
    if isinstance(shape, ArrayShape):
        if all(map(is_plain, (*targets, *(source.value for source in sources)))):
            yield PassedArray(sources, targets, None, targets)
        return
    if not isinstance(shape, TupleShape) or any(source.packed_by is None for source in sources):
        return
    users = [user for target in targets for user in target.users]
    if any(user.opcode != "get-tuple-element" for user in users) or any(map(is_returned, targets)):
        return
    for i in range(len(shape.elements)):
        received = [user.results[0] for user in users if user.ints("index") == (i,)]
        parts = [ArrayOperand(slot, i) for slot in join.sources]
        if all(map(is_plain, (*received, *(part.value for part in parts)))):
            yield PassedArray(parts, targets, i, received)
