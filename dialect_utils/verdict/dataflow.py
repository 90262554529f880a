"""The values that a value depends on, through calls, loops, branches and tuples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from dialect_utils.hlo.text.literals import decode_float
from dialect_utils.ir import Operation, Value
from dialect_utils.ir.control_flow import BODY
from dialect_utils.layout import ArrayShape


def array_sources(value: Value) -> list[tuple[Value, ArrayShape]]:
    """Returns each array of a value with its source: an element of a `tuple` operation, or the value itself."""
    operation = value.operation
    if operation is not None and operation.opcode == "tuple":
        return [each for operand in operation.operands for each in array_sources(operand)]
    return [(value, array) for array in value.shape.arrays()]


def operations_behind(roots: Iterable[Value], *, steered: bool = True) -> set[Operation]:
    """Returns the operations that the given values depend on, as `values_behind` does."""
    return {value.operation for value in values_behind(roots, steered=steered) if value.operation is not None}


def values_behind(roots: Iterable[Value], *, steered: bool = True) -> set[Value]:
    """Returns all values that the given values depend on, through calls in both directions.

    `steered`: also those that only choose elements, the predicate of a `select`.
    """
    reached: set[Value] = set()
    pending = list(roots)
    while pending:
        value = pending.pop()
        if value not in reached:
            reached.add(value)
            is_chosen = not steered and value.operation is not None and value.operation.opcode == "select"
            pending += _sources(value)[1:] if is_chosen else _sources(value)
    return reached


def _sources(value: Value) -> list[Value]:
    """Returns the direct sources of a value; element i of a loop's result depends on element i of the state."""
    operation = value.operation
    if operation is None:
        return [source for caller in value.function.callers for source in _passed(caller, value)]
    if operation.opcode == "while" and len(operation.results) == len(operation.operands):
        return _of_iteration(operation, operation.results.index(value))
    if operation.opcode == "get-tuple-element":
        return _parts(operation.operands[0], (operation.ints("index") or (0,))[0])
    return [*operation.operands, *(result for function in operation.called for result in function.results)]


def _passed(caller: Operation, parameter: Value) -> Sequence[Value]:
    parameters = parameter.function.parameters
    if caller.opcode == "while" and len(parameters) == len(caller.operands):
        return _of_iteration(caller, parameters.index(parameter))
    return caller.operands


def _of_iteration(loop: Operation, number: int) -> list[Value]:
    """Returns one element of a loop's state before the loop and after an iteration."""
    return [loop.operands[number], loop.called_as(BODY).results[number]]


def _parts(whole: Value, number: int) -> list[Value]:
    """Returns the sources of one element of a tuple; the tuple itself where they are not known."""
    operation = whole.operation
    if operation is not None and operation.opcode == "tuple":
        return [operation.operands[number]]
    loops = [operation] if operation is not None else list(whole.function.callers)
    if not loops or any(loop.opcode != "while" for loop in loops):
        return [whole]
    tuples = [value.operation for loop in loops for value in _of_iteration(loop, 0)]
    if not all(made is not None and made.opcode == "tuple" for made in tuples):
        return [whole]
    return [made.operands[number] for made in tuples if made is not None]


def splat_number(operation: Operation) -> float | None:
    """Returns the finite real number that all elements of a constant equal, or None."""
    bits, shape = operation.splat_bits, operation.results[0].shape if operation.results else None
    if bits is None or not isinstance(shape, ArrayShape) or shape.element_type.is_complex:
        return None
    element_type = shape.element_type
    if not element_type.is_floating:
        is_negative = element_type.is_signed and bits >> (element_type.bits - 1)
        return bits - (1 << element_type.bits) if is_negative else bits
    number = float(decode_float(element_type.name, bits))
    return number if isfinite(number) else None
