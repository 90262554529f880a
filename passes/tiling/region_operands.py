"""What calls, loops and branches pass along: for every array, where it comes in and where it comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dialect_utils.chains import emit_chain, is_plain
from dialect_utils.control_flow import merged
from dialect_utils.ir import Builder, Join, Module, Operand, Operation, Passed, Value, Yielded
from dialect_utils.layout import ArrayShape, Layout, Plan, TupleShape
from dialect_utils.ops import named

# A fusion's body is the compiler's own: it keeps its arrays.
_PASSING = named("call conditional while")


@dataclass(frozen=True, slots=True)
class ArrayOperand:
    """One place where an array is passed, alone or as an `element` of a tuple that is made for this place only."""

    place: Passed
    element: int | None = None

    @property
    def packed_by(self) -> Operation | None:
        """Returns the op that makes the tuple for nothing but this place, or None."""
        whole, place = self.place.value, self.place
        if whole.operation is None or whole.operation.opcode != "tuple":
            return None
        passed = place.operation.operands if isinstance(place, Operand) else place.function.results
        users = [place.operation] if isinstance(place, Operand) else []
        is_alone = list(whole.users) == users and list(passed).count(whole) == 1
        return whole.operation if is_alone else None

    @property
    def value(self) -> Value:
        """Returns the array that is passed."""
        if self.element is None:
            return self.place.value
        assert self.packed_by is not None  # whoever makes an element has looked
        return self.packed_by.operands[self.element]

    def builder(self, module: Module) -> Builder:
        """Returns a builder before the place."""
        if self.element is not None and self.packed_by is not None:
            return module.before(self.packed_by)
        place = self.place
        return module.before(place.operation) if isinstance(place, Operand) else module.at_end(place.function)

    def replace(self, value: Value) -> None:
        """Passes another value."""
        packed = self.packed_by
        if self.element is None or packed is None:
            self.place.replace(value)
            return
        packed.set_operand(self.element, value)
        packed.results[0].set_shape(TupleShape(tuple(operand.shape for operand in packed.operands)))


@dataclass(slots=True)
class PassedArray:
    """One array that is passed: the places it comes from and the values that it arrives as.

    `targets` are the values that it arrives in; `received` are they themselves or, where they are
    tuples, what takes it out as their `element`.
    """

    sources: list[ArrayOperand]
    targets: list[Value]
    element: int | None = None
    received: list[Value] = field(default_factory=list)

    @property
    def values(self) -> Sequence[Value]:
        """Returns every array that is joined: what is passed, then what it arrives as."""
        return [*(source.value for source in self.sources), *self.received]

    def pack(self, module: Module, plan: Plan) -> None:
        """Passes physical arrays: packs at every source, unpacks after every value that arrives."""
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
    """Returns every array that passes a call, loop or branch, in the order of the module."""
    passing = [operation for operation in module.operations() if operation.opcode in _PASSING]
    joins = [join for operation in passing for join in operation.control_flow()]
    return [array for join in merged(joins) if _is_closed(join) for array in _split(join)]


def _is_closed(join: Join) -> bool:
    """Is true where nothing but calls, loops and branches passes to and from the functions that are joined."""
    yielding = [place.function for place in join.sources if isinstance(place, Yielded)]
    taking = [value.function for value in join.targets if value.operation is None]
    return all(caller.opcode in _PASSING for function in (*yielding, *taking) for caller in function.callers)


def _split(join: Join) -> Iterator[PassedArray]:
    """Yields the arrays that are joined; none where a tuple is used as a whole or a shape is tiled."""
    sources, targets = [ArrayOperand(place) for place in join.sources], list(join.targets)
    shape = targets[0].shape
    if isinstance(shape, ArrayShape):
        if all(map(is_plain, (*targets, *(source.value for source in sources)))):
            yield PassedArray(sources, targets, None, targets)
        return
    if not isinstance(shape, TupleShape) or any(source.packed_by is None for source in sources):
        return
    users = [user for target in targets for user in target.users]
    if any(user.opcode != "get-tuple-element" for user in users) or any(map(_is_yielded, targets)):
        return
    for i in range(len(shape.elements)):
        received = [user.results[0] for user in users if user.ints("index") == (i,)]
        places = [ArrayOperand(place, i) for place in join.sources]
        if all(map(is_plain, (*received, *(place.value for place in places)))):
            yield PassedArray(places, targets, i, received)


def _is_yielded(value: Value) -> bool:
    return value in value.function.results
