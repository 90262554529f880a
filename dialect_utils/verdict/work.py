"""How much work a module is, as far as that decides which engine is asked."""

from __future__ import annotations

from math import prod

from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops import Trait, has, named

# What the interpreter does in a second, about.
ELEMENTS_PER_SECOND = 1_000_000
# It ends the process on these, or has no such op.
_NOT_INTERPRETED = named("cholesky triangular-solve fft rng rng-bit-generator custom-call infeed outfeed")
# How often the body of a loop is taken to run.
_ROUNDS = 16


def work_of(module: Module) -> int:
    """Returns about how many elements a run computes."""
    loops = {
        function.name
        for operation in module.operations()
        if operation.opcode == "while"
        for function in operation.called
    }
    return sum(
        _work(operation) * (_ROUNDS if operation.function.name in loops else 1) for operation in module.operations()
    )


def is_interpretable(module: Module) -> bool:
    """Is true where the reference interpreter knows every op of the module."""
    return not any(
        (operation.opcode in _NOT_INTERPRETED and not (operation.callee or "").startswith("check."))
        or has(operation.opcode, Trait.AMONG_DEVICES)
        for operation in module.operations()
    )


def _work(operation: Operation) -> int:
    results = sum(_elements(value.shape) for value in operation.results)
    if operation.opcode == "dot":
        contracting = operation.ints("lhs_contracting_dims") or ()
        lhs = operation.operands[0].shape
        return results * prod(lhs.dimensions[i] for i in contracting) if isinstance(lhs, ArrayShape) else results
    if operation.opcode == "convolution":
        return results * _elements(operation.operands[1].shape)
    if has(operation.opcode, Trait.COMBINES) or operation.opcode == "sort":
        return results + 4 * sum(_elements(value.shape) for value in operation.operands)
    return results


def _elements(shape: Shape) -> int:
    return sum(array.element_count for array in shape.arrays())
