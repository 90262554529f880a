"""Ops with their dimensions in another order, and the normalized values that `normalize-layouts` makes of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, Layout, Shape
from dialect_utils.layout.moves.steps import Stage, inverse_permutation
from dialect_utils.ops import by_opcode

NamedInts = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class PermutedOp:
    """The operands and attributes with which an op computes its result with dimension `order[i]` as dimension i.

    `orders` has the order of dimensions of each operand (None: unchanged), `operands` the numbers of the operands in
    their new order, `ints` the changed attributes.
    """

    orders: tuple[tuple[int, ...] | None, ...]
    operands: tuple[int, ...]
    ints: tuple[NamedInts, ...] = ()


_Rule = Callable[[Operation, tuple[int, ...]], PermutedOp | None]


def permute_op(operation: Operation, order: tuple[int, ...]) -> PermutedOp | None:
    """Returns how an op computes its one array result in another order of dimensions, or None if it cannot.

    None for ops whose dimensions have different roles (dot, convolution, gather, scatter, sort) and for reductions,
    which XLA may sum in another order.
    """
    if is_elementwise(operation):
        return _elementwise(operation, order)
    rule = _RULES.get(operation.opcode)
    return rule(operation, order) if rule is not None else None


def _elementwise(operation: Operation, order: tuple[int, ...]) -> PermutedOp:
    scalars = scalar_operands(operation)
    count = len(operation.operands)
    return PermutedOp(tuple(None if i in scalars else order for i in range(count)), tuple(range(count)))


def _along(name: str, operation: Operation, order: tuple[int, ...]) -> PermutedOp | None:
    """Permutes an op whose operands all have the result's rank and whose attribute `name` lists dimensions."""
    dims = operation.ints(name)
    if dims is None:
        return None
    moved = tuple(sorted(order.index(dim) for dim in dims))
    count = len(operation.operands)
    return PermutedOp((order,) * count, tuple(range(count)), ((name, moved),))


def _broadcast(operation: Operation, order: tuple[int, ...]) -> PermutedOp | None:
    dims = operation.ints("dimensions")
    if dims is None or operation.attribute("broadcast_sizes") is not None:
        return None
    moved = [order.index(dim) for dim in dims]
    ascending = tuple(sorted(range(len(dims)), key=moved.__getitem__))
    return PermutedOp((ascending,), (0,), (("dimensions", tuple(sorted(moved))),))


def _dynamic_slice(operation: Operation, order: tuple[int, ...]) -> PermutedOp | None:
    sizes = operation.ints("dynamic_slice_sizes")
    if sizes is None or not _has_scalars(operation, 1, len(order)):
        return None
    return PermutedOp(
        (order, *(None for _ in order)),
        (0, *(1 + dim for dim in order)),
        (("dynamic_slice_sizes", tuple(sizes[dim] for dim in order)),),
    )


def _dynamic_update_slice(operation: Operation, order: tuple[int, ...]) -> PermutedOp | None:
    if not _has_scalars(operation, 2, len(order)):
        return None
    return PermutedOp((order, order, *(None for _ in order)), (0, 1, *(2 + dim for dim in order)))


def _has_scalars(operation: Operation, first: int, count: int) -> bool:
    """Is true if the start indices are scalars, one for each dimension; a legacy form has them in one array."""
    starts: Sequence[object] = [operand.shape for operand in operation.operands[first:]]
    return len(starts) == count and all(isinstance(start, ArrayShape) and start.rank == 0 for start in starts)


# The rules of ops that are not elementwise.
_RULES: Mapping[str, _Rule] = by_opcode(
    {
        "broadcast": _broadcast,
        "concatenate": partial(_along, "dimensions"),
        "dynamic-slice": _dynamic_slice,
        "dynamic-update-slice": _dynamic_update_slice,
        "iota": partial(_along, "iota_dimension"),
        "reverse": partial(_along, "dimensions"),
    }
)


def normal_shape(value: Value) -> ArrayShape:
    """Returns the shape of the normalized value: dimensions in physical order, with the same tiles."""
    return permuted_shape(array_shape(value), order_of(value))


@lru_cache(maxsize=1 << 12)
def permuted_shape(shape: ArrayShape, permutation: tuple[int, ...]) -> ArrayShape:
    """Returns the shape with dimension `permutation[i]` as dimension i and a descending layout, else unchanged."""
    dimensions = tuple(shape.dimensions[i] for i in permutation)
    layout = shape.layout
    if layout is not None:
        padded = layout.padded_dimensions
        layout = layout.replace(
            minor_to_major=Layout.descending(shape.rank).minor_to_major,
            padded_dimensions=None if padded is None else tuple(padded[i] for i in permutation),
        )
    return ArrayShape(shape.element_type, dimensions, layout)


def order_of(value: Value) -> tuple[int, ...]:
    """Returns a value's dimensions in physical order, most major first."""
    return array_shape(value).effective_layout.major_to_minor


def is_descending(value: Value) -> bool:
    """Is true if a value's minor_to_major is descending, whatever its tiles."""
    return array_shape(value).effective_layout.is_descending


def type_of(value: Value) -> Stage:
    """Returns the element type and dimensions of an array."""
    return array_shape(value).type_and_dimensions


def is_same_array(shape: Shape, other: Shape) -> bool:
    """Is true for equal array shapes, where an unwritten layout equals the descending one."""
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return False
    return shape.with_effective_layout == other.with_effective_layout


def gives_normalized(operation: Operation) -> bool:
    """Is true for a transpose or bitcast whose result is the normalized value of its operand."""
    source, result = operation.operands[0], operation.results[0]
    if is_descending(source) or not is_same_array(normal_shape(source), result.shape):
        return False
    return operation.opcode == "bitcast" or operation.ints("dimensions") == order_of(source)


def gives_back(operation: Operation) -> bool:
    """Is true for a transpose or bitcast whose operand is the normalized value of its result."""
    source, result = operation.operands[0], operation.results[0]
    if is_descending(result) or not is_same_array(normal_shape(result), source.shape):
        return False
    return operation.opcode == "bitcast" or operation.ints("dimensions") == inverse_permutation(order_of(result))
