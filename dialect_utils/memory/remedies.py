"""Remedies for padding: the operation that asks for a padded layout, and how to write it in another way.

The TPU compiler chooses layouts by operation: a gather and a scatter want each row in lanes, and a product of small
matrices wants the columns of each matrix there. For a TPU v5e a gather of 1,310,720 rows of 16 takes 653 MiB at
the peak, and 16 gathers of single columns take 55; a segment sum of rows of 3 takes 534 MiB, and 34 by columns; the
products of 1,048,576 matrices of 3 x 3 take 3,168 MiB, and 96 as products and sums of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dialect_utils.ir import Operation, Value
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.allocation import PaddedDimension
from dialect_utils.memory.relayouts import Origin
from dialect_utils.ops import Trait, named, with_trait

# As many single gathers or scatters as a program may well hold.
_MOST_COLUMNS = 32
# The operations that ask for the layout of their operands and results.
_DEMANDING = named("gather scatter dot convolution")
# The operations between an array and the one that asks for its layout.
_PASSED = with_trait(Trait.ALIASES) | with_trait(Trait.MAY_BE_BITCAST) | {"convert", "copy-start", "copy-done"}
_MOST_PASSED = 4
_PRODUCT = "dot_general"
_LANES = 128
# A batch of at least this many matrices.
_MANY = 1024
_RANK_OF_BATCH = 3


def remedy(value: Value, padded: PaddedDimension, origin: Callable[[Operation], Origin]) -> str:
    """Returns the change to a program that avoids the padding of a dimension of `value`."""
    return known_remedy(value, padded, origin) or (
        f"{_dimension(padded)} takes the memory of {padded.padded}: "
        f"merge it with a neighbour, or make it a multiple of {padded.tile}"
    )


def known_remedy(value: Value, padded: PaddedDimension, origin: Callable[[Operation], Origin]) -> str | None:
    """Returns another way to write the operation that asks for a padded layout, None where no other way is known."""
    if padded.tile != _LANES or (demanding := demanding_operation(value)) is None:
        return None
    then = f"{_dimension(padded)} would no longer fill {padded.tile} lanes"
    name = origin(demanding).op_name.rpartition("/")[2]
    if demanding.opcode in ("gather", "scatter") and padded.size <= _MOST_COLUMNS:
        # The TPU compiler makes a scatter from a sort and a gather of the updates.
        verb = "scatter" if name.startswith("scatter") else demanding.opcode
        return f"{verb} each of the {padded.size} elements of dimension {padded.dimension} by itself: {then}"
    # It writes a product of matrices as a convolution.
    if (demanding.opcode == "dot" or name.startswith(_PRODUCT)) and _is_batch_of_small(value):
        form = "(a[..., :, :, None] * b[..., None, :, :]).sum(-2)"
        return f"write the product of small matrices as products and a sum, {form}: {then}"
    return None


def _dimension(padded: PaddedDimension) -> str:
    return f"dimension {padded.dimension} ({padded.size})"


def _is_batch_of_small(value: Value) -> bool:
    """Is true for many matrices, each smaller than a tile's lanes."""
    shape = value.shape
    if not isinstance(shape, ArrayShape) or shape.rank < _RANK_OF_BATCH or max(shape.dimensions[-2:]) >= _LANES:
        return False
    return shape.element_count >= _MANY * shape.dimensions[-1] * shape.dimensions[-2]


def demanding_operation(value: Value) -> Operation | None:
    """Returns the operation that asks for an array's layout, None where it is not known.

    It makes the array, or reads it, perhaps after operations that only move the array. The search enters fusions.
    """
    made = value.operation
    for _ in range(_MOST_PASSED):
        if made is None:
            break
        if (found := _demanding_in(made)) is not None:
            return found
        if made.opcode not in _PASSED or not made.operands:
            break
        made = made.operands[0].operation
    return next(_demanding_users(value, _MOST_PASSED), None)


def _demanding_in(operation: Operation) -> Operation | None:
    """Returns an operation itself if it asks for layouts, or the one in the body of a fusion, else None."""
    if operation.opcode in _DEMANDING:
        return operation
    if operation.opcode != "fusion":
        return None
    return next((found for each in operation.called[0].operations if (found := _demanding_in(each))), None)


def _demanding_users(value: Value, depth: int) -> Iterator[Operation]:
    for user in value.users:
        if (found := _demanding_in(user)) is not None:
            yield found
        elif depth and user.opcode in _PASSED:
            for result in user.results:
                yield from _demanding_users(result, depth - 1)
