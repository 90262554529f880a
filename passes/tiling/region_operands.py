"""What calls, loops and branches pass along: for every array, where it comes in and where it comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dialect_utils.chains import emit_chain, is_plain
from dialect_utils.control_flow import merged
from dialect_utils.ir import Builder, Join, Module, Operand, Operation, Passed, Value, Yielded
from dialect_utils.layout import ArrayShape, Layout, Plan, TupleShape
from dialect_utils.opcodes import named

# A fusion's body is the compiler's own: it keeps its arrays.
_PASSING = named("call conditional while")


@dataclass(frozen=True, slots=True)
class Source:
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
        assert self.packed_by is not None  # ports are made of such places only
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
class Port:
    """One array that passes a boundary: the places it comes from and the values it arrives as.

    `carriers` are the values that hold it; in a tuple, `sinks` are the ops that take it out.
    """

    sources: list[Source]
    carriers: list[Value]
    element: int | None = None
    sinks: list[Value] = field(default_factory=list)

    def pack(self, module: Module, plan: Plan) -> None:
        """Passes physical arrays: packs at every source, unpacks after every sink."""
        for source in self.sources:
            value = source.value
            source.replace(emit_chain(source.builder(module), plan, value, base=value.name, like=value))
        for carrier in self.carriers:
            if self.element is not None and isinstance(carrier.shape, TupleShape):
                elements = list(carrier.shape.elements)
                elements[self.element] = _physical(elements[self.element], plan)
                carrier.set_shape(TupleShape(tuple(elements)))
        for sink in self.sinks:
            sink.set_shape(_physical(sink.shape, plan))
            earlier = list(sink.users)
            logical = emit_chain(module.after(sink), plan.inverse(), sink, base=sink.name, like=sink)
            sink.replace_uses(logical, keep=[user for user in sink.users if user not in earlier])


def _physical(shape: object, plan: Plan) -> ArrayShape:
    assert isinstance(shape, ArrayShape)
    element_type, dimensions = plan.result
    layout = None if shape.layout is None else Layout.descending(len(dimensions))
    return ArrayShape(element_type, dimensions, layout)


def ports(module: Module) -> list[Port]:
    """Returns every array that passes a call, loop or branch, in the order of the module."""
    passing = [operation for operation in module.operations() if operation.opcode in _PASSING]
    joins = [join for operation in passing for join in operation.control_flow()]
    return [port for join in merged(joins) if _is_closed(join) for port in _split(join)]


def _is_closed(join: Join) -> bool:
    """Is true where nothing but calls, loops and branches passes to and from the functions that are joined."""
    yielding = [place.function for place in join.sources if isinstance(place, Yielded)]
    taking = [value.function for value in join.targets if value.operation is None]
    return all(caller.opcode in _PASSING for function in (*yielding, *taking) for caller in function.callers)


def _split(join: Join) -> Iterator[Port]:
    """Yields the arrays that are joined; none where a tuple is used as a whole or a shape is tiled."""
    sources, carriers = [Source(place) for place in join.sources], list(join.targets)
    shape = carriers[0].shape
    if isinstance(shape, ArrayShape):
        if all(map(is_plain, (*carriers, *(source.value for source in sources)))):
            yield Port(sources, carriers, None, carriers)
        return
    if not isinstance(shape, TupleShape) or any(source.packed_by is None for source in sources):
        return
    users = [user for carrier in carriers for user in carrier.users]
    if any(user.opcode != "get-tuple-element" for user in users) or any(map(_is_yielded, carriers)):
        return
    for i in range(len(shape.elements)):
        sinks = [user.results[0] for user in users if user.ints("index") == (i,)]
        places = [Source(place, i) for place in join.sources]
        if all(map(is_plain, (*sinks, *(place.value for place in places)))):
            yield Port(places, carriers, i, sinks)


def _is_yielded(value: Value) -> bool:
    return value in value.function.results


def arrays(port: Port) -> Sequence[Value]:
    """Returns every array of a port: what comes in and what comes out."""
    return [*(source.value for source in port.sources), *port.sinks]
