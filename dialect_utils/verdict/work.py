"""Estimates the number of elements that a run of a module computes, and which engines know its operations."""

from __future__ import annotations

from math import prod

from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, has, named

# An element of a function such as `exponential` takes as long as eight sums.
_WORK_OF_FUNCTION = 8
# Approximate number of elements that the interpreter computes in a second.
ELEMENTS_PER_SECOND = 1_000_000
# Operations that the interpreter lacks, or on which it aborts the process.
_NOT_INTERPRETED = named("cholesky triangular-solve fft rng rng-bit-generator custom-call infeed outfeed")
# Assumed number of iterations of a loop.
_ITERATIONS = 16


def work_of(module: Module, *, by_xla: bool = False) -> int:
    """Returns the approximate number of elements that a run computes; `by_xla`: where a library computes products."""
    loops = {
        function.name
        for operation in module.operations()
        if operation.opcode == "while"
        for function in operation.called
    }
    return sum(
        _work(operation, by_xla) * (_ITERATIONS if operation.function.name in loops else 1)
        for operation in module.operations()
    )


def is_interpretable(module: Module) -> bool:
    """Is true where StableHLO's interpreter knows every operation of the module."""
    return not any(
        (operation.opcode in _NOT_INTERPRETED and not (operation.callee or "").startswith("check."))
        or has(operation.opcode, Trait.AMONG_DEVICES)
        for operation in module.operations()
    )


def _work(operation: Operation, by_xla: bool) -> int:
    results = sum(value.shape.element_count for value in operation.results)
    if by_xla and len(operation.operands) == 1 and has(operation.opcode, Trait.ROUNDS):
        return _WORK_OF_FUNCTION * results
    if operation.opcode == "dot" and not by_xla:
        contracting = operation.ints("lhs_contracting_dims") or ()
        lhs = operation.operands[0].shape
        return results * prod(lhs.dimensions[i] for i in contracting) if isinstance(lhs, ArrayShape) else results
    if operation.opcode == "convolution":
        return results * operation.operands[1].shape.element_count
    if has(operation.opcode, Trait.COMBINES) or operation.opcode == "sort":
        return results + 4 * sum(value.shape.element_count for value in operation.operands)
    return results
