"""Ops with their dimensions in another order: the orders of their operands, and the attributes that change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from dialect_utils.ir import Operation
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, Layout
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
        return _elementwise(len(operation.operands), scalar_operands(operation), order)
    rule = _RULES.get(operation.opcode)
    return rule(operation, order) if rule is not None else None


@lru_cache(maxsize=1 << 10)
def _elementwise(count: int, scalars: tuple[int, ...], order: tuple[int, ...]) -> PermutedOp:
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
