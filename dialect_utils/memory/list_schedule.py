"""A schedule for functions that have none: always the ready operation that leaves the least memory held."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from math import prod

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.layout import ArrayShape, Shape


def list_schedule(function: Function) -> Sequence[Operation]:
    """Returns a function's operations in an order in which operands come first, chosen greedily.

    Of the operations that are ready, the one that frees the most bytes, less what it makes, runs first; ties run in
    the order of the text. XLA's ListMemoryScheduler follows the same idea.
    """
    operations = function.operations
    position = {operation: i for i, operation in enumerate(operations)}
    uses: Counter[Value] = Counter(operand for operation in operations for operand in set(operation.operands))
    missing = {operation: len({o for o in operation.operands if o.operation in position}) for operation in operations}

    def growth(operation: Operation) -> int:
        freed = sum(_bytes(operand.shape) for operand in set(operation.operands) if uses[operand] == 1)
        return sum(_bytes(result.shape) for result in operation.results) - freed

    ready = [(growth(each), position[each]) for each in operations if not missing[each]]
    heapq.heapify(ready)
    order: list[Operation] = []
    while ready:
        known, place = heapq.heappop(ready)
        operation = operations[place]
        if (now := growth(operation)) < known:  # uses have gone since it was put here
            heapq.heappush(ready, (now, place))
            continue
        order.append(operation)
        for operand in set(operation.operands):
            uses[operand] -= 1
        for user in dict.fromkeys(user for result in operation.results for user in result.users):
            if user not in missing:
                continue
            missing[user] -= sum(result in user.operands for result in operation.results)
            if missing[user] == 0:
                heapq.heappush(ready, (growth(user), position[user]))
    return order if len(order) == len(operations) else operations


def _bytes(shape: Shape) -> int:
    return sum(_array_bytes(leaf) for leaf in shape.arrays())


def _array_bytes(shape: ArrayShape) -> int:
    return prod(shape.dimensions) * shape.element_type.storage_bits // 8 if shape.is_static else 0
