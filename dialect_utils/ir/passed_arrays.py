"""The arrays that calls, loops and branches pass, alone or in tuples, and how they become other arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from dialect_utils.ir import Builder, Function, Join, Module, Operand, Operation, Passed, Value, Yielded
from dialect_utils.ir.chains import emit_chain, is_plain, is_returned
from dialect_utils.ir.control_flow import joins_of, merged
from dialect_utils.layout import ArrayShape, Layout, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, with_trait

# Fusions pass arrays, too, but the compiler chose those arrays.
_PASSING = with_trait(Trait.CONTROL_FLOW)


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
    def owner(self) -> Operation | Function:
        """Returns the operation that has the operand, or the function that has the result."""
        return self.slot.operation if isinstance(self.slot, Operand) else self.slot.function

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
    def passing(self) -> set[Operation | Function]:
        """Returns the operations and functions that pass the array."""
        return {source.packed_by or source.owner for source in self.sources}

    @property
    def functions(self) -> set[Function]:
        """Returns the functions that pass or receive the array."""
        passing = {
            source.slot.operation.function if isinstance(source.slot, Operand) else source.slot.function
            for source in self.sources
        }
        return passing | {target.function for target in self.targets}

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
    return ArrayShape(element_type, dimensions, None if shape.layout is None else Layout.descending(len(dimensions)))


def passed_arrays(module: Module, crossed: Set[str] = _PASSING) -> list[PassedArray]:
    """Returns every array that passes a call, loop or branch, or other operations in `crossed`, in module order."""
    passing: list[Operation] = []
    applied: set[Function] = set()
    for operation in module.operations():
        if operation.opcode in crossed:
            passing.append(operation)
        else:
            applied.update(operation.called)
    joins = [join for operation in passing for join in joins_of(operation)]
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
