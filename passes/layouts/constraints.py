"""How the layouts of a module's values hang together: which value's layout says something about which other's.

The graph's nodes are the arrays inside values (a tuple has one for each leaf) and the layouts callers of the
entry see. An edge leads along the flow of data and can be followed both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Literal, NamedTuple

from dialect_utils.elementwise import is_elementwise, scalar_operands
from dialect_utils.ir import Module, Operand, Operation, Passed, Value, Yielded
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.layout.targets.propagation import (
    Propagation,
    propagate_broadcast,
    propagate_reshaped,
    propagate_same,
    propagate_transposed,
    propagate_unbroadcast,
)
from dialect_utils.ops import Trait, by_opcode, has, named, opcode_of, with_trait

# What mean something only under their layouts, or whose results repeat those of their operands.
_FIXED = with_trait(Trait.COMMUNICATES) | named("bitcast custom-call domain")
_FIXED_ENDINGS = ("-start", "-done", "-update")

Side = Literal["parameter", "result"]


class EntryPlace(NamedTuple):
    """A parameter or result of the entry as its callers see it."""

    side: Side
    number: int


class Node(NamedTuple):
    """One array of a value or entry place: the `leaf`-th of its leaves, tuples flattened, tokens counted."""

    owner: Value | EntryPlace
    leaf: int


class Definition(NamedTuple):
    """The role of a value for everything that uses it."""

    value: Value


CopyPoint = Passed | Definition


class Edge(NamedTuple):
    """Joins two nodes: `forward` takes the source's layout to the target's, `backward` the other way.

    Where both ends have to be laid out alike, `copy_point` says where a copy makes them: at a use of the source, or
    after the definition of the target. None: the op itself may take one layout and give another.
    """

    source: Node
    target: Node
    forward: Propagation = propagate_same
    backward: Propagation = propagate_same
    copy_point: CopyPoint | None = None


def fixed_nodes(module: Module) -> set[Node]:
    """Returns the nodes whose layout must stay as it is.

    Those of bitcasts, custom calls and asynchronous ops; what is aliased, since the caller has one
    buffer for both; and the result of a copy where a layout is written: that is what the copy is for.
    """
    fixed: set[Node] = set()
    for operation in module.operations():
        if operation.opcode in _FIXED or operation.opcode.endswith(_FIXED_ENDINGS):
            for value in (*operation.operands, *operation.results):
                fixed |= set(_nodes(value))
        elif operation.opcode == "copy" and _is_written(operation.results[0].shape):
            fixed |= set(_nodes(operation.results[0]))
    for result_path, number, parameter_path in module.aliases:
        parameter = module.entry.parameters[number]
        results = module.entry.results
        result, path = (
            (results[0], result_path) if module.dialect == "hlo" else (results[result_path[0]], result_path[1:])
        )
        fixed |= set(_nodes_at(parameter, parameter_path)) | set(_nodes_at(result, path))
    return fixed


def _is_written(shape: Shape) -> bool:
    return isinstance(shape, ArrayShape) and shape.layout is not None


def edges(module: Module) -> Iterator[Edge]:
    """Yields the edges of a module, in the order of its functions and operations."""
    entry = module.entry
    for index, value in enumerate(entry.parameters):
        yield from (Edge(Node(EntryPlace("parameter", index), node.leaf), node) for node in _nodes(value))
    for function in module.functions:
        if not function.is_embedded:
            for operation in function.operations:
                yield from _finder(operation.opcode)(operation)
    for index, value in enumerate(entry.results):
        yield from (Edge(node, Node(EntryPlace("result", index), node.leaf)) for node in _nodes(value))


@cache
def _finder(opcode: str) -> Callable[[Operation], Iterable[Edge]]:
    """Returns what finds the edges of operations of an opcode."""
    if opcode in _BOUNDARIES:
        return _BOUNDARIES[opcode]
    if not has(opcode, Trait.CALLS):
        return _array_edges
    # The tuple of an asynchronous start repeats the layouts of its operands: they stay.
    return _no_edges if opcode.endswith(_FIXED_ENDINGS) else _joined_edges


def _no_edges(operation: Operation) -> Iterable[Edge]:
    return ()


def _has_arrays(operation: Operation) -> bool:
    results = operation.results
    if len(results) != 1 or not operation.operands:
        return False
    for value in (*results, *operation.operands):
        shape = value.shape
        if not isinstance(shape, ArrayShape) or shape.dynamic:
            return False
    return True


def _array_edges(operation: Operation) -> Iterator[Edge]:
    """Yields the edges of an op between arrays; none of one that has other operands or results."""
    if not _has_arrays(operation):
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
    """Yields the edges of an elementwise op; operands of the result's width, which carry tiles, come first."""
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
        leaf += _leaf_count(value.shape)


def _element_edges(operation: Operation) -> Iterator[Edge]:
    whole, part = operation.operands[0], operation.results[0]
    index = operation.ints("index")
    if index is None or not isinstance(whole.shape, TupleShape):
        return
    first = _first_leaves(whole.shape)[index[0]]
    for node in _nodes(part):
        yield Edge(Node(whole, first + node.leaf), node, copy_point=Definition(part))


def _barrier_edges(operation: Operation) -> Iterator[Edge]:
    yield from _handed(operation, operation.operands, operation.results)


def _joined_edges(operation: Operation) -> Iterator[Edge]:
    """Yields the edges of what an operation joins: each source with the first target, that with the others."""
    is_call = opcode_of(operation.opcode).has(Trait.CALLS) and len(operation.called) == 1
    for join in operation.control_flow():
        first, *others = join.targets
        entering, *returning = (
            # Who else calls the function wants its results as they are: the copy goes after the call.
            (source, Definition(first) if is_call and isinstance(source, Yielded) else source)
            for source in join.sources
        )
        yield from _pairs(entering[0].value, first, entering[1])
        for other in others:
            yield from _pairs(first, other, Definition(other))
        for source, copy_point in returning:
            yield from _pairs(source.value, first, copy_point)


# Operations that hand values on, tuples in one piece.
_BOUNDARIES: Mapping[str, Callable[[Operation], Iterator[Edge]]] = by_opcode(
    {"get-tuple-element": _element_edges, "opt-barrier": _barrier_edges, "tuple": _tuple_edges}
)


def _handed(operation: Operation, operands: Sequence[Value], targets: Sequence[Value]) -> Iterator[Edge]:
    for i, (value, target) in enumerate(zip(operands, targets, strict=False)):
        yield from _pairs(value, target, Operand(operation, i))


def _pairs(source: Value, target: Value, copy_point: CopyPoint) -> Iterator[Edge]:
    for a, b in zip(_nodes(source), _nodes(target), strict=False):
        yield Edge(a, b, copy_point=copy_point)


def _nodes(value: Value) -> list[Node]:
    return [Node(value, leaf) for leaf in range(_leaf_count(value.shape))]


def _nodes_at(value: Value, path: Sequence[int]) -> list[Node]:
    """Returns the nodes of the element of a value at an index path."""
    first, shape = 0, value.shape
    for index in path:
        assert isinstance(shape, TupleShape)  # verified: an alias names an element that is there
        first += _first_leaves(shape)[index]
        shape = shape.elements[index]
    return [Node(value, first + leaf) for leaf in range(_leaf_count(shape))]


def _leaf_count(shape: Shape) -> int:
    return sum(1 for _ in shape.leaves()) if isinstance(shape, TupleShape) else 1


@lru_cache(maxsize=256)
def _first_leaves(shape: TupleShape) -> tuple[int, ...]:
    """Returns the number of the first leaf of every element."""
    return tuple(accumulate(map(_leaf_count, shape.elements), initial=0))


def _rank(value: Value | EntryPlace) -> int | None:
    shape = None if isinstance(value, EntryPlace) else value.shape
    return shape.rank if isinstance(shape, ArrayShape) else None


def _width(value: Value) -> int | None:
    return value.shape.element_type.storage_bits if isinstance(value.shape, ArrayShape) else None
