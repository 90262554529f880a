"""How the layouts of a module's values hang together: which value's layout says something about which other's.

The graph's nodes are the arrays inside values (a tuple has one for each leaf) and the layouts callers of the
entry see. An edge leads along the flow of data and can be followed both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from dialect_utils.elementwise import is_elementwise, scalar_operands
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from passes.carried_layouts import (
    Carry,
    carry_broadcast,
    carry_reshaped,
    carry_same,
    carry_transposed,
    carry_unbroadcast,
)
from passes.expand_tiling import leaf_shapes

# Leading array operands whose dimensions are the result's; -1 for all.
# xla/service/layout_assignment.cc, InstructionCanChangeLayout.
_KEEPS_ORDER = {
    "all-reduce": -1,
    "collective-permute": -1,
    "concatenate": -1,
    "dynamic-slice": 1,
    "dynamic-update-slice": 2,
    "pad": 1,
    "reverse": 1,
    "slice": 1,
}
# What mean something only under their layouts, or whose results repeat those of their operands.
_FIXED = ("bitcast", "custom-call", "infeed", "outfeed", "send", "recv", "domain")
_FIXED_ENDINGS = ("-start", "-done", "-update")

Side = Literal["parameter", "result"]


@dataclass(frozen=True, slots=True)
class Port:
    """Is a parameter or result of the entry as its callers see it."""

    side: Side
    index: int


@dataclass(frozen=True, slots=True)
class Node:
    """Is one array of a value or port: the `leaf`-th of its leaves, tuples flattened, tokens counted."""

    owner: Value | Port
    leaf: int


@dataclass(frozen=True, slots=True)
class Use:
    """Is one operand of an operation."""

    operation: Operation
    index: int


@dataclass(frozen=True, slots=True)
class Return:
    """Is one result of a function."""

    function: Function
    index: int


@dataclass(frozen=True, slots=True)
class Definition:
    """Is what a value is to everything that uses it."""

    value: Value


Mend = Use | Return | Definition


@dataclass(frozen=True, slots=True)
class Edge:
    """Joins two nodes: `forward` takes the source's layout to the target's, `backward` the other way.

    Where both ends have to lie alike, `mend` says where a copy makes them: at a use of the source, or
    behind the definition of the target. None: the op itself may take one layout and give another.
    """

    source: Node
    target: Node
    forward: Carry = carry_same
    backward: Carry = carry_same
    mend: Mend | None = None


def fixed_nodes(module: Module) -> set[Node]:
    """Returns the nodes whose layout must stay as it is.

    Those of bitcasts, custom calls and asynchronous ops; what is aliased, since the caller has one
    buffer for both; and the result of a copy where a layout is written: that is what the copy is for.
    """
    fixed: set[Node] = set()
    for function in module.functions:
        for operation in function.operations:
            if operation.opcode in _FIXED or operation.opcode.endswith(_FIXED_ENDINGS):
                for value in (*operation.operands, *operation.results):
                    fixed |= set(_nodes(value))
            elif operation.opcode == "copy" and _is_written(operation.results[0].shape):
                fixed |= set(_nodes(operation.results[0]))
    for result_path, number, parameter_path in module.aliases:
        parameter = module.entry.parameters[number]
        results = module.entry.results
        result, path = (results[0], result_path) if module.form == "hlo" else (results[result_path[0]], result_path[1:])
        fixed |= set(_nodes_at(parameter, parameter_path)) | set(_nodes_at(result, path))
    return fixed


def _is_written(shape: Shape) -> bool:
    return isinstance(shape, ArrayShape) and shape.layout is not None


def edges(module: Module) -> Iterator[Edge]:
    """Yields the edges of a module, in the order of its functions and operations."""
    entry = module.entry
    for index, value in enumerate(entry.parameters):
        yield from (Edge(Node(Port("parameter", index), node.leaf), node) for node in _nodes(value))
    for function in module.functions:
        if not function.is_applied:
            for operation in function.operations:
                yield from _edges_of(operation)
    for index, value in enumerate(entry.results):
        yield from (Edge(node, Node(Port("result", index), node.leaf)) for node in _nodes(value))


def _edges_of(operation: Operation) -> Iterator[Edge]:
    if operation.opcode in _BOUNDARIES:
        yield from _BOUNDARIES[operation.opcode](operation)
    elif _has_arrays(operation):
        yield from _array_edges(operation)


def _has_arrays(operation: Operation) -> bool:
    results = operation.results
    if len(results) != 1 or not operation.operands:
        return False
    values = [*results, *operation.operands]
    return all(isinstance(value.shape, ArrayShape) and value.shape.is_static for value in values)


def _array_edges(operation: Operation) -> Iterator[Edge]:
    """Yields the edges of an op between arrays."""
    result = Node(operation.results[0], 0)
    operand = Node(operation.operands[0], 0)
    if operation.opcode == "copy":
        yield Edge(operand, result)
    elif is_elementwise(operation):
        yield from _elementwise_edges(operation)
    elif operation.opcode in _KEEPS_ORDER:
        count = _KEEPS_ORDER[operation.opcode]
        arrays = operation.operands if count < 0 else operation.operands[:count]
        yield from (Edge(Node(value, 0), result) for value in arrays if _rank(value) == _rank(result.owner))
    elif operation.opcode == "reshape":
        yield Edge(operand, result, carry_reshaped, carry_reshaped)
    elif operation.opcode == "transpose" and (permutation := operation.ints("dimensions")) is not None:
        inverse = tuple(sorted(range(len(permutation)), key=permutation.__getitem__))
        forward = partial(carry_transposed, permutation=permutation)
        yield Edge(operand, result, forward, partial(carry_transposed, permutation=inverse))
    elif operation.opcode == "broadcast" and (dimensions := operation.ints("dimensions")) is not None:
        forward = partial(carry_broadcast, dimensions=dimensions)
        yield Edge(operand, result, forward, partial(carry_unbroadcast, dimensions=dimensions))


def _elementwise_edges(operation: Operation) -> Iterator[Edge]:
    """Yields the edges of an elementwise op; operands of the result's width, which carry tiles, come first."""
    result, scalars = operation.results[0], scalar_operands(operation)
    found = [(i, value) for i, value in enumerate(operation.operands) if i not in scalars]
    for i, value in sorted(found, key=lambda pair: _width(pair[1]) != _width(result)):
        yield Edge(Node(value, 0), Node(result, 0), mend=Use(operation, i))


def _tuple_edges(operation: Operation) -> Iterator[Edge]:
    leaf = 0
    for i, value in enumerate(operation.operands):
        for node in _nodes(value):
            yield Edge(node, Node(operation.results[0], leaf + node.leaf), mend=Use(operation, i))
        leaf += _leaf_count(value.shape)


def _element_edges(operation: Operation) -> Iterator[Edge]:
    whole, part = operation.operands[0], operation.results[0]
    index = operation.ints("index")
    if index is None or not isinstance(whole.shape, TupleShape):
        return
    first = sum(map(_leaf_count, whole.shape.elements[: index[0]]))
    for node in _nodes(part):
        yield Edge(Node(whole, first + node.leaf), node, mend=Definition(part))


def _barrier_edges(operation: Operation) -> Iterator[Edge]:
    yield from _handed(operation, operation.operands, operation.results)


def _call_edges(operation: Operation) -> Iterator[Edge]:
    if len(operation.called) != 1:
        return
    called = operation.called[0]
    yield from _handed(operation, operation.operands, called.parameters)
    yield from _received(called.results, operation.results)


def _while_edges(operation: Operation) -> Iterator[Edge]:
    if len(operation.called) != 2:
        return
    yield from _handed(operation, operation.operands, operation.results)
    for called in operation.called:
        yield from _received(operation.results, called.parameters)
    yield from _returned(_body(operation), operation.results)


def _body(operation: Operation) -> Function:
    """Returns a loop's body: HLO may write it in front of the condition."""
    name = (operation.attribute("body") or "").lstrip("%")
    return next((function for function in operation.called if function.name == name), operation.called[-1])


def _conditional_edges(operation: Operation) -> Iterator[Edge]:
    for index, (value, called) in enumerate(zip(operation.operands[1:], operation.called, strict=False), 1):
        for parameter in called.parameters:
            yield from _pairs(value, parameter, Use(operation, index))
    for called in operation.called:
        yield from _returned(called, operation.results)


_BOUNDARIES: dict[str, Callable[[Operation], Iterator[Edge]]] = {
    "call": _call_edges,
    "conditional": _conditional_edges,
    "fusion": _call_edges,
    "get-tuple-element": _element_edges,
    "opt-barrier": _barrier_edges,
    "tuple": _tuple_edges,
    "while": _while_edges,
}


def _handed(operation: Operation, operands: Sequence[Value], targets: Sequence[Value]) -> Iterator[Edge]:
    for i, (value, target) in enumerate(zip(operands, targets, strict=False)):
        yield from _pairs(value, target, Use(operation, i))


def _returned(function: Function, targets: Sequence[Value]) -> Iterator[Edge]:
    for i, (value, target) in enumerate(zip(function.results, targets, strict=False)):
        yield from _pairs(value, target, Return(function, i))


def _received(values: Sequence[Value], targets: Sequence[Value]) -> Iterator[Edge]:
    for value, target in zip(values, targets, strict=False):
        yield from _pairs(value, target, Definition(target))


def _pairs(source: Value, target: Value, mend: Mend) -> Iterator[Edge]:
    for a, b in zip(_nodes(source), _nodes(target), strict=False):
        yield Edge(a, b, mend=mend)


def _nodes(value: Value) -> list[Node]:
    return [Node(value, leaf) for leaf in range(_leaf_count(value.shape))]


def _nodes_at(value: Value, path: Sequence[int]) -> list[Node]:
    """Returns the nodes of the element of a value at an index path."""
    first, shape = 0, value.shape
    for index in path:
        assert isinstance(shape, TupleShape)  # verified: an alias names an element that is there
        first += sum(map(_leaf_count, shape.elements[:index]))
        shape = shape.elements[index]
    return [Node(value, first + leaf) for leaf in range(_leaf_count(shape))]


def _leaf_count(shape: Shape) -> int:
    return sum(1 for _ in leaf_shapes(shape))


def _rank(value: Value | Port) -> int | None:
    shape = None if isinstance(value, Port) else value.shape
    return shape.rank if isinstance(shape, ArrayShape) else None


def _width(value: Value) -> int | None:
    return value.shape.element_type.storage_bits if isinstance(value.shape, ArrayShape) else None
