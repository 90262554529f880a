"""What calls, loops and branches pass along: for every array, where it comes in and where it comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dialect_utils.ir import Builder, Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, Layout, TupleShape
from dialect_utils.layout.movement import Movement
from passes.chains import emit_movement, is_plain


@dataclass(frozen=True, slots=True)
class Source:
    """Is a place where a value is passed: an operand of an op, or a result that a function yields.

    `element` says which element of a tuple it is that is made for this place only.
    """

    at: Operation | Function
    index: int
    element: int | None = None

    @property
    def whole(self) -> Value:
        """Returns what is passed, the tuple where it is one."""
        return (self.at.results if isinstance(self.at, Function) else self.at.operands)[self.index]

    @property
    def packed_by(self) -> Operation | None:
        """Returns the op that makes the tuple for nothing but this place, or None."""
        operation = self.whole.operation
        if operation is None or operation.opcode != "tuple":
            return None
        passed = self.at.results if isinstance(self.at, Function) else self.at.operands
        users = [] if isinstance(self.at, Function) else [self.at]
        is_alone = list(self.whole.users) == users and list(passed).count(self.whole) == 1
        return operation if is_alone else None

    @property
    def value(self) -> Value:
        """Returns the array that is passed."""
        if self.element is None:
            return self.whole
        assert self.packed_by is not None  # ports are made of such places only
        return self.packed_by.operands[self.element]

    def builder(self, module: Module) -> Builder:
        """Returns a builder in front of the place."""
        if self.element is not None and self.packed_by is not None:
            return module.before(self.packed_by)
        return module.at_end(self.at) if isinstance(self.at, Function) else module.before(self.at)

    def replace(self, value: Value) -> None:
        """Passes another value."""
        if self.element is not None and self.packed_by is not None:
            packed = self.packed_by
            packed.set_operand(self.element, value)
            packed.results[0].set_shape(TupleShape(tuple(operand.shape for operand in packed.operands)))
        elif isinstance(self.at, Function):
            results = list(self.at.results)
            results[self.index] = value
            self.at.set_results(results)
        else:
            self.at.set_operand(self.index, value)


@dataclass(slots=True)
class Port:
    """Is one array that passes a boundary: the places it comes from and the values it arrives as.

    `carriers` are the values that hold it; in a tuple, `sinks` are the ops that take it out.
    """

    sources: list[Source]
    carriers: list[Value]
    element: int | None = None
    sinks: list[Value] = field(default_factory=list)

    def put(self, module: Module, movement: Movement) -> None:
        """Passes physical arrays: puts at every source, reads back behind every sink."""
        for source in self.sources:
            value = source.value
            put = emit_movement(source.builder(module), movement, value, base=value.name, like=value, paddings={})
            source.replace(put)
        for carrier in self.carriers:
            if self.element is not None and isinstance(carrier.shape, TupleShape):
                elements = list(carrier.shape.elements)
                elements[self.element] = _physical(elements[self.element], movement)
                carrier.set_shape(TupleShape(tuple(elements)))
        back = Movement(movement.plan.inverse())
        for sink in self.sinks:
            sink.set_shape(_physical(sink.shape, movement))
            earlier = list(sink.users)
            logical = emit_movement(module.after(sink), back, sink, base=sink.name, like=sink, paddings={})
            sink.replace_uses(logical, keep=[user for user in sink.users if user not in earlier])


def _physical(shape: object, movement: Movement) -> ArrayShape:
    assert isinstance(shape, ArrayShape)
    element_type, dimensions = movement.plan.result
    layout = None if shape.layout is None else Layout.descending(len(dimensions))
    return ArrayShape(element_type, dimensions, layout)


def ports(module: Module) -> list[Port]:
    """Returns every array that passes a call, loop or branch, in the order of the module."""
    found: list[Port] = []
    seen: set[Function] = set()
    for function in module.functions:
        for operation in function.operations:
            for sources, carriers in _connections(operation, seen):
                found += _split(sources, carriers)
    return found


Connection = tuple[list[Source], list[Value]]


def _connections(operation: Operation, seen: set[Function]) -> Iterator[Connection]:
    """Yields what an op passes into the functions it calls and back, whole tuples at a time."""
    called = operation.called
    if operation.opcode == "call" and called and called[0] not in seen:
        seen.add(called[0])
        yield from _call(called[0])
    elif operation.opcode in ("while", "conditional") and _owns(operation, called):
        yield from _loop(operation) if operation.opcode == "while" else _branches(operation)


def _owns(operation: Operation, called: Sequence[Function]) -> bool:
    """Is true where nothing else calls what an op calls."""
    alone = all(list(function.callers) == [operation] for function in called)
    return alone and len(set(called)) == len(called)


def _call(function: Function) -> Iterator[Connection]:
    callers = list(function.callers)
    if any(caller.opcode != "call" for caller in callers):
        return
    for i, parameter in enumerate(function.parameters):
        yield [Source(caller, i) for caller in callers], [parameter]
    for i in range(len(function.results)):
        yield [Source(function, i)], [caller.results[i] for caller in callers]


def _loop(operation: Operation) -> Iterator[Connection]:
    bodies = [f for f in operation.called if len(f.results) == len(operation.operands) and not _is_condition(f)]
    if len(bodies) != 1:
        return
    for i, result in enumerate(operation.results):
        parameters = [function.parameters[i] for function in operation.called]
        yield [Source(operation, i), Source(bodies[0], i)], [result, *parameters]


def _is_condition(function: Function) -> bool:
    shape = function.results[0].shape
    return isinstance(shape, ArrayShape) and shape.rank == 0 and shape.element_type.name == "pred"


def _branches(operation: Operation) -> Iterator[Connection]:
    for i, result in enumerate(operation.results):
        yield [Source(function, i) for function in operation.called], [result]
    for i, function in enumerate(operation.called):
        if function.parameters:
            yield [Source(operation, i + 1)], [function.parameters[0]]


def _split(sources: list[Source], carriers: list[Value]) -> Iterator[Port]:
    """Yields the arrays of a connection; none where a tuple is used as a whole or a shape is tiled."""
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
        places = [Source(source.at, source.index, i) for source in sources]
        if all(map(is_plain, (*sinks, *(place.value for place in places)))):
            yield Port(places, carriers, i, sinks)


def _is_yielded(value: Value) -> bool:
    return value in value.function.results


def arrays(port: Port) -> Sequence[Value]:
    """Returns every array of a port: what comes in and what comes out."""
    return [*(source.value for source in port.sources), *port.sinks]
