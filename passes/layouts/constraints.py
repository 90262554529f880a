"""The graph of constraints between the layouts of a module's values.

A node is an array of a value (one for each leaf of a tuple) or of the entry layout. An edge follows the flow of data
and can be traversed both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Literal, NamedTuple

from dialect_utils.ir import Module, Operand, Operation, Passed, Value, Yielded
from dialect_utils.ir.control_flow import joins_of
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, TupleShape
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.layout.targets.propagation import (
    Propagation,
    propagate_broadcast,
    propagate_reshaped,
    propagate_same,
    propagate_transposed,
    propagate_unbroadcast,
)
from dialect_utils.ops import DONE, START, UPDATE, Trait, by_opcode, has, named, opcode_of, with_trait

# Operations whose result depends on layouts, or whose result layouts repeat those of the operands.
_FIXED = with_trait(Trait.COMMUNICATES) | named("bitcast custom-call domain")
_FIXED_ENDINGS = (START, UPDATE, DONE)

Side = Literal["parameter", "result"]


class EntryPort(NamedTuple):
    """A parameter or result of the entry layout, as callers see it."""

    side: Side
    number: int


class Node(NamedTuple):
    """One array of a value or entry port: leaf number `leaf` of the flattened tuple, tokens counted."""

    owner: Value | EntryPort
    leaf: int


class Definition(NamedTuple):
    """The definition of a value, which all users read."""

    value: Value


CopyPoint = Passed | Definition


class Edge(NamedTuple):
    """A constraint between two nodes: `forward` maps the source's layout to the target's, `backward` the reverse.

    If both ends must have the same layout, a copy at `copy_point` (a use of the source, or the definition of the
    target) can reconcile them. None: the op accepts different layouts.
    """

    source: Node
    target: Node
    forward: Propagation = propagate_same
    backward: Propagation = propagate_same
    copy_point: CopyPoint | None = None


def values_in_memory(module: Module) -> list[Value]:
    """Returns the values of a module except those of embedded functions, which are in registers."""
    return [value for function in module.functions if not function.is_embedded for value in function.values()]


def fixed_nodes(module: Module) -> set[Node]:
    """Returns the nodes whose layout must not change.

    These are operands and results of bitcasts, custom calls and asynchronous ops, aliased parameters and results,
    which share one buffer, and results of copies with a written layout, which is the purpose of the copy.
    """
    fixed: set[Node] = set()
    for operation in module.operations():
        if operation.opcode in _FIXED or operation.opcode.endswith(_FIXED_ENDINGS):
            for value in (*operation.operands, *operation.results):
                fixed |= set(_nodes(value))
        elif operation.opcode == "copy":
            copied = operation.results[0].shape
            if isinstance(copied, ArrayShape) and copied.layout is not None:
                fixed.add(Node(operation.results[0], 0))
    for result_path, number, parameter_path in module.aliases:
        parameter = module.entry.parameters[number]
        results = module.entry.results
        result, path = (
            (results[0], result_path) if module.dialect == "hlo" else (results[result_path[0]], result_path[1:])
        )
        fixed |= set(_nodes_at(parameter, parameter_path)) | set(_nodes_at(result, path))
    return fixed


def edges(module: Module) -> Iterator[Edge]:
    """Yields the edges of a module, in the order of its functions and operations."""
    entry = module.entry
    for index, value in enumerate(entry.parameters):
        yield from (Edge(Node(EntryPort("parameter", index), node.leaf), node) for node in _nodes(value))
    for function in module.functions:
        if not function.is_embedded:
            for operation in function.operations:
                yield from _finder(operation.opcode)(operation)
    for index, value in enumerate(entry.results):
        yield from (Edge(node, Node(EntryPort("result", index), node.leaf)) for node in _nodes(value))


@cache
def _finder(opcode: str) -> Callable[[Operation], Iterable[Edge]]:
    """Returns the function that yields the edges of operations with an opcode."""
    if opcode in BOUNDARIES:
        return BOUNDARIES[opcode]
    if not has(opcode, Trait.CALLS):
        return _array_edges
    # The tuple of an asynchronous start repeats the layouts of its operands, which are fixed.
    return (lambda operation: ()) if opcode.endswith(_FIXED_ENDINGS) else _joined_edges


def _array_edges(operation: Operation) -> Iterator[Edge]:
    """Yields the edges of an op whose operands and result are static arrays."""
    if len(operation.results) != 1 or not operation.operands:
        return
    shapes = [value.shape for value in (*operation.results, *operation.operands)]
    if not all(isinstance(shape, ArrayShape) and shape.is_static for shape in shapes):
        return
    result = Node(operation.results[0], 0)
    operand = Node(operation.operands[0], 0)
    if operation.opcode == "copy":
        yield Edge(operand, result)
    elif is_elementwise(operation):
        yield from _elementwise_edges(operation)
    elif count := opcode_of(operation.opcode).aligned:
        # xla/service/layout_assignment.cc, InstructionCanChangeLayout.
        arrays = operation.operands if count < 0 else operation.operands[:count]
        yield from (Edge(Node(value, 0), result) for value in arrays if _rank(value) == _rank(result.owner))
    elif operation.opcode == "reshape":
        yield Edge(operand, result, propagate_reshaped, propagate_reshaped)
    elif operation.opcode == "transpose" and (permutation := operation.ints("dimensions")) is not None:
        inverse = inverse_permutation(permutation)
        forward = partial(propagate_transposed, permutation=permutation)
        yield Edge(operand, result, forward, partial(propagate_transposed, permutation=inverse))
    elif operation.opcode == "broadcast" and (dimensions := operation.ints("dimensions")) is not None:
        forward = partial(propagate_broadcast, dimensions=dimensions)
        yield Edge(operand, result, forward, partial(propagate_unbroadcast, dimensions=dimensions))


def _elementwise_edges(operation: Operation) -> Iterator[Edge]:
    """Yields the edges of an elementwise op, first those of operands of the result's width, which propagate tiles."""
    result, scalars = operation.results[0], scalar_operands(operation)
    width, to = _width(result), Node(result, 0)
    others = []
    for i, value in enumerate(operation.operands):
        if i not in scalars:
            edge = Edge(Node(value, 0), to, copy_point=Operand(operation, i))
            if _width(value) == width:
                yield edge
            else:
                others.append(edge)
    yield from others


def _tuple_edges(operation: Operation) -> Iterator[Edge]:
    leaf = 0
    for i, value in enumerate(operation.operands):
        for node in _nodes(value):
            yield Edge(node, Node(operation.results[0], leaf + node.leaf), copy_point=Operand(operation, i))
        leaf += value.shape.leaf_count


def _element_edges(operation: Operation) -> Iterator[Edge]:
    whole, part = operation.operands[0], operation.results[0]
    index = operation.ints("index")
    if index is None or not isinstance(whole.shape, TupleShape):
        return
    first = _first_leaves(whole.shape)[index[0]]
    for node in _nodes(part):
        yield Edge(Node(whole, first + node.leaf), node, copy_point=Definition(part))


def _barrier_edges(operation: Operation) -> Iterator[Edge]:
    for i, (value, target) in enumerate(zip(operation.operands, operation.results, strict=False)):
        yield from _pairs(value, target, Operand(operation, i))


def _joined_edges(operation: Operation) -> Iterator[Edge]:
    """Yields the edges of an operation's joins: from each source to the first target, from that to the others."""
    is_call = opcode_of(operation.opcode).has(Trait.CALLS) and len(operation.called) == 1
    for join in joins_of(operation):
        first, *others = join.targets
        entering, *returning = (
            # The copy is after the call: other callers of the function expect the results in their layout.
            (source, Definition(first) if is_call and isinstance(source, Yielded) else source)
            for source in join.sources
        )
        yield from _pairs(entering[0].value, first, entering[1])
        for other in others:
            yield from _pairs(first, other, Definition(other))
        for source, copy_point in returning:
            yield from _pairs(source.value, first, copy_point)


# Operations that forward whole values, tuples included.
BOUNDARIES: Mapping[str, Callable[[Operation], Iterator[Edge]]] = by_opcode(
    {"get-tuple-element": _element_edges, "opt-barrier": _barrier_edges, "tuple": _tuple_edges}
)


def _pairs(source: Value, target: Value, copy_point: CopyPoint) -> Iterator[Edge]:
    for a, b in zip(_nodes(source), _nodes(target), strict=False):
        yield Edge(a, b, copy_point=copy_point)


def _nodes(value: Value) -> list[Node]:
    return [Node(value, leaf) for leaf in range(value.shape.leaf_count)]


def _nodes_at(value: Value, path: Sequence[int]) -> list[Node]:
    """Returns the nodes of the element of a value at an index path."""
    first, shape = 0, value.shape
    for index in path:
        assert isinstance(shape, TupleShape)  # checked by the verifier
        first += _first_leaves(shape)[index]
        shape = shape.elements[index]
    return [Node(value, first + leaf) for leaf in range(shape.leaf_count)]


@lru_cache(maxsize=256)
def _first_leaves(shape: TupleShape) -> tuple[int, ...]:
    """Returns the number of the first leaf of each element."""
    return tuple(accumulate((each.leaf_count for each in shape.elements), initial=0))


def _rank(value: Value | EntryPort) -> int | None:
    shape = None if isinstance(value, EntryPort) else value.shape
    return shape.rank if isinstance(shape, ArrayShape) else None


def _width(value: Value) -> int | None:
    return value.shape.element_type.storage_bits if isinstance(value.shape, ArrayShape) else None
