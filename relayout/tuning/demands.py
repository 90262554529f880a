"""The orders of dimensions in which the TPU compiler reads operands and writes results.

The rules are read off figures of the compiler: a program with one operation, in each order of each argument and result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.layout import ArrayShape
from dialect_utils.ops.structured import labels

Order = tuple[int, ...]
# The most minor dimensions, which are in a tile.
_TILED = 2
# Of a tile of 8 x 128 elements of 32 bits.
_TILE_BYTES = 4096


def allowed_result(operation: Operation, orders: Sequence[Order]) -> Sequence[Order]:
    """Returns the orders in which an operation writes its result, all of them where none fits."""
    return [order for order in orders if _is_written(operation, order)] or orders


def _is_written(operation: Operation, order: Order) -> bool:
    """Is false for an order in which an operation writes no result."""
    if operation.opcode == "dot":
        # The dimensions of the batch come first.
        return order[0] >= len(operation.ints("lhs_batch_dims") or ())
    if operation.opcode == "convolution":
        known = labels(operation)
        return not {*known.out_spatial} & {*order[:_TILED]}
    if operation.opcode == "gather":
        return _has_rows(array_shape(operation.results[0]), set(operation.ints("offset_dims") or ()), order)
    return True


def denied_operands(operation: Operation, value: Value, orders: Sequence[Order]) -> frozenset[int]:
    """Returns the numbers of orders of an operand that an operation copies into another order before it reads it."""
    positions = [position for position, each in enumerate(operation.operands) if each == value]
    return frozenset(
        number
        for number, order in enumerate(orders)
        if not all(_is_read(operation, position, order) for position in positions)
    )


def _is_read(operation: Operation, position: int, order: Order) -> bool:
    """Is false for an order in which an operation does not read an operand."""
    if operation.opcode == "dot":
        return order[0] not in (operation.ints(("lhs_batch_dims", "rhs_batch_dims")[position]) or ())
    if operation.opcode == "convolution":
        known = labels(operation)
        return order[0] not in known.lhs_spatial if position == 0 else not {*order[:_TILED]} <= {*known.rhs_spatial}
    if operation.opcode == "scatter" and len(operation.results) == 1 and position != 1:
        shape = array_shape(operation.operands[position])
        fixed = {name for each in _FIXED for name in operation.ints(each) or ()}
        updated = set(operation.ints("update_window_dims") or ())
        return _has_rows(shape, updated if position else {*range(shape.rank)} - fixed, order)
    return True


# The dimensions of a scatter's array that are in none of the rows.
_FIXED = ("inserted_window_dims", "input_batching_dims")


def _has_rows(shape: ArrayShape, rows: set[int], order: Order) -> bool:
    """Is true where the most minor dimension is one of the rows, and for rows of one element."""
    wide = {dimension for dimension in rows if shape.dimensions[dimension] > 1}
    return not wide or order[0] in wide


def reads_tiles(operation: Operation, value: Value) -> bool:
    """Is true for the array from which a gather reads one tile for each index, whatever its size is."""
    return operation.opcode == "gather" and operation.operands[0] == value


def tile_bytes(operation: Operation) -> int:
    """Returns the bytes of the tiles that a gather reads; 0 for other operations."""
    if operation.opcode != "gather":
        return 0
    result, rows = array_shape(operation.results[0]), set(operation.ints("offset_dims") or ())
    return _TILE_BYTES * prod(size for number, size in enumerate(result.dimensions) if number not in rows)
