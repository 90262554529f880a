"""The values that a value depends on, through calls, loops, branches and tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


def operations_behind(roots: Iterable[Value]) -> set[Operation]:
    """Returns the operations that the given values depend on, through calls in both directions."""
    return {value.operation for value in values_behind(roots) if value.operation is not None}


def values_behind(roots: Iterable[Value]) -> set[Value]:
    """Returns all values that the given values depend on, through calls in both directions."""
    return {*_sources_behind(roots, steered=True)}


class Dependence:
    """The operations that several arrays depend on, found for all of the arrays at once.

    `steered`: also on values that only choose elements, the predicate of a `select`.
    """

    def __init__(self, arrays: Iterable[tuple[Value, ArrayShape]], *, steered: bool = True) -> None:
        """Takes the arrays with their sources, as `array_sources` returns them."""
        self._roots = [value for value, _ in arrays]
        self._readers: dict[Value, list[Value]] = {}
        for value, sources in _sources_behind(self._roots, steered=steered).items():
            self._readers.setdefault(value, [])
            for source in sources:
                self._readers.setdefault(source, []).append(value)

    def on(self, holds: Callable[[Operation], bool]) -> frozenset[int]:
        """Returns the numbers of the arrays that depend on an operation for which `holds` is true."""
        reached: set[Value] = set()
        pending = [value for value in self._readers if value.operation is not None and holds(value.operation)]
        while pending:
            value = pending.pop()
            if value not in reached:
                reached.add(value)
                pending += self._readers[value]
        return frozenset(number for number, root in enumerate(self._roots) if root in reached)


def _sources_behind(roots: Iterable[Value], *, steered: bool) -> dict[Value, list[Value]]:
    """Returns the direct sources of all values that the given values depend on."""
    found: dict[Value, list[Value]] = {}
    pending = list(roots)
    while pending:
        value = pending.pop()
        if value not in found:
            is_chosen = not steered and value.operation is not None and value.operation.opcode == "select"
            found[value] = _sources(value)[1:] if is_chosen else _sources(value)
            pending += found[value]
    return found


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
