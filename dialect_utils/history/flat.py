"""A module as one graph: the bodies of fusions and calls are parts of the functions that call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from dialect_utils.ir import Function, Module, Operand, Operation, Value
from dialect_utils.ir.control_flow import joins_of, reached
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.bitcast import byte_movement
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.memory.relayouts import Origin, find_origins
from dialect_utils.memory.sharing import elements
from dialect_utils.ops import DONE, SHARDINGS, UPDATE, Trait, by_opcode, has, named, split_asynchronous, with_trait

# Operations whose called function runs once, in their place.
_INLINED = named("fusion call async-start")
# Operations that neither compute nor move.
FORWARDING = with_trait(Trait.ALIASES)
# Operations that ask for layouts, those that fix them most firmly first.
_DEMANDING = by_opcode(
    {"custom-call": 0, "convolution": 1, "dot": 2, "gather": 3, "scatter": 4, "sort": 5, "fft": 6, "reduce-window": 7}
    | {"triangular-solve": 1, "cholesky": 1}
)


class FlatGraph:
    """The values of a module without the borders of fusions: the operands and users of each one.

    A node is the value of an operation that is not a fusion and not a call, or a parameter of the entry, of a loop or
    of a branch. `source` returns the defining node of a value.
    """

    def __init__(self, module: Module) -> None:
        """Builds the graph of a module."""
        self.module = module
        self._callers: dict[Function, Operation] = {}
        self._passed: dict[Value, Value] = {}
        for operation in module.operations():
            if operation.opcode in _INLINED and operation.called and len(operation.called[0].callers) == 1:
                self._callers[operation.called[0]] = operation
                given = ((each.sources, each.targets) for each in joins_of(operation))
                self._passed |= {end: by.value for (by, *_), (end, *_) in given if isinstance(by, Operand)}
        self._sources: dict[Value, Value] = {}
        self._readers: dict[Value, Sequence[Value]] = {}

    @cached_property
    def nodes(self) -> Sequence[Value]:
        """Returns the nodes, in the order of the text."""
        functions = (each for each in self.module.functions if each.is_entry or (each.callers and not each.is_embedded))
        values = (value for function in functions for value in function.values())
        return [value for value in values if self.source(value) is value]

    @cached_property
    def origin(self) -> Callable[[Operation], Origin]:
        """Returns the function from operations to their locations in the user's program."""
        return find_origins(self.module)

    @cached_property
    def results(self) -> Sequence[Value]:
        """Returns the nodes of the entry's results, the elements of a tuple one by one."""
        return [self.source(each) for each in elements([self.source(each) for each in self.module.entry.results])]

    @cached_property
    def _users(self) -> dict[Value, list[Value]]:
        found: dict[Value, list[Value]] = {}
        for node in self.nodes:
            for operand in dict.fromkeys(self.operands(node)):
                found.setdefault(operand, []).append(node)
        # A tuple whose elements are read has no users of its own.
        return {
            node: [each for each in users if each in found or not _is_inner_tuple(each)]
            for node, users in found.items()
        }

    def source(self, value: Value) -> Value:
        """Returns the defining node of a value: the root in a fusion or call, the caller's operand for a parameter."""
        path = []
        while (known := self._sources.get(value)) is None:
            path.append(value)
            maker = self._maker(value)
            if maker is None:
                known = value
                break
            value = maker
        for each in path:
            self._sources[each] = known
        return known

    def _maker(self, value: Value) -> Value | None:
        operation = value.operation
        if operation is None:
            return self._passed.get(value)
        if operation.opcode in _INLINED and operation.called and operation.called[0] in self._callers:
            return operation.called[0].results[0]
        base, phase = split_asynchronous(operation.opcode)
        if base == "async" and phase in (UPDATE, DONE):
            return operation.operands[0]
        if operation.opcode == "custom-call" and operation.callee in SHARDINGS:
            return operation.operands[0]
        if operation.opcode == "get-tuple-element":
            made = self.source(operation.operands[0]).operation
            if made is not None and made.opcode == "tuple":
                return made.operands[int(operation.attribute("index") or 0)]
        return None

    def operands(self, node: Value) -> Sequence[Value]:
        """Returns the nodes of the operands."""
        return [] if node.operation is None else [self.source(each) for each in node.operation.operands]

    def users(self, node: Value) -> Sequence[Value]:
        """Returns the nodes that use a node, each once."""
        return self._users.get(node, [])

    def carried(self, node: Value) -> list[tuple[Value, int]]:
        """Returns the loops whose whole state, or whose body's result, is the node, each with the number 0."""
        return [(loop, 0) for loop in self._loops_of(node)]

    def carried_by(self, state: Value, node: Value) -> list[tuple[Value, int]]:
        """Returns the loops whose state is a tuple, each with the number of the element that is the node."""
        assert state.operation is not None
        numbers = [i for i, each in enumerate(state.operation.operands) if self.source(each) is node]
        return [(loop, number) for loop in self._loops_of(state) for number in numbers]

    def _loops_of(self, state: Value) -> list[Value]:
        found = [each for each in self.users(state) if each.operation is not None and each.operation.opcode == "while"]
        function = state.function
        if self.source(function.results[0]) is state:
            callers = (caller for caller in function.callers if caller.opcode == "while")
            found += [caller.results[0] for caller in callers if caller.called_as("body") is function]
        return list(dict.fromkeys(found))

    def is_inlined(self, function: Function) -> bool:
        """Is true for the body of a fusion or a call, which belongs to the function that contains the operation."""
        return function in self._callers

    def is_fused(self, node: Value) -> bool:
        """Is true for a node in the body of a fusion."""
        caller = self._callers.get(node.function)
        return caller is not None and caller.opcode == "fusion"

    def caller(self, function: Function) -> Operation | None:
        """Returns the operation that calls a function: its fusion or call, or the loop or branch that runs it."""
        return self._callers.get(function) or next(iter(function.callers), None)

    def unmoved(self, node: Value) -> Value:
        """Returns the first node of the chain of moves that ends in a node."""
        return self.moves_to(node)[-1]

    def moves_to(self, node: Value) -> list[Value]:
        """Returns the chain of moves that ends in a node, from the node back to the one that makes the array."""
        chain = [node]
        while (operation := chain[-1].operation) is not None and has(operation.opcode, Trait.MAY_BE_BITCAST):
            chain.append(self.source(operation.operands[0]))
        return chain

    def readers(self, node: Value) -> Sequence[Value]:
        """Returns the users of a node, each once; moves, tuples and get-tuple-elements are passed over."""
        if node in self._readers:
            return self._readers[node]
        found = reached(self.users(node), lambda each: self.users(each) if _is_passed_over(each) else ())
        return self._readers.setdefault(node, [each for each in found if not _is_passed_over(each)])


def _is_passed_over(node: Value) -> bool:
    """Is true for moves, tuples and get-tuple-elements."""
    return has(opcode_of(node), Trait.MAY_BE_BITCAST) or has(opcode_of(node), Trait.TUPLES)


def _is_inner_tuple(node: Value) -> bool:
    """Is true for a tuple that is not a result of its function."""
    operation = node.operation
    return operation is not None and operation.opcode == "tuple" and node not in node.function.results


def array_of(node: Value) -> ArrayShape | None:
    """Returns the array that a node makes: of a copy-start, which makes several, the first one; None without one."""
    return next(iter(node.shape.arrays()), None)


def opcode_of(node: Value) -> str:
    """Returns the opcode of a node."""
    return "parameter" if node.operation is None else node.operation.opcode


def firmness(opcode: str) -> int:
    """Returns how firmly an operation asks for the layouts of its operands, 0 for the firmest."""
    return _DEMANDING.get(opcode, len(_DEMANDING))


# Moves of an array's elements by copies, transposes and reshapes, to compare them by


def order_of(shape: ArrayShape) -> tuple[int, ...] | None:
    """Returns the order of dimensions from minor to major, None for an array without a layout."""
    return None if shape.layout is None else shape.layout.minor_to_major


def is_same_move(one: Value, other: Value) -> bool:
    """Is true for two copies into one order, and for two transposes of the same dimensions."""
    if one.operation is None or other.operation is None or opcode_of(one) != opcode_of(other):
        return False
    if opcode_of(one) == "transpose":
        return one.operation.step == other.operation.step
    first, second = (next(each.shape.arrays(), None) for each in (one, other))
    if opcode_of(one) != "copy" or first is None or second is None:
        return False
    return order_of(first) == order_of(second)


def movement(node: Value) -> Plan | None:
    """Returns the movement of elements in memory by a copy, transpose or reshape; None for layouts with tiles."""
    operation = node.operation
    if operation is None or not (operation.opcode == "copy" or has(operation.opcode, Trait.IS_STEP)):
        return None
    source, result = operation.operands[0].shape, node.shape
    if not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape) or not source.is_static:
        return None
    if any(each.layout is None or each.layout.tiles or each.layout.element_size_in_bits for each in (source, result)):
        return None
    steps = () if operation.step is None else (operation.step,)
    movement = byte_movement(source, Plan(*source.type_and_dimensions, steps), result)
    return movement if movement.steps else None


def is_settled(node: Value) -> bool:
    """Is true where the layouts of a move mean something: before layout assignment only default layouts do."""
    assert node.operation is not None
    layouts = [each.layout for shape in (node.operation.operands[0].shape, node.shape) for each in shape.arrays()]
    return node.operation.opcode == "copy" or all(each is not None and each.is_descending for each in layouts)
