"""Modules that return values of main, too: a comparison of two programs reads them."""

from __future__ import annotations

from math import prod
from typing import Any

from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.origins import copy_operations
from dialect_utils.stablehlo.rewrites.editing import (
    MOST_OPERATIONS,
    inline_calls,
    main_function,
    returned_values,
    set_main_results,
)

_LOOP = "stablehlo.while"
# Operations whose results are constants or hold the elements of another value in another order.
_SKIPPED = frozenset(f"stablehlo.{name}" for name in ("constant", "reshape", "transpose", "optimization_barrier"))


def observe(program: str | bytes, *, first: int, most_elements: int, iterations: int) -> tuple[str, int, int]:
    """Returns a StableHLO module that returns values of main after its own results; raises MLIR's errors.

    The values are arrays of main, of the functions that it calls and of the first iterations of each loop, from array
    number `first` on: at least one array, and as many as have `most_elements` together. Also returns the number of
    returned arrays, and of all arrays that could be returned. Constants, and values that only move elements of another
    value, are not returned. A loop that ends earlier has values of iterations that it does not run.
    """
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        main = main_function(module)
        _add_iterations(main.regions[0].blocks[0], iterations)
        values = [
            value
            for view in main.regions[0].blocks[0].operations
            if view.operation.name not in _SKIPPED
            for value in view.operation.results
            if isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape
        ]
        end, taken = first, 0
        while end < len(values) and (end == first or taken + prod(values[end].type.shape) <= most_elements):
            taken += prod(values[end].type.shape)
            end += 1
        set_main_results(main, [*returned_values(main), *values[first:end]])
        module.operation.verify()
        return str(module), end - first, len(values)


def _add_iterations(block: Any, count: int) -> None:
    """Adds the first iterations of each loop of a block before the loop, and those of the loops in them."""
    waiting = [view.operation for view in block.operations]
    left = MOST_OPERATIONS - len(waiting)
    while waiting:
        loop = waiting.pop()
        if loop.name != _LOOP:
            continue
        (body,) = loop.regions[1]
        *operations, end = (view.operation for view in body.operations)
        state = list(loop.operands)
        for _ in range(count):
            left -= len(operations)
            if left < 0:
                return
            values = dict(zip(body.arguments, state, strict=True))
            with ir.InsertionPoint(loop):
                copy_operations(operations, values)
            waiting += [values[each.results[0]].owner for each in operations if each.name == _LOOP and each.results]
            state = [values.get(value, value) for value in end.operands]
